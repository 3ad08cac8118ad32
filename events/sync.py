"""Set union of two logs, both ways: only what differs is sent, all of it is verified, and any cut can be gone on from.

The frontiers are compared by the hashes of their buckets (``beliefbase.events.frontier``); heads are exchanged for
the buckets that differ, then the events that a holder of those heads lacks, then words that one side lacks and the
other has. Every page that was merged stays: after a cut the next run finds less to do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import compress
from operator import ne
from typing import Final, NamedTuple

from beliefbase.events.envelope import Event
from beliefbase.events.frontier import bucket_hash, bucket_of, root_hash
from beliefbase.events.hlc import MAX_COUNTER, ms_of, stamp
from beliefbase.events.log import EventLog, Fork, Gap, Head, MergeReport, SignedHead

HEAD_BYTES: Final = 16 + 8 + 32
BUCKET_BYTES: Final = 2 + 32
SIGNED_BYTES: Final = HEAD_BYTES + 64
_WORDS: Final = 1000
"""Words asked for at once."""

Progress = Callable[[str, int], None]
"""Told now and then what is being done, and how far."""


class Late(NamedTuple):
    """Events of one writer that say that they were stamped earlier than they were written."""

    events: int
    most_ms: int
    """By how much at most."""


@dataclass
class Received:
    """What one log got from the other."""

    sent: int = 0
    """Events that the other sent."""
    sent_bytes: int = 0
    """Bytes of their skeletons and words, and of what was exchanged to find them."""
    stored: int = 0
    words_filled: int = 0
    words_refused: int = 0
    words_erased: int = 0
    signatures: int = 0
    """Signed heads that were new."""
    parked: int = 0
    """Events stamped further ahead of the wall than the clock follows: stored, and the clock was not moved."""
    before_newest: int = 0
    """Events stamped before the newest that was here: answers about the past may change by them."""
    before_newest_ms: int = 0
    """How much earlier than that the earliest is."""
    backdated: dict[bytes, Late] = field(default_factory=dict)
    """By writer: events whose stamps are older than their writing by more than the drift, as importers' are."""
    forks: list[Fork] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    """What is kept aside in the end, and what it waits for; neither log has that."""


class Receiver:
    """One log that takes in what another has.

    Args:
        log: The log.
        wall: Now, in milliseconds.
        max_drift_ms: How far ahead of the wall a stamp may be before it is parked.
    """

    def __init__(
        self, log: EventLog, *, wall: int, max_drift_ms: int, progress: Progress = lambda _what, _done: None
    ) -> None:
        self.log = log
        self.got = Received()
        self.root = b""
        """Root of its frontier at the end of a union, without what others wrote elsewhere meanwhile."""
        self._drift = max_drift_ms
        self._progress = progress
        self._horizon = stamp(wall + max_drift_ms, MAX_COUNTER)
        with log.transaction() as transaction:
            self._newest = transaction.max_hlc(self._horizon)

    def take(self, pages: Iterable[list[Event]], signed: Iterable[SignedHead] = ()) -> None:
        """Merge pages of events, then the signatures that vouch for them.

        Raises:
            NotCanonical, LimitExceeded: an event breaks what no release may change; what came before it is stored.
        """
        for page in pages:
            self._add(self.log.merge(page))
            self._look(page)
            self._progress("merging", self.got.sent)
        self.got.gaps = self.log.gaps()
        self.got.signatures += self.log.take_signatures(signed)

    def take_from(self, other: EventLog) -> int:
        """Merge what another log has and this one lacks, as far as it can tell; returns how much was new."""
        mine, theirs = self.log.buckets(), other.buckets()
        return self.take_buckets(other, differing(mine, theirs), told=len(mine))

    def take_buckets(self, other: EventLog, differing: Collection[int], *, told: int) -> int:
        """Like :meth:`take_from`, where it is known which buckets differ, and so many of ours were told."""
        before = self._new()
        self.got.sent_bytes += BUCKET_BYTES * told
        if differing:
            heads = self.log.heads(differing)
            self.got.sent_bytes += HEAD_BYTES * len(heads)
            self.take(other.since(heads, differing))
        self._fill_words(other)
        self._take_signatures(other)
        return self._new() - before

    def _new(self) -> int:
        return self.got.stored + self.got.words_filled + self.got.signatures

    def _take_signatures(self, other: EventLog) -> None:
        """All signatures that differ; a sync that was cut behind the events catches up here."""
        if self.log.signed_root() != other.signed_root():
            new = set(other.signatures()).difference(self.log.signatures())
            self.got.sent_bytes += SIGNED_BYTES * len(new)
            self.got.signatures += self.log.take_signatures(sorted(new))

    def _fill_words(self, other: EventLog) -> None:
        wanted = self.log.wanted()
        for start in range(0, len(wanted), _WORDS):
            found = other.by_id(wanted[start : start + _WORDS], words=True)
            having = [event for event in found if event.body is not None]
            self._add(self.log.merge(having))
            self.got.sent_bytes += sum(_size(event) for event in having)

    def _add(self, report: MergeReport) -> None:
        got = self.got
        got.stored += report.stored
        got.words_filled += report.words_filled
        got.words_refused += report.words_refused
        got.words_erased += report.words_erased
        got.forks += [fork for fork in report.forks if fork not in got.forks]

    def _look(self, page: Iterable[Event]) -> None:
        got = self.got
        for event in page:
            skeleton = event.skeleton
            got.sent += 1
            got.sent_bytes += _size(event)
            if skeleton.hlc > self._horizon:
                got.parked += 1
            elif skeleton.hlc < self._newest:
                got.before_newest += 1
                got.before_newest_ms = max(got.before_newest_ms, ms_of(self._newest) - ms_of(skeleton.hlc))
            if skeleton.recorded > self._drift:
                late = got.backdated.get(skeleton.writer, Late(0, 0))
                got.backdated[skeleton.writer] = Late(late.events + 1, max(late.most_ms, skeleton.recorded))


def union(here: Receiver, there: Receiver) -> bool:
    """Bring two logs to the same events; returns whether they came to the same frontier.

    They don't where others write meanwhile; then the next run brings the rest.
    """
    mine, theirs = here.log.buckets(), there.log.buckets()
    while True:
        found, new = differing(mine, theirs), 0
        if found or _differ_otherwise(here.log, there.log):
            new += there.take_buckets(here.log, found, told=len(theirs))
            theirs = _looked_at(there.log, theirs, found)
            left = {bucket for bucket in found if mine.get(bucket) != theirs.get(bucket)}
            new += here.take_buckets(there.log, left, told=len(mine))
            mine = _looked_at(here.log, mine, left)
        if not new:
            here.root = root_hash(mine)
            there.root = root_hash(theirs) if found else here.root
            return not found


def _looked_at(log: EventLog, hashes: Mapping[int, bytes], buckets: Collection[int]) -> Mapping[int, bytes]:
    """The hashes of all buckets, those of these found anew: what a writer's events bring with them is its own."""
    if not buckets:
        return hashes
    heads: dict[int, list[Head]] = {}
    for head in log.heads(buckets):
        heads.setdefault(bucket_of(head.writer), []).append(head)
    return {**hashes, **{bucket: bucket_hash(found) for bucket, found in heads.items()}}


def differing(mine: Mapping[int, bytes], theirs: Mapping[int, bytes]) -> set[int]:
    """The buckets whose hashes differ, or that only one of two logs has."""
    if mine == theirs:
        return set()
    found = set(compress(mine, map(ne, mine.values(), map(theirs.get, mine))))
    return found.union(theirs.keys() - mine.keys())


def _differ_otherwise(here: EventLog, there: EventLog) -> bool:
    return here.signed_root() != there.signed_root() or bool(here.wanted() or there.wanted())


def strangers(here: EventLog, there: EventLog) -> bool:
    """Whether two logs have no writer in common: they have never met."""
    for page in here.read(limit=1, words=False):
        writer = page[0].event.skeleton.writer
        if any(head.writer == writer for head in there.heads({bucket_of(writer)})):
            return False  # what came first is the likeliest to have gone round; all writers need not be listed
        break
    return not _writers(here) & _writers(there)


def _writers(log: EventLog) -> set[bytes]:
    return {head.writer for head in log.frontier()}


def _size(event: Event) -> int:
    return len(event.raw) + len(event.salt or b"") + len(event.body or b"")
