"""Intervals: how long a belief had one status and one set of flags."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from beliefbase.beliefs.rules import FOREVER

STATUSES: Final = (
    "candidate",
    "active",
    "superseded",
    "duplicate",
    "retracted",
    "contradicted",
    "obsolete",
    "expired",
    "erased",
)
LIVE: Final = frozenset({"candidate", "active"})

CODE: Final = {status: code for code, status in enumerate(STATUSES)}
"""Status to its number in a line."""
EXPIRED: Final = CODE["expired"]
STATUS_BITS: Final = 15
STALE: Final = 16
CONTESTED: Final = 32
FORKED: Final = 64

_DECODED: Final = tuple(
    (STATUSES[code & STATUS_BITS], bool(code & STALE), bool(code & CONTESTED), bool(code & FORKED))
    if code & STATUS_BITS < len(STATUSES)
    else ("", False, False, False)
    for code in range(2 * FORKED)
)

Line = list[int | bytes | None]
"""Rows laid end to end while folding: since, status and flags as one number, cause, by."""


class Interval(NamedTuple):
    """A stretch ``[since, until)`` of a belief's life. Bounds are stamps (hlc)."""

    since: int
    until: int
    """``FOREVER`` while open."""
    status: str
    cause: bytes | None
    """The event that ended the belief; None while it lives and where time ended it."""
    by: bytes | None
    """The event whose acting began this stretch; None where time did."""
    stale: bool
    contested: bool
    forked: bool

    @property
    def live(self) -> bool:
        """Whether the belief lives here."""
        return self.status in LIVE


class Spell(NamedTuple):
    """A maximal live stretch."""

    since: int
    until: int
    ended_as: str | None
    """Status after it; None while open."""
    cause: bytes | None
    """The ending event; None while open and where time ended it."""


def rows(line: Sequence[int | bytes | None]) -> list[Interval]:
    """The intervals of a line."""
    since = line[0::4]
    return [
        Interval(began, until, status, cause, by, stale, contested, forked)  # type: ignore[arg-type]
        for began, until, (status, stale, contested, forked), cause, by in zip(
            since,
            [*since[1:], FOREVER],
            [_DECODED[code] for code in line[1::4]],  # type: ignore[index]
            line[2::4],
            line[3::4],
            strict=True,
        )
    ]


def with_forks(line: Sequence[int | bytes | None], forks: Iterable[tuple[int, bool]]) -> Line:
    """A line with the flag laid over it: rows are split where only the flag changes.

    ``forks`` says from when on the belief is forked or not, in order of time.
    """
    changes: list[tuple[int, int, int | bytes | None, int | bytes | None, int | bytes | None]] = [
        (line[place], 0, *line[place + 1 : place + 4])  # type: ignore[misc]
        for place in range(0, len(line), 4)
    ]
    changes += [(at, 1, FORKED if on else 0, None, None) for at, on in forks]
    cut: Line = []
    code, cause, by, flag = 0, None, None, 0
    for at, kind, value, row_cause, row_by in sorted(changes, key=lambda change: change[:2]):
        if kind == 0:
            code, cause, by = value, row_cause, row_by  # type: ignore[assignment]
        else:
            flag = value  # type: ignore[assignment]
            if not cut or cut[-4] != at:
                by = None
        if cut and cut[-4] == at:
            del cut[-4:]
        if not cut or cut[-3] != code | flag or cut[-2] != cause:
            cut += (at, code | flag, cause, by)
    return cut


def spells(intervals: Iterable[Interval]) -> list[Spell]:
    """The live stretches among a belief's intervals."""
    found: list[Spell] = []
    open_since: int | None = None
    for row in intervals:
        if row.live and open_since is None:
            open_since = row.since
        elif not row.live and open_since is not None:
            found.append(Spell(open_since, row.since, row.status, row.cause))
            open_since = None
    if open_since is not None:
        found.append(Spell(open_since, FOREVER, None, None))
    return found


def at(intervals: Sequence[Interval], hlc: int) -> Interval | None:
    """The interval that holds a stamp; None before the belief's first."""
    place = bisect_right(intervals, hlc, key=lambda row: row.since)
    return intervals[place - 1] if place else None
