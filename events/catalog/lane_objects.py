"""Objects out of columns that were read side by side: the maps, lists and ids that decoding one by one would give."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np

from beliefbase.events.catalog.lane_shapes import Column, Lists
from beliefbase.events.lanes import Octets

_NONE_SUCH: Final = object()


def bytes_in(rows: Octets) -> list[bytes]:
    """Each row as bytes."""
    found: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel().tolist()
    return found


def maps_of(columns: Mapping[str, Column], length: int) -> list[dict[str, Any]]:
    """Maps with the fields that each of so many events or items has."""
    if not columns:
        return [{} for _ in range(length)]
    names = sorted(columns)
    if all(column.here is None for column in columns.values()):
        blank = dict[str, Any].fromkeys(names)
        maps = [blank.copy() for _ in range(length)]  # filled column by column: half of what a dict of each row costs
        for name in names:
            for one, value in zip(maps, values_of(columns[name]), strict=True):
                one[name] = value
        return maps
    rows = zip(*[values_of(columns[name]) for name in names], strict=True)
    return [{name: value for name, value in zip(names, row, strict=True) if value is not _NONE_SUCH} for row in rows]


def values_of(column: Column, *, absent: object = _NONE_SUCH) -> list[Any]:
    """A value for each event or item; ``absent`` where there is none."""
    found: list[Any] = _lists(column) if isinstance(column, Lists) else _plain(column.array)
    if column.here is not None:
        return [value if here else absent for value, here in zip(found, column.here.tolist(), strict=True)]
    return found


def _plain(array: np.ndarray[Any, Any]) -> list[Any]:
    return bytes_in(array) if array.ndim == 2 else array.tolist()


def _lists(lists: Lists) -> list[tuple[Any, ...]]:
    ends = [0, *np.cumsum(lists.lengths).tolist()]
    items = _plain(lists.items[""].array) if "" in lists.items else maps_of(lists.items, ends[-1])
    return [tuple(items[start:end]) for start, end in pairwise(ends)]
