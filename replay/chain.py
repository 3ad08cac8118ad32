"""Part (a) of the audit for one stream: is it whole, and are its words those that it commits to?

A stream is read from the newest event back. The head *vouches for* the newest event: it has the hash of its bytes. An
event that is vouched for vouches by its ``prev`` for the one before it. So the first event that isn't what its voucher
says is the one that was changed, and bytes are trusted, and decoded fast, only where something vouches for them. Who
changes the newest event and its head as well needs a pin kept outside of the store to be found (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from beliefbase.events import index
from beliefbase.events.codec import unpack
from beliefbase.events.envelope import Event, Skeleton, decode, verify
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.ids import ZERO_HASH, commitment
from beliefbase.events.limits import BODY_BYTES
from beliefbase.events.log import Filed, Head
from beliefbase.replay.report import Finding


class Surroundings(NamedTuple):
    """What the check of a stream asks about the rest of the log."""

    stored: Callable[[bytes], Event | None]
    """The stored event with this hash."""
    covered: Callable[[bytes], bool]
    """Whether an erasure accounts for the missing words of the event with this id."""
    illegible: Callable[[], None]
    """Told where bytes can't even be read, so that nobody else tries."""


def check_stream(stream: str, filed: Iterable[Filed], head: Head | None, around: Surroundings) -> Iterator[Finding]:
    """Check one branch of one writer's stream, given from the newest event back."""
    walk = Walk(stream[:32], head, around)
    for one in filed:
        yield from walk.step(one)
    yield from walk.end()


class Walk:
    """The way back through a stream, one event at a time."""

    def __init__(self, writer: str, head: Head | None, around: Surroundings) -> None:
        self._writer = writer
        self._head = head
        self._around = around
        self._voucher: bytes | None = None
        """The hash that the next event back must have; None where nothing says it."""
        self._sure = False
        """Whether what says it is itself vouched for: an event that was changed may name any hash."""
        self._after: tuple[Filed, Skeleton] | None = None
        """The event just looked at, if it can be trusted."""
        self._oldest: Filed | None = None
        self._oldest_read: Skeleton | None = None

    @property
    def oldest(self) -> tuple[Filed, Skeleton] | None:
        """The last event that was looked at, where it can be read."""
        if self._oldest is None or self._oldest_read is None:
            return None
        return self._oldest, self._oldest_read

    @property
    def wanted(self) -> tuple[int, bytes, int] | None:
        """Seq and hash of the event that is wanted next, and the stamp that its own must be before.

        None where nothing that can be trusted says so.
        """
        if self._after is None or self._voucher is None or not self._sure:
            return None
        filed, skeleton = self._after
        return filed.seq - 1, self._voucher, skeleton.hlc

    def pass_over(self, filed: Filed) -> None:
        """Go on behind an event up to which, it included, nothing is to be found."""
        skeleton = decode(filed.event.raw)
        self._oldest, self._oldest_read, self._after = filed, skeleton, (filed, skeleton)
        self._voucher, self._sure = skeleton.prev, True

    def step(self, filed: Filed) -> Iterator[Finding]:
        """All findings about the next event back."""
        yield from self._place(filed)
        yield from self._look(filed)
        self._oldest = filed

    def _place(self, filed: Filed) -> Iterator[Finding]:
        """Whether it stands where one should stand, and who vouches for it."""
        head, after = self._head, self._oldest
        if head is not None and filed.seq == head.seq:
            self._voucher, self._sure = head.hash, True
        if after is None:
            if head is None:
                yield self._found("its stream has no head", filed)
            elif filed.seq < head.seq:
                yield self._gap(filed.seq + 1, head.seq)
            elif filed.seq > head.seq:
                yield self._found(f"it stands behind the stream's head, which has seq {head.seq}", filed)
        elif filed.seq >= after.seq:
            yield self._found(f"it is filed before seq {after.seq}", filed)
            self._voucher, self._sure = None, False
        elif filed.seq != after.seq - 1:
            yield self._gap(filed.seq + 1, after.seq - 1)
            self._voucher, self._sure = None, False

    def _look(self, filed: Filed) -> Iterator[Finding]:
        event = filed.event
        trusted = event.hash == self._voucher
        skeleton = _read(event, trusted=trusted)
        self._oldest_read = skeleton
        if skeleton is None:
            self._around.illegible()
            yield self._found("its bytes were changed: they are no skeleton", filed)
        elif skeleton.writer.hex() != self._writer or skeleton.seq != filed.seq:
            claim = f"writer {skeleton.writer.hex()}, seq {skeleton.seq}"
            yield self._found(f"its bytes were changed or moved: they say {claim}", filed)
        elif trusted:
            pass
        elif self._sure:
            by = "its stream's head" if self._oldest is None else "the event after it"
            yield self._found(f"its bytes were changed: {by} names another hash", filed)
        elif self._oldest is not None:
            yield self._note("nothing vouches for its bytes: the event after it is missing or was changed", filed)
        if filed.misstored:
            self._around.illegible()
            yield self._found(f"it is not stored as a log stores it, and comparisons miss it: {filed.misstored}", filed)
        if skeleton is not None:
            if index.topic(skeleton) != filed.topic:
                yield self._found(f"the store lists it under another type, {filed.topic[:80]}", filed)
            yield from self._words(filed, skeleton)
            if trusted and self._after is not None and self._after[1].hlc <= skeleton.hlc:
                # No damage: a merge refuses no stamps, so one faulty peer could make every audit red for ever.
                yield self._note("its stamp is not after that of the event before it", self._after[0], "clock")
        self._after = (filed, skeleton) if trusted and skeleton is not None else None
        self._voucher, self._sure = None if skeleton is None else skeleton.prev, trusted

    def _words(self, filed: Filed, skeleton: Skeleton) -> Iterator[Finding]:
        event = filed.event
        if event.body is None:
            if skeleton.commitment is not None and not self._around.covered(event.id):
                yield self._found("its words are missing, and no erasure covers them", filed, "words")
            return
        if skeleton.commitment is None:
            yield self._found("it has words that it doesn't commit to", filed, "words")
        elif commitment(event.salt or b"", event.body) != skeleton.commitment:
            try:
                unpack(event.body, max_bytes=BODY_BYTES)
            except BeliefbaseError:
                self._around.illegible()
            yield self._found("its words were changed: they are not those that it commits to", filed, "words")
        if filed.words_of != event.id:
            yield self._found("its words are filed under another event", filed, "words")

    def end(self) -> Iterator[Finding]:
        """Whether the stream begins where it may, after the last step."""
        oldest, skeleton = self._oldest, self._oldest_read
        if oldest is None:
            if self._head is not None:
                yield self._gap(1, self._head.seq)
        elif skeleton is not None:
            if oldest.seq == 1 and skeleton.prev == ZERO_HASH:
                return
            before = self._around.stored(skeleton.prev) if oldest.seq > 1 else None
            place = None if before is None else _read(before, trusted=False)
            if place is not None and (place.writer, place.seq) == (skeleton.writer, oldest.seq - 1):
                return
            if oldest.seq > 1:
                yield self._gap(1, oldest.seq - 1)
            elif self._after is not None:
                yield self._found("it is the first of its stream, and its prev is not zeros", oldest)

    def _gap(self, first: int, last: int) -> Finding:
        gap = f"seq {first}" if first == last else f"seq {first} to {last}"
        return Finding("damage", "chain", f"{gap} of this writer is missing", self._writer, first)

    def _found(self, what: str, filed: Filed, check: str = "chain") -> Finding:
        return Finding("damage", check, what, self._writer, filed.seq, filed.event.id.hex())

    def _note(self, what: str, filed: Filed, check: str = "chain") -> Finding:
        return Finding("note", check, what, self._writer, filed.seq, filed.event.id.hex())


def _read(event: Event, *, trusted: bool) -> Skeleton | None:
    """The skeleton, read fast where its bytes are known to be those that were stored; None where they are none."""
    if trusted:
        try:
            skeleton = decode(event.raw)
            if type(skeleton.hlc) is int and isinstance(skeleton.prev, bytes):
                return skeleton
        except (ValueError, TypeError, LookupError, BeliefbaseError):
            return None
        return None
    try:
        return verify(event.raw)
    except BeliefbaseError:
        return None
