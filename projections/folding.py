"""All beliefs folded from nothing, set by set."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from beliefbase.beliefs.fold import fold
from beliefbase.events.log import EventLog
from beliefbase.projections.loading import ROWS, Loader
from beliefbase.projections.partition import Sets
from beliefbase.projections.work import WorkDatabase


def fold_sets(
    log: EventLog, work: WorkDatabase, sets: Sets, numbers: Iterable[int], progress: Callable[[str, int], None]
) -> None:
    """Add the beliefs of some sets of a log's facts, and remarks about them, to their tables."""
    loader, beliefs, erased = Loader(work, resolve=False, at_once=ROWS), 0, log.erased()
    for number in numbers:
        facts, context = sets[number]
        folded = fold(facts + context, erased={fact.id: erased[fact.id] for fact in facts if fact.id in erased})
        loader.add_lives(list(folded.lives.values()))
        loader.add_notes(folded.notes, facts)
        beliefs += len(folded.lives)
        progress("folding", beliefs)
        folded.dissolve()
        del facts, context, folded
    loader.finish()
