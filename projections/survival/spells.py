"""The rows that survival statistics are computed from: spells of beliefs, checked once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from beliefbase.events.errors import BeliefbaseError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CENSORED = "censored"
ENDS = ("superseded", "contradicted", "retracted", "obsolete")
"""Ends that tell how long such a belief holds: the events of the Kaplan-Meier curve."""
COMPETING = ("expired", "duplicate", "erased")
"""Ends that stop the watching of a belief without saying that it had become wrong."""
CAUSES = (CENSORED, *ENDS, *COMPETING)
"""Every way in which a spell leaves; the position is its integer code."""
ALL = "all"
"""Label of the one group where no groups are given."""


class InvalidSpells(BeliefbaseError):
    """Columns that are no spells: lengths differ, or an age, cause or label is malformed; ``data`` names the row."""

    code = "invalid_spells"
    exit_code = 2


class EmptySpell(InvalidSpells):
    """A spell that leaves at or before the age at which it enters; ``data`` has row, entry_ms and exit_ms."""

    code = "empty_spell"


@dataclass(frozen=True, slots=True, eq=False)
class Spells:
    """Checked spells: each is watched from just after ``entry_ms`` up to and including ``exit_ms``."""

    entry_ms: Ints
    """Ages in milliseconds since the belief's extraction at which watching begins; 0 where seen from the start."""
    exit_ms: Ints
    """Ages in milliseconds at which watching ends, greater than the entry."""
    cause: npt.NDArray[np.int8]
    """Why it ended: positions in ``CAUSES``."""
    group: Ints
    """Positions in ``labels``."""
    labels: tuple[str, ...]
    """Names of the groups in the order in which results are given."""

    @classmethod
    def read(
        cls,
        entry_ms: npt.ArrayLike,
        exit_ms: npt.ArrayLike,
        cause: npt.ArrayLike,
        groups: Sequence[str] | npt.NDArray[Any] | None = None,
        *,
        order: Sequence[str] | None = None,
    ) -> Spells:
        """Check columns of equal length and return them as spells.

        Args:
            entry_ms: Integer ages in milliseconds, 0 or more.
            exit_ms: Integer ages in milliseconds, greater than the entry of the same row.
            cause: Names out of ``CAUSES`` or their integer codes.
            groups: One text label per row; None puts all rows into one group, "all".
            order: The groups to report, in this order; one without rows gives an empty curve. Default: the
                labels that occur, sorted by code point.

        Raises:
            EmptySpell: A row doesn't leave after it enters.
            InvalidSpells: Anything else that is no spell.
        """
        entry = _ages(entry_ms, "entry_ms")
        exit_ = _ages(exit_ms, "exit_ms")
        codes = _cause_codes(cause)
        group, labels = _group_codes(groups, order, len(entry))
        lengths = {"entry_ms": len(entry), "exit_ms": len(exit_), "cause": len(codes), "groups": len(group)}
        if len(set(lengths.values())) > 1:
            raise InvalidSpells(f"columns differ in length: {lengths}", hint="give one value per spell", **lengths)
        _refuse(entry < 0, entry, "entry_ms", "is negative: ages count from the belief's extraction")
        bad = np.flatnonzero(exit_ <= entry)
        if len(bad):
            row = int(bad[0])
            raise EmptySpell(
                f"row {row} leaves at {exit_[row]} ms and enters at {entry[row]} ms ({len(bad)} such rows)",
                hint="leave out stretches of no length: they were never watched",
                row=row,
                rows=len(bad),
                entry_ms=int(entry[row]),
                exit_ms=int(exit_[row]),
            )
        return cls(entry, exit_, codes, group, labels)

    def __len__(self) -> int:
        return len(self.entry_ms)

    def by_group(self) -> Iterator[tuple[str, Spells]]:
        """Each label with its own rows, in the order of ``labels``."""
        if len(self.labels) == 1:
            yield self.labels[0], self
            return
        rows = np.argsort(self.group, kind="stable")
        bounds = np.searchsorted(self.group[rows], np.arange(len(self.labels) + 1))
        for index, label in enumerate(self.labels):
            mine = rows[bounds[index] : bounds[index + 1]]
            group = np.zeros(len(mine), dtype=np.int64)
            yield label, Spells(self.entry_ms[mine], self.exit_ms[mine], self.cause[mine], group, (label,))


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Exact counts of one group per distinct age at which a spell enters or leaves.

    At one age ends come before censorings and these before entries: whoever leaves is still at risk, whoever
    enters is not yet.
    """

    ages_ms: Ints
    """Ascending."""
    at_risk: Ints
    """Spells with entry < age <= exit."""
    entered: Ints
    """Spells with entry = age."""
    left: Ints
    """Spells with exit = age, by whatever cause."""
    _place: Ints
    _cause: npt.NDArray[np.int8]

    @classmethod
    def of(cls, spells: Spells) -> Tally:
        """Count the spells of one group."""
        both = np.concatenate([spells.entry_ms, spells.exit_ms])
        ages, place = np.unique(both, return_inverse=True)
        place = place.astype(np.int64, copy=False)
        entry, exit_ = place[: len(spells)], place[len(spells) :]
        entered = np.bincount(entry, minlength=len(ages)).astype(np.int64)
        left = np.bincount(exit_, minlength=len(ages)).astype(np.int64)
        watched = np.cumsum(entered) - np.cumsum(left)
        return cls(ages, watched - entered + left, entered, left, exit_, spells.cause)

    def ended(self, causes: Sequence[str]) -> Ints:
        """Spells per age that left by one of these causes."""
        wanted = np.zeros(len(CAUSES), dtype=bool)
        wanted[[CAUSES.index(cause) for cause in causes]] = True
        return np.bincount(self._place[wanted[self._cause]], minlength=len(self.ages_ms)).astype(np.int64)

    def total(self, cause: str) -> int:
        """Spells that left by this cause at any age."""
        return int(np.count_nonzero(self._cause == CAUSES.index(cause)))


def _refuse(bad: npt.NDArray[np.bool_], values: npt.NDArray[Any], column: str, problem: str) -> None:
    rows = np.flatnonzero(bad)
    if len(rows):
        row = int(rows[0])
        value = values[row].item() if isinstance(values[row], np.generic) else values[row]
        raise InvalidSpells(
            f"{column} of row {row} is {value!r} ({len(rows)} such rows): it {problem}",
            hint="correct or leave out the row; the causes are " + ", ".join(CAUSES),
            column=column,
            row=row,
            rows=len(rows),
        )


def _column(values: npt.ArrayLike, column: str) -> npt.NDArray[Any]:
    if np.ma.is_masked(values):
        raise InvalidSpells(
            f"{column} has missing values",
            hint="leave such rows out before: a mask would be ignored here",
            column=column,
        )
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidSpells(
            f"{column} has {array.ndim} dimensions", hint="give a one-dimensional column", column=column
        )
    return array


def _ages(values: npt.ArrayLike, column: str) -> Ints:
    array = _column(values, column)
    if len(array) and array.dtype.kind not in "iu":
        raise InvalidSpells(
            f"{column} holds {array.dtype}, not integers", hint="give ages in whole milliseconds", column=column
        )
    if array.dtype == np.uint64:
        _refuse(array > np.uint64(2**63 - 1), array, column, "does not fit into 64 bits with a sign")
    return array.astype(np.int64)


def _cause_codes(values: npt.ArrayLike) -> npt.NDArray[np.int8]:
    array = _column(values, "cause")
    if array.dtype.kind in "iu":
        _refuse((array < 0) | (array >= len(CAUSES)), array, "cause", f"is no code from 0 to {len(CAUSES) - 1}")
        return array.astype(np.int8)
    codes = np.full(len(array), -1, dtype=np.int8)
    if array.dtype.kind in "OU":
        for code, cause in enumerate(CAUSES):
            codes[array == cause] = code
    _refuse(codes < 0, array, "cause", "is no known cause")
    return codes


def _group_codes(
    groups: Sequence[str] | npt.NDArray[Any] | None, order: Sequence[str] | None, rows: int
) -> tuple[Ints, tuple[str, ...]]:
    if groups is None:
        if order is not None:
            raise InvalidSpells("an order of groups was given without groups", hint="give a label per row as well")
        return np.zeros(rows, dtype=np.int64), (ALL,)
    names = _column(groups, "groups").tolist()
    known = set(names)
    for name in known:
        if not isinstance(name, str):
            row = names.index(name)
            raise InvalidSpells(
                f"group of row {row} is {name!r}, not text", hint="name the group of rows without one", row=row
            )
    labels = tuple(sorted(known) if order is None else order)
    places = {label: index for index, label in enumerate(labels)}
    if len(places) < len(labels) or known - places.keys():
        raise InvalidSpells(
            f"the order {list(labels)} must name each group once; unnamed: {sorted(known - places.keys())}",
            hint="name every group that occurs, or leave those rows out",
        )
    return np.fromiter(map(places.__getitem__, names), dtype=np.int64, count=len(names)), labels
