"""Readers: whose lives and flags depend on a life that may have changed; slices, seen from the other end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fitness import Fitness, Lives
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.beliefs.maturity import may_mature_otherwise, never_mature
from beliefbase.beliefs.past import Outcomes
from beliefbase.beliefs.paths import Edge, Passing, around, between, edges_from, edges_into
from beliefbase.beliefs.rules import passes_entry
from beliefbase.events.catalog import Role


class Readers:
    """Collects readers.

    ``had_risen`` tells whether it is known of a belief that nothing waited for it to rise just before a stamp.
    """

    def __init__(
        self, lookups: Lookups, outcomes: Outcomes, had_risen: Callable[[bytes, int], bool] = lambda _belief, _at: False
    ) -> None:
        self.loud: dict[bytes, int] = {}
        """Beliefs whose lives may have changed, by any of their ids, to the stamp from which on."""
        self.opened: dict[bytes, int] = {}
        """Those of which other replacements may act from a stamp on."""
        self.aged: set[bytes] = set()
        """Those that may have taken another half-life."""
        self.flagged: set[bytes] = set()
        """Beliefs of which only flags may have changed."""
        self._lookups = lookups
        self._outcomes = outcomes
        self._had_risen = had_risen
        self._below: dict[bytes, int] = {}
        """Beliefs below one that may have risen, to the stamp from which on."""
        self.replaced: set[bytes] = set()
        """Beliefs that are replaced otherwise than before."""

    def tell(self, beliefs: Iterable[bytes], since: int, *, opens: bool = True) -> None:
        """Note that the lives of beliefs may have changed from a stamp on; ``opens``: and which replacements act."""
        for belief in beliefs:
            for stamps in (self.loud, *([self.opened] if opens else ())):
                stamps[belief] = min(since, stamps.get(belief, since))

    def of(
        self,
        belief: bytes,
        since: int,
        *,
        appeared: bool,
        waited_for: bool,
        aged: bool = True,
        replacers: Collection[bytes] = (),
    ) -> Task[None]:
        """Collect the readers of an entity's life, which has changed from a stamp on.

        ``aged`` says that it has another half-life at some time, and ``replacers`` are those by which it is replaced
        otherwise than before: corrections take theirs from it. ``appeared`` says that it wasn't known by all its
        names, and ``waited_for`` that it wasn't active, before anything changed: otherwise what it replaces doesn't
        read it.
        """
        copies = yield from self._lookups.entity(belief)
        ids = [copy.id for copy in copies]
        acting = yield from self._lookups.acting_on(copies)
        yield from self._partners(acting, since)
        named = {fact.payload["superseding_id"] for fact in acting if fact.type == "belief.superseded"}
        for corrector in sorted(named if aged or appeared else set(replacers)):
            self._lookups.spawn(self._corrector(corrector, since))
        for fact in (yield Need(Role.INPUT, tuple(ids))):
            self.tell((fact.payload["belief_id"],), since)
        if appeared or waited_for:
            for edge in (yield from edges_into(self._lookups, [belief])):
                if appeared:
                    self.tell((edge.target,), since)
                else:
                    self._lookups.spawn(self._target(edge, since))

    def _partners(self, acting: Collection[Fact], since: int) -> Task[None]:
        raised = []
        for fact in acting:
            payload = fact.payload
            if fact.type == "belief.merged":
                self.tell((payload["duplicate_id"], payload["surviving_id"]), since)
            elif fact.type == "contradiction.raised":
                raised.append(fact)
                self.flagged.update((payload["left"], payload["right"]))
        groups = yield from self._lookups.entities([fact.id for fact in raised])
        for copies in groups.values():
            self._lookups.spawn(self._contradicted(copies, since))

    def _corrector(self, belief: bytes, since: int) -> Task[None]:
        """A superseder, if it may ever count as a correction: it takes its half-life from its targets."""
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        if any(
            fact.payload.get("speech_act") == "correction" or fact.type == "belief.merged" for fact in copies + acting
        ):
            self.aged.add(belief)
            self.tell((belief,), since, opens=may_mature_otherwise(copies, acting, since))

    def _contradicted(self, copies: list[Fact], since: int) -> Task[None]:
        if (yield from self._lookups.acting_on(copies)):
            for copy in copies:
                self.tell((copy.payload["left"], copy.payload["right"]), since)

    def _target(self, edge: Edge, since: int) -> Task[None]:
        """A belief that would be replaced: one that can't ever be active doesn't wait for its superseder to be."""
        fact, belief = edge.fact, edge.target
        decided = yield from self._outcomes.decided(fact, belief)
        if self.opened.get(belief, since + 1) <= since or (decided is not None and decided < since):
            return
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        if fact.type != "belief.superseded" or not never_mature(copies, acting):
            self.tell((belief,), since)

    def risen(
        self, belief: bytes, replacers: Collection[bytes], since: int, until: int, fitness: Fitness, lives: Lives
    ) -> Task[None]:
        """Collect what may wait for a belief to rise, unless it is as fit as before from one stamp until another.

        So it is if neither it is ever active nor anything above what replaces it otherwise than before (the
        ``replacers``), or if it was fit all the time by way of what hasn't changed.
        """
        if not self._outcomes.resolutions:
            gains = {belief} if any(life.ever for life in lives(belief) or ()) else replacers
            if (yield from fitness.never(gains, self._passing(since), lives, since, until)):
                return
            leans = yield from fitness.always(belief, since, until)
            if leans is not None:
                yield from self._waiting_above(next(iter(leans)), since)
                return
        yield from self.below(belief, since)

    def below(self, belief: bytes, since: int) -> Task[None]:
        """Collect what may wait for a belief to rise by way of others that it has replaced, in turn."""
        edges = yield from edges_into(self._lookups, [belief])
        for edge in (yield from self._passing(since)(edges)):
            if since < self._below.get(edge.target, since + 1):
                self._below[edge.target] = since
                self._lookups.spawn(self._waiting_for(edge.target, since))

    def _waiting_for(self, belief: bytes, since: int) -> Task[None]:
        """One that enters as active is not waited for by those that it supersedes, but a resolution needs it live."""
        copies = yield from self._lookups.entity(belief)
        for edge in (yield from edges_into(self._lookups, [belief])):
            outcome = self._outcomes.of(edge.fact)
            plain = passes_entry(copies[0].payload) or (outcome is not None and outcome.acts is True)
            if edge.fact.type != "belief.superseded" or not plain:
                self._lookups.spawn(self._target(edge, since))
        if not self._had_risen(belief, since):
            yield from self.below(belief, since)

    def relinked(self, belief: bytes, replacers: Collection[bytes], since: int, *, closes: bool) -> Task[None]:
        """Collect who depends on what replaces a belief, by which it is replaced otherwise from a stamp on.

        These are conclusions that may replace their own inputs and, where it ``closes`` any, beliefs whose
        replacement may close a cycle.
        """
        yield from self._waiting_above(belief, since)
        if not (closes or self._outcomes.past is None or self._outcomes.past.concluded()):
            return
        found = yield from around(self._lookups, belief, replacers, self._passing(since))
        if found.above is not None:
            edges = yield from edges_from(self._lookups, sorted(found.above))
            named = yield from self._naming(Role.STATE, found.above)
        else:
            edges = yield from edges_into(self._lookups, sorted(found.below or ()))
            named = yield from self._naming(Role.INPUT, found.below or ())
        self.tell((fact.payload["belief_id"] for fact in named if fact.type == "conclusion.derived"), since)
        for edge in edges if closes else ():
            decided = yield from self._outcomes.decided(edge.fact, edge.target)
            outcome = self._outcomes.of(edge.fact)
            waits = outcome is not None and outcome.acts is False
            if not waits and (decided is None or decided >= since):
                ends = [(by, edge.target) for by in replacers] if found.above is None else [(edge.by, belief)]
                for start, goal in ends:
                    if (yield from between(self._lookups, start, goal, self._passing(since))):
                        self.tell((edge.target,), since)

    def _waiting_above(self, belief: bytes, since: int) -> Task[None]:
        """A belief itself, if it has been active and something above it is now by way of it.

        One that would replace it, by what it has replaced in turn, waited while it was the only one that is active
        there; now that acts, and closes a cycle.
        """
        for edge in (yield from edges_from(self._lookups, [belief])):
            decided = yield from self._outcomes.decided(edge.fact, belief)
            if self._outcomes.of(edge.fact) is not None and (decided is None or decided > since):
                self.tell((belief,), since)

    def _passing(self, since: int) -> Passing:
        """Chooses the edges that may be in force at a stamp or later."""
        return lambda edges: self._outcomes.in_force(edges, since, self.replaced)

    def _naming(self, role: Role, entities: Collection[bytes]) -> Task[list[Fact]]:
        groups = yield from self._lookups.entities(sorted(entities))
        return (yield Need(role, tuple(copy.id for copies in groups.values() for copy in copies)))
