"""Slices: the facts that fold some beliefs exactly as the whole log would, with the flags that only readers see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from beliefbase.beliefs.basis import decisive
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.footings import Lost
from beliefbase.beliefs.life_slices import LifeSlice, is_merged
from beliefbase.beliefs.lookups import Need, Source, Task
from beliefbase.beliefs.past import UNKNOWN, Known, Outcome
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING


def slice_for(source: Source, beliefs: Collection[bytes]) -> list[Fact]:
    """The facts, in order, that fold these beliefs (ids of any copy) exactly as all facts would."""
    return Slice(source, beliefs).facts


class Slice(LifeSlice):
    """A dependency-closed set of facts, which grows with what is asked of it, and what it took to find it.

    Beside rows and lives it decides when the facts in ``deciding`` act and whether they are void.
    """

    def __init__(self, source: Source, beliefs: Collection[bytes] = (), known: Known = UNKNOWN) -> None:
        super().__init__(source, known)
        self._lost: list[Lost] = []
        self.add(beliefs)

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
        for lost in self._lost:
            self.lookups.spawn(lost.user.again())
        self._lost = []
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

    def lost(self) -> list[Lost]:
        """What isn't known to be fit any more; the next :meth:`add` takes in what that takes."""
        found = self._footings.lost()
        self._lost += found
        return found

    def _rows(self, belief: bytes) -> Task[None]:
        self._start(self._life, belief)
        members = list((yield from self.lookups.family((belief,))).values())
        acting = yield from self.lookups.acting_on(copy for copies in members for copy in copies)
        raised = [fact for fact in acting if fact.type == "contradiction.raised"]
        for fact in raised:
            self._start(self._contested, fact.id)
        for fact in acting:
            outcome = self._outcomes.of(fact)
            if outcome is not None and outcome.acts is not True:
                self._start(self._standing, fact.payload["superseding_id"])  # while that lives it contests the belief
        revisions = yield from self._fates(members, acting, raised)
        if len(revisions) > 1:
            found = yield from decisive(self.lookups, revisions)
            self._keep(found.facts)
            for fact in (*found.deciders, *found.concurrent):
                self._decides(fact)

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
        if self._reshaped is not None and belief not in self._reshaped:
            return
        if is_merged((yield from self.lookups.acting_on(copies))):
            self._start(self._life, belief)
