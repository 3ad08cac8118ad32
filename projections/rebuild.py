"""All tables from nothing: one pass over the log, then the beliefs, folded set by set."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from beliefbase.beliefs.fold import fold
from beliefbase.events.log import EventLog
from beliefbase.projections.errors import LogMoved
from beliefbase.projections.heads import Heads
from beliefbase.projections.loading import Loader
from beliefbase.projections.merging import Names, note_copies
from beliefbase.projections.partition import KEPT, Partition
from beliefbase.projections.reading import Reader
from beliefbase.projections.source import LogSource
from beliefbase.projections.work import WorkDatabase

PAGE = 50_000
_ROUNDS = 100
"""How often the log may be found to have moved on before that counts as a failure."""

Progress = Callable[[str, int], None]
"""Told what is being done (reading, folding) and how many events or beliefs were."""


class Reached(NamedTuple):
    """How far a log was read."""

    position: int
    root: bytes
    events: int
    newest_hlc: int
    """The largest stamp."""


class Pass:
    """A first pass over a log: fills the tables of events, and keeps what the fold needs."""

    def __init__(self, log: EventLog, work: WorkDatabase, progress: Progress) -> None:
        self._log = log
        self._work = work
        self._progress = progress
        self._reader = Reader(log)
        self._loader = Loader(work, resolve=False)
        self._heads = Heads()
        self._names = Names(work)
        self._partition = Partition()
        self._events = 0
        self._newest = 0

    def run(self) -> Reached:
        """Read the log to a frontier, and fill every table.

        Raises:
            LogMoved: the log was written to faster than it can be read.
        """
        with _collector_paused():
            position = self._read_to_a_frontier()
            root = self._heads.store(self._work)
            note_copies(self._work, self._names.copies())
            self._fold()
        return Reached(position, root, self._events, self._newest)

    def _read_to_a_frontier(self) -> int:
        position = 0
        for _ in range(_ROUNDS):
            before = position
            position = self._read(position)
            if self._heads.root() == self._log.root():
                return position
            if position == before and self._log.last_position() == position:
                break
        raise LogMoved(
            f"the log did not come to one frontier: read {self._events} events up to position {position}",
            hint="try again; if it stays so, run `beliefbase doctor`",
            position=position,
        )

    def _read(self, position: int) -> int:
        for stored in self._log.read(position, limit=PAGE):
            events = [event for _, event in stored]
            page = self._reader.read(events)
            self._heads.follow(events, page.skeletons)
            self._loader.add_events(page)
            for batch in page.batches:
                if batch.type in KEPT:
                    self._partition.add(batch.facts())
                self._names.add(batch)
            position = stored[-1].position
            self._events += len(events)
            self._newest = max(self._newest, *(skeleton.hlc for skeleton in page.skeletons))
            self._progress("reading", self._events)
        return position

    def _fold(self) -> None:
        loader = Loader(self._work, resolve=False)
        source = LogSource(self._log, self._reader)
        beliefs = 0
        for facts, context in self._partition.sets(source):
            folded = fold(facts + context)
            loader.add_lives(list(folded.lives.values()))
            loader.add_notes(folded.notes, facts)
            beliefs += len(folded.lives)
            self._progress("folding", beliefs)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Millions of facts hold no cycles; looking for some in them would take a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
