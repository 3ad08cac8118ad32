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

    def settle(self, by: Superseding, outcome: Outcome) -> bool:
        """Take an outcome as known; False if the belief was opened before."""
        entity = by.target[0].id
        if self._is_open(entity, by):
            return False
        self._outcomes[by.fact.id] = outcome
        self._of[entity].append(by)
        return True

    def reopened(self, entity: bytes) -> list[Superseding]:
        """Those of an entity that were settled and are no more."""
        found = [by for by in self._of[entity] if self._is_open(entity, by)]
        self._of[entity] = [by for by in self._of[entity] if not self._is_open(entity, by)]
        for by in found:
            del self._outcomes[by.fact.id]
        return found

    def settled(self, ticks: Collection[bytes]) -> Settled:
        """What a fold is to be told."""
        known = self._outcomes.items()
        return Settled(
            {event: outcome.acts for event, outcome in known if isinstance(outcome.acts, bool)},
            {event: outcome.acts for event, outcome in known if isinstance(outcome.acts, bytes)},
            {event for event, outcome in known if outcome.void},
            ticks,
        )

    def _is_open(self, entity: bytes, by: Superseding) -> bool:
        opened = self.opened.get(entity, FOREVER)
        if by.decided is None:
            return opened < FOREVER
        return by.decided >= min(opened, self.matured.get(entity, FOREVER))
