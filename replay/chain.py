"""Part (a) of the audit: is every stream whole, and are its words those that it commits to?

An event is *vouched for* when the ``prev`` of the event after it, or its stream's head, is the hash of its bytes.
Where a link is broken, the event that nobody vouches for is the one that was changed: that names it, and not merely
the place where two events disagree. The newest event is vouched for by the head only; whoever changes both needs a
pin kept outside the store to be found (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from beliefbase.events.envelope import Event, Skeleton, check_body, verify
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.ids import ZERO_HASH, skeleton_hash
from beliefbase.events.log import Fork, Gap, Head
from beliefbase.replay.report import Finding

Covered = Callable[[Event], bool]
"""Whether an erasure accounts for an event's missing words."""


class Link(NamedTuple):
    """One event of a stream, where it is filed, and what it claims."""

    seq: int
    """Where it is filed, whatever its bytes say."""
    event: Event
    skeleton: Skeleton | None
    """None where the bytes are no skeleton."""
    hash: bytes


def check_stream(
    stream: str, filed: Iterable[tuple[int, Event]], head: Head | None, *, branches: Container[bytes], covered: Covered
) -> Iterator[Finding]:
    """Check one branch of one writer's stream, as (seq it is filed under, event) in that order.

    ``branches`` holds the hashes of the events that a stream which doesn't begin at seq 1 may continue.
    """
    writer = stream[:32]
    last: Link | None = None
    suspect: Link | None = None
    """The event before ``last``, if ``last`` names another hash: either of the two was changed."""
    for seq, event in filed:
        link = _read(seq, event)
        yield from _alone(link, writer, covered)
        if last is None:
            yield from _first(link, writer, branches)
        elif seq != last.seq + 1:
            gap = f"seq {last.seq + 1}" if seq == last.seq + 2 else f"seq {last.seq + 1} to {seq - 1}"
            yield Finding("damage", "chain", f"{gap} of this writer is missing", writer, last.seq + 1)
        else:
            vouched = link.skeleton is None or last.skeleton is None or link.skeleton.prev == last.hash
            if suspect is not None and vouched:
                yield _changed(suspect, writer)
            suspect = None if vouched else last
            yield from _clock(last, link, writer)
        last = link
    yield from _end(last, head, writer, suspect)


def _read(seq: int, event: Event) -> Link:
    try:
        skeleton = verify(event.raw)
    except BeliefbaseError:
        skeleton = None
    return Link(seq, event, skeleton, skeleton_hash(event.raw))


def _alone(link: Link, writer: str, covered: Covered) -> Iterator[Finding]:
    """What can be said of an event by itself: its bytes and its words."""
    event, skeleton = link.event, link.skeleton
    if skeleton is None:
        yield _found("chain", "its bytes were changed: they are no skeleton", writer, link)
        return
    if skeleton.writer.hex() != writer or skeleton.seq != link.seq:
        claim = f"writer {skeleton.writer.hex()}, seq {skeleton.seq}"
        yield _found("chain", f"its bytes were changed or moved: they say {claim}", writer, link)
    if event.body is not None and event.salt is not None:
        try:
            check_body(skeleton, event.salt, event.body)
        except BeliefbaseError as error:
            yield _found("words", f"its words were changed: {error}", writer, link)
    elif skeleton.commitment is not None and not covered(event):
        yield _found("words", "its words are missing, and no erasure covers them", writer, link)


def _first(link: Link, writer: str, branches: Container[bytes]) -> Iterator[Finding]:
    if link.skeleton is None or link.skeleton.prev in branches:
        return
    if link.seq > 1:
        yield _found("chain", f"seq 1 to {link.seq - 1} of this writer is missing", writer, link)
    elif link.skeleton.prev != ZERO_HASH:
        yield _found("chain", "its bytes were changed: the first event's prev is not zeros", writer, link)


def _clock(last: Link, link: Link, writer: str) -> Iterator[Finding]:
    if last.skeleton is not None and link.skeleton is not None and link.skeleton.hlc <= last.skeleton.hlc:
        yield _found("clock", "its stamp is not after that of the event before it", writer, link)


def _end(last: Link | None, head: Head | None, writer: str, suspect: Link | None) -> Iterator[Finding]:
    if last is None:
        if head is not None:
            yield Finding("damage", "chain", f"every event up to seq {head.seq} is missing", writer, head.seq)
    elif head is None:
        yield _found("chain", "its stream has no head", writer, last)
    elif head.seq > last.seq:
        yield Finding("damage", "chain", f"seq {last.seq + 1} to {head.seq} is missing", writer, last.seq + 1)
    elif head.hash != last.hash:
        yield _changed(last, writer)
    elif suspect is not None:
        yield _changed(suspect, writer)


def _changed(link: Link, writer: str) -> Finding:
    return _found("chain", "its bytes were changed: what follows it names another hash", writer, link)


def _found(check: str, what: str, writer: str, link: Link) -> Finding:
    return Finding("damage", check, what, writer, link.seq, link.event.id.hex())


def fork_notes(forks: Iterable[Fork]) -> Iterator[Finding]:
    """Equivocations: both branches count, and people should know."""
    for fork in forks:
        yield Finding(
            "note",
            "forks",
            "two events stand under one writer and seq (a cloned disk, a restored backup or a forgery); both count",
            fork.writer.hex(),
            fork.seq,
            events=tuple(event.hex() for event in fork.event_ids),
        )


def gap_notes(gaps: Iterable[Gap]) -> Iterator[Finding]:
    """Events kept aside until their predecessor comes."""
    for gap in gaps:
        what = f"kept aside until seq {gap.seq - 1} of its writer comes"
        yield Finding("note", "gaps", what, gap.writer.hex(), gap.seq, gap.event_id.hex())
