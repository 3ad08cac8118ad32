"""Readers: whose lives and flags depend on a life that may have changed; slices, seen from the other end."""

from __future__ import annotations

from collections.abc import Collection

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.beliefs.paths import components, edges_from, edges_into
from beliefbase.beliefs.rules import passes_entry
from beliefbase.beliefs.slices import never_mature
from beliefbase.events.catalog import Role


class Readers:
    """Collects readers; what it was told about a belief once need not be told again."""

    def __init__(self, lookups: Lookups) -> None:
        self.loud: set[bytes] = set()
        """Beliefs whose lives may have changed, by any of their ids."""
        self.flagged: set[bytes] = set()
        """Beliefs of which only flags may have changed."""
        self.below: set[bytes] = set()
        """Beliefs below one that may have risen: what they would replace may wait for that."""
        self._lookups = lookups
        self._linked: list[bytes] = []
        self._ahead: dict[bytes, set[bytes]] = {}
        """Beliefs from which everything above was walked, to what would replace them."""
        self._cycle: dict[bytes, set[bytes]] = {}
        """Of these, those with which each may form cycles, itself included."""

    def of(self, belief: bytes, *, linked: bool, appeared: bool, waited_for: bool) -> Task[None]:
        """Collect the readers of an entity's life.

        ``linked`` says that it is replaced or merged otherwise than before; ``appeared`` that it wasn't known by all
        its names, and ``waited_for`` that it wasn't active, before anything changed: otherwise what it replaces
        doesn't read it.
        """
        copies = yield from self._lookups.entity(belief)
        ids = [copy.id for copy in copies]
        yield from self._partners((yield from self._lookups.acting_on(copies)))
        for fact in (yield Need(Role.INPUT, tuple(ids))):
            self.loud.add(fact.payload["belief_id"])
        if appeared or waited_for:
            for edge in (yield from edges_into(self._lookups, [belief])):
                if appeared:
                    self.loud.add(edge.target)
                else:
                    self._lookups.spawn(self._target(edge.target, edge.fact))
        if linked:
            self._linked.append(belief)

    def likely(self, belief: bytes) -> Task[None]:
        """Collect who may be met on the way from an entity's life, however it changed."""
        yield from self.of(belief, linked=False, appeared=True, waited_for=False)

    def _partners(self, acting: Collection[Fact]) -> Task[None]:
        raised = []
        for fact in acting:
            payload = fact.payload
            if fact.type == "belief.merged":
                self.loud.update((payload["duplicate_id"], payload["surviving_id"]))
            elif fact.type == "belief.superseded":
                self._lookups.spawn(self._corrector(payload["superseding_id"]))
            elif fact.type == "contradiction.raised":
                raised.append(fact)
                self.flagged.update((payload["left"], payload["right"]))
        groups = yield from self._lookups.entities([fact.id for fact in raised])
        for copies in groups.values():
            self._lookups.spawn(self._contradicted(copies))

    def _corrector(self, belief: bytes) -> Task[None]:
        """A superseder, if it may ever count as a correction: it takes its half-life from its targets."""
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        if any(
            fact.payload.get("speech_act") == "correction" or fact.type == "belief.merged" for fact in copies + acting
        ):
            self.loud.add(belief)

    def _contradicted(self, copies: list[Fact]) -> Task[None]:
        if (yield from self._lookups.acting_on(copies)):
            for copy in copies:
                self.loud.update((copy.payload["left"], copy.payload["right"]))

    def _target(self, belief: bytes, by: Fact) -> Task[None]:
        """A belief that would be replaced: one that can't ever be active doesn't wait for its superseder to be."""
        if belief in self.loud:
            return
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        if by.type != "belief.superseded" or not never_mature(copies, acting):
            self.loud.add(belief)

    def step_below(self, belief: bytes) -> Task[None]:
        """Follow the edges that end at a belief: the targets of those that may wait, and what lies below these."""
        for edge in (yield from edges_into(self._lookups, [belief])):
            self._lookups.spawn(self._below(edge.target))

    def _below(self, belief: bytes) -> Task[None]:
        """One that enters as active is not waited for by those that it supersedes, but a resolution needs it live."""
        if belief in self.below:
            return
        self.below.add(belief)
        copies = yield from self._lookups.entity(belief)
        for edge in (yield from edges_into(self._lookups, [belief])):
            if edge.fact.type == "contradiction.resolved" or not passes_entry(copies[0].payload):
                self._lookups.spawn(self._target(edge.target, edge.fact))

    def above(self) -> Task[None]:
        """Along what would replace the beliefs with other links: conclusions that may replace their own inputs, cycles.

        To be asked once everybody was told.
        """
        walked: dict[bytes, set[bytes]] = {}
        frontier = [belief for belief in dict.fromkeys(self._linked) if belief not in self._ahead]
        while frontier:
            edges = yield from edges_from(self._lookups, frontier)
            walked.update((belief, set()) for belief in frontier)
            for edge in edges:
                walked[edge.target].add(edge.by)
            further = dict.fromkeys(edge.by for edge in edges)
            frontier = [belief for belief in further if belief not in walked and belief not in self._ahead]
        self._ahead |= walked
        groups = yield from self._lookups.entities(list(walked))
        for fact in (yield Need(Role.STATE, tuple(copy.id for copies in groups.values() for copy in copies))):
            if fact.type == "conclusion.derived":
                self.loud.add(fact.payload["belief_id"])
        for members in components(walked):
            self._cycle.update(dict.fromkeys(members, members))
        for belief in self._linked:
            self.loud |= self._cycle[belief]
        self._linked = []
