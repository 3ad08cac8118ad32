"""Survival statistics of beliefs: lifetime curves, incidences of the ways to end, and a test between groups.

Read the spells once, then ask::

    spells = Spells.read(entry_ms, exit_ms, cause, groups)
    kaplan_meier(spells), cumulative_incidence(spells), log_rank(spells)

Counts are exact integers per age; every float is computed from them in one fixed order, so the order of
rows never shows. ``docs/curves.md`` has the definitions and says when the numbers mislead.
"""

from beliefbase.projections.survival.comparison import LogRank, chi_square_tail, log_rank
from beliefbase.projections.survival.curve import Curve, CurvePoint, kaplan_meier
from beliefbase.projections.survival.incidence import CauseIncidence, Incidence, IncidencePoint, cumulative_incidence
from beliefbase.projections.survival.spells import (
    CAUSES,
    CENSORED,
    COMPETING,
    ENDS,
    EmptySpell,
    InvalidSpells,
    Spells,
)

__all__ = [
    "CAUSES",
    "CENSORED",
    "COMPETING",
    "ENDS",
    "CauseIncidence",
    "Curve",
    "CurvePoint",
    "EmptySpell",
    "Incidence",
    "IncidencePoint",
    "InvalidSpells",
    "LogRank",
    "Spells",
    "chi_square_tail",
    "cumulative_incidence",
    "kaplan_meier",
    "log_rank",
]
