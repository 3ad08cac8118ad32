"""The tables of the lifecycle: entry gate, half-lives, precedence, speech acts (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from beliefbase.beliefs.attributes import CERTAINTY, CONFIDENCE, act_of, certainty_of, confidence_of
from beliefbase.beliefs.policies import Policy

RULES_VERSION: Final = "lifecycle@1"
"""Changes with any change of a rule or table here that can change an answer."""

FOREVER: Final = 2**63 - 1
"""The open end of an interval, and a bound that never comes."""

DAY_MS: Final = 86_400_000

MOST_CONSERVATIVE_FIRST: Final = (
    "humor_or_irony",
    "hypothetical",
    "casual_characterization",
    "aspiration",
    "uncertain_assertion",
    "observation",
    "negation",
    "direct_assertion",
    "preference_statement",
    "correction",
    "directive",
)
"""Speech acts that can carry a belief; of several utterances the first one here wins. A question carries none."""

ENTRY_ACTS: Final = frozenset({"direct_assertion", "directive", "preference_statement", "correction", "negation"})
ENTRY_CLASS: Final = "durable_fact"
ENTRY_CONFIDENCE: Final = 850
CERTAIN_ACT: Final = 600
"""Speech-act confidence (per mille) below which an act is read as a direct assertion for its half-life."""

RECURRENCES: Final = 3
"""Distinct (agent, session) pairs that promote a candidate."""

HALF_LIVES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "directive": 365,
        "preference_statement": 180,
        "observation": 90,
        "aspiration": 60,
        "uncertain_assertion": 45,
        "casual_characterization": 30,
        "hypothetical": 14,
        "humor_or_irony": 7,
    }
)
"""Days, by speech act; acts that are not here age by kind."""

KIND_HALF_LIVES: Final[Mapping[str, int]] = MappingProxyType(
    {"rule": 365, "fact": 365, "decision": 180, "rationale": 180, "preference": 180, "note": 90, "progress": 14}
)
UNKNOWN_KIND: Final = "note"
"""Kind whose half-life a kind without one of its own takes."""

TIMELESS_KINDS: Final = frozenset({"domain_concept", "goal", "work_product"})
"""Kinds that don't come from utterances: the speech act plays no part, and no half-life is built in."""

ENDINGS: Final = ("erased", "retracted", "duplicate", "superseded", "contradicted", "obsolete")
"""Endings by precedence where several act at one place."""


class Profile(NamedTuple):
    """What a ``profile.activated`` event sets for beliefs affirmed from its place on."""

    name: str = "default@1"
    half_lives: Mapping[str, int] = MappingProxyType({})
    kinds: Mapping[str, int] = MappingProxyType({})
    fail_closed: bool = False
    place: int = 0
    """Its place among the activations; tells apart two of one name."""

    @classmethod
    def of(cls, payload: Mapping[str, Any], place: int) -> Profile:
        """The profile that an event's payload describes."""
        return cls(
            payload["profile"],
            payload.get("half_lives") or {},
            payload.get("kinds") or {},
            bool(payload.get("fail_closed")),
            place,
        )


DEFAULT_PROFILE: Final = Profile()


@dataclass(frozen=True)
class Rules:
    """The configuration that a fold runs with; the defaults are the released rules."""

    day_ms: int = DAY_MS
    half_lives: Mapping[str, int] = field(default_factory=lambda: HALF_LIVES)
    kinds: Mapping[str, int] = field(default_factory=lambda: KIND_HALF_LIVES)


DEFAULT: Final = Rules()


def passes_entry(attributes: Mapping[str, Any]) -> bool:
    """Whether an extraction with these attributes is active at once."""
    if attributes.get("assertion_class") != ENTRY_CLASS or confidence_of(attributes) < ENTRY_CONFIDENCE:
        return False
    if timeless_kind(attributes) is not None:
        return True
    return certainty_of(attributes) >= CERTAIN_ACT and act_of(attributes) in ENTRY_ACTS


def may_promote(recurrences: int) -> bool:
    """Whether so many recurrences can be enough, together with the session of the extraction."""
    return recurrences >= RECURRENCES - 1


class Check(NamedTuple):
    """One condition of the entry gate."""

    field: str
    value: str | int | None
    needed: str | int
    """The value itself, the least number, or the speech acts that pass."""
    passed: bool


def entry_checks(attributes: Mapping[str, Any]) -> list[Check]:
    """The conditions of :func:`passes_entry` one by one; a belief that passes all of them is active at once."""
    stated, confidence = attributes.get("assertion_class"), confidence_of(attributes)
    checks = [
        Check("assertion_class", stated, ENTRY_CLASS, stated == ENTRY_CLASS),
        Check("confidence", confidence, ENTRY_CONFIDENCE, confidence >= ENTRY_CONFIDENCE),
    ]
    if timeless_kind(attributes) is None:
        certainty, act = certainty_of(attributes), act_of(attributes)
        checks += [
            Check("speech_act_confidence", certainty, CERTAIN_ACT, certainty >= CERTAIN_ACT),
            Check("speech_act", act, ", ".join(sorted(ENTRY_ACTS)), act in ENTRY_ACTS),
        ]
    return checks


def timeless_kind(attributes: Mapping[str, Any]) -> str | None:
    """The kind of a belief that doesn't come from an utterance; None for one that does."""
    for name in (attributes.get("node_kind"), attributes.get("kind")):
        if name in TIMELESS_KINDS:
            return str(name)
    return None


def act_for_ageing(attributes: Mapping[str, Any]) -> str:
    """The speech act that the half-life goes by: an uncertain one reads as a direct assertion."""
    return "direct_assertion" if certainty_of(attributes) < CERTAIN_ACT else act_of(attributes)


def most_conservative(acts: Collection[str]) -> str:
    """The speech act of a belief that rests on several utterances.

    Questions carry no belief and don't count; without any other act the result is ``question``.
    """
    for act in MOST_CONSERVATIVE_FIRST:
        if act in acts:
            return act
    return "question"


def outline(attributes: Mapping[str, Any]) -> tuple[object, ...]:
    """All that :func:`character` reads of attributes: where it is equal, so is the character."""
    get = attributes.get
    return (
        get("speech_act"),
        get("speech_act_confidence", CERTAINTY) >= CERTAIN_ACT,
        get("kind"),
        get("node_kind"),
        get("confidence", CONFIDENCE) >= ENTRY_CONFIDENCE,
        get("assertion_class"),
    )


class Character(NamedTuple):
    """What the rules make of a belief's attributes."""

    mature: bool
    """Whether it passes the entry gate."""
    half_life: HalfLife
    inherits: bool
    """Whether it takes the half-life of what it corrects."""


class HalfLife(NamedTuple):
    """How fast a belief ages, and why."""

    days: int | None
    """None: it doesn't age."""
    reason: str
    """policy, unknown_policy, profile, act, kind, timeless or correction; with the deciding name after a colon."""


def own_half_life(attributes: Mapping[str, Any], policy: Policy | None, profile: Profile, rules: Rules) -> HalfLife:
    """The half-life that a belief has by itself, whatever it corrects."""
    if policy is not None and policy.decay != "by_act":
        return HalfLife(policy.days, f"policy:{policy.name}")
    kind = timeless_kind(attributes)
    if kind is not None:
        days = profile.kinds.get(kind)
        return HalfLife(days, f"profile:{kind}") if days else HalfLife(None, f"timeless:{kind}")
    shortest = _by_act(act_for_ageing(attributes), attributes, profile, rules)
    if profile.fail_closed and certainty_of(attributes) < CERTAIN_ACT:
        stated = _by_act(act_of(attributes), attributes, profile, rules)
        shortest = min(shortest, stated)
    return HalfLife(*shortest)


def _by_act(act: str, attributes: Mapping[str, Any], profile: Profile, rules: Rules) -> tuple[int, str]:
    if days := profile.half_lives.get(act):
        return days, f"profile:{act}"
    if days := rules.half_lives.get(act):
        return days, f"act:{act}"
    kind = str(attributes.get("kind"))
    if days := profile.kinds.get(kind):
        return days, f"profile:{kind}"
    return rules.kinds.get(kind) or rules.kinds[UNKNOWN_KIND], f"kind:{kind}"


def character(attributes: Mapping[str, Any], policy: Policy | None, profile: Profile, rules: Rules) -> Character:
    """Apply the tables to the attributes of one belief."""
    return Character(
        passes_entry(attributes),
        own_half_life(attributes, policy, profile, rules),
        (policy is None or policy.decay == "by_act")
        and timeless_kind(attributes) is None
        and act_for_ageing(attributes) == "correction",
    )
