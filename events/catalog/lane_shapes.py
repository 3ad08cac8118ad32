"""Values of the shapes that fields have, read side by side into columns.

What isn't read here (lists of texts, tables) makes a lane fail, so that its event is read by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np

from beliefbase.events.catalog.checks import Check, IsBytes, IsFlag, IsList, IsMap, IsSlug, IsWhole, IsWord
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.lanes import AHEAD, Array, Flags, Ints, Lanes, first_of, laid_out, token_of

_MOST: Final = 64
"""Events with longer lists are read one by one: each place in a list of maps is a step of its own."""
_ID: Final = 2 + ID_BYTES
_TRUE: Final = b"\xc3"


class Values(NamedTuple):
    """One value per event: rows of bytes, integers, flags or texts."""

    array: Array
    here: Flags | None
    """Which events have it; None: all."""

    def spread(self, places: Ints, length: int) -> Values:
        """The same values as those of some of ``length`` events."""
        array = np.zeros((length, *self.array.shape[1:]), self.array.dtype)
        here = np.zeros(length, np.bool_)
        array[places], here[places] = self.array, True if self.here is None else self.here
        return Values(array, here)

    def take(self, places: Array) -> Values:
        """Those of some events."""
        return Values(self.array[places], None if self.here is None else self.here[places])


class Lists(NamedTuple):
    """A list per event, empty where an event has none; the items lie end to end."""

    lengths: Ints
    items: Mapping[str, Values]
    """By field of the items; those of a list of ids have the name ""."""
    here: Flags | None = None
    """Which events have a list, be it an empty one; None: all."""

    @property
    def owner(self) -> Ints:
        """Place of each item's event."""
        return laid_out(self.lengths)[0]

    def spread(self, places: Ints, length: int) -> Lists:
        """The same lists as those of some of ``length`` events."""
        lengths, here = np.zeros(length, np.int64), np.zeros(length, np.bool_)
        lengths[places], here[places] = self.lengths, True if self.here is None else self.here
        return Lists(lengths, self.items, here)

    def take(self, places: Array) -> Lists:
        """Those of some events, in their order."""
        chosen = np.zeros(len(self.lengths), np.bool_)
        chosen[places] = True
        kept = np.flatnonzero(chosen[self.owner])
        items = {name: values.take(kept) for name, values in self.items.items()}
        return Lists(self.lengths[places], items, None if self.here is None else self.here[places])


Column = Values | Lists
_Reads = Callable[[Lanes], Column]


class MapReader:
    """Reads maps with known fields."""

    def __init__(self, fields: Iterable[tuple[str, bool, _Reads]]) -> None:
        self._fields = [
            (name, token_of(name), *first_of(token_of(name)), needed, read) for name, needed, read in fields
        ]

    @classmethod
    def of(cls, fields: Mapping[str, Check], needed: frozenset[str]) -> Self | None:
        """None where a field that is needed can't be read; where another one can't, maps that have it fail."""
        known = {name: read for name, check in fields.items() if (read := _reads(check)) is not None}
        return cls((name, name in needed, known[name]) for name in sorted(known)) if needed <= known.keys() else None

    def read(self, lanes: Lanes) -> dict[str, Column]:
        """The fields that some lane has."""
        columns: dict[str, Column] = {}
        left = lanes.entries(len(self._fields))
        ahead = lanes.ahead()
        for name, token, first, mask, needed, read in self._fields:
            here = (ahead & np.uint64(mask)) == first
            if len(token) > AHEAD and here.any():
                here &= lanes.have(token)
            if needed:
                lanes.fail(~here)
            if here.all():
                lanes.step(len(token))
                columns[name] = read(lanes)
            elif here.any():
                places = np.flatnonzero(here)
                part = lanes.part(places)
                part.step(len(token))
                columns[name] = read(part).spread(places, len(lanes))
                lanes.rejoin(places, part)
            else:
                continue
            left -= here
            ahead = lanes.ahead()
        lanes.fail(left != 0)
        return columns


def _reads(check: Check) -> _Reads | None:
    """How to read values of this shape; None where that is left to reading one by one."""
    if isinstance(check, IsBytes):
        return lambda lanes: Values(lanes.octets(check.length), None)
    if isinstance(check, IsWhole):
        return lambda lanes: _whole(lanes, check)
    if isinstance(check, IsFlag):
        return lambda lanes: Values(lanes.flags(), None)
    if isinstance(check, IsWord | IsSlug):
        return lambda lanes: _texts(lanes, check)
    if isinstance(check, IsList) and isinstance(check.item, IsBytes) and check.item.length == ID_BYTES:
        return id_lists
    if isinstance(check, IsList) and isinstance(check.item, IsMap):
        item = MapReader.of(check.item.fields, check.item.needed)
        return None if item is None else lambda lanes: _maps(lanes, item)
    return None


def _whole(lanes: Lanes, check: IsWhole) -> Values:
    values = lanes.integers()
    lanes.fail((values < check.least) | (values > check.most))
    return Values(values, None)


def _texts(lanes: Lanes, check: Check) -> Values:
    numbers, texts = lanes.texts()
    if not all(map(check, texts)):
        lanes.fail(~np.array([check(text) for text in texts])[numbers])
    return Values(np.array([*texts, ""], dtype=object)[numbers], None)


def or_nil(lanes: Lanes, length: int) -> Values:
    """Bytes of some length, or nil."""
    here = ~lanes.nil()
    if here.all():
        return Values(lanes.octets(length), None)
    places = np.flatnonzero(here)
    part = lanes.part(places)
    values = Values(part.octets(length), None).spread(places, len(lanes))
    lanes.rejoin(places, part)
    return values


def id_lists(lanes: Lanes) -> Lists:
    """Lists of ids."""
    return _these_ids(lanes, lanes.items(_MOST))


def _these_ids(lanes: Lanes, lengths: Ints) -> Lists:
    """So many ids in each lane."""
    owner, place = laid_out(lengths)
    each = lanes.part(owner)
    each.step(_ID * place)
    found = Values(each.octets(ID_BYTES), None)
    failed = np.zeros(len(lanes), np.bool_)
    failed[owner[~each.ok]] = True
    lanes.fail(failed)
    lanes.step(_ID * lengths)
    return Lists(lengths, {"": found})


def basis_lists(lanes: Lanes) -> Lists:
    """Lists of ids, behind which may stand the mark that there were more."""
    lengths = lanes.items(_MOST + 1)
    last = lanes.part(np.arange(len(lanes)))
    last.step(_ID * np.maximum(lengths - 1, 0))
    marked = last.have(_TRUE) & (lengths > 0)
    found = _these_ids(lanes, lengths - marked)
    lanes.step(marked.astype(np.int64))
    return found


def _maps(lanes: Lanes, item: MapReader) -> Lists:
    """Lists of maps: the first of all lists, then the second of those that have one, and so on."""
    lengths = lanes.items(_MOST)
    first, total = np.cumsum(lengths) - lengths, int(lengths.sum())
    found: dict[str, list[tuple[Ints, Values]]] = {}
    for step in range(int(lengths.max(initial=0))):
        places = np.flatnonzero(lengths > step)
        part = lanes.part(places)
        for name, values in item.read(part).items():
            found.setdefault(name, []).append((first[places] + step, values))  # type: ignore[arg-type]  # no list
        lanes.rejoin(places, part)
    return Lists(lengths, {name: _united(parts, total) for name, parts in found.items()})


def _united(parts: Sequence[tuple[Ints, Values]], total: int) -> Values:
    """Values at their places among so many."""
    places = np.concatenate([places for places, _ in parts])
    array = np.concatenate([values.array for _, values in parts])
    given = [np.ones(len(places), np.bool_) if values.here is None else values.here for places, values in parts]
    array, here = Values(array, np.concatenate(given)).spread(places, total)
    return Values(array, None if here is None or here.all() else here)
