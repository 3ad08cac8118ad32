"""What a batch sets in motion: its own events, those that had waited for them, and the beliefs that they name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Source, Task, presupposed
from beliefbase.beliefs.maturity import DEMOTING, ENDING, MATURING, may_mature_otherwise
from beliefbase.beliefs.rules import may_promote, passes_entry
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import REVISIONS

RULE_CHANGING: Final = frozenset({"profile.activated", "policy.defined"})
"""Types that may touch every belief."""
_RAISED: Final = "contradiction.raised"
_UNSTEADY: Final = frozenset({"belief.demoted", "belief.reclassified", "belief.merged", "conclusion.derived"})


class Without:
    """A source as it was before some of its facts arrived."""

    def __init__(self, source: Source, ids: Collection[bytes]) -> None:
        self._source = source
        self._ids = frozenset(ids)

    def by_id(self, ids: Collection[bytes]) -> list[Fact]:
        """The stored facts with these ids."""
        return self._left(self._source.by_id(ids))

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Fact]:
        """The facts that name one of these keys in one of these roles."""
        return self._left(self._source.naming(keys, roles))

    def everywhere(self) -> list[Fact]:
        """Profiles and policies."""
        return self._left(self._source.everywhere())

    def _left(self, facts: list[Fact]) -> list[Fact]:
        return [fact for fact in facts if fact.id not in self._ids]


def moved_by(batch: Collection[Fact]) -> Task[list[Fact]]:
    """The batch, the copies of its events, and all that presuppose any of these, in turn: what acts anew."""
    moved: dict[bytes, Fact] = {}
    new = list(batch)
    while new:
        moved.update((fact.id, fact) for fact in new)
        ids = {fact.id for fact in new}
        names = {(fact.type, fact.ref) for fact in new if fact.ref is not None}
        found = list((yield Need(Role.STATE, tuple(ids))))
        found += yield Need(Role.LINK, tuple(ids))
        found += yield Need(Role.CITED, tuple(ids))
        found = [fact for fact in found if not ids.isdisjoint(presupposed(fact))]
        copies = yield Need(Role.SELF, tuple(ref for _, ref in names))
        found += [fact for fact in copies if (fact.type, fact.ref) in names]
        new = list({fact.id: fact for fact in found if fact.id not in moved}.values())
    return sorted(moved.values())


class Named:
    """The beliefs that facts act on, by any of their ids."""

    def __init__(self, lookups: Lookups, facts: Iterable[Fact]) -> None:
        self.beliefs: dict[bytes, int] = {}
        """Those about whose lives anything may have changed, to the stamp from which on."""
        self.opened: dict[bytes, int] = {}
        """Those of which other replacements may act from a stamp on."""
        self.matured: dict[bytes, int] = {}
        """Those that may have become mature earlier, from a stamp on."""
        self.flagged: set[bytes] = set()
        """Only their flags may have changed."""
        self._lookups = lookups
        lookups.run(self._each(facts))

    def _each(self, facts: Iterable[Fact]) -> Task[None]:
        for fact in facts:
            self._lookups.spawn(self._name(fact))
        yield from ()

    def _name(self, fact: Fact) -> Task[None]:
        payload = fact.payload
        match fact.type:
            case "belief.extracted":
                self._changed((fact.id,), 0, fact.type)
            case "belief.superseded":
                self._changed((payload["superseded_id"],), fact.hlc, fact.type)
            case "belief.merged":
                self._changed((payload["duplicate_id"], payload["surviving_id"]), fact.hlc, fact.type)
            case "contradiction.raised":
                self.flagged.update((payload["left"], payload["right"]))
            case "contradiction.resolved":
                self._changed((yield from self._sides(payload["contradiction_id"])), fact.hlc, fact.type)
            case "condition.met" if "condition_key" in payload:
                self._changed((yield from standing_under(payload["condition_key"])), fact.hlc, fact.type)
            case "belief.reinstated":
                self._changed((payload["belief_id"],), fact.hlc, fact.type)
                for undone in (yield Need(None, tuple(payload["undoes"]))):
                    if undone.type == "contradiction.resolved":
                        self.flagged.update((yield from self._sides(undone.payload["contradiction_id"])))
            case "memory.injected":
                for card in payload["cards"]:
                    self._lookups.spawn(self._shown(card["belief_id"], fact))
            case _ if fact.type in REVISIONS:
                self._changed((payload["belief_id"],), fact.hlc, fact.type)

    def _changed(self, beliefs: Iterable[bytes], since: int, by: str) -> None:
        for belief in beliefs:
            _note(self.beliefs, belief, since)
            if by in ENDING or by in MATURING:
                self._lookups.spawn(self._sort(belief, since, by))
            else:
                _note(self.opened, belief, since)

    def _sort(self, belief: bytes, since: int, by: str) -> Task[None]:
        """Whether a belief acts or is ended otherwise decides which of its promotions and demotions have an effect."""
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        if may_mature_otherwise(copies, acting, since, DEMOTING if by in MATURING else MATURING | DEMOTING):
            _note(self.opened, belief, since)
        elif by in MATURING:
            _note(self.matured, belief, since)

    def _sides(self, contradiction: bytes) -> Task[list[bytes]]:
        copies = yield from self._lookups.entity(contradiction)
        return [fact.payload[side] for fact in copies if fact.type == _RAISED for side in ("left", "right")]

    def _unsteady(self, belief: bytes) -> Task[bool]:
        copies = yield from self._lookups.entity(belief)
        acting = yield from self._lookups.acting_on(copies)
        steady = bool(copies) and passes_entry(copies[0].payload)
        return not steady or any(fact.type in _UNSTEADY for fact in acting)

    def _shown(self, belief: bytes, injection: Fact) -> Task[None]:
        """An injection matters where recurrences may promote the belief, or one that it is merged with."""
        acting = yield from self._lookups.acting_on((yield from self._lookups.entity(belief)))
        recurrences = sum(fact.type == "belief.affirmed" and fact.payload["how"] == "recurrence" for fact in acting)
        matters = may_promote(recurrences) or any(fact.type == "belief.merged" for fact in acting)
        if matters and (yield from self._unsteady(belief)):
            self._changed((belief,), injection.hlc, injection.type)


def _note(stamps: dict[bytes, int], belief: bytes, since: int) -> None:
    stamps[belief] = min(since, stamps.get(belief, since))


def standing_under(key: bytes) -> Task[list[bytes]]:
    """The beliefs that an extraction or reclassification ever put under a condition key."""
    found = yield Need(Role.STATE, (key,))
    under = [fact.id for fact in found if fact.type == "belief.extracted"]
    return under + [fact.payload["belief_id"] for fact in found if fact.type == "belief.reclassified"]
