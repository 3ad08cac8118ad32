"""Slices: the facts that fold some beliefs exactly as the whole log would.

A belief is needed in one of three depths, each with its own rule below:

- *birth*: that and when it exists; enough for a superseder that is active at birth and closes no cycle;
- *life*: when it is candidate, active and ended, its half-life, and what replaces it;
- *rows*: its life with the flags that only readers see (contested, forked).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from beliefbase.beliefs.basis import decisive
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Source, Task, presupposed
from beliefbase.beliefs.maturity import never_mature
from beliefbase.beliefs.past import UNKNOWN, Outcome, Outcomes
from beliefbase.beliefs.paths import Edge, Stamp, between, edges_from, every, reached, resolution_edges, stamp
from beliefbase.beliefs.rules import may_promote, passes_entry
from beliefbase.beliefs.settled import Settled
from beliefbase.beliefs.settling import Settling, Superseding
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING

_UNSTEADY: Final = frozenset({"belief.demoted", "belief.reclassified"})


def slice_for(source: Source, beliefs: Collection[bytes]) -> list[Fact]:
    """The facts, in order, that fold these beliefs (ids of any copy) exactly as all facts would."""
    return Slice(source, beliefs).facts


class Slice:
    """A dependency-closed set of facts, which grows with what is asked of it, and what it took to find it.

    Beside rows and lives it decides when the facts in ``deciding`` act and whether they are void.
    """

    def __init__(self, source: Source, beliefs: Collection[bytes] = (), outcomes: Outcomes = UNKNOWN) -> None:
        self.lookups = Lookups(source)
        self._outcomes = outcomes
        self._settling = Settling()
        self._forwarded: set[bytes] = set()
        """Entities above which all lives were taken in, but for those that are known to replace nothing."""
        self._kept: dict[bytes, Fact] = {fact.id: fact for fact in source.everywhere()}
        self._living: dict[bytes, tuple[list[Fact], list[Fact]]] = {}
        """Entities whose life is needed: their copies, and the facts that act on them."""
        self._faces: set[bytes] = set()
        """All ids of these; what ends other beliefs does nothing in a fold of the slice."""
        self._started: set[tuple[Callable[[bytes], Task[None]], bytes]] = set()
        self.add(beliefs)

    @property
    def facts(self) -> list[Fact]:
        """The facts of the slice, in order."""
        return sorted({**self._settling.triggers, **self._kept}.values())

    @property
    def settled(self) -> Settled:
        """What a fold of these facts is to be told."""
        outside = {
            fact.id
            for fact in self._kept.values()
            if fact.type == "belief.superseded" and fact.payload["superseded_id"] not in self._faces
        }
        return self._settling.settled(outside | (self._settling.triggers.keys() - self._kept.keys()))

    def add(
        self,
        rows: Collection[bytes] = (),
        *,
        lives: Collection[bytes] = (),
        deciding: Iterable[Fact] = (),
        opened: Mapping[bytes, int] | None = None,
        matured: Mapping[bytes, int] | None = None,
    ) -> None:
        """Take in what the rows or the lives of more beliefs need, and whether more facts act.

        ``opened`` are beliefs with the stamps from which on other replacements of them may act than before;
        ``matured`` those that may only have become mature earlier, so that what waited waits still.
        """
        self.lookups.run(self._all(rows, lives, deciding, opened or {}, matured or {}))
        self.lookups.run(self._injections())

    def _all(
        self,
        rows: Collection[bytes],
        lives: Collection[bytes],
        deciding: Iterable[Fact],
        opened: Mapping[bytes, int],
        matured: Mapping[bytes, int],
    ) -> Task[None]:
        for stamps, noted in ((opened, self._settling.opened), (matured, self._settling.matured)):
            for belief, since in sorted(stamps.items()):
                self.lookups.spawn(self._open(belief, since, noted))
        for belief in sorted(rows):
            self._start(self._rows, belief)
        for belief in sorted(lives):
            self._start(self._life, belief)
        for fact in deciding:
            self._keep((fact,))
            self._decides(fact)
        yield from ()

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

    # Depths

    def _birth(self, event_id: bytes) -> Task[None]:
        self._keep((yield from self.lookups.entity(event_id)))

    def _life(self, belief: bytes) -> Task[None]:
        copies = yield from self.lookups.entity(belief)
        self._keep(copies)
        if not copies or copies[0].type != "belief.extracted" or copies[0].id in self._living:
            return
        acting = yield from self.lookups.acting_on(copies)
        if copies[0].id in self._living:
            return
        self._living[copies[0].id] = copies, acting
        self._faces.update(copy.id for copy in copies)
        hopeless, merged = never_mature(copies, acting), _is_merged(acting)
        for fact in (copies[0], *acting):
            payload = fact.payload
            if fact.type == "contradiction.raised":
                self._start(self._resolved, fact.id)
                continue
            self._keep((fact,))
            if "condition_key" in payload:
                self._start(self._conditions, payload["condition_key"])
            if fact.type == "belief.superseded":
                self.lookups.spawn(self._replaced(Superseding(fact, copies, hopeless), merged=merged))
            elif fact.type == "belief.merged":
                self._start(self._merged, fact.id)
            elif fact.type == "conclusion.derived":
                self._start(self._concluded, fact.id)
            elif fact.type == "belief.reclassified" and payload.get("speech_act") == "correction":
                self._start(self._corrects_from_here_on, copies[0].id)
        if copies[0].payload.get("speech_act") == "correction":
            self._start(self._corrects, copies[0].id)

    def _rows(self, belief: bytes) -> Task[None]:
        self._start(self._life, belief)
        members, acting = yield from self._family(belief)
        raised = [fact for fact in acting if fact.type == "contradiction.raised"]
        for fact in raised:
            self._start(self._contested, fact.id)
        for fact in acting:
            outcome = self._outcomes.of(fact)
            if outcome is not None and outcome.acts is not True:
                self._start(self._life, fact.payload["superseding_id"])  # while that lives it contests the belief
        revisions = yield from self._fates(members, acting, raised)
        if len(revisions) > 1:
            found = yield from decisive(self.lookups, revisions)
            self._keep(found.facts)
            for fact in (*found.deciders, *found.concurrent):
                self._decides(fact)

    def _forward(self, belief: bytes) -> Task[None]:
        """The lives of a belief and of all that would replace it, in turn."""
        copies = yield from self.lookups.entity(belief)
        if copies:
            entity = copies[0].id
            self._start(self._life, entity)
            merged = _is_merged((yield from self.lookups.acting_on(copies)))
            self._forwarded.add(entity)
            for edge in (yield from edges_from(self.lookups, [entity])):
                outcome = self._outcomes.of(edge.fact)
                if merged or entity in self._settling.opened or outcome is None or outcome.acts is not False:
                    self._start(self._forward, edge.by)

    # What is known of replacements

    def _replaced(self, by: Superseding, *, merged: bool) -> Task[None]:
        """One that replaces: where it is known what becomes of it, nothing but its birth."""
        outcome = self._outcomes.of(by.fact)
        decided = yield from self._outcomes.decided(by.fact, by.target[0].id)
        if merged or outcome is None or (outcome.acts is not False and decided is None):
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
            for by in self._settling.reopened(copies[0].id):
                self._find_out(by)

    def _find_out(self, by: Superseding) -> None:
        self.lookups.spawn(self._superseded(by))
        if by.target[0].id in self._forwarded:
            self._start(self._forward, by.fact.payload["superseding_id"])

    # What a life reads

    def _superseded(self, superseding: Superseding) -> Task[None]:
        """One that replaces: its life only where the moment at which it does isn't plain from its birth."""
        fact, copies, hopeless, _ = superseding
        by = fact.payload["superseding_id"]
        superseder = yield from self.lookups.entity(by)
        self._keep(superseder)
        if not superseder or superseder[0].type != "belief.extracted":
            return
        if passes_entry(superseder[0].payload) or hopeless:
            named = (fact.payload["superseded_id"], by)
            faces = (self.lookups.facts[i] for i in named)
            effect = max(map(stamp, (fact, copies[0], superseder[0], *faces)))
            yield from self._cycle(superseder[0].id, copies[0].id, fact, effect)
        else:
            self._start(self._forward, superseder[0].id)

    def _cycle(self, by: bytes, target: bytes, fact: Fact, effect: Stamp | None) -> Task[None]:
        """The lives of all through which the replacement may close a cycle where it takes effect."""

        def may_close(edges: list[Edge]) -> Task[list[Edge]]:
            yield from ()
            earlier = [edge for edge in edges if effect is None or stamp(edge.fact) <= effect]
            return [edge for edge in earlier if edge.fact.id != fact.id]

        for belief in (yield from between(self.lookups, by, target, may_close)):
            self._start(self._life, belief)

    def _merged(self, event_id: bytes) -> Task[None]:
        fact = self.lookups.facts[event_id]
        ends = yield from self.lookups.entities([fact.payload["surviving_id"], fact.payload["duplicate_id"]])
        for copies in ends.values():
            self._start(self._life, copies[0].id)
        if len(ends) == 2:
            survivor, duplicate = (ends[fact.payload[side]][0].id for side in ("surviving_id", "duplicate_id"))
            yield from self._cycle(survivor, duplicate, fact, None)

    def _resolved(self, event_id: bytes) -> Task[None]:
        """A contradiction, if any resolution of it is known."""
        copies = yield from self.lookups.entity(event_id)
        acting = yield from self.lookups.acting_on(copies)
        if acting:
            self._keep((*copies, *acting))
            self._start(self._life, copies[0].payload["left"])
            self._start(self._life, copies[0].payload["right"])
            for edge in (yield from resolution_edges(self.lookups, copies)):
                self._start(self._forward, edge.by)

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
        copies = yield from self.lookups.entity(belief)
        for fact in (yield Need(Role.LINK, tuple(copy.id for copy in copies))):
            if fact.type == "belief.superseded":
                self._start(self._life, fact.payload["superseded_id"])

    def _corrects_from_here_on(self, belief: bytes) -> Task[None]:
        """Like :meth:`_corrects`, for a reclassification, which counts for the survivors of merges as well."""
        members, _ = yield from self._family(belief)
        for copies in members:
            self._start(self._corrects, copies[0].id)

    # What only rows read

    def _family(self, belief: bytes) -> Task[tuple[list[list[Fact]], list[Fact]]]:
        """The copies of a belief and of all that merges connect it with, and the facts that act on these.

        Not only its duplicates: of two survivors of one duplicate the first is merged into the second.
        """
        members: dict[bytes, list[Fact]] = {}
        found: dict[bytes, Fact] = {}
        pending = [belief]
        while pending:
            groups = yield from self.lookups.entities(pending)
            new = {copies[0].id: copies for copies in groups.values() if copies[0].id not in members}
            members.update(new)
            ids = {copy.id for copies in new.values() for copy in copies}
            acting = yield Need(Role.STATE, tuple(ids))
            found.update((fact.id, fact) for fact in acting)
            merged = [fact.payload for fact in acting if fact.type == "belief.merged"]
            pending = [payload[end] for payload in merged for end in ("duplicate_id", "surviving_id")]
        return list(members.values()), sorted(found.values())

    def _contested(self, event_id: bytes) -> Task[None]:
        """A contradiction with the lives of both sides, its resolutions, and what undoes these."""
        copies = yield from self.lookups.entity(event_id)
        self._keep(copies)
        self._start(self._life, copies[0].payload["left"])
        self._start(self._life, copies[0].payload["right"])
        resolutions = yield from self.lookups.acting_on(copies)
        groups = yield from self.lookups.entities([fact.id for fact in resolutions])
        for fact in (yield Need(Role.LINK, tuple(copy.id for group in groups.values() for copy in group))):
            self._keep((fact,))
            self._start(self._life, fact.payload["belief_id"])

    def _fates(self, members: list[list[Fact]], acting: list[Fact], raised: list[Fact]) -> Task[list[Fact]]:
        """The fate-changing revisions of a belief and its duplicates."""
        ids = {copy.id for copies in members for copy in copies}
        found = {fact.id: fact for fact in acting if fact.type in FATE_CHANGING}
        if raised:
            contradictions = yield from self.lookups.entities([fact.id for fact in raised])
            sides = tuple(copy.id for copies in contradictions.values() for copy in copies)
            found.update((fact.id, fact) for fact in (yield Need(Role.STATE, sides)))
        extractions = (copies[0] for copies in members)
        keys = [f.payload["condition_key"] for f in (*extractions, *acting) if "condition_key" in f.payload]
        if keys:
            met = yield Need(Role.STATE, tuple(keys))
            found.update((fact.id, fact) for fact in met if fact.type == "condition.met")
        return sorted(f for f in found.values() if f.type != "belief.merged" or f.payload["duplicate_id"] in ids)

    def _decides(self, fact: Fact) -> None:
        """Whether a revision is void, and which survivor its successor stands for."""
        payload, outcome = fact.payload, self._outcomes.of(fact)
        if outcome == Outcome(True):
            self._start(self._stands_for, payload["superseding_id"])
            self._start(self._stands_for, payload["superseded_id"])  # if it is merged, others may end with it
            return
        for field in ("belief_id", "superseded_id", "duplicate_id", "surviving_id"):
            if field in payload:
                self._start(self._life, payload[field])
        if fact.type == "belief.superseded":
            self._start(self._stands_for, payload["superseding_id"])
        if fact.type == "contradiction.resolved":
            self._start(self._resolved, payload["contradiction_id"])

    def _stands_for(self, belief: bytes) -> Task[None]:
        """Into which belief one is merged, if it is."""
        copies = yield from self.lookups.entity(belief)
        self._keep(copies)
        if _is_merged((yield from self.lookups.acting_on(copies))):
            self._start(self._life, belief)

    def _injections(self) -> Task[None]:
        """Where recurrences may promote, the sessions in which a belief had been shown don't count."""
        for members in _families(self._living):
            facts = [fact for entity in members for fact in self._living[entity][1]]
            recurrences = sum(f.type == "belief.affirmed" and f.payload["how"] == "recurrence" for f in facts)
            steady = all(passes_entry(self._living[entity][0][0].payload) for entity in members) and not any(
                fact.type in _UNSTEADY for fact in facts
            )
            if may_promote(recurrences) and not steady:
                keys = tuple(copy.id for entity in members for copy in self._living[entity][0])
                self._keep(fact for fact in (yield Need(Role.SHOWN, keys)) if fact.type == "memory.injected")


def _is_merged(acting: Iterable[Fact]) -> bool:
    return any(fact.type == "belief.merged" for fact in acting)


def _families(living: dict[bytes, tuple[list[Fact], list[Fact]]]) -> list[list[bytes]]:
    """Entities that merges connect, each set in order."""
    entity = {copy.id: belief for belief, (copies, _) in living.items() for copy in copies}
    near: dict[bytes, set[bytes]] = defaultdict(set)
    for _, acting in living.values():
        for fact in acting:
            if fact.type == "belief.merged":
                ends = [entity[i] for i in (fact.payload["duplicate_id"], fact.payload["surviving_id"]) if i in entity]
                for end in ends:
                    near[end].update(ends)
    families, seen = [], set()
    for belief in sorted(living):
        if belief not in seen:
            members = reached(belief, near)
            seen |= members
            families.append(sorted(members))
    return families
