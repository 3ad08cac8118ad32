"""What lifetimes say about lifecycle policies: per kind and speech act a policy and a half-life, or that nobody knows.

A half-life is read off the Kaplan-Meier curve: the age by which half of such beliefs were superseded, contradicted,
retracted or obsolete. Expiry censors and is never evidence (DESIGN 7); where beliefs expired, the curve is trusted
only up to the age at which those that nobody affirms expire. Ages count from the extraction, half-lives from the
last affirmation: where much is affirmed, the half-life that the rules need is shorter than the one suggested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from beliefbase.beliefs.policies import BUILT_IN
from beliefbase.beliefs.rules import DAY_MS, DEFAULT, DEFAULT_PROFILE, Profile, own_half_life
from beliefbase.projections.lifetimes import KIND_AND_ACT, SIGN, Lifetimes
from beliefbase.projections.survival import CAUSES, Curve, Spells, kaplan_meier

LEAST_ENDS: Final = 10
"""Ends that a median needs."""
LEAST_AT_RISK: Final = 10
"""Spells at risk down to which a curve is trusted."""
LEAST_WATCHED: Final = 30
"""Spells at risk from which on it counts that a curve has not come down to one half."""
LEAST_HELD_DAYS: Final = 365
"""Age to which beliefs without a half-life must have been watched to say that they hold."""
FAST: Final = "fast_decay_status@1"
PERSISTENT: Final = "amendable_persistent@1"
CONDITIONAL: Final = "conditional_expiry@1"
HALF_LIFE: Final = "half_life@1"

Reason = Literal[
    "median", "within_days", "mostly_obsolete", "holds", "holds_until_expiry", "too_few_ends", "too_few_at_risk"
]
SENTENCES: Final[Mapping[Reason, str]] = {
    "median": "half had ended by that age",
    "within_days": "half had ended within a week: what passes so fast shares a policy, with a half-life of a week",
    "mostly_obsolete": "most ended because their condition was met",
    "holds": "more than half still held when the watching thinned out",
    "holds_until_expiry": "more than half still held when those that nobody affirms expire: at least that long",
    "too_few_ends": f"not enough evidence: fewer than {LEAST_ENDS} ends, and too few watched for long",
    "too_few_at_risk": f"not enough evidence: fewer than {LEAST_AT_RISK} at risk before half had ended",
}


class Suggestion(NamedTuple):
    """What the lifetimes of one kind and speech act say; ``policy`` is None where there is not enough evidence."""

    kind: str
    speech_act: str
    policy: str | None
    half_life_days: int | None
    """That of the suggested policy; None for a policy without decay."""
    median_days: float | None
    """Age by which half had ended, where that is the evidence."""
    lower_days: float | None
    upper_days: float | None
    """Ends of the interval for the median; None: not known, or beyond what was watched."""
    at_risk: int
    """Spells at risk at the median, or where the curve ceases to be trusted."""
    spells: int
    ended: int
    expired_share: float
    trusted_days: float
    """Age up to which the curve was read."""
    current_days: int | None
    """Half-life that the profile gives such a belief without a policy of its own; None: none."""
    reason: Reason


def suggest(lives: Lifetimes, *, profile: Profile = DEFAULT_PROFILE, level: float = 0.95) -> list[Suggestion]:
    """One suggestion for every kind and speech act of which spells were watched, in the order of their names."""
    return of_spells(lives.spells(KIND_AND_ACT), profile=profile, level=level)


def of_spells(rows: Spells, *, profile: Profile = DEFAULT_PROFILE, level: float = 0.95) -> list[Suggestion]:
    """One suggestion per group; labels are kind and speech act with the sign between them."""
    curves = kaplan_meier(rows, level=level)
    return [_of_group(curve, mine, profile) for curve, (_, mine) in zip(curves, rows.by_group(), strict=True)]


def alternative(suggestions: Iterable[Suggestion]) -> dict[str, Any]:
    """The suggestions as ``beliefbase diff --policy`` reads them: definitions, and which beliefs get which policy."""
    policies: list[dict[str, Any]] = []
    assigned: list[dict[str, str]] = []
    for one in suggestions:
        if one.policy is None:
            continue
        name = one.policy
        if name == HALF_LIFE:
            name = f"{one.kind}_{one.speech_act}@1"
            policies.append({"policy": name, "base": "half_life", "half_life_days": one.half_life_days})
        assigned.append({"kind": one.kind, "speech_act": one.speech_act, "policy": name})
    return {"policies": policies, "assign": assigned}


def _of_group(curve: Curve, rows: Spells, profile: Profile) -> Suggestion:
    kind, act = curve.group.split(SIGN)
    current = own_half_life({"kind": kind, "speech_act": act}, None, profile, DEFAULT).days
    reason, at_ms = _reason(curve, rows, current)
    days: int | None = None
    median: float | None = at_ms / DAY_MS if reason in {"median", "mostly_obsolete"} else None
    policy: str | None = None
    lower, upper = curve.median_lower_ms, curve.median_upper_ms
    if reason == "median":
        days = max(1, round(at_ms / DAY_MS))
        policy, fast = HALF_LIFE, BUILT_IN[FAST].days or 0
        if days <= fast:
            reason, policy, days = "within_days", FAST, fast
    elif reason == "mostly_obsolete":
        policy = CONDITIONAL
    elif reason == "holds":
        policy, lower, upper = PERSISTENT, at_ms, None
    elif reason == "holds_until_expiry":
        policy, lower, upper, days = HALF_LIFE, at_ms, None, max(1, round(at_ms / DAY_MS))
    (at_risk,) = curve.at_risk_at([at_ms])
    return Suggestion(
        kind=kind,
        speech_act=act,
        policy=policy,
        half_life_days=days,
        median_days=median,
        lower_days=None if lower is None else lower / DAY_MS,
        upper_days=None if upper is None else upper / DAY_MS,
        at_risk=at_risk,
        spells=curve.spells,
        ended=curve.ended_total,
        expired_share=curve.expired_share or 0.0,
        trusted_days=_trusted_ms(curve, LEAST_AT_RISK, current) / DAY_MS,
        current_days=current,
        reason=reason,
    )


def _trusted_ms(curve: Curve, least: int, current_days: int | None) -> int:
    """The last age with so many at risk; where beliefs expired, at most that at which unaffirmed ones do."""
    enough = np.flatnonzero(curve.at_risk >= least)
    last = int(curve.ages_ms[enough[-1]]) if len(enough) else 0
    return min(last, 2 * current_days * DAY_MS) if curve.expired and current_days is not None else last


def _reason(curve: Curve, rows: Spells, current_days: int | None) -> tuple[Reason, int]:
    """What the curve says, and the age at which it says so."""
    ended, trusted = curve.ended_total, _trusted_ms(curve, LEAST_AT_RISK, current_days)
    if ended >= LEAST_ENDS and curve.median_ms is not None and curve.median_ms <= trusted:
        obsolete = int(np.count_nonzero(rows.cause == CAUSES.index("obsolete")))
        return ("mostly_obsolete" if 2 * obsolete > ended else "median"), curve.median_ms
    held = _trusted_ms(curve, LEAST_WATCHED, current_days)
    if held >= (current_days or LEAST_HELD_DAYS) * DAY_MS and _surely_held(curve, held) > 0.5:
        if not curve.expired:
            return "holds", held
        if ended >= LEAST_ENDS:  # without ends, expiry would be the only evidence
            return "holds_until_expiry", held
    return ("too_few_ends" if ended < LEAST_ENDS else "too_few_at_risk"), trusted


def _surely_held(curve: Curve, age_ms: int) -> float:
    """Lower bound of the survival at an age; without any end up to there by the rule of three (Hanley 1983)."""
    place = int(np.searchsorted(curve.ages_ms, age_ms, side="right")) - 1
    if curve.survival[place] >= 1:
        (at_risk,) = curve.at_risk_at([age_ms])
        return 1 - 3 / at_risk
    return float(np.nan_to_num(curve.lower[place]))
