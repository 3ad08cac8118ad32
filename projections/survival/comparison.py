"""Do groups of beliefs live equally long? The log-rank test."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefbase.projections.survival.spells import ENDS, Floats, InvalidSpells, Spells, Tally

BLOCK = 1 << 16
"""Ages handled at once: bounds the memory, and fixes the order of summation."""
NEGLIGIBLE = 1e-9
"""A pivot below this share of its variance is rounding: the group adds no comparison of its own."""


class LogRank(NamedTuple):
    """Result of the test; groups never at risk together with another at an end add no degree of freedom."""

    groups: tuple[str, ...]
    observed: tuple[int, ...]
    """Ends of interest per group."""
    expected: tuple[float, ...]
    """Ends per group if all groups had one hazard at each age."""
    statistic: float
    dof: int
    p: float | None
    """Probability of a statistic at least as large under one hazard; None without two groups to compare."""


def log_rank(spells: Spells) -> LogRank:
    """Compare all groups of the spells, delayed entries and ties included (hypergeometric variance)."""
    ends = spells.exit_ms[np.isin(spells.cause, range(1, len(ENDS) + 1))]
    ages = np.unique(ends)
    groups = [rows for _, rows in spells.by_group()]
    size = len(groups)
    observed = [0] * size
    expected = np.zeros(size)
    covariance = np.zeros((size, size))
    tallies = [Tally.of(rows) for rows in groups]
    counts = [
        (tally.ages_ms, np.concatenate([[0], np.cumsum(tally.entered - tally.left)]), tally.ended(ENDS))
        for tally in tallies
    ]
    for start in range(0, len(ages), BLOCK):
        block = ages[start : start + BLOCK]
        at_risk = np.zeros((size, len(block)))
        ended = np.zeros((size, len(block)))
        for index, (own, watched, own_ended) in enumerate(counts):
            at_risk[index] = watched[np.searchsorted(own, block, side="left")]
            inside = (own >= block[0]) & (own <= block[-1]) & (own_ended > 0)
            ended[index, np.searchsorted(block, own[inside])] = own_ended[inside]
            observed[index] += int(own_ended[inside].sum())
        _add_block(at_risk, ended, expected, covariance)
    statistic, dof = _quadratic_form(np.array(observed) - expected, covariance)
    p = chi_square_tail(statistic, dof) if dof else None
    return LogRank(spells.labels, tuple(observed), tuple(expected.tolist()), statistic, dof, p)


def _add_block(at_risk: Floats, ended: Floats, expected: Floats, covariance: Floats) -> None:
    n = np.cumsum(at_risk, axis=0)[-1]
    d = np.cumsum(ended, axis=0)[-1]
    expected += np.cumsum(at_risk * (d / n), axis=1)[:, -1]
    weight = d * (n - d) / np.maximum(n - 1, 1) / (n * n)
    for index in range(len(at_risk)):
        rest = -at_risk
        rest[index] += n
        covariance[index] += np.cumsum(at_risk[index] * weight * rest, axis=1)[:, -1]


def _quadratic_form(excess: Floats, covariance: Floats) -> tuple[float, int]:
    """The statistic z' V^- z of an excess z, and the rank of V: elimination, largest pivot first."""
    work = np.column_stack([covariance, excess])
    scale = np.diag(covariance).copy()
    open_rows = [index for index in range(len(scale)) if scale[index] > 0]
    statistic, rank = 0.0, 0
    while open_rows:
        pivot = max(open_rows, key=lambda index: (work[index, index] / scale[index], -index))
        size = work[pivot, pivot]
        if size <= NEGLIGIBLE * scale[pivot]:
            break
        open_rows.remove(pivot)
        statistic += float(work[pivot, -1] ** 2 / size)
        rank += 1
        for index in open_rows:
            work[index] -= work[pivot] * (work[index, pivot] / size)
    return statistic, rank


def chi_square_tail(statistic: float, dof: int) -> float:
    """Probability that a chi-square variable with a whole number of degrees of freedom exceeds the statistic.

    The regularised upper incomplete gamma function at dof / 2, as its finite sum of positive terms.

    Raises:
        InvalidSpells: dof is less than 1 or the statistic is negative or no number.
    """
    if dof < 1 or not statistic >= 0:
        raise InvalidSpells(
            f"no chi-square tail for {statistic} with {dof} degrees of freedom",
            hint="dof is 1 or more, the statistic 0 or more",
        )
    half = statistic / 2
    if half == 0:
        return 1.0
    if half == math.inf:
        return 0.0
    first = 1.0 if dof % 2 else 0.0
    powers = (first / 2 + step for step in range(dof // 2))
    terms = [math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in powers]
    start = math.erfc(math.sqrt(half)) if dof % 2 else 0.0
    return min(1.0, math.fsum([start, *terms]))
