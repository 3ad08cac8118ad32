"""Reads the skeletons of many events of one type side by side, into columns: no object is made for a value.

It accepts less than :meth:`Catalog.read` does and never anything else: whatever is unusual about an event (another
version, a field that this release doesn't know, a value of the wrong shape) leaves it to be read by itself, which also
gives the reason where it can't be used. Lists of texts, tables, and types that act through a key are not read here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np

from beliefbase.events.catalog.lane_shapes import Column, Lists, MapReader, Values, basis_lists, id_lists, or_nil
from beliefbase.events.catalog.reader import Reader
from beliefbase.events.catalog.registry import Catalog
from beliefbase.events.envelope import FORMAT, Skeleton
from beliefbase.events.ids import HASH_BYTES, ID_BYTES
from beliefbase.events.lanes import Array, Flags, Ints, Joined, Lanes, Octets, halves

LEAST: Final = 200
"""Fewer events of a type than this are read one by one: that many steps of numpy take as long."""


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
    version: int
    places: Ints
    """Places among the events that were read."""
    touched: Lists
    basis: Lists
    refs: Values
    payload: Mapping[str, Column]
    """In the current version of the type."""
    subjects: Lists
    commitments: Values


class Read(NamedTuple):
    """Events, read as far as that goes."""

    heads: Heads
    """They mean nothing for events that are left."""
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
        return self.read_lanes(Joined.of(raws).lanes(), LEAST)

    def read_lanes(self, lanes: Lanes, least: int) -> Read:
        """Likewise, of lanes at the beginnings of skeletons; types with fewer events than ``least`` are left."""
        lanes.expect(bytes([0x90 | len(Skeleton._fields), FORMAT]))
        heads = Heads(
            lanes.octets(ID_BYTES), lanes.integers(), lanes.octets(HASH_BYTES), lanes.integers(), lanes.integers()
        )
        numbers, types = lanes.texts()
        groups, left = list[Group](), np.ones(len(lanes), np.bool_)
        for number, name in enumerate(types):
            body = self._bodies.get(name)
            if body is not None:
                places = np.flatnonzero(lanes.ok & (numbers == number))
                group = body.read(lanes, places) if len(places) >= least else None
                if group is not None:
                    groups.append(group)
                    left[group.places] = False
        return Read(heads, groups, np.flatnonzero(left))


class _Body:
    """Reads what follows the type of events."""

    def __init__(self, name: str, reader: Reader, payload: MapReader) -> None:
        self._name = name
        self._version = bytes([reader.version])
        self._payload = payload
        self._touched = [(field, inner or "") for field, inner, _, touch in reader.named if touch]

    @classmethod
    def of(cls, name: str, reader: Reader) -> Self | None:
        """None for a type that can't be read side by side."""
        if reader.one_of or reader.touches_key or reader.version > 0x7F:
            return None
        payload = MapReader.of({field: shape.check for field, shape in reader.shapes.items()}, reader.required)
        return None if payload is None else cls(name, reader, payload)

    def read(self, lanes: Lanes, places: Ints) -> Group | None:
        """The events at these places that can be read; None for none."""
        while len(places):
            part = lanes.part(places)
            part.expect(self._version)
            touched = id_lists(part)
            basis, refs = basis_lists(part), or_nil(part, ID_BYTES)
            payload = self._payload.read(part)
            subjects, commitments = id_lists(part), or_nil(part, HASH_BYTES)
            part.finish()
            self._check_touched(part, touched, payload)
            if self._name == "belief.extracted" and "speech_act" in payload:
                part.fail(payload["speech_act"].array == "question")  # type: ignore[union-attr]  # no list
            if part.ok.all():
                version = self._version[0]
                return Group(self._name, version, places, touched, basis, refs, payload, subjects, commitments)
            places = places[part.ok]
        return None

    def _check_touched(self, lanes: Lanes, touched: Lists, payload: Mapping[str, Column]) -> None:
        """Fail where what an event touches is not what its payload names."""
        length = len(lanes)
        named = [ids_in(payload[field], inner) for field, inner in self._touched if field in payload]
        owners, ids = _sorted_apart(named) if named else (np.zeros(0, np.int64), np.zeros((0, 2), np.uint64))
        agree = np.bincount(owners, minlength=length) == touched.lengths
        wrong = (ids[agree[owners]] != halves(touched.items[""].array)[agree[touched.owner]]).any(axis=1)
        agree[owners[agree[owners]][wrong]] = False
        lanes.fail(~agree)


def ids_in(column: Column, inner: str) -> tuple[Ints, Array]:
    """The ids that events name in a field, or in a field of its items: places of the events, and the ids."""
    if isinstance(column, Values):
        values, owner = column, np.arange(len(column.array))
    elif inner in column.items:
        values, owner = column.items[inner], column.owner
    else:
        return np.zeros(0, np.int64), np.zeros((0, ID_BYTES), np.uint8)
    array, here = values
    return (owner, array) if here is None else (owner[here], array[here])


def _sorted_apart(named: Sequence[tuple[Ints, Array]]) -> tuple[Ints, Array]:
    """Ids in the order of their events and then their own, each once; as two halves."""
    owners, ids = np.concatenate([owners for owners, _ in named]), halves(np.concatenate([ids for _, ids in named]))
    if not _ascending(owners, ids).all():
        order = np.lexsort((ids[:, 1], ids[:, 0], owners))
        owners, ids = owners[order], ids[order]
        first = np.concatenate([np.ones(1, np.bool_), _ascending(owners, ids)])
        owners, ids = owners[first], ids[first]
    return owners, ids


def _ascending(owners: Ints, ids: Array) -> Flags:
    """Whether each id but the first comes behind the one before."""
    upper, lower = ids[:, 0], ids[:, 1]
    larger = (upper[1:] > upper[:-1]) | (upper[1:] == upper[:-1]) & (lower[1:] > lower[:-1])
    ascending: Flags = (owners[1:] > owners[:-1]) | (owners[1:] == owners[:-1]) & larger
    return ascending
