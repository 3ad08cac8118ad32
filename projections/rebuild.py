"""All tables from nothing: one pass over the log for the events, one for the beliefs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from beliefbase.beliefs.collector import paused
from beliefbase.events.log import EventLog
from beliefbase.projections.beside import Beside
from beliefbase.projections.folding import fold_sets
from beliefbase.projections.heads import Heads
from beliefbase.projections.loading import ROWS, Loader
from beliefbase.projections.merging import Names, note_copies
from beliefbase.projections.partition import Plan, Sets
from beliefbase.projections.reading import Reader
from beliefbase.projections.work import WorkDatabase

PAGE: Final = 20_000
"""Events that are read at once: for fewer, a step for all of them costs too much."""

Progress = Callable[[str, int], None]
"""Told what is being done (reading, folding) and how many events or beliefs were."""


class Reached(NamedTuple):
    """How far a log was read."""

    position: int
    root: bytes
    events: int
    newest_hlc: int
    """The largest stamp."""


def rebuild(log: EventLog, work: WorkDatabase, folder: Path, progress: Progress) -> Reached:
    """Make all tables and views in an empty database from a log; ``folder`` is for files that are needed meanwhile.

    What arrives meanwhile may be in some tables and not in others: refresh afterwards.

    Raises:
        FoldingFailed: a second process, which folds the beliefs of a large log, ended otherwise than it should.
    """
    beside = Beside.of(log, folder)
    try:
        with work.transaction():
            work.create()
        # Not in one transaction: DuckDB would hold all of it in memory, and nobody opens the file before its end.
        with paused():
            reached = _read(log, work, progress, beside.go if beside is not None else lambda: None)
            if beside is None:
                reader = Reader(log)
                sets = Sets(log, reader, Plan.of(log, reader))
                fold_sets(log, work, sets, range(len(sets)), progress)
            else:
                beside.help(log, work, progress)
            with work.transaction():
                work.create_views()
            if beside is not None:
                beside.take_over(work)
    finally:
        if beside is not None:
            beside.stop()
    return reached


def _read(log: EventLog, work: WorkDatabase, progress: Progress, begun: Callable[[], None]) -> Reached:
    """Fill the tables of events, and those of the frontier and of copies.

    ``begun`` is told once that whoever looks at the log from then on sees all that is read here.
    """
    reader, loader, heads, names = Reader(log), Loader(work, resolve=False, at_once=ROWS), Heads(), Names(work)
    position = events = newest = 0
    for stored in log.scan(limit=PAGE):
        if not position:
            begun()
        page = reader.side_by_side(stored)
        heads.follow(page)
        loader.add_events(page)
        for batch in page.batches:
            names.add(batch)
        position = stored[-1][0]
        events += len(stored)
        newest = max(newest, page.newest)
        progress("reading", events)
    loader.finish()
    root = heads.store(work)
    note_copies(work, names.copies())
    return Reached(position, root, events, newest)
