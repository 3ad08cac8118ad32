"""Whether the log's index is what the events give: yes, or not known, in one scan of either (ADR 0029).

Only :mod:`beliefbase.events.indexed` says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Final, Self

import numpy as np

from beliefbase.events.filed_pages import Sweep
from beliefbase.events.hlc import MAX_HLC
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.index_columns import ROLE_FROM, Given
from beliefbase.events.lanes import Array, Flags, Ints, Octets
from beliefbase.events.spill import SHELVES, Spill

_PAIR: Final = 2 * ID_BYTES
_ROLES: Final = 1 << 3
_KEY_FROM: Final = ROLE_FROM + 3
"""Before this bit of a row the number of its key stands."""
_KEY_BITS: Final = 64 - 8
"""Behind the bits of a key that name its shelf: the first eight, so that shelves have the order of the keys."""


class IndexCheck:
    """Gathers what events give, and compares it in the end; memory goes by a part of the keys."""

    def __init__(self) -> None:
        self._refs, self._stamps = Spill(2, np.int64), Spill(1, np.int64)
        self._pairs = {name: Spill(_PAIR, np.uint8) for name in Given._fields[2:-1]}
        self._raised = Spill(_PAIR + ID_BYTES, np.uint8)
        self._newest = 0
        self._files = ExitStack()
        for spill in (self._refs, self._stamps, *self._pairs.values(), self._raised):
            self._files.enter_context(closing(spill))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, given: Given) -> None:
        """Take what the events of a page give."""
        self._refs.add(given.refs, _shelves(given.refs[:, 0]))
        for name, spill in self._pairs.items():
            _add(spill, getattr(given, name))
        _add(self._raised, given.raised)
        _add_stamps(self._stamps, given.stamps)
        self._newest = max(self._newest, int(given.stamps.max(initial=0)))

    def holds(self, sweep: Sweep) -> bool:
        """Whether the index is what all events give, as far as :func:`misindexed` would say.

        Raises:
            Irregular: rows are not of the types that a log stores.
        """
        return self._same_refs(sweep) and self._same_stamps(sweep) and self._same_tips(sweep)

    def _same_refs(self, sweep: Sweep) -> bool:
        seen = 0
        for first, last in _parts(self._refs):
            keys, mine = _ordered(self._refs.take(first, last))
            least, most = first - SHELVES // 2 << _KEY_BITS, (last + 1 - SHELVES // 2 << _KEY_BITS) - 1
            at = 0
            for rows in sweep.refs(least, most):
                same = mine[at : at + len(rows)]
                if len(same) < len(rows) or (
                    (rows[:, 0] != keys[same >> _KEY_FROM]).any()
                    or (rows[:, 1] != same >> ROLE_FROM & _ROLES - 1).any()
                    or (rows[:, 2] != same & (1 << ROLE_FROM) - 1).any()
                ):
                    return False
                at += len(rows)
            if at != len(mine):
                return False
            seen += at
        return seen == sweep.counts()[0]

    def _same_stamps(self, sweep: Sweep) -> bool:
        """None may be missing; those that no event has must not be later than all events'."""
        with closing(Spill(1, np.int64)) as kept:
            for stamps in sweep.stamps():
                if (stamps[stamps <= MAX_HLC] > self._newest).any():
                    return False
                _add_stamps(kept, stamps)
            return all(
                _among(self._stamps.take(*part)[:, 0], np.sort(kept.take(*part)[:, 0])).all()
                for part in _parts(self._stamps, kept)
            )

    def _same_tips(self, sweep: Sweep) -> bool:
        self._pass_to_sides()
        revised, passed = self._pairs["revised"], self._pairs["passed"]
        seen = 0
        for first, last in _parts(revised, passed):
            mine, gone = (_different(_texts(spill.take(first, last))) for spill in (revised, passed))
            mine = mine[~_among(mine, gone)]
            below = None if last + 1 == SHELVES else bytes([last + 1])
            theirs = _texts(np.concatenate([np.zeros((0, _PAIR), np.uint8), *sweep.tips(bytes([first]), below)]))
            if not np.array_equal(mine, theirs):
                return False
            seen += len(theirs)
        return seen == sweep.counts()[1]

    def _pass_to_sides(self) -> None:
        """A resolution revises the sides of its contradiction too, if that is stored."""
        for name, of_resolutions in (("revised", "resolved"), ("passed", "resolved_passed")):
            source = self._pairs[of_resolutions]
            for part in _parts(source, self._raised):
                rows, raised = source.take(*part), self._raised.take(*part)
                raised = raised[np.argsort(_texts(raised[:, :ID_BYTES]))]
                known, wanted = _texts(raised[:, :ID_BYTES]), _texts(rows[:, :ID_BYTES])
                found = _among(wanted, known)
                sides, events = raised[np.searchsorted(known, wanted[found])], rows[found][:, ID_BYTES:]
                for side in (sides[:, ID_BYTES:_PAIR], sides[:, _PAIR:]):
                    _add(self._pairs[name], np.hstack([side, events]))


def _parts(*spills: Spill) -> Iterator[tuple[int, int]]:
    """First and last shelf of what is compared at once: all of it, if none of it went into a file."""
    if any(spill.spilled for spill in spills):
        yield from ((shelf, shelf) for shelf in range(SHELVES))
    else:
        yield 0, SHELVES - 1


def _shelves(keys: Ints) -> Octets:
    """Shelves of the index's keys, in their order."""
    return ((keys >> _KEY_BITS) + SHELVES // 2).astype(np.uint8)


def _add(spill: Spill, rows: Octets) -> None:
    spill.add(rows, rows[:, 0])


def _add_stamps(spill: Spill, stamps: Ints) -> None:
    """The lowest bits of the milliseconds are those that differ."""
    spill.add(stamps.reshape(-1, 1), (stamps >> 16 & SHELVES - 1).astype(np.uint8))


def _texts(rows: Octets) -> Array:
    """Rows as values that compare like bytes."""
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}")[:, 0]


def _different(values: Array) -> Array:
    """Sorted, each once."""
    values = np.sort(values)
    return values[_firsts(values)]


def _firsts(values: Array) -> Flags:
    """Which differ from the one before."""
    return np.concatenate([np.ones(min(len(values), 1), np.bool_), values[1:] != values[:-1]])


def _among(values: Array, ordered: Array) -> Flags:
    """Which values are among others, which are in order."""
    if not len(ordered):
        return np.zeros(len(values), np.bool_)
    found: Flags = ordered[np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)] == values
    return found


def _ordered(rows: Ints) -> tuple[Ints, Ints]:
    """Keys in order, and the rows in order, each once: the number of its key, its role, and its position in one.

    Sorting single integers takes a tenth of what sorting by several columns does.
    """
    keys = rows[:, 0].copy()
    order = np.argsort(keys)
    keys = keys[order]
    first = _firsts(keys)
    return keys[first], _different((np.cumsum(first) - 1 << _KEY_FROM) | rows[order, 1])
