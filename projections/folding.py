"""All beliefs folded from nothing, set by set."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.lone import Courses
from beliefbase.events.log import EventLog
from beliefbase.projections.loading import ROWS, Loader
from beliefbase.projections.lone import taken_apart
from beliefbase.projections.partition import Sets
from beliefbase.projections.work import WorkDatabase


def fold_sets(
    log: EventLog, work: WorkDatabase, sets: Sets, numbers: Iterable[int], progress: Callable[[str, int], None]
) -> None:
    """Add the beliefs of some sets of a log's facts, and remarks about them, to their tables."""
    loader, courses, beliefs, erased = Loader(work, resolve=False, at_once=ROWS), Courses(), 0, log.erased()
    for number in numbers:
        if sets.is_lone(number):
            facts, context = list[Fact](), list[Fact]()
            for batch in sets.batches(number):
                stretches, others = taken_apart(batch, courses, erased)
                loader.add_stretches(stretches)
                beliefs += len(stretches.keys)
                facts += others
        else:
            facts, context = sets[number]
        folded = fold(facts + context, erased={fact.id: erased[fact.id] for fact in facts if fact.id in erased})
        loader.add_lives(list(folded.lives.values()))
        loader.add_notes(folded.notes, facts)
        beliefs += len(folded.lives)
        progress("folding", beliefs)
        folded.dissolve()
        del facts, context, folded
    loader.finish()
