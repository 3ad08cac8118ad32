"""Part (a) of the audit for a whole log: every stream, its words and its head, forks and gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from beliefbase.events.envelope import Event
from beliefbase.events.erasure import covered
from beliefbase.events.errors import BeliefbaseError, LogDamaged
from beliefbase.events.filed_pages import Irregular, Sweep
from beliefbase.events.frontier import frontier_root
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog, Filed, FiledHead, Filing, Fork, Gap, Head, Misindexed
from beliefbase.replay.branches import check_kept
from beliefbase.replay.chain import Surroundings, check_stream
from beliefbase.replay.report import AuditReport, Finding
from beliefbase.replay.streams import Streams
from beliefbase.replay.sweeping import Sweeping

Progress = Callable[[str, int], None]
"""Told now and then what is being done, and how far."""
STEP = 10_000
"""Events between two reports of progress."""


class Integrity:
    """Checks a log against itself, and writes what it finds into a report.

    ``since`` are heads up to which it was checked before: only what came after them is read. ``indexed`` says whether
    the log keeps an index that was not made just now; it is checked as well, but not with ``since``.
    """

    def __init__(
        self,
        log: EventLog,
        report: AuditReport,
        progress: Progress,
        *,
        since: Iterable[Head] | None = None,
        indexed: bool = False,
    ) -> None:
        self._log = log
        self._indexed = indexed and since is None
        self._since = None if since is None else {head.hash: head for head in since}
        self._report = report
        self._progress = progress
        self._erased: frozenset[bytes] | None = None
        self._missing_unknown = 0
        self._events = self._words = 0
        self._swept = False
        """Whether all of the log was read by the page, words without events included."""
        self._index_holds = False
        """Whether the index is known to be what the events give."""
        self._sound = True
        """False where the heads can't even be hashed."""
        self._branches: Mapping[str, FiledHead] = {}
        self.heads: tuple[Head, ...] = ()
        """The frontier that was looked at."""
        self.legible = True
        """False where bytes are so damaged that nothing else should try to read them."""

    def check(self) -> None:
        """Look at everything."""
        report = self._report
        try:
            with self._log.filing() as filing:
                self._streams(filing)
            if not report.damaged and self._since is None:
                report.add(self._erasures())
            if not report.damaged and self._indexed:
                report.add(self._index())
            if not report.damaged:
                report.add(_fork_notes(self._log.forks()))
                report.add(_gap_notes(self._log.gaps()))
        except LogDamaged as error:
            self.legible = False
            report.add([Finding("damage", "file", str(error))])
        if report.damaged:
            report.not_checked.append("index, forks and gaps: the log is damaged")
        if self._missing_unknown:
            report.not_checked.append(
                f"the missing words of {self._missing_unknown} events: the erasures of a damaged log can't be read"
            )

    def _streams(self, filing: Filing) -> None:
        report, known = self._report, self._since
        heads = self._kept(filing)
        around = Surroundings(self._stored, self._covered, self._mark_illegible)
        if known is None:
            seen = self._whole(filing, heads, around)
        else:
            seen = {stream for stream, head in heads.items() if head.hash not in known}
            for stream in sorted(seen):
                report.add(check_stream(stream, self._counted(filing.stream(stream)), heads[stream], around))
        report.checked |= {"events": self._events, "words": self._words, "streams": len(seen | heads.keys())}
        self.heads = tuple(sorted(heads.values()))
        if self._sound and frontier_root(self.heads) != filing.root():
            report.add([Finding("damage", "frontier", "the root that the store keeps is not that of its heads")])
        for event_id in filing.loose_words() if known is None and not self._swept else ():
            report.add([Finding("damage", "words", "words without an event", event=bytes(event_id).hex())])

    def _kept(self, filing: Filing) -> Mapping[str, Head]:
        """The heads, and whether they and what is kept beside them can be used at all."""
        branches = filing.branches()
        found = [finding for stream, kept in branches for finding in check_kept(stream, kept)]
        found += [Finding("damage", "settings", what) for what in filing.unusable()]
        self._branches, self._sound = dict(branches), not found
        self.legible = self.legible and self._sound
        self._report.add(found)
        return filing.heads()

    def _whole(self, filing: Filing, heads: Mapping[str, Head], around: Surroundings) -> set[str]:
        """All streams at once, in the order of the file, which is several times faster than one by one."""
        if filing.sweep is not None:
            seen = self._by_pages(filing, filing.sweep, heads, around)
            if seen is not None:
                return seen
        streams = Streams(heads, self._branches, around, filing)
        for stream, filed in filing.newest_first():
            self._count(1, filed.event.body is not None)
            self._report.add(streams.step(stream, filed))
        self._report.add(streams.finish())
        return streams.seen

    def _by_pages(
        self, filing: Filing, sweep: Sweep, heads: Mapping[str, Head], around: Surroundings
    ) -> set[str] | None:
        """The same several times faster; None, and nothing found, for a log that has to be read one by one."""
        streams = Streams(heads, self._branches, around, filing)
        sweeping = Sweeping(streams, sweep, self._coverage, self._count, indexed=self._indexed)
        before = self._missing_unknown, self.legible
        try:
            self._swept = sweeping.run()
        except Irregular:
            self._events = self._words = 0
            self._missing_unknown, self.legible = before
        except LogDamaged:
            self._report.include(sweeping.report)
            raise
        if not self._swept:
            return None
        self._report.include(sweeping.report)
        self._index_holds = sweeping.index_holds
        return streams.seen

    def _erasures(self) -> Iterator[Finding]:
        """What a store notes about erasures decides answers, so it must be what its events say."""
        return (_about("erasures", one) for one in self._log.misnoted())

    def _index(self) -> Iterator[Finding]:
        """What the index says decides what a refresh reads and what a revision takes for its basis."""
        if self._index_holds:
            self._progress("indexed", self._events)
            return
        read = self._log.misindexed(lambda read: self._progress("indexed", read))
        yield from (_about("index", one) for one in read)

    def _count(self, events: int, words: int) -> None:
        before = self._events // STEP
        self._events += events
        self._words += words
        if self._events // STEP > before:
            self._progress("checking", self._events)

    def _counted(self, filed: Iterable[Filed]) -> Iterator[Filed]:
        """What came after the last audit, and the event that it ended with."""
        for one in filed:
            self._count(1, one.event.body is not None)
            yield one
            if self._since is not None and one.event.hash in self._since:
                return

    def _stored(self, wanted: bytes) -> Event | None:
        try:
            event = self._log.get(wanted[:ID_BYTES])
        except TypeError:  # it is stored as something else than bytes, which its own stream's walk tells
            return None
        return event if event is not None and event.hash == wanted else None

    def _covered(self, event_id: bytes) -> bool:
        erased = self._coverage()
        if erased is None:
            self._missing_unknown += 1
            return True
        return event_id in erased

    def _coverage(self) -> frozenset[bytes] | None:
        """The ids of the events whose words an erasure covers; None where the log is too damaged to say."""
        if self._erased is None:
            try:
                self._erased = covered(self._log)
            except (BeliefbaseError, ValueError, TypeError, LookupError):
                return None
        return self._erased

    def _mark_illegible(self) -> None:
        self.legible = False


def _about(check: str, one: Misindexed) -> Finding:
    if one.event is None:
        return Finding("damage", check, one.what)
    skeleton = one.event.skeleton
    return Finding("damage", check, one.what, skeleton.writer.hex(), skeleton.seq, one.event.id.hex())


def _fork_notes(forks: Iterable[Fork]) -> Iterator[Finding]:
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


def _gap_notes(gaps: Iterable[Gap]) -> Iterator[Finding]:
    """Events kept aside until their predecessor comes."""
    for gap in gaps:
        what = f"kept aside until seq {gap.seq - 1} of its writer comes"
        yield Finding("note", "gaps", what, gap.writer.hex(), gap.seq, gap.event_id.hex())
