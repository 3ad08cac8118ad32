"""Slices of lives: the facts that fold the lives of some beliefs exactly as the whole log would.

A belief is needed in one of two depths, each with its own rule below:

- *birth*: that and when it exists; enough for a superseder that is active at birth and closes no cycle;
- *life*: when it is candidate, active and ended, its half-life, and what replaces it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.footings import Footings, User
from beliefbase.beliefs.lookups import Lookups, Need, Source, Task, presupposed
from beliefbase.beliefs.maturity import never_mature
from beliefbase.beliefs.past import Known
from beliefbase.beliefs.paths import Edge, Stamp, between, edges_from, edges_into, every, resolution_edges, stamp
from beliefbase.beliefs.rules import FOREVER, passes_entry
from beliefbase.beliefs.settled import Settled
from beliefbase.beliefs.settling import Settling, Superseding
from beliefbase.beliefs.shown import counting
from beliefbase.events.catalog import Role

_AGEING: Final = frozenset({"belief.reclassified", "belief.reinstated"})
"""Types that change half-lives, or what takes them."""


class _Closing(NamedTuple):
    """A search for what may lie between the ends of a replacement."""

    edge: Edge
    effect: Stamp
    """Where it takes effect at the earliest."""
    plain: bool
    """Whether that is where it does."""
    lone: bool
    """Whether it replaces nothing else by way of merges."""


class LifeSlice:
    """A set of facts that grows with the lives that are asked of it.

    Beside lives it decides when supersessions act and whether they are void.
    """

    def __init__(self, source: Source, known: Known) -> None:
        self.lookups = Lookups(source)
        self._outcomes = known.outcomes
        self._known_since = known.since
        self._reshaped = known.reshaped
        self._settling = Settling()
        self._footings = Footings(self.lookups, known._replace(since=self._since))
        self._climbed: dict[bytes, dict[bytes | None, int]] = defaultdict(dict)
        """Entities above which lives were taken in, to the users for whom, and the stamps from which on."""
        self._passed_over: dict[bytes, list[_Closing]] = defaultdict(list)
        """Entities to the searches for cycles that passed over replacements of them."""
        self._kept: dict[bytes, Fact] = {fact.id: fact for fact in source.everywhere()}
        self._living: dict[bytes, tuple[list[Fact], list[Fact]]] = {}
        """Entities whose life is needed: their copies, and the facts that act on them, as far as these are taken in."""
        self._faces: dict[bytes, int] = {}
        """All ids of beliefs to the stamp up to which what acts on them is taken in: others that would end them do
        nothing in a fold of the slice."""
        self._ageing: dict[bytes, set[bytes]] = defaultdict(set)
        """Entities of which only half-lives are needed, to the supersessions by which corrections take these."""
        self._started: set[tuple[Callable[[bytes], Task[None]], bytes]] = set()

    def _since(self, belief: bytes) -> int:
        """The stamp from which on a belief may live, or be replaced, otherwise than is known."""
        return min(self._known_since(belief), self._settling.doubted(belief))

    @property
    def facts(self) -> list[Fact]:
        """The facts of the slice, in order."""
        return sorted({**self._settling.triggers, **self._kept}.values())

    @property
    def settled(self) -> Settled:
        """What a fold of these facts is to be told."""
        inside = set().union(*self._ageing.values())
        outside = {
            fact.id
            for fact in self._kept.values()
            if fact.type == "belief.superseded"
            and fact.hlc > self._faces.get(fact.payload["superseded_id"], -1)
            and fact.id not in inside
        }
        ticks = outside | (self._settling.triggers.keys() - self._kept.keys())
        known = self._settling.settled(ticks)
        footings = self._footings
        return known._replace(
            void=known.void | footings.void, ever=footings.ever, fit=footings.fit, unfit=footings.unfit
        )

    def _start(self, rule: Callable[[bytes], Task[None]], key: bytes) -> None:
        if (rule, key) not in self._started:
            self._started.add((rule, key))
            self.lookups.spawn(rule(key))

    def _keep(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if fact.id not in self._kept:
                self._kept[fact.id] = fact
                if fact.ref is not None:
                    self._start(self._birth, fact.id)
                for key in presupposed(fact):
                    self._start(self._birth, key)

    def _birth(self, event_id: bytes) -> Task[None]:
        self._keep((yield from self.lookups.entity(event_id)))

    def _life(self, belief: bytes) -> Task[None]:
        copies = yield from self.lookups.entity(belief)
        self._keep(copies)
        if not copies or copies[0].type != "belief.extracted" or self._is_living(copies):
            return
        acting = yield from self.lookups.acting_on(copies)
        if not self._is_living(copies):
            self._live(copies, acting, FOREVER)

    def _standing(self, belief: bytes) -> Task[None]:
        """When a belief is there, ended or not: its life, up to where it is known to have been replaced for good."""
        copies = yield from self.lookups.entity(belief)
        if not copies or copies[0].type != "belief.extracted":
            return
        acting = yield from self.lookups.acting_on(copies)
        again = User(copies[0].id, lambda: self._life(belief))
        until = yield from self._footings.replaced(copies[0].id, again)
        if until is None or is_merged(acting):
            self._start(self._life, belief)
        elif not self._is_living(copies):
            self._keep(copies)
            self._live(copies, acting, until)

    def _is_living(self, copies: list[Fact]) -> bool:
        return self._faces.get(copies[0].id) == FOREVER

    def _live(self, copies: list[Fact], acting: list[Fact], until: int) -> None:
        """Take in what acts on a belief up to a stamp, and what that needs."""
        for copy in copies:
            self._faces[copy.id] = max(until, self._faces.get(copy.id, until))
        hopeless, merged = never_mature(copies, acting), is_merged(acting)
        acting = [fact for fact in acting if fact.hlc <= until]
        self._living[copies[0].id] = copies, acting
        for fact in (copies[0], *acting):
            payload = fact.payload
            if fact.type == "contradiction.raised":
                self._start(self._resolved, fact.id)
                continue
            self._keep((fact,))
            if "condition_key" in payload:
                self._start(self._conditions, payload["condition_key"])
            if fact.type == "belief.superseded":
                self.lookups.spawn(self._replaced(Superseding(fact, copies, hopeless, merged)))
            elif fact.type == "belief.merged":
                self._start(self._merged, fact.id)
            elif fact.type == "conclusion.derived":
                self._start(self._concluded, fact.id)
            elif fact.type == "belief.reclassified" and _corrects((fact,)):
                self._start(self._corrects_from_here_on, copies[0].id)
        if _corrects(copies[:1]):
            self._start(self._corrects, copies[0].id)

    def _above(self, belief: bytes, since: int, user: bytes | None) -> Task[None]:
        """The lives of a belief and of all that would replace it, in turn, as far as somebody needs them.

        That is, from a stamp on, to know whether something of it is active: only up to what is known to be fit all the
        time. Without a ``user``, all.
        """
        copies = yield from self.lookups.entity(belief)
        entity = copies[0].id if copies else belief
        asked = self._climbed[entity]
        if not copies or None in asked or asked.get(user, since + 1) <= since:
            return
        if user is not None:
            again = User(user, lambda: self._above(entity, since, user))
            if (yield from self._footings.is_fit(entity, since, again)):
                self._keep(copies)
                return
        asked[user] = since
        self._start(self._life, entity)
        unsettled = entity in self._settling.opened or is_merged((yield from self.lookups.acting_on(copies)))
        for edge in (yield from edges_from(self.lookups, [entity])):
            outcome = self._outcomes.of(edge.fact)
            if unsettled or outcome is None or not (outcome.acts is False or outcome.void):
                self.lookups.spawn(self._above(edge.by, since, user))

    # What is known of replacements

    def _replaced(self, by: Superseding) -> Task[None]:
        """One that replaces: where it is known what becomes of it, nothing but its birth."""
        outcome = self._outcomes.of(by.fact)
        decided = yield from self._outcomes.decided(by.fact, by.target[0].id)
        if by.merged or outcome is None or (outcome.acts is not False and decided is None):
            yield from self._superseded(by)
            return
        if isinstance(outcome.acts, bytes):
            trigger = self._settling.triggers[outcome.acts] = self.lookups.facts[outcome.acts]
            for key in presupposed(trigger):
                self._start(self._birth, key)
        self._start(self._birth, by.fact.payload["superseding_id"])
        if not self._settling.settle(by._replace(decided=decided), outcome):
            self._find_out(by)

    def _open(self, belief: bytes, since: int, noted: dict[bytes, int]) -> Task[None]:
        copies = yield from self.lookups.entity(belief)
        if copies and since < noted.get(copies[0].id, since + 1):
            noted[copies[0].id] = since
            if copies[0].id in self._ageing:
                self._start(self._life, copies[0].id)
            for by in self._settling.reopened(copies[0].id):
                self._find_out(by)
            for closing in self._passed_over.pop(copies[0].id, ()):
                self.lookups.spawn(self._cycle(closing))

    def _find_out(self, by: Superseding) -> None:
        self.lookups.spawn(self._superseded(by))
        for user, since in self._climbed[by.target[0].id].items():
            self.lookups.spawn(self._above(by.fact.payload["superseding_id"], since, user))

    # What a life reads

    def _superseded(self, superseding: Superseding) -> Task[None]:
        """One that replaces: its life only where the moment at which it does isn't plain from its birth."""
        fact, copies = superseding.fact, superseding.target
        by = fact.payload["superseding_id"]
        superseder = yield from self.lookups.entity(by)
        self._keep(superseder)
        if not superseder or superseder[0].type != "belief.extracted":
            return
        faces = (self.lookups.facts[named] for named in (fact.payload["superseded_id"], by))
        effect = max(map(stamp, (fact, copies[0], superseder[0], *faces)))
        edge, at = Edge(fact, copies[0].id, superseder[0].id), self._settling.waits(fact)
        closing = _Closing(edge, effect, plain=True, lone=not superseding.merged)
        again = User(copies[0].id, lambda: self._superseded(superseding))
        if passes_entry(superseder[0].payload) or superseding.hopeless:
            yield from self._cycle(closing)
        elif superseding.merged or self._outcomes.past is None:
            yield from self._above(superseder[0].id, 0, None)
        elif at <= effect[0] and (yield from self._footings.is_ready(superseder[0].id, effect[0], again)):
            yield from self._cycle(closing)
        else:
            later = max(effect[0], at)
            if (yield from self._footings.is_unfit(edge, later, again)):
                self._start(self._standing, superseder[0].id)
            else:
                self._start(self._life, superseder[0].id)
                yield from self._above(superseder[0].id, later, copies[0].id)
            yield from self._cycle(closing._replace(effect=(later, *effect[1:]), plain=False))

    def _cycle(self, closing: _Closing) -> Task[None]:
        """The lives of all through which a replacement may close a cycle where it takes effect."""

        def may_close(edges: list[Edge]) -> Task[list[Edge]]:
            found = []
            for edge in edges:
                if edge.fact.id == closing.edge.fact.id or (closing.plain and stamp(edge.fact) > closing.effect):
                    continue
                if (yield from self._is_not_in_force(edge, closing)):
                    self._passed_over[edge.target].append(closing)
                else:
                    found.append(edge)
            return found

        found = yield from between(self.lookups, closing.edge.by, closing.edge.target, may_close)
        again = User(closing.edge.target, lambda: self._cycle(closing))
        if found and closing.lone and (yield from self._footings.closes(closing.edge, closing.effect[0], again)):
            return
        for belief in found:
            self._start(self._life, belief)

    def _is_not_in_force(self, edge: Edge, closing: _Closing) -> Task[bool]:
        """Whether it is known that a replacement isn't in force where another one may close a cycle."""
        outcome, at = self._outcomes.of(edge.fact), closing.effect[0]
        if outcome is None:
            return False
        never = outcome.acts is False or outcome.void
        if not never and closing.plain:
            decided = yield from self._outcomes.decided(edge.fact, edge.target)
            never = decided is not None and decided > at
        if not never and outcome.undone is not None:
            over = yield from self._outcomes.over(outcome.undone)
            never = over < min(at, self._since(edge.target))
        return never and not self._settling.is_doubted(edge.target)

    def _merged(self, event_id: bytes) -> Task[None]:
        fact = self.lookups.facts[event_id]
        ends = yield from self.lookups.entities([fact.payload["surviving_id"], fact.payload["duplicate_id"]])
        for copies in ends.values():
            self._start(self._life, copies[0].id)
        if len(ends) == 2:
            survivor, duplicate = (ends[fact.payload[side]][0].id for side in ("surviving_id", "duplicate_id"))
            yield from self._cycle(_Closing(Edge(fact, duplicate, survivor), stamp(fact), plain=False, lone=False))

    def _resolved(self, event_id: bytes) -> Task[None]:
        """A contradiction, if any resolution of it is known."""
        copies = yield from self.lookups.entity(event_id)
        acting = yield from self.lookups.acting_on(copies)
        if acting:
            self._keep((*copies, *acting))
            self._start(self._life, copies[0].payload["left"])
            self._start(self._life, copies[0].payload["right"])
            for edge in (yield from resolution_edges(self.lookups, copies)):
                self.lookups.spawn(self._above(edge.by, 0, None))

    def _concluded(self, event_id: bytes) -> Task[None]:
        """The essential inputs, and what lies between them and the conclusion, which may itself replace them."""
        fact = self.lookups.facts[event_id]
        conclusion = yield from self.lookups.entity(fact.payload["belief_id"])
        for item in fact.payload["inputs"]:
            if item["role"] == "essential" and conclusion:
                copies = yield from self.lookups.entity(item["belief_id"])
                if copies:
                    self._start(self._life, copies[0].id)
                    self.lookups.spawn(self._lives_between(copies[0].id, conclusion[0].id))

    def _lives_between(self, belief: bytes, conclusion: bytes) -> Task[None]:
        for between_them in (yield from between(self.lookups, belief, conclusion, every)):
            self._start(self._life, between_them)

    def _conditions(self, key: bytes) -> Task[None]:
        self._keep(fact for fact in (yield Need(Role.STATE, (key,))) if fact.type == "condition.met")

    def _corrects(self, belief: bytes) -> Task[None]:
        """What a correction replaces: it takes its half-life from there."""
        edges = yield from edges_into(self.lookups, [belief])
        edges = [edge for edge in edges if edge.fact.type == "belief.superseded"]
        again = User(belief, lambda: self._corrects(belief))
        outpaced = yield from self._footings.outpaced(edges, again)
        for edge in edges:
            if edge.fact.id not in outpaced:
                self.lookups.spawn(self._corrected(edge.fact))

    def _corrected(self, fact: Fact) -> Task[None]:
        """A half-life that a correction takes, and from when until when it does."""
        copies = yield from self.lookups.entity(fact.payload["superseded_id"])
        acting = yield from self.lookups.acting_on(copies)
        outcome = self._outcomes.of(fact)
        decided = yield from self._outcomes.decided(fact, copies[0].id)
        unknown = outcome is None or (outcome.acts is not False and decided is None)
        if unknown or is_merged(acting) or self._settling.is_doubted(copies[0].id):
            self._start(self._life, copies[0].id)
            return
        self._ageing[copies[0].id].add(fact.id)
        self._keep((*copies, fact, *(other for other in acting if other.type in _AGEING)))
        yield from self._replaced(Superseding(fact, copies, hopeless=False, merged=False))
        if _corrects((*copies, *acting)):
            self._start(self._corrects, copies[0].id)

    def _corrects_from_here_on(self, belief: bytes) -> Task[None]:
        """Like :meth:`_corrects`, for a reclassification, which counts for the survivors of merges as well."""
        for member in (yield from self.lookups.family((belief,))):
            self._start(self._corrects, member)

    def _injections(self) -> Task[None]:
        """Where recurrences may promote, the sessions in which a belief had been shown don't count."""
        keys = tuple(counting(self._living))
        self._keep(fact for fact in (yield Need(Role.SHOWN, keys)) if fact.type == "memory.injected")


def _corrects(facts: Iterable[Fact]) -> bool:
    return any(fact.payload.get("speech_act") == "correction" for fact in facts)


def is_merged(acting: Iterable[Fact]) -> bool:
    """Whether what acts on a belief merges it with another one."""
    return any(fact.type == "belief.merged" for fact in acting)
