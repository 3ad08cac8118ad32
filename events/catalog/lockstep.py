"""Reads the skeletons of many events of one type side by side, into columns: no object is made for a value.

It accepts less than :meth:`Catalog.read` does and never anything else: whatever is unusual about an event (another
version, a field that this release doesn't know, a value of the wrong shape) leaves it to be read by itself, which also
gives the reason where it can't be used. Lists of texts, tables, and types that act through a key are not read here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np

from beliefbase.events.catalog.checks import Check, IsBytes, IsFlag, IsList, IsMap, IsSlug, IsWhole, IsWord
from beliefbase.events.catalog.reader import Reader
from beliefbase.events.catalog.registry import Catalog
from beliefbase.events.envelope import FORMAT, Skeleton
from beliefbase.events.ids import HASH_BYTES, ID_BYTES
from beliefbase.events.lanes import Array, Flags, Ints, Joined, Lanes, Octets, first_of, halves, token_of

LEAST: Final = 64
"""Fewer events of a type than this are read one by one: for them it is no slower."""
_MOST: Final = 64
"""Events with longer lists are read one by one: each place in a list is a step of its own."""
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

    @property
    def owner(self) -> Ints:
        """Place of each item's event."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int64), self.lengths)

    def spread(self, places: Ints, length: int) -> Lists:
        """The same lists as those of some of ``length`` events."""
        lengths = np.zeros(length, np.int64)
        lengths[places] = self.lengths
        return Lists(lengths, self.items)

    def take(self, places: Array) -> Lists:
        """Those of some events, in their order."""
        chosen = np.zeros(len(self.lengths), np.bool_)
        chosen[places] = True
        kept = np.flatnonzero(chosen[self.owner])
        return Lists(self.lengths[places], {name: values.take(kept) for name, values in self.items.items()})


Column = Values | Lists
_Reads = Callable[[Lanes], Column]


class Heads(NamedTuple):
    """What every event begins with: columns for all lanes."""

    writer: Octets
    seq: Ints
    prev: Octets
    hlc: Ints
    recorded: Ints


class Group(NamedTuple):
    """Usable events of one type."""

    type: str
    places: Ints
    """Places among the events that were read."""
    basis: Lists
    refs: Values
    payload: Mapping[str, Column]
    """In the current version of the type."""


class Read(NamedTuple):
    """Events, read as far as that goes."""

    heads: Heads
    """Also of the events that are left, where ``known``."""
    known: Flags
    groups: list[Group]
    left: Ints
    """Places of the events that have to be read one by one."""


class LockstepReader:
    """Reads for one catalogue."""

    def __init__(self, catalog: Catalog) -> None:
        self._bodies = {
            name: body for name, reader in catalog.readers.items() if (body := _Body.of(name, reader)) is not None
        }

    def read(self, raws: Sequence[bytes]) -> Read:
        """Read skeletons that were verified before they were stored; never raises."""
        lanes = Joined(raws).lanes()
        lanes.expect(bytes([0x90 | len(Skeleton._fields), FORMAT]))
        heads = Heads(
            lanes.octets(ID_BYTES), lanes.integers(), lanes.octets(HASH_BYTES), lanes.integers(), lanes.integers()
        )
        numbers, types = lanes.texts()
        groups, left = list[Group](), ~lanes.ok
        for number, name in enumerate(types):
            places = np.flatnonzero(lanes.ok & (numbers == number))
            body = self._bodies.get(name)
            group = body.read(lanes, places) if body is not None and len(places) >= LEAST else None
            left[places] = True
            if group is not None:
                groups.append(group)
                left[group.places] = False
        return Read(heads, lanes.ok, groups, np.flatnonzero(left))


class _Body:
    """Reads what follows the type of events."""

    def __init__(self, name: str, reader: Reader, payload: _Map) -> None:
        self._name = name
        self._version = bytes([reader.version])
        self._payload = payload
        self._touched = [(field, inner or "") for field, inner, _, touch in reader.named if touch]

    @classmethod
    def of(cls, name: str, reader: Reader) -> Self | None:
        """None for a type that can't be read side by side."""
        if reader.one_of or reader.touches_key or reader.version > 0x7F:
            return None
        payload = _Map.of({field: shape.check for field, shape in reader.shapes.items()}, reader.required)
        return None if payload is None else cls(name, reader, payload)

    def read(self, lanes: Lanes, places: Ints) -> Group | None:
        """The events at these places that can be read; None for none."""
        while len(places):
            part = lanes.part(places)
            part.expect(self._version)
            touched = _ids(part)
            basis, refs = _basis(part), _or_nil(part, ID_BYTES)
            payload = self._payload.read(part)
            _ids(part)
            _or_nil(part, HASH_BYTES)
            part.finish()
            self._check_touched(part, touched, payload)
            if self._name == "belief.extracted" and "speech_act" in payload:
                part.fail(payload["speech_act"].array == "question")  # type: ignore[union-attr]  # no list
            if part.ok.all():
                return Group(self._name, places, basis, refs, payload)
            places = places[part.ok]
        return None

    def _check_touched(self, lanes: Lanes, touched: Lists, payload: Mapping[str, Column]) -> None:
        """Fail where what an event touches is not what its payload names."""
        length = len(lanes)
        named = [_named(payload[field], inner) for field, inner in self._touched if field in payload]
        owners, ids = _sorted_apart(named) if named else (np.zeros(0, np.int64), np.zeros((0, 2), np.uint64))
        agree = np.bincount(owners, minlength=length) == touched.lengths
        wrong = (ids[agree[owners]] != halves(touched.items[""].array)[agree[touched.owner]]).any(axis=1)
        agree[owners[agree[owners]][wrong]] = False
        lanes.fail(~agree)


class _Map:
    """Reads maps with known fields."""

    def __init__(self, fields: Iterable[tuple[str, bool, _Reads]]) -> None:
        self._fields = [
            (name, token, *first_of(token), needed, read) for name, needed, read in fields for token in (token_of(name),)
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
            if here.any():
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
        return _ids
    if isinstance(check, IsList) and isinstance(check.item, IsMap):
        item = _Map.of(check.item.fields, check.item.needed)
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


def _or_nil(lanes: Lanes, length: int) -> Values:
    """Bytes of some length, or nil."""
    here = ~lanes.nil()
    if here.all():
        return Values(lanes.octets(length), None)
    places = np.flatnonzero(here)
    part = lanes.part(places)
    values = Values(part.octets(length), None).spread(places, len(lanes))
    lanes.rejoin(places, part)
    return values


def _ids(lanes: Lanes) -> Lists:
    """Lists of ids."""
    return _these_ids(lanes, lanes.items(_MOST))


def _these_ids(lanes: Lanes, lengths: Ints) -> Lists:
    """So many ids in each lane."""
    owner = np.repeat(np.arange(len(lanes), dtype=np.int64), lengths)
    each = lanes.part(owner)
    each.step(_ID * (np.arange(len(owner)) - (np.cumsum(lengths) - lengths)[owner]))
    ids = Values(each.octets(ID_BYTES), None)
    failed = np.zeros(len(lanes), np.bool_)
    failed[owner[~each.ok]] = True
    lanes.fail(failed)
    lanes.step(_ID * lengths)
    return Lists(lengths, {"": ids})


def _basis(lanes: Lanes) -> Lists:
    """Lists of ids, behind which may stand the mark that there were more."""
    lengths = lanes.items(_MOST + 1)
    last = lanes.part(np.arange(len(lanes)))
    last.step(_ID * np.maximum(lengths - 1, 0))
    marked = last.have(_TRUE) & (lengths > 0)
    ids = _these_ids(lanes, lengths - marked)
    lanes.step(marked.astype(np.int64))
    return ids


def _maps(lanes: Lanes, item: _Map) -> Lists:
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
    return Lists(lengths, {name: _laid_out(parts, total) for name, parts in found.items()})


def _laid_out(parts: Sequence[tuple[Ints, Values]], total: int) -> Values:
    """Values at their places among so many."""
    places = np.concatenate([places for places, _ in parts])
    array = np.concatenate([values.array for _, values in parts])
    given = [np.ones(len(places), np.bool_) if values.here is None else values.here for places, values in parts]
    here = np.concatenate(given)
    return Values(array, None if len(array) == total and here.all() else here).spread(places, total)


def _named(column: Column, inner: str) -> tuple[Ints, Array]:
    """The ids that events name in a field: places of the events, and the ids."""
    if isinstance(column, Lists):
        values = column.items.get(inner)
        return (np.zeros(0, np.int64), np.zeros((0, ID_BYTES), np.uint8)) if values is None else (
            column.owner, values.array)
    places = np.arange(len(column.array)) if column.here is None else np.flatnonzero(column.here)
    return places, column.array[places]


def _sorted_apart(named: Sequence[tuple[Ints, Array]]) -> tuple[Ints, Array]:
    """Ids in the order of their events and then their own, each once; as two halves."""
    owners, ids = np.concatenate([owners for owners, _ in named]), halves(np.concatenate([ids for _, ids in named]))
    order = np.lexsort((ids[:, 1], ids[:, 0], owners))
    owners, ids = owners[order], ids[order]
    first = np.ones(len(owners), np.bool_)
    first[1:] = (owners[1:] != owners[:-1]) | (ids[1:] != ids[:-1]).any(axis=1)
    return owners[first], ids[first]
