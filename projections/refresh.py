"""What new events change in the tables, at a cost that depends on them and hardly on the log.

New rows are found behind the last position, or, where a log's positions hide some, by comparing frontiers. Either is
a hint: the root over the heads that the projector follows must come out as the log's own, or everything is rebuilt.
All changes go into one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefbase.beliefs.arrivals import RULE_CHANGING
from beliefbase.beliefs.dependents import refold
from beliefbase.beliefs.facts import Fact
from beliefbase.events.envelope import Event
from beliefbase.events.log import EventLog
from beliefbase.projections.before import TablesBefore
from beliefbase.projections.heads import Heads, buckets_of, heads_in
from beliefbase.projections.loading import Loader, belief_tables, note_tables
from beliefbase.projections.merging import copies_of, note_copies
from beliefbase.projections.partition import KEPT
from beliefbase.projections.reading import Page, Reader
from beliefbase.projections.rebuild import Reached
from beliefbase.projections.row_batch import RowBatch
from beliefbase.projections.source import LogSource
from beliefbase.projections.work import WorkDatabase

_PAGE = 5_000
_LARGE = 5_000
"""From so many events, a batch that is a twentieth of the log or more is rebuilt: late or not, a refresh with it takes
about as long (0.6 of a rebuild at 20k events, twice one at 100k, if all are late)."""
_MANY = 20_000
"""From so many facts, a batch on which a twentieth of the log hangs is rebuilt: a fact that has to be looked up and
folded again takes ten times what it takes in a rebuild."""


class RebuildNeeded(Exception):
    """The tables can't be brought up to date by what is new."""


class Refreshed(NamedTuple):
    """What a refresh did."""

    reached: Reached
    events: int
    beliefs: int


class Arrivals:
    """The events that arrived since the tables were last up to date.

    ``log`` must stand still (:meth:`EventLog.still`): what arrives meanwhile would be in some tables and not in others.
    ``gives_up`` says whether all is to be rebuilt where much hangs on them (ADR 0032); not where it just was, or a log
    that is written to might be rebuilt for ever.
    """

    def __init__(self, log: EventLog, work: WorkDatabase, meta: dict[str, Any], *, gives_up: bool) -> None:
        self._log = log
        self._work = work
        self._meta = meta
        self._most = max(_MANY, meta["events"] // 20) if gives_up else None
        self._reader = Reader(log)
        self._source = LogSource(log, self._reader)
        self._position: int = meta["position"]
        self._events: list[Event] = []

    def apply(self) -> Refreshed | None:
        """Bring the tables up to date, inside a transaction of the caller's; None where nothing is new.

        Raises:
            RebuildNeeded: the log isn't the one that the tables were made from, or the batch changes too much.
        """
        if self._log.reworded() != self._meta["reworded"]:
            raise RebuildNeeded
        self._read()
        page, heads = self._reader.read(self._events), Heads()
        heads.follow(page)
        root = self._log.root()
        if not self._events and self._meta["root"] == root.hex():
            return None
        if heads.store(self._work) != root:
            raise RebuildNeeded
        return self._apply(page, root)

    def _read(self) -> None:
        for events in self._new():
            self._events += events
            if len(self._events) >= max(_LARGE, self._meta["events"] // 20):
                raise RebuildNeeded

    def _new(self) -> Iterator[list[Event]]:
        """Pages of the events behind the position; where it hides some, of those that the tables' frontier lacks."""
        if self._log.in_order:
            for page in self._log.read(self._position, limit=_PAGE):
                self._position = page[-1].position
                yield [stored.event for stored in page]
        else:
            self._position = self._log.last_position()
            known, now = buckets_of(self._work), self._log.buckets()
            differing = {bucket for bucket in known.keys() | now.keys() if known.get(bucket) != now.get(bucket)}
            yield from self._log.since(heads_in(self._work, differing), differing)

    def _apply(self, page: Page[RowBatch], root: bytes) -> Refreshed:
        self._refuse_renamed_writers()
        facts = [fact for batch in page.batches for fact in batch.facts()]
        if any(fact.type in RULE_CHANGING for fact in facts):
            raise RebuildNeeded
        beliefs = self._load(page, facts)
        newest = max(self._meta["newest_hlc"], page.newest)
        total = self._meta["events"] + len(self._events)
        return Refreshed(Reached(self._position, root, total, newest), len(self._events), beliefs)

    def _load(self, page: Page[RowBatch], facts: list[Fact]) -> int:
        work = self._work
        copies = copies_of(self._source, facts)
        note_copies(work, copies)
        loader = Loader(work, resolve=bool(work.rows("SELECT 1 FROM copies LIMIT 1")))
        without = {copy.id for copy in copies}
        loader.add_events(self._reader.read(self._events, without=without) if without else page)
        changed = refold(
            self._source,
            facts,
            horizon=self._meta["newest_hlc"],
            past=TablesBefore(self._work),
            erased=self._log.erased(),
            most=self._most,
        )
        if changed.everything:
            raise RebuildNeeded
        work.delete(belief_tables(), changed.lives.keys() | changed.gone)
        loader.add_lives(list(changed.lives.values()))
        work.delete(note_tables(), changed.notes.keys())
        remarks = [note for notes in changed.notes.values() for note in notes]
        ruled = [fact for fact in self._source.by_id({note.event for note in remarks}) if fact.type in KEPT]
        loader.add_notes(remarks, ruled)
        return len(changed.lives)

    def _refuse_renamed_writers(self) -> None:
        """A second first event of a writer can change the agent that all its events are shown under."""
        first = [event.skeleton.writer.hex() for event in self._events if event.skeleton.seq == 1]
        known = "SELECT 1 FROM frontier WHERE writer_id IN (SELECT unnest(?)) GROUP BY writer_id HAVING count(*) > 1"
        if first and (len(set(first)) < len(first) or self._work.rows(known, [first])):
            raise RebuildNeeded
