"""By which cause beliefs end: cumulative incidences (Aalen-Johansen) of causes that compete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefbase.projections.survival.curve import band_quantile, greenwood, known, log_log_band, product_limit
from beliefbase.projections.survival.spells import COMPETING, ENDS, Floats, Ints, Spells, Tally

CERTAIN = 1 - 1e-12
"""One, with room for the rounding of a sum of millions of terms."""


class IncidencePoint(NamedTuple):
    """One cause's incidence just after an age; bands are None where the incidence is 1."""

    age_ms: int
    at_risk: int
    ended: int
    incidence: float
    variance: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, eq=False)
class CauseIncidence:
    """Probability of having ended by one cause, as columns over the ages at which any spell ended."""

    cause: str
    ages_ms: Ints
    at_risk: Ints
    """Spells with entry < age <= exit."""
    ended: Ints
    """Spells that ended by this cause at the age."""
    incidence: Floats
    variance: Floats
    """Delta method; with one cause only it is Greenwood's."""
    lower: Floats
    upper: Floats
    """Log-log bands of 1 - incidence, turned over; both 0 before the first end, NaN where the incidence is 1."""

    @property
    def points(self) -> tuple[IncidencePoint, ...]:
        """The columns as rows, NaN as None."""
        plain = (self.ages_ms, self.at_risk, self.ended, self.incidence, self.variance)
        bands = (known(self.lower), known(self.upper))
        return tuple(map(IncidencePoint, *(column.tolist() for column in plain), *bands))

    def at(self, age_ms: int) -> float:
        """Incidence at an age; the last one holds beyond the last end."""
        place = int(np.searchsorted(self.ages_ms, age_ms, side="right"))
        return float(self.incidence[place - 1]) if place else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """One group's incidences, which with the share still living sum to one at every age."""

    group: str
    level: float
    spells: int
    ages_ms: Ints
    """Ages at which a spell ended by any cause."""
    at_risk: Ints
    survival: Floats
    """All-cause Kaplan-Meier survival: only ``censored`` censors."""
    causes: Mapping[str, CauseIncidence]
    """The causes that occur, in the order of ``CAUSES``."""


def cumulative_incidence(spells: Spells, *, level: float = 0.95) -> tuple[Incidence, ...]:
    """Incidences of each group, in the order of the labels; expired, duplicate and erased are causes among others.

    Raises:
        InvalidSpells: The level is out of range.
    """
    z = band_quantile(level)
    return tuple(_incidence(label, rows, level, z) for label, rows in spells.by_group())


def _incidence(label: str, spells: Spells, level: float, z: float) -> Incidence:
    tally = Tally.of(spells)
    any_end = tally.ended((*ENDS, *COMPETING))
    used = any_end > 0
    ages, at_risk, ended = tally.ages_ms[used], tally.at_risk[used], any_end[used]
    survival = product_limit(at_risk, ended)
    before = np.concatenate([[1.0], survival[:-1]]) if len(ages) else survival
    losses = greenwood(at_risk, ended)
    causes = {}
    for cause in (*ENDS, *COMPETING):
        if tally.total(cause):
            mine = tally.ended((cause,))[used]
            incidence = np.cumsum(before * mine / at_risk)
            variance = _variance(incidence, before, at_risk, mine, losses)
            rest: Floats = np.where(incidence > CERTAIN, 0.0, 1 - incidence)
            low, high = log_log_band(rest, variance, z)
            causes[cause] = CauseIncidence(cause, ages, at_risk, mine, incidence, variance, 1 - high, 1 - low)
    return Incidence(label, level, len(spells), ages, at_risk, survival, causes)


def _variance(incidence: Floats, before: Floats, at_risk: Ints, ended: Ints, losses: Floats) -> Floats:
    """Delta-method variance at every age, the squares in (F(t) - F(s)) written out as running sums.

    Var F(t) = sum over s <= t of (F(t) - F(s))^2 g + S(s-)^2 d (n - d) / n^3 - 2 (F(t) - F(s)) S(s-) d / n^2,
    with g the all-cause Greenwood increment.
    """
    n, d = at_risk.astype(np.float64), ended.astype(np.float64)
    own = np.cumsum(before**2 * d * (n - d) / (n * n * n))
    cross = before * d / (n * n)
    square = np.cumsum(losses) * incidence**2 - 2 * incidence * np.cumsum(losses * incidence)
    square += np.cumsum(losses * incidence**2)
    linear = incidence * np.cumsum(cross) - np.cumsum(cross * incidence)
    return np.maximum(square + own - 2 * linear, 0.0)
