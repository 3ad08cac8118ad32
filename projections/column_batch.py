"""Events of one type that were read side by side: columns, and no object per event but its words and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog.lane_objects import bytes_in, maps_of, values_of
from beliefbase.events.catalog.lane_shapes import Column, Lists, Values
from beliefbase.events.lanes import Octets, laid_out
from beliefbase.projections.batch import Batch, Items
from beliefbase.projections.columns import NO_INTEGER, Array, Cells, Ints, Same, Texts, shown
from beliefbase.projections.words import Words


class Common(NamedTuple):
    """What every event has."""

    keys: Ints
    ids: Octets
    stamps: Ints
    seqs: Ints
    lags: Ints
    writers: Texts
    agents: Texts
    streams: Texts
    """Ids of the writers, as bytes."""
    agent_hashes: Texts
    """As bytes."""

    def take(self, places: Array) -> Common:
        """That of some events."""
        return Common._make([column[places] for column in self])

    def cut(self, length: int) -> tuple[Common, Common]:
        """That of so many events, and that of the others."""
        first, others = ([column[part] for column in self] for part in (slice(length), slice(length, None)))
        # Copied, because a few rows that wait to be loaded would keep all of a page in memory.
        return Common._make([column.copy() for column in first]), Common._make(others)


class ColumnBatch(Batch):
    """Usable events of one type, as columns; none of them has a list of texts or a table in its payload."""

    def __init__(
        self,
        type_name: str,
        common: Common,
        refs: Values,
        basis: Lists,
        payload: Mapping[str, Column],
        words: Words,
    ) -> None:
        super().__init__(type_name, words)
        self._common = common
        self._refs = refs
        self._basis = basis
        self._payload = payload

    # -- what every event has

    @property
    def keys(self) -> Ints:  # noqa: D102  of the base
        return self._common.keys

    @property
    def ids(self) -> Octets:  # noqa: D102  of the base
        return self._common.ids

    @property
    def stamps(self) -> Ints:  # noqa: D102  of the base
        return self._common.stamps

    @property
    def seqs(self) -> Ints:  # noqa: D102  of the base
        return self._common.seqs

    @property
    def lags(self) -> Ints:  # noqa: D102  of the base
        return self._common.lags

    @property
    def writers(self) -> Texts:  # noqa: D102  of the base
        return self._common.writers

    @property
    def agents(self) -> Texts:  # noqa: D102  of the base
        return self._common.agents

    @property
    def refs(self) -> Cells:  # noqa: D102  of the base
        return _shown(self._refs)

    @property
    def basis(self) -> Items:  # noqa: D102  of the base
        return ColumnItems(self._basis)

    # -- what the payload says

    def field(self, name: str, absent: Any = None) -> Cells:  # noqa: D102  of the base
        values = self._payload.get(name)
        return _cells(values, absent) if isinstance(values, Values) else Same(absent, len(self))

    def hexes(self, name: str) -> Cells:  # noqa: D102  of the base
        values = self._payload.get(name)
        return _shown(values) if isinstance(values, Values) else Same(None, len(self))

    def lengths(self, name: str) -> Cells:  # noqa: D102  of the base
        lists = self._payload.get(name)
        return lists.lengths if isinstance(lists, Lists) else Same(0, len(self))

    def items(self, name: str) -> Items:  # noqa: D102  of the base
        lists = self._payload.get(name)
        return ColumnItems(lists if isinstance(lists, Lists) else Lists(np.zeros(len(self), np.int64), {}))

    def maps(self, *names: str) -> Sequence[Mapping[str, Any]]:  # noqa: D102  of the base
        return maps_of({name: self._payload[name] for name in names if name in self._payload}, len(self))

    # -- what the rules read

    def facts(self) -> list[Fact]:  # noqa: D102  of the base
        common, length = self._common, len(self)
        columns = (
            common.stamps.tolist(),
            common.streams.tolist(),
            common.seqs.tolist(),
            bytes_in(common.ids),
            [self.type] * length,
            maps_of(self._payload, length),
            values_of(self._basis),
            values_of(self._refs, absent=None),
            common.agent_hashes.tolist(),
        )
        return list(map(Fact._make, zip(*columns, strict=True)))

    # -- parts

    def chosen(self, is_chosen: Sequence[Any]) -> Self:  # noqa: D102  of the base
        if all(is_chosen):
            return self
        places = np.flatnonzero(np.array(is_chosen, dtype=np.bool_))
        return type(self)(
            self.type,
            self._common.take(places),
            self._refs.take(places),
            self._basis.take(places),
            {name: column.take(places) for name, column in self._payload.items()},
            self.words.chosen(is_chosen),
        )

    @property
    def referred(self) -> Self:  # noqa: D102  of the base
        here = self._refs.here
        return self if here is None else self.chosen(here.tolist())


class ColumnItems(Items):
    """Items of lists that were read as columns."""

    def __init__(self, lists: Lists) -> None:
        super().__init__(*laid_out(lists.lengths))
        self._items = lists.items

    @property
    def ids(self) -> Cells:  # noqa: D102  of the base
        return self.hexes("")

    def field(self, name: str, absent: Any = None) -> Cells:  # noqa: D102  of the base
        values = self._items.get(name)
        return Same(absent, len(self.owner)) if values is None else _cells(values, absent)

    def hexes(self, name: str) -> Cells:  # noqa: D102  of the base
        values = self._items.get(name)
        return Same(None, len(self.owner)) if values is None else _shown(values)


def _cells(values: Values, absent: Any) -> Cells:
    """Values, with something else where there is none."""
    array, here = values
    if here is None:
        return array
    if array.dtype == np.int64 and (absent is None or isinstance(absent, int)):
        return np.where(here, array, NO_INTEGER if absent is None else absent)
    found = np.where(here, array.astype(object), absent)
    return found if array.dtype == object else found.tolist()


def _shown(values: Values) -> Cells:
    """Ids; None where there is none."""
    array, here = values
    if here is None:
        return array
    if not here.any():
        return Same(None, len(here))
    ids: Texts = np.full(len(array), None, dtype=object)
    ids[here] = shown(array[here])
    return ids
