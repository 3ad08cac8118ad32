"""What a batch sets in motion: its own events, those that had waited for them, and the beliefs that they name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Source, Task, presupposed
from beliefbase.beliefs.rules import RECURRENCES, passes_entry
from beliefbase.events.catalog import Role

RULE_CHANGING: Final = frozenset({"profile.activated", "policy.defined"})
"""Types that may touch every belief."""
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


class Named(NamedTuple):
    """Beliefs that moved facts act on, by any of their ids."""

    loud: set[bytes]
    """Anything about their lives may have changed."""
    quiet: set[bytes]
    """Only affirmed."""
    flagged: set[bytes]
    """Only their flags may have changed."""


def moved_by(lookups: Lookups, batch: Collection[Fact]) -> Task[list[Fact]]:
    """The batch, the copies of its events, and all that presuppose any of these, in turn: what acts anew."""
    moved: dict[bytes, Fact] = {}
    new = list(batch)
    while new:
        moved.update((fact.id, fact) for fact in new)
        ids = {fact.id for fact in new}
        refs = {(fact.type, fact.ref) for fact in new if fact.ref is not None}
        keys = tuple(ids)
        found = yield Need(Role.STATE, keys)
        found = [*found, *(yield Need(Role.LINK, keys)), *(yield Need(Role.CITED, keys))]
        found = [fact for fact in found if not ids.isdisjoint(presupposed(fact))]
        copies = yield Need(Role.SELF, tuple(ref for _, ref in refs if ref is not None))
        found += [fact for fact in copies if (fact.type, fact.ref) in refs]
        new = list({fact.id: fact for fact in found if fact.id not in moved}.values())
    return sorted(moved.values())


def beliefs_named(lookups: Lookups, facts: Collection[Fact]) -> Task[Named]:
    """The beliefs whose lives or flags these facts act on."""
    named = Named(set(), set(), set())
    superseders: list[bytes] = []
    for fact in facts:
        payload = fact.payload
        match fact.type:
            case "belief.extracted":
                named.loud.add(fact.id)
            case "belief.affirmed":
                named.quiet.add(payload["belief_id"])
            case "memory.revalidated":
                (named.loud if payload["outcome"] == "rejected" else named.quiet).add(payload["belief_id"])
            case "belief.superseded":
                named.loud.add(payload["superseded_id"])
                superseders.append(payload["superseding_id"])
            case "belief.merged":
                named.loud.update((payload["duplicate_id"], payload["surviving_id"]))
            case "contradiction.raised":
                named.flagged.update((payload["left"], payload["right"]))
            case "contradiction.resolved":
                named.loud.update((yield from _sides(lookups, (payload["contradiction_id"],))))
            case "condition.met" if "condition_key" in payload:
                named.loud.update((yield from standing_under(payload["condition_key"])))
            case "belief.reinstated":
                named.loud.add(payload["belief_id"])
                undone = yield Need(None, tuple(payload["undoes"]))
                reopened = [f.payload["contradiction_id"] for f in undone if f.type == "contradiction.resolved"]
                named.flagged.update((yield from _sides(lookups, reopened)))
            case "memory.injected":
                named.loud.update((yield from _promotable(lookups, [card["belief_id"] for card in payload["cards"]])))
            case "memory.used" | "memory.requires_revalidation_prompt" | "memory.live_contradiction_detected":
                pass
            case _ if "belief_id" in payload:
                named.loud.add(payload["belief_id"])
    named.loud.update((yield from _lives_by_its_targets(lookups, superseders)))
    unsteady = yield from _unsteady(lookups, named.quiet)
    named.loud.update(unsteady)
    return Named(named.loud, named.quiet - named.loud, named.flagged)


def standing_under(key: bytes) -> Task[list[bytes]]:
    """The beliefs that an extraction or reclassification ever put under a condition key."""
    found = yield Need(Role.STATE, (key,))
    under = [fact.id for fact in found if fact.type == "belief.extracted"]
    return under + [fact.payload["belief_id"] for fact in found if fact.type == "belief.reclassified"]


def _sides(lookups: Lookups, contradictions: Collection[bytes]) -> Task[list[bytes]]:
    groups = yield from lookups.entities(list(contradictions))
    raised = [copies[0] for copies in groups.values() if copies[0].type == "contradiction.raised"]
    return [fact.payload[side] for fact in raised for side in ("left", "right")]


def corrects(lookups: Lookups, belief: bytes) -> Task[bool]:
    """Whether a belief may ever count as a correction."""
    copies = yield from lookups.entity(belief)
    acting = yield from lookups.acting_on(copies)
    return bool(copies) and (
        copies[0].payload.get("speech_act") == "correction"
        or any(fact.type == "belief.merged" or fact.payload.get("speech_act") == "correction" for fact in acting)
    )


def _lives_by_its_targets(lookups: Lookups, superseders: Collection[bytes]) -> Task[list[bytes]]:
    """Those among superseders whose own lives depend on what they replace: corrections and conclusions."""
    found = []
    for belief in superseders:
        copies = yield from lookups.entity(belief)
        acting = yield from lookups.acting_on(copies)
        if (yield from corrects(lookups, belief)) or any(fact.type == "conclusion.derived" for fact in acting):
            found.append(belief)
    return found


def _unsteady(lookups: Lookups, beliefs: Collection[bytes]) -> Task[list[bytes]]:
    """Those among beliefs that an affirmation may promote, or that others are merged with."""
    found = []
    for belief in sorted(beliefs):
        copies = yield from lookups.entity(belief)
        acting = yield from lookups.acting_on(copies)
        if copies and (not passes_entry(copies[0].payload) or any(fact.type in _UNSTEADY for fact in acting)):
            found.append(belief)
    return found


def _promotable(lookups: Lookups, beliefs: Collection[bytes]) -> Task[list[bytes]]:
    """Those among beliefs that recurrences may have promoted."""
    found = []
    for belief in (yield from _unsteady(lookups, beliefs)):
        acting = yield from lookups.acting_on((yield from lookups.entity(belief)))
        recurrences = sum(fact.type == "belief.affirmed" and fact.payload["how"] == "recurrence" for fact in acting)
        if recurrences >= RECURRENCES - 1 or any(fact.type == "belief.merged" for fact in acting):
            found.append(belief)
    return found
