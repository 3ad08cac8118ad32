"""What each type of event does where it acts: the one place that says so (DESIGN 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from beliefbase.beliefs import conclusions, contradictions, forks, replacements, waiting
from beliefbase.beliefs.attributes import CORRECTABLE
from beliefbase.beliefs.edges import EFFECTIVE, MERGE, SUPERSESSION, WAITING
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.intervals import CODE
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.policies import Decay, Policy, versioned
from beliefbase.beliefs.reasons import Reason
from beliefbase.beliefs.rules import RECURRENCES, Character, Profile
from beliefbase.beliefs.world import World

_RETRACTED: Final = CODE["retracted"]
_OBSOLETE: Final = CODE["obsolete"]
_ERASED: Final = CODE["erased"]


def extracted(world: World, fact: Fact) -> None:
    """A belief begins: active if it passes the entry gate, otherwise a candidate."""
    belief = fact.id
    life = Life(fact, world.now, world.profile)
    world.lives[belief] = world.known[belief] = life
    character = _classify(world, life)
    world.age(life, character.half_life)
    life.mature = character.mature
    if belief in world.awaited or belief in world.awaited_inputs:
        world.change(life)
        _met(world, belief, life)
    else:
        life.begin()


def copied(world: World, fact: Fact, entity: bytes) -> None:
    """A copy acts as another name of its entity."""
    life = world.known.get(entity)
    if life is not None:
        world.known[fact.id] = life
        life.faces = (*life.faces, fact.id)
        _met(world, fact.id, life)


def _met(world: World, name: bytes, life: Life) -> None:
    replacements.met(world, name, life)
    conclusions.met(world, name)


def _classify(world: World, life: Life) -> Character:
    """Read policy and condition key from a life's attributes; what the rules make of them."""
    before = life.policy
    if before is not None or "policy" in life.attributes:
        life.policy = world.policy_of(life)
        if before is not None and before.ends_on_condition:
            for lives in world.under_key.values():
                lives.pop(life, None)
        key = life.attributes.get("condition_key")
        if key is not None and life.policy is not None and life.policy.ends_on_condition:
            world.under_key.setdefault(key, {})[life] = None
    character = world.character(life)
    life.inherits = character.inherits
    return character


def affirmed(world: World, fact: Fact) -> None:
    """Ageing starts anew; a confirmation, a review or enough recurrences promote."""
    _affirm(world, fact, fact.payload["how"])


def _affirm(world: World, fact: Fact, how: str) -> None:
    named = _named(world, fact)
    if named is None:
        return
    acted = False
    for life in (named,) if named.into is None else named.chain():
        if life.ends:
            continue
        acted = True
        world.change(life)
        world.refresh(life)
        if how == "recurrence" and not _recurred(life, fact):
            continue
        if not life.mature:
            _record_promotion(world, life, fact.id, True)
        life.mature = life.promoted = True
    if not acted:
        world.refuse(fact.id, Reason.AFFIRMS_ENDED, named.id)


def _recurred(life: Life, fact: Fact) -> bool:
    """Count a recurrence; True once there are enough."""
    session = fact.payload.get("session")
    if life.recurred is None:
        life.recurred = {(life.extraction.agent, life.extraction.payload.get("session"))}
    if life.shown is None or session not in life.shown:
        life.recurred.add((fact.agent, session))
    return len(life.recurred) >= RECURRENCES


def promoted(world: World, fact: Fact) -> None:
    """A candidate becomes active."""
    _mature(world, fact, True)


def demoted(world: World, fact: Fact) -> None:
    """An active belief becomes a candidate, and recurrences count anew."""
    _mature(world, fact, False)


def _mature(world: World, fact: Fact, up: bool) -> None:
    named = _named(world, fact)
    if named is None:
        return
    acted = False
    for life in (named,) if named.into is None else named.chain():
        world.change(life)
        if not life.alive(world.now):
            continue
        acted = True
        if life.mature != up:
            _record_promotion(world, life, fact.id, up)
        life.mature = life.promoted = up
        if not up:
            life.recurred = set()
            waiting.wake_target(world, life)
    if not acted:
        world.refuse(fact.id, Reason.PROMOTES_ENDED, named.id)


def _record_promotion(world: World, life: Life, event: bytes, up: bool) -> None:
    if life.promotions is None:
        life.promotions = []
    life.promotions.append((world.now, event, up))


def reclassified(world: World, fact: Fact) -> None:
    """Attributes change from here on: the half-life and the entry gate are applied anew; a question ends it."""
    named = _named(world, fact)
    if named is None:
        return
    corrections = {field: fact.payload[field] for field in CORRECTABLE if field in fact.payload}
    for life in named.chain():
        world.change(life)
        if corrections.get("speech_act") == "question":
            replacements.end(world, life, fact.id, _RETRACTED)
        else:
            life.attributes = {**life.attributes, **corrections}
            life.classes = [*(life.classes or ()), (world.now, life.attributes)]
            _classify(world, life)
            life.reclassified_at = world.now
            life.base = life.anchor
            world.place_bounds(life)
            world.aging[life] = None
        was_mature = life.mature
        life.mature = life.promoted or world.character(life).mature
        if was_mature and not life.mature:
            waiting.wake_target(world, life)
        forks.fate(world, life, fact.id, "class", repr(sorted(corrections.items())))


def superseded(world: World, fact: Fact) -> None:
    """A belief takes another's place."""
    payload = fact.payload
    _replace(world, fact, SUPERSESSION, "superseded", payload["superseded_id"], payload["superseding_id"])


def merged(world: World, fact: Fact) -> None:
    """A belief turns out to say what another says."""
    payload = fact.payload
    _replace(world, fact, MERGE, "duplicate", payload["duplicate_id"], payload["surviving_id"])


def _replace(world: World, fact: Fact, kind: int, what: str, target: bytes, by: bytes) -> None:
    named = world.known.get(target)
    if named is None:
        world.refuse(fact.id, Reason.NOT_A_BELIEF, target)
        return
    event = fact.id
    if named.into is None:
        replacements.propose(world, event, kind, named, by)
        forks.fate(world, named, event, "life", what, by)
        return
    world.change(named)
    for life in named.chain():
        replacements.propose(world, event, kind, life, by)
        forks.fate(world, life, event, "life", what, by)


def retracted(world: World, fact: Fact) -> None:
    """A belief is taken back."""
    named = _named(world, fact)
    if named is None:
        return
    _end(world, fact.id, named, _RETRACTED)
    if fact.payload.get("cause") == "wrong":
        for life in named.chain():
            life.falsify(fact.id, world.now)


def revalidated(world: World, fact: Fact) -> None:
    """A person was asked: confirmed affirms, rejected retracts, changed does nothing by itself."""
    outcome = fact.payload["outcome"]
    if outcome == "confirmed":
        _affirm(world, fact, "confirmation")
    elif outcome == "rejected":
        retracted(world, fact)


def condition_met(world: World, fact: Fact) -> None:
    """What a belief waited for has happened: it, or every belief that stands under the key now, ends as obsolete."""
    if "belief_id" in fact.payload:
        named = _named(world, fact)
        if named is not None:
            _end(world, fact.id, named, _OBSOLETE)
    else:
        for life in tuple(world.under_key.get(fact.payload["condition_key"], ())):
            _end(world, fact.id, life, _OBSOLETE)


def _end(world: World, event: bytes, named: Life, status: int) -> None:
    for life in named.chain():
        replacements.end(world, life, event, status)
        forks.fate(world, life, event, "life", "ended" + str(status))


def erased(world: World, fact: Fact) -> None:
    """The words of a belief are gone for good; nothing undoes it, and duplicates' survivors are not concerned."""
    life = world.known.get(fact.payload["belief_id"])
    if life is not None:
        replacements.end(world, life, fact.payload["event"], _ERASED)


def reinstated(world: World, fact: Fact) -> None:
    """Undo a list of endings of one belief, in force or waiting; the others stay."""
    named = _named(world, fact)
    if named is None:
        return
    undone = {world.entity.get(event, event): None for event in fact.payload["undoes"]}
    acted = False
    for life in named.chain():
        for event in undone:
            acted = _undo(world, life, event, fact.id) or acted
            resolution = world.resolved.get(event)
            if resolution is not None:
                contradictions.set_open(world, resolution, True)
        forks.forget(world, life, undone)
        forks.fate(world, life, fact.id, "life", "reinstated")
    if not acted:
        world.refuse(fact.id, Reason.UNDOES_NOTHING, named.id)


def _undo(world: World, life: Life, event: bytes, by: bytes) -> bool:
    """Undo one ending of a belief; False if it neither is in force nor waits."""
    edge = (life.on or {}).get(event)
    open_edge = edge is not None and edge.state in (WAITING, EFFECTIVE)
    ending = life.ends.get(event)
    if not open_edge and (ending is None or ending[3] == _ERASED):
        return False
    world.change(life)
    if open_edge and edge is not None:
        edge.undone = by if edge.state is EFFECTIVE else None
        replacements.withdraw(world, edge)
    replacements.undo(world, life, event)
    return True


def uttered(world: World, fact: Fact) -> None:
    """Something is said; it may take part in contradictions."""
    world.said[fact.id] = fact


def raised(world: World, fact: Fact) -> None:
    """Two beliefs, or a belief and an utterance, are said to contradict each other."""
    contradictions.raise_between(world, fact)


def resolved(world: World, fact: Fact) -> None:
    """It is decided which side of a contradiction holds."""
    named = fact.payload["contradiction_id"]
    contradiction = world.contradictions.get(world.entity.get(named, named))
    if contradiction is None:
        world.refuse(fact.id, Reason.NOT_A_CONTRADICTION, named)
        return
    world.resolved[fact.id] = contradiction
    contradictions.resolve(world, fact, contradiction)


def injected(world: World, fact: Fact) -> None:
    """Beliefs are shown in a session: recurrences of them in it don't count from now on."""
    session = fact.payload.get("session")
    if session is None:
        return
    for card in fact.payload["cards"]:
        named = world.known.get(card["belief_id"])
        for life in named.chain() if named is not None else ():
            if life.shown is None:
                life.shown = set()
            life.shown.add(session)


def derived(world: World, fact: Fact) -> None:
    """A belief is a conclusion from others."""
    named = _named(world, fact)
    if named is not None:
        inputs = [item["belief_id"] for item in fact.payload["inputs"] if item["role"] == "essential"]
        conclusions.derive(world, named, inputs)


def profile_activated(world: World, fact: Fact) -> None:
    """A profile is in force for what is affirmed from now on."""
    world.profile = Profile.of(fact.payload, world.profile.place + 1)


def policy_defined(world: World, fact: Fact) -> None:
    """A policy gets its meaning; the first definition counts."""
    name = versioned(fact.payload["policy"])
    if name in world.policies:
        world.refuse(fact.id, Reason.POLICY_REDEFINED, None)
        return
    world.policies[name] = _policy(name, fact.payload, world.policies)
    for life in tuple(world.without_policy.pop(name, ())):
        if versioned(life.attributes.get("policy") or "") == name:
            world.change(life)
            _classify(world, life)
            world.aging[life] = None


def _policy(name: str, payload: Mapping[str, Any], policies: Mapping[str, Policy]) -> Policy:
    base = policies.get(versioned(payload["base"]))
    days = payload.get("half_life_days")
    decay: Decay = "none" if base is None and payload["base"] == "no_decay" else base.decay if base else "by_act"
    return Policy(
        name=name,
        summary="Defined by an event.",
        decay="days" if days else decay,
        days=days or (base.days if base else None),
        ends_on_condition=base is not None and base.ends_on_condition,
    )


def _named(world: World, fact: Fact) -> Life | None:
    """The belief that an event names; notes the event as void if the id is not a belief's."""
    belief: bytes = fact.payload["belief_id"]
    life = world.known.get(belief)
    if life is None:
        world.refuse(fact.id, Reason.NOT_A_BELIEF, belief)
    return life


ACTS: Final[dict[str, Callable[[World, Fact], None]]] = {
    "belief.extracted": extracted,
    "belief.affirmed": affirmed,
    "belief.promoted": promoted,
    "belief.demoted": demoted,
    "belief.reclassified": reclassified,
    "belief.superseded": superseded,
    "belief.merged": merged,
    "belief.retracted": retracted,
    "belief.reinstated": reinstated,
    "belief.erased": erased,
    "condition.met": condition_met,
    "contradiction.raised": raised,
    "contradiction.resolved": resolved,
    "conclusion.derived": derived,
    "memory.injected": injected,
    "memory.revalidated": revalidated,
    "policy.defined": policy_defined,
    "profile.activated": profile_activated,
    "utterance.recorded": uttered,
}
"""Types that have a rule; all others are ignored, except that they can be presupposed and cited."""
