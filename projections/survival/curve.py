"""How long beliefs hold: the Kaplan-Meier curve with Greenwood variance and log-log bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from beliefbase.projections.survival.spells import ENDS, Floats, Ints, InvalidSpells, Spells, Tally

EVEN = 0.5 + 1e-12
"""One half, with room for the rounding of a product of millions of factors: a curve at one half has reached it."""


class CurvePoint(NamedTuple):
    """The curve at one age; bands are None where the log-log transform is not defined (survival 0)."""

    age_ms: int
    at_risk: int
    ended: int
    censored: int
    entered: int
    survival: float
    variance: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One group's curve as columns over the distinct ages at which a spell enters or leaves.

    ``survival`` is the estimate just after the age; before the first age it is 1.
    """

    group: str
    level: float
    """Coverage of the pointwise bands, such as 0.95."""
    spells: int
    expired: int
    """Spells censored by expiry: they say that nobody affirmed the belief, nothing about its being wrong."""
    ages_ms: Ints
    at_risk: Ints
    """Spells with entry < age <= exit."""
    ended: Ints
    """Superseded, contradicted, retracted or obsolete at this age."""
    censored: Ints
    """Left at this age in any other way, expiry included."""
    entered: Ints
    survival: Floats
    variance: Floats
    """Greenwood's; 0 where the survival is 0 (its limit)."""
    lower: Floats
    upper: Floats
    """Log-log bands; both 1 before the first end, NaN where the survival is 0."""
    median_ms: int | None
    """First age at which the survival is one half or less; None: never reached."""
    median_lower_ms: int | None
    median_upper_ms: int | None
    """First ages at which the lower and the upper band are one half or less."""
    horizon_ms: int
    """Where the restricted mean stops."""
    rmean_ms: float | None
    """Mean lifetime up to the horizon; None if the watching stopped before it with some still living."""
    rmean_se_ms: float | None
    """Standard error of ``rmean_ms``."""
    gaps: tuple[tuple[int, int], ...]
    """Stretches of age, later ones entered after them, in which nobody was watched: the curve is level there
    for want of data."""

    @property
    def ended_total(self) -> int:
        """Ends of interest in the whole group."""
        return int(self.ended.sum())

    @property
    def expired_share(self) -> float | None:
        """Share of the spells that expiry censored; None without spells."""
        return self.expired / self.spells if self.spells else None

    @property
    def exhausted_ms(self) -> int | None:
        """Age at which all at risk ended although others enter then or later; None: it never happened.

        From there on the curve is 0, whatever becomes of those.
        """
        out = np.flatnonzero((self.ended > 0) & (self.ended == self.at_risk))
        if len(out) and self.entered[out[0] :].any():
            return int(self.ages_ms[out[0]])
        return None

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The columns as rows, NaN as None."""
        ints = (self.ages_ms, self.at_risk, self.ended, self.censored, self.entered)
        floats = (self.survival, self.variance)
        bands = (known(self.lower), known(self.upper))
        return tuple(map(CurvePoint, *(c.tolist() for c in ints), *(c.tolist() for c in floats), *bands))

    def survival_at(self, age_ms: int) -> float | None:
        """Estimate at an age; None beyond the last watched one, unless nobody was left."""
        place = int(np.searchsorted(self.ages_ms, age_ms, side="right"))
        if place == 0:
            return 1.0 if len(self.ages_ms) else None
        value = float(self.survival[place - 1])
        return None if age_ms > self.ages_ms[-1] and value > 0 else value

    def at_risk_at(self, ages_ms: Sequence[int]) -> tuple[int, ...]:
        """Spells at risk at each age (entry < age <= exit); at age 0 those watched from the start."""
        before = np.concatenate([[0], np.cumsum(self.entered - self.ended - self.censored)])
        counts = before[np.searchsorted(self.ages_ms, ages_ms, side="left")]
        from_start = self.entered[0] if len(self.ages_ms) and self.ages_ms[0] == 0 else 0
        return tuple(int(from_start if age == 0 else n) for age, n in zip(ages_ms, counts, strict=True))


def kaplan_meier(spells: Spells, *, level: float = 0.95, horizon_ms: int | None = None) -> tuple[Curve, ...]:
    """One curve per group, in the order of the labels.

    Args:
        spells: Rows, as read by ``Spells.read``.
        level: Coverage of the bands, between 0 and 1.
        horizon_ms: Age up to which the mean lifetime is taken; give one to compare groups. Default: each
            group's last watched age.

    Raises:
        InvalidSpells: The level or the horizon is out of range.
    """
    z = band_quantile(level)
    if horizon_ms is not None and horizon_ms <= 0:
        raise InvalidSpells(f"the horizon is {horizon_ms} ms", hint="give an age greater than 0")
    return tuple(_curve(label, rows, level, z, horizon_ms) for label, rows in spells.by_group())


def known(band: Floats) -> list[float | None]:
    """The values of a band, undefined ones as None."""
    return [None if math.isnan(value) else value for value in band.tolist()]


def band_quantile(level: float) -> float:
    """The normal quantile of a two-sided band."""
    if not 0 < level < 1:
        raise InvalidSpells(f"the level of a band is {level}", hint="give a number between 0 and 1, such as 0.95")
    return NormalDist().inv_cdf((1 + level) / 2)


def greenwood(at_risk: Ints, ended: Ints) -> Floats:
    """Increments d / (n (n - d)); 0 where nobody is left (what they are multiplied with is 0 there)."""
    n, d = at_risk.astype(np.float64), ended.astype(np.float64)
    survivors = n - d
    terms: Floats = np.zeros(len(n))
    np.divide(d, n * survivors, out=terms, where=(d > 0) & (survivors > 0))
    return terms


def product_limit(at_risk: Ints, ended: Ints) -> Floats:
    """Running product of (n - d) / n over ages with ends."""
    factors: Floats = np.ones(len(at_risk))
    np.divide((at_risk - ended).astype(np.float64), at_risk.astype(np.float64), out=factors, where=ended > 0)
    return np.cumprod(factors, dtype=np.float64)


def log_log_band(survival: Floats, variance: Floats, z: float) -> tuple[Floats, Floats]:
    """Bands S ** exp(+-z se(S) / (S |ln S|)): 1 where S is 1, NaN where it is 0."""
    lower: Floats = np.where(survival > 0, 1.0, np.nan)
    upper: Floats = lower.copy()
    inner = (survival > 0) & (survival < 1)
    s = survival[inner]
    width = np.exp(z * np.sqrt(variance[inner]) / (s * -np.log(s)))
    lower[inner] = s**width
    upper[inner] = s ** (1 / width)
    return lower, upper


def _curve(label: str, spells: Spells, level: float, z: float, horizon_ms: int | None) -> Curve:
    tally = Tally.of(spells)
    ended = tally.ended(ENDS)
    survival = product_limit(tally.at_risk, ended)
    variance = survival**2 * np.cumsum(greenwood(tally.at_risk, ended))
    lower, upper = log_log_band(survival, variance, z)
    last = int(tally.ages_ms[-1]) if len(spells) else 0
    horizon = last if horizon_ms is None else horizon_ms
    mean: float | None = None
    error: float | None = None
    if len(spells) and (horizon <= last or survival[-1] == 0):
        mean, error = _restricted_mean(tally, ended, survival, horizon)
    return Curve(
        group=label,
        level=level,
        spells=len(spells),
        expired=tally.total("expired"),
        ages_ms=tally.ages_ms,
        at_risk=tally.at_risk,
        ended=ended,
        censored=tally.left - ended,
        entered=tally.entered,
        survival=survival,
        variance=variance,
        lower=lower,
        upper=upper,
        median_ms=_first_half(tally.ages_ms, survival),
        median_lower_ms=_first_half(tally.ages_ms, lower),
        median_upper_ms=_first_half(tally.ages_ms, upper),
        horizon_ms=horizon,
        rmean_ms=mean,
        rmean_se_ms=error,
        gaps=_gaps(tally),
    )


def _first_half(ages: Ints, values: Floats) -> int | None:
    reached = np.flatnonzero(values <= EVEN)
    return int(ages[reached[0]]) if len(reached) else None


def _restricted_mean(tally: Tally, ended: Ints, survival: Floats, horizon: int) -> tuple[float, float]:
    """Area under the curve up to the horizon, and the root of the sum of (area still to come)^2 d / (n (n - d)).

    Only ages with ends are edges, so cutting a spell in two changes no bit.
    """
    inside = (ended > 0) & (tally.ages_ms < horizon)
    edges = np.concatenate([[0], tally.ages_ms[inside], [horizon]])
    heights = np.concatenate([[1.0], survival[inside]])
    to_come = np.cumsum((heights * np.diff(edges))[::-1])[::-1]
    terms = np.cumsum(to_come[1:] ** 2 * greenwood(tally.at_risk[inside], ended[inside]))
    return float(to_come[0]), float(np.sqrt(terms[-1])) if len(terms) else 0.0


def _gaps(tally: Tally) -> tuple[tuple[int, int], ...]:
    ages = np.concatenate([[0], tally.ages_ms])
    watched = np.concatenate([[0], np.cumsum(tally.entered - tally.left)])
    starts = np.flatnonzero((watched[:-1] == 0) & (np.diff(ages) > 0))
    return tuple((int(ages[i]), int(ages[i + 1])) for i in starts)
