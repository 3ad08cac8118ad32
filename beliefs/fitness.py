"""Fitness: whether a belief, or what replaced it in turn, is active, which is what waiting supersessions wait for.

A belief whose life has changed makes a difference to those that wait below it only if its fitness has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.beliefs.maturity import never_mature
from beliefbase.beliefs.past import Known
from beliefbase.beliefs.paths import Edge, Passing, edges_from
from beliefbase.events.catalog import Role

Lives = Callable[[bytes], Collection[Life] | None]
"""The lives of a belief without and with the batch, if they may differ."""

_FAR: Final = 300
"""How many beliefs are looked at before the search is given up."""
_HARMLESS: Final = frozenset({"belief.affirmed", "belief.promoted"})
"""Types that end no active belief."""
_RAISING: Final = frozenset({"belief.affirmed", "belief.extracted", "belief.promoted", "belief.reinstated"})
"""Types that may make a belief active where they act, and do nothing later."""
_LOWERING: Final = frozenset({"belief.demoted", "belief.retracted", "belief.superseded"})
"""Types that make no belief active."""
_UNSTEADY: Final = frozenset({"belief.merged", "belief.superseded", "conclusion.derived", "contradiction.raised"})
"""Types by which what others do may end a belief for a moment."""


class Fitness:
    """Looks up from beliefs, along replacements that may be in force."""

    def __init__(self, lookups: Lookups, known: Known) -> None:
        self._lookups = lookups
        self._outcomes = known.outcomes
        self._since = known.since
        self._reshaped = known.reshaped

    def never(self, beliefs: Collection[bytes], passing: Passing, lives: Lives, since: int, until: int) -> Task[bool]:
        """Whether neither these nor what replaced them in turn are ever active, from one stamp until another."""
        if self._outcomes.past is None:
            return False
        seen, frontier = set(beliefs), sorted(beliefs)
        while frontier and len(seen) < _FAR:
            if any(life.ever for node in frontier for life in lives(node) or ()):
                return False
            rows = self._active(frontier, until).values()
            if any(row[0] <= until and since < row[1] for stretches in rows for row in stretches):
                return False
            edges = yield from passing((yield from edges_from(self._lookups, frontier)))
            frontier = list(dict.fromkeys(edge.by for edge in edges if edge.by not in seen))
            seen.update(frontier)
        if frontier:
            return False
        for node in sorted(seen):  # of those that are active for a moment there is no row
            copies = yield from self._lookups.entity(node)
            acting = yield from self._lookups.acting_on(copies)
            if _is_utterance(copies) or not never_mature(copies, acting):
                return False
        return True

    def always(self, belief: bytes, since: int, until: int) -> Task[dict[bytes, int] | None]:
        """What a belief is fit by from before one stamp to another: itself, or something that replaced it in turn.

        These are the beliefs on the way there, each to the stamp up to which it must not change, for else it isn't
        known any more. No supersession of the last one ever acts. None if nothing is found.
        """
        if self._outcomes.past is None:
            return None
        below: dict[bytes, tuple[bytes, int]] = {}
        seen, frontier = {belief}, [belief]
        while frontier and len(seen) < _FAR:
            for node, stretches in self._active(frontier, until).items():
                throughout = any(row[0] < since and until < row[1] for row in stretches)
                if throughout and (yield from self._is_steady(node, since)):
                    return _leans(node, below, until)
            found, frontier = (yield from self.above(frontier, since)), []
            for edge, decided in found:
                if edge.by not in seen:
                    seen.add(edge.by)
                    frontier.append(edge.by)
                    below[edge.by] = edge.target, decided
        return None

    def ended(self, belief: bytes, since: int, until: int) -> Task[dict[bytes, int] | None]:
        """What a belief is not fit by from one stamp until another: itself and all that replaced it in turn.

        Each with the stamp up to which it must not change. None if that isn't known.
        """
        if self._outcomes.past is None:
            return None
        seen, frontier = {belief}, [belief]
        while frontier and len(seen) < _FAR:
            if any(self._since(node) <= until for node in frontier):
                return None
            rows = self._outcomes.active(frontier, self._lookups.facts.values()).values()
            if any(row[0] <= until and since <= row[1] for stretches in rows for row in stretches):
                return None
            for node in frontier:
                if not (yield from self._stays_ended(node, since)):
                    return None
            edges = yield from self._outcomes.in_force((yield from edges_from(self._lookups, frontier)), since, ())
            frontier = list(dict.fromkeys(edge.by for edge in edges if edge.by not in seen))
            seen.update(frontier)
        return None if frontier else dict.fromkeys(seen, until)

    def _stays_ended(self, belief: bytes, since: int) -> Task[bool]:
        """Whether a belief that isn't active before a stamp isn't from there on, not even for a moment."""
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        if _is_utterance(copies):
            return False
        if never_mature(copies, acting):
            return True
        if any(fact.type not in _RAISING | _LOWERING for fact in acting):
            return False
        raising = [*copies, *(fact for fact in acting if fact.type in _RAISING)]
        undone = yield Need(None, tuple(event for fact in raising for event in fact.payload.get("undoes", ())))
        if any(ending.ref is not None for ending in undone):  # with an earlier copy it would wait for that as well
            return False
        return (yield from self._outcomes.acts(raising)) < since

    def _active(self, beliefs: Collection[bytes], until: int) -> dict[bytes, list[tuple[int, int]]]:
        """When those of these were active that don't change up to a stamp."""
        unchanged = [belief for belief in beliefs if self._since(belief) > until]
        return self._outcomes.active(unchanged, self._lookups.facts.values())

    def _is_steady(self, belief: bytes, since: int) -> Task[bool]:
        """Whether nothing acts on an active belief from a stamp on that might end it, were it only for a moment."""
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        return not any("condition_key" in fact.payload for fact in (*copies, *acting)) and all(
            fact.type in _HARMLESS or (fact.hlc < since and fact.type not in _UNSTEADY) or self._never_acts(fact)
            for fact in acting
        )

    def _never_acts(self, fact: Fact) -> bool:
        outcome = self._outcomes.of(fact)
        return outcome is not None and (outcome.acts is False or outcome.void)

    def above(self, beliefs: Collection[bytes], since: int) -> Task[list[tuple[Edge, int]]]:
        """Some of what replaced beliefs before a stamp and for good, with its own stamp."""
        groups = yield from self._lookups.entities(sorted(beliefs))
        entity = {copy.id: copies[0].id for copies in groups.values() for copy in copies}
        acting = sorted((yield Need(Role.STATE, tuple(entity))))
        some = [fact for fact in acting if fact.hlc < since and self._is_in_force(fact)][:_FAR]
        groups = yield from self._lookups.entities([fact.payload["superseding_id"] for fact in some])
        edges = [
            Edge(fact, entity[fact.payload["superseded_id"]], groups[fact.payload["superseding_id"]][0].id)
            for fact in some
            if fact.payload["superseding_id"] in groups
        ]
        return (yield from self.firm(edges, since))

    def firm(self, edges: Collection[Edge], since: int) -> Task[list[tuple[Edge, int]]]:
        """Those of some replacements that are known to be in force before a stamp and for good, with theirs."""
        groups = yield from self._lookups.entities([edge.fact.id for edge in edges if self._is_in_force(edge.fact)])
        some = [edge for edge in edges if edge.fact.id in groups and groups[edge.fact.id][0].id == edge.fact.id]
        undoing = yield Need(Role.LINK, tuple(edge.fact.id for edge in some))
        undone = {(e, fact.payload["belief_id"]) for fact in undoing for e in fact.payload.get("undoes", ())}
        of = {edge.fact.id: edge.target for edge in some}
        lasting = of.keys() - {event for event, named in undone if event in of and self._are_one(named, of[event])}
        found = []
        for edge in some:
            decided = yield from self._outcomes.decided(edge.fact, edge.target)
            if edge.fact.id not in lasting or decided is None:
                continue
            if decided < min(since, self._since(edge.target)):
                found.append((edge, decided))
        return found

    def _are_one(self, named: bytes, belief: bytes) -> bool:
        """Whether what is said of one belief may concern the other."""
        return named == belief or self._reshaped is None or named in self._reshaped or belief in self._reshaped

    def _is_in_force(self, fact: Fact) -> bool:
        outcome = self._outcomes.of(fact)
        return outcome is not None and outcome.acts is not False and not outcome.void and outcome.undone is None


def _is_utterance(copies: Collection[Fact]) -> bool:
    """Whether this is no belief: what a contradiction was resolved for may be what was said, which never ends."""
    return any(copy.type != "belief.extracted" for copy in copies)


def _leans(active: bytes, below: dict[bytes, tuple[bytes, int]], until: int) -> dict[bytes, int]:
    """The active belief and those below it on the way to it, each up to when it matters."""
    leans, node = {active: until}, active
    while node in below:
        node, decided = below[node]
        leans[node] = max(decided, leans.get(node, 0))
    return leans
