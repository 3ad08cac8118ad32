"""Set union with foreign events: what is new, where it belongs, and what has to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from beliefbase.events.codec import unpack_trusted
from beliefbase.events.envelope import Event, check_body, verify
from beliefbase.events.errors import BeliefbaseError, NotCanonical
from beliefbase.events.frontier import Branch
from beliefbase.events.ids import ID_BYTES, ZERO_HASH, skeleton_hash
from beliefbase.events.log import Fork, MergeReport
from beliefbase.events.tables import Placed, Tables
from beliefbase.events.transaction import LogTransaction, begun, continued

PAGE: Final = 1000
"""Foreign events per transaction."""


def checked(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Pages of events that were verified; what stands before one that isn't valid is given before the error.

    Raises:
        NotCanonical, LimitExceeded: with ``writer`` and ``seq`` in ``data`` where they can be read.
    """
    page: list[Event] = []
    for event in events:
        try:
            page.append(_checked(event))
        except BeliefbaseError as error:
            if page:
                yield page
            raise _located(error, event.raw) from None
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


def _checked(event: Event) -> Event:
    skeleton = verify(event.raw)
    if (skeleton.seq == 1) != (skeleton.prev == ZERO_HASH):
        raise NotCanonical(
            "not a skeleton: prev is zero for seq 1 and for no other",
            hint="these bytes were not written by this format; fetch the event again from a peer",
        )
    if event.body is not None:
        check_body(skeleton, event.salt or b"", event.body)
    mine = Event(event.raw, event.salt if event.body is not None else None, event.body)
    vars(mine)["skeleton"] = skeleton
    return mine


def _located(error: BeliefbaseError, raw: bytes) -> BeliefbaseError:
    try:
        fields = unpack_trusted(raw)
    except ValueError:
        return error
    if isinstance(fields, tuple) and len(fields) > 2 and isinstance(fields[1], bytes) and type(fields[2]) is int:
        where = f"writer {fields[1].hex()}, seq {fields[2]}: "
        return type(error)(where + str(error), hint=error.hint, **error.data, writer=fields[1], seq=fields[2])
    return error


class Merger:
    """Takes in pages of checked events, one transaction each, and keeps the report of one merge."""

    def __init__(self) -> None:
        self.report = MergeReport()
        self._forks: dict[tuple[bytes, int], Fork] = {}
        self._aside: dict[bytes, bytes] = {}

    def take(self, transaction: LogTransaction, page: Sequence[Event]) -> None:
        """Store what is new in a page, and what was kept aside for it."""
        placing = _Placing(transaction)
        erased, refused = transaction.erased, transaction.refused
        unique: dict[bytes, Event] = {}
        for event in page:
            digest = event.hash
            other = unique.get(digest)
            if other is not None:
                self.report.known += 1
            if other is None or other.body is None:
                unique[digest] = event
        placing.open({event.skeleton.writer for event in unique.values()})
        fresh = [event for event in unique.values() if not self._known(placing, event)]
        tables = transaction.tables
        if tables.has_aside():
            words = tables.aside_words([event.hash for event in fresh if event.body is None])
            for event in fresh:
                event.salt, event.body = words.get(event.hash, (event.salt, event.body))
        clashing = transaction.clashing(fresh)
        placing.place([event for event in fresh if event not in clashing] if clashing else fresh)
        self._note_forks(placing)
        waiting = [*placing.waiting(), *clashing]
        if tables.has_aside():
            tables.drop_aside(placing.digests)
        if waiting or tables.has_aside():
            transaction.strip(waiting)
        if waiting:
            new = tables.put_aside([_aside_row(event) for event in waiting])
            self.report.known += len(waiting) - new
        self.report.stored += len(placing.digests)
        self._aside.update((event.hash, event.skeleton.writer) for event in waiting)
        for digest in placing.digests:
            self._aside.pop(digest, None)
        self.report.words_erased += transaction.erased - erased
        self.report.words_refused += transaction.refused - refused

    def finish(self, tables: Tables) -> None:
        """Complete the report with what is wanted, after the last page."""
        report = self.report
        report.aside = len(self._aside)
        report.forks = [self._forks[place] for place in sorted(self._forks)]
        if self._aside:
            writers = set(self._aside.values())
            report.gaps = [gap for gap in tables.gaps() if gap.writer in writers]

    def _known(self, placing: _Placing, event: Event) -> bool:
        found = placing.stored(event)
        if found is None:
            return False
        self.report.known += 1
        position, has_words = found
        if event.body is not None and not has_words:
            self.report.words_filled += placing.transaction.fill(position, event)
        return True

    def _note_forks(self, placing: _Placing) -> None:
        for writer, seq in placing.forked():
            self._forks[writer, seq] = _fork(placing.transaction.tables, placing.branches[writer], writer, seq)


def forks_of(tables: Tables, writer: bytes) -> list[Fork]:
    """Every seq of a writer under which more than one event is stored."""
    branches = tables.branches([writer])[writer]
    covered = Counter(seq for branch in branches.values() for seq in range(branch.first, branch.seq + 1))
    return [_fork(tables, branches, writer, seq) for seq in sorted(covered) if covered[seq] > 1]


def _fork(tables: Tables, branches: Mapping[str, Branch], writer: bytes, seq: int) -> Fork:
    found = (tables.at(branch.stream, seq) for branch in branches.values() if branch.covers(seq))
    return Fork(writer, seq, tuple(sorted(skeleton_hash(at.raw)[:ID_BYTES] for at in found if at is not None)))


class _Placing:
    """Finds the branch of every new event of a page: a head that it continues, a fork it makes, or none yet."""

    def __init__(self, transaction: LogTransaction) -> None:
        self.transaction = transaction
        self.branches: dict[bytes, dict[str, Branch]] = {}
        self.digests: dict[bytes, tuple[bytes, int, str]] = {}
        """What was placed: hash to (writer, seq, stream)."""
        self._waiting: dict[bytes, list[Event]] = {}

    def open(self, writers: set[bytes]) -> None:
        """Get ready for events of these writers."""
        self.branches = self.transaction.copied_branches(writers)

    def stored(self, event: Event) -> tuple[int, bool] | None:
        """Position of an event that is stored already, and whether its words are."""
        skeleton = event.skeleton
        for branch in self.branches[skeleton.writer].values():
            if branch.covers(skeleton.seq):
                found = self.transaction.tables.at(branch.stream, skeleton.seq)
                if found is not None and found.raw == event.raw:
                    return found.position, found.has_words
        return None

    def place(self, events: Sequence[Event]) -> None:
        """Store events whose predecessor is stored, then those kept aside for one of them, and so on."""
        transaction = self.transaction
        take_aside = transaction.tables.has_aside()
        while events:
            placed = self._place(events)
            transaction.store(placed, self.branches)
            if not take_aside:
                return
            self.open(set(self.branches))
            hashes = [event.hash for _, event in placed]
            found = [event for event in transaction.tables.aside_after(hashes) if self._is_next(event)]
            clashing = transaction.clashing(found)
            events = [event for event in found if event not in clashing]

    def waiting(self) -> list[Event]:
        """The events whose predecessor isn't stored."""
        return [event for events in self._waiting.values() for event in events]

    def forked(self) -> list[tuple[bytes, int]]:
        """Every (writer, seq) of a placed event that has others beside it."""
        return sorted(
            {
                (writer, seq)
                for writer, seq, _ in self.digests.values()
                if sum(branch.covers(seq) for branch in self.branches[writer].values()) > 1
            }
        )

    def _is_next(self, aside: Event) -> bool:
        skeleton = aside.skeleton
        before = self.digests[skeleton.prev][:2]
        return before == (skeleton.writer, skeleton.seq - 1) and aside.hash not in self.digests

    def _place(self, events: Sequence[Event]) -> list[Placed]:
        placed: list[Placed] = []
        for event in events:
            stack = [event]
            while stack:
                candidate = stack.pop()
                skeleton = candidate.skeleton
                branch = self._branch(candidate)
                if branch is None:
                    self._waiting.setdefault(skeleton.prev, []).append(candidate)
                    continue
                branch.seq, branch.hash = skeleton.seq, candidate.hash
                self.digests[branch.hash] = (branch.writer, branch.seq, branch.stream)
                placed.append(Placed(branch.stream, candidate))
                stack += reversed(self._waiting.pop(branch.hash, ()))
        return placed

    def _branch(self, event: Event) -> Branch | None:
        skeleton = event.skeleton
        branches = self.branches[skeleton.writer]
        branch = continued(branches, skeleton)
        if branch is not None:
            return branch
        if skeleton.seq == 1:
            return begun(branches, event, None)
        parent = self._stream_of(skeleton.writer, skeleton.seq - 1, skeleton.prev)
        return None if parent is None else begun(branches, event, parent)

    def _stream_of(self, writer: bytes, seq: int, digest: bytes) -> str | None:
        """The stream of the stored event with this hash."""
        placed = self.digests.get(digest)
        if placed is not None:
            return placed[2] if placed[:2] == (writer, seq) else None
        for branch in self.branches[writer].values():
            if branch.covers(seq):
                found = self.transaction.tables.at(branch.stream, seq)
                if found is not None and skeleton_hash(found.raw) == digest:
                    return branch.stream
        return None


def _aside_row(event: Event) -> tuple[bytes, bytes, int, bytes, bytes, bytes | None, bytes | None]:
    skeleton = event.skeleton
    return (
        event.hash,
        skeleton.writer,
        skeleton.seq,
        skeleton.prev,
        event.raw,
        event.salt,
        event.body,
    )
