"""Sides: what is known with a batch, and what was without it; each a slice that grows, and its fold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Erased, Fold, fold
from beliefbase.beliefs.rules import Rules
from beliefbase.beliefs.settled import NOTHING
from beliefbase.beliefs.slices import Slice


class Side:
    """What is known now, or was without some facts: a slice that grows, and its fold."""

    def __init__(self, facts: Slice, rules: Rules, erased: Erased, without: Collection[bytes] = ()) -> None:
        self._slice = facts
        self._rules = rules
        self._erased = erased
        self._without = without
        self._size = 0
        self._settled = NOTHING
        self.folded = fold((), rules)

    def know(
        self,
        beliefs: Collection[bytes],
        *,
        opened: Mapping[bytes, int] | None = None,
        matured: Mapping[bytes, int] | None = None,
        deciding: Iterable[Fact] = (),
    ) -> Fold:
        """A fold in which the lives of these beliefs, and when the facts in ``deciding`` act, are exact."""
        self._slice.add(lives=beliefs, deciding=deciding, opened=opened, matured=matured)
        return self._fold()

    def rows(self, beliefs: Collection[bytes], deciding: Iterable[Fact]) -> Fold:
        """Like :meth:`know`, with the flags of the beliefs."""
        self._slice.add(beliefs, deciding=deciding)
        return self._fold()

    def _fold(self) -> Fold:
        facts = [fact for fact in self._slice.facts if fact.id not in self._without]
        settled = self._slice.settled
        if len(facts) > self._size or settled != self._settled:
            self._size, self._settled = len(facts), settled
            erased = {fact.id: self._erased[fact.id] for fact in facts if fact.id in self._erased}
            self.folded = fold(facts, self._rules, erased=erased, settled=settled)
        return self.folded
