"""The epistemic status of a belief over time: where a claim stands, not how it is stored (DESIGN 5)."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.life import Life


class Standing(StrEnum):
    """Only a coherent belief is evidence for promotion."""

    SPECULATIVE = "speculative"
    """A candidate, or one whose evidence isn't known."""
    COHERENT = "coherent"
    CONTESTED = "contested"
    FALSIFIED = "falsified"
    """Ended as contradicted or as wrong, also if it had ended otherwise before."""
    ENDED = "ended"
    """Ended otherwise: nothing is said against it."""


class Stretch(NamedTuple):
    """A stretch ``[since, until)`` with one standing; bounds are stamps."""

    since: int
    until: int
    standing: Standing


def standing(row: Interval, *, falsified: bool, grounded: bool) -> Standing:
    """The standing in one interval.

    ``falsified``: an ending as contradicted or as wrong is in force. ``grounded``: its evidence is known.
    """
    if not row.live:
        return Standing.FALSIFIED if falsified else Standing.ENDED
    if row.status == "candidate" or not grounded:
        return Standing.SPECULATIVE
    return Standing.CONTESTED if row.contested else Standing.COHERENT


def standings(life: Life, *, grounded: bool) -> list[Stretch]:
    """The standings of a belief from its beginning on, without gaps."""
    stretches: list[Stretch] = []
    changes = [since for since, _ in life.falsified or ()]
    for row in life.intervals:
        cuts = [row.since, *(since for since in changes if row.since < since < row.until), row.until]
        for since, until in pairwise(cuts):
            now = standing(row, falsified=life.falsified_at(since), grounded=grounded)
            if stretches and stretches[-1].standing is now:
                stretches[-1] = stretches[-1]._replace(until=until)
            else:
                stretches.append(Stretch(since, until, now))
    return stretches
