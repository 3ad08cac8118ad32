"""A table of beliefs that refolding what each batch touches keeps, checked against folds of the whole log."""

from __future__ import annotations

from collections.abc import Sequence

from tests.beliefs.dict_source import DictSource
from tests.beliefs.folded_before import FoldedBefore

from beliefbase.beliefs.dependents import Refold, refold
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.reasons import Note
from beliefbase.beliefs.rules import FOREVER, Rules


def row(life: Life) -> object:
    """All that a projection shows of a belief."""
    return life.faces, life.intervals, life.ever, life.endings, life.half_life, life.affirmed, life.promotions


def remarks(folded: Fold) -> dict[bytes, set[Note]]:
    """Event to the notes about it."""
    found: dict[bytes, set[Note]] = {}
    for note in folded.notes:
        found.setdefault(note.event, set()).add(note)
    return found


class Table:
    """Rows and remarks, kept by refolding what each batch touches."""

    def __init__(self, how: Rules, *, horizon_known: bool = True, past_known: bool = True) -> None:
        self.rows: dict[bytes, object] = {}
        self.notes: dict[bytes, set[Note]] = {}
        self.refolded = self.changed = self.total = 0
        self._how = how
        self._horizon_known = horizon_known
        self._past_known = past_known
        self._source = DictSource()

    def arrive(self, batch: Sequence[Fact]) -> None:
        """Take in a batch, and compare everything with a fold of the whole log."""
        stamps = [fact.hlc for fact in self._source.facts.values()]
        before = fold(self._source.facts.values(), self._how)
        self._source.add(batch)
        whole = fold(self._source.facts.values(), self._how)
        expected = {belief: row(life) for belief, life in whole.lives.items()}
        horizon = max(stamps, default=0) if self._horizon_known else FOREVER
        result = refold(
            self._source, batch, self._how, horizon=horizon, past=FoldedBefore(before) if self._past_known else None
        )
        if result.everything:
            self.rows, self.notes = expected, remarks(whole)
        self.refolded += len(result.lives)
        self.changed += sum(self.rows.get(belief) != new for belief, new in expected.items())
        self.total += len(expected)
        self._take(result)
        assert self.rows == expected
        assert self.notes == remarks(whole)

    def _take(self, result: Refold) -> None:
        for belief in result.gone:
            del self.rows[belief]
        self.rows.update((belief, row(life)) for belief, life in result.lives.items())
        for event, notes in result.notes.items():
            self.notes.pop(event, None)
            if notes:
                self.notes[event] = set(notes)
