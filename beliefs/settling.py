"""Settling: which supersessions in a slice are taken as known, and which have to be found out after all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.past import Outcome
from beliefbase.beliefs.rules import FOREVER
from beliefbase.beliefs.settled import Settled


class Superseding(NamedTuple):
    """A supersession of a belief."""

    fact: Fact
    target: list[Fact]
    """The copies of the belief, the entity's own first."""
    hopeless: bool
    """Whether the belief can never be active."""
    merged: bool
    """Whether merges connect it with others."""
    decided: int | None = None
    """The stamp at which it is known to act or to be void; None if it waits for good, or that isn't known."""


class Settling:
    """Keeps what is known; whoever opens a belief finds out what is known of it no more."""

    def __init__(self) -> None:
        self.opened: dict[bytes, int] = {}
        """Entities to the stamp from which on nothing is settled."""
        self.matured: dict[bytes, int] = {}
        """Entities to the stamp from which on only those are settled that wait for good."""
        self.triggers: dict[bytes, Fact] = {}
        """The events with which settled supersessions act that are deferred."""
        self._outcomes: dict[bytes, Outcome] = {}
        self._of: dict[bytes, list[Superseding]] = defaultdict(list)
        """Entities to the supersessions of them."""
        self._waits: dict[bytes, int] = {}
        """Events that are settled no more but wait until a stamp."""

    def settle(self, by: Superseding, outcome: Outcome) -> bool:
        """Take an outcome as known; False if the belief was opened before."""
        entity = by.target[0].id
        self._of[entity].append(by)
        if self._is_open(entity, by):
            self._waits[by.fact.id] = self.doubted(entity)
            return False
        self._outcomes[by.fact.id] = outcome
        return True

    def waits(self, fact: Fact) -> int:
        """The stamp up to which it is known that a supersession waits, or isn't there."""
        return self._waits.get(fact.id, 0)

    def doubted(self, entity: bytes) -> int:
        """The stamp from which on some supersessions of an entity are settled no more."""
        return min(self.opened.get(entity, FOREVER), self.matured.get(entity, FOREVER))

    def is_doubted(self, entity: bytes) -> bool:
        """Whether some supersessions of an entity are settled no more."""
        return self.doubted(entity) < FOREVER

    def reopened(self, entity: bytes) -> list[Superseding]:
        """Those of an entity that are settled no more, or wait for less long than was thought."""
        doubted = self.doubted(entity)
        found = [by for by in self._of[entity] if self._is_open(entity, by) and self._waits.get(by.fact.id) != doubted]
        for by in found:
            self._outcomes.pop(by.fact.id, None)
            self._waits[by.fact.id] = doubted
        return found

    def settled(self, ticks: Collection[bytes]) -> Settled:
        """What a fold is to be told."""
        known = self._outcomes.items()
        return Settled(
            {event: outcome.acts for event, outcome in known if isinstance(outcome.acts, bool)},
            {event: outcome.acts for event, outcome in known if isinstance(outcome.acts, bytes)},
            {event for event, outcome in known if outcome.void},
            ticks,
            dict(self._waits),
            {},
            {},
            frozenset(),
        )

    def _is_open(self, entity: bytes, by: Superseding) -> bool:
        opened = self.opened.get(entity, FOREVER)
        if by.decided is None:
            return opened < FOREVER
        return by.decided >= self.doubted(entity)
