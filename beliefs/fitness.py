"""Fitness: whether a belief, or what replaced it in turn, is active, which is what waiting supersessions wait for.

A belief whose life has changed makes a difference to those that wait below it only if its fitness has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from beliefbase.beliefs.life import Life
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.beliefs.maturity import never_mature
from beliefbase.beliefs.past import Outcomes
from beliefbase.beliefs.paths import Edge, Passing, edges_from
from beliefbase.events.catalog import Role

Lives = Callable[[bytes], Collection[Life] | None]
"""The lives of a belief without and with the batch, if they may differ."""

_FAR: Final = 300
"""How many beliefs are looked at before the search is given up."""
_HARMLESS: Final = frozenset({"belief.affirmed", "belief.promoted"})
"""Types that end no active belief."""


class Fitness:
    """Looks up from a belief, along replacements that may be in force."""

    def __init__(self, lookups: Lookups, outcomes: Outcomes, passing: Passing, lives: Lives) -> None:
        self._lookups = lookups
        self._outcomes = outcomes
        self._passing = passing
        self._lives = lives

    def is_as_before(self, belief: bytes, replacers: Collection[bytes], since: int, until: int) -> Task[bool]:
        """Whether it is known that a belief is as fit with the batch as without, from one stamp until another.

        So it is if it is never active, nor anything above what replaces it otherwise than before, or if it was fit all
        the time by way of what hasn't changed.
        """
        if self._outcomes.past is None:
            return False
        gains = {belief} if any(life.ever for life in self._lives(belief) or ()) else replacers
        return (yield from self._never_active(gains, since, until)) or (yield from self._always(belief, since, until))

    def _never_active(self, beliefs: Collection[bytes], since: int, until: int) -> Task[bool]:
        """Whether neither these nor what replaced them in turn are ever active."""
        seen, frontier = set(beliefs), sorted(beliefs)
        while frontier and len(seen) < _FAR:
            if any(life.ever for node in frontier for life in self._lives(node) or ()):
                return False
            rows = self._rows(frontier).values()
            if any(row[0] <= until and since < row[1] for stretches in rows for row in stretches):
                return False
            frontier = list(
                dict.fromkeys(edge.by for edge in (yield from self._edges(frontier)) if edge.by not in seen)
            )
            seen.update(frontier)
        if frontier:
            return False
        for node in sorted(seen):  # of those that are active for a moment there is no row
            copies = yield from self._lookups.entity(node)
            if not never_mature(copies, (yield from self._lookups.acting_on(copies))):
                return False
        return True

    def _always(self, belief: bytes, since: int, until: int) -> Task[bool]:
        """Whether something unchanged that replaced a belief in turn is active from before one stamp to another."""
        seen, frontier = {belief}, [belief]
        while frontier and len(seen) < _FAR:
            for node, stretches in self._rows(frontier).items():
                throughout = any(row[0] < since and until < row[1] for row in stretches)
                if throughout and (yield from self._is_steady(node, since)):
                    return True
            edges, frontier = (yield from self._edges(frontier)), []
            for edge in edges:
                if edge.by not in seen and (yield from self._is_firm(edge, since)):
                    seen.add(edge.by)
                    frontier.append(edge.by)
        return False

    def _rows(self, beliefs: Collection[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        """When those of these that haven't changed were active."""
        past = self._outcomes.past
        unchanged = [belief for belief in beliefs if self._lives(belief) is None]
        return past.active(unchanged) if past is not None and unchanged else {}

    def _edges(self, beliefs: list[bytes]) -> Task[list[Edge]]:
        return (yield from self._passing((yield from edges_from(self._lookups, beliefs))))

    def _is_steady(self, belief: bytes, since: int) -> Task[bool]:
        """Whether nothing acts on an active belief from a stamp on that might end it, were it only for a moment."""
        acting = yield from self._lookups.acting_on((yield from self._lookups.entity(belief)))
        return all(fact.hlc < since or fact.type in _HARMLESS for fact in acting)

    def _is_firm(self, edge: Edge, since: int) -> Task[bool]:
        """Whether a replacement was in force before a stamp and is never undone."""
        decided = yield from self._outcomes.decided(edge.fact, edge.target)
        if decided is None or decided >= since:
            return False
        return not (yield Need(Role.LINK, (edge.fact.id,)))  # nothing undoes it
