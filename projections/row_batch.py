"""Events of one type that were decoded one by one: as columns for projections, and as facts for the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any, Final, Self

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.events.envelope import Skeleton
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.lanes import Octets, laid_out
from beliefbase.projections.batch import Batch, Items, Signature
from beliefbase.projections.columns import Cells, Ints, Same, keys_of, octets
from beliefbase.projections.words import Words

Row = tuple[Any, ...]
"""A skeleton as a plain tuple: its fields in their order."""
_BASIS: Final = Skeleton._fields.index("basis")


class RowBatch(Batch):
    """Usable events of one type, as rows of objects."""

    def __init__(
        self,
        type_name: str,
        event_ids: Sequence[bytes],
        rows: Sequence[Row],
        payloads: Sequence[Mapping[str, Any]],
        words: Words,
        signatures: Mapping[bytes, Signature],
    ) -> None:
        super().__init__(type_name, words)
        self.event_ids = event_ids
        self.rows = rows
        self.payloads = payloads
        """In the current version of the type."""
        self._signatures = signatures
        self._made: dict[str, list[Any]] = {}
        """Fields that all payloads have, once they were asked for."""

    # -- what every event has

    @cached_property
    def keys(self) -> Ints:  # noqa: D102  of the base
        return keys_of(self.event_ids)

    @cached_property
    def ids(self) -> Octets:  # noqa: D102  of the base
        return octets(self.event_ids, ID_BYTES)

    @cached_property
    def stamps(self) -> Ints:  # noqa: D102  of the base
        return np.array(self._columns.hlc, dtype=np.int64)

    @property
    def seqs(self) -> Sequence[int]:  # noqa: D102  of the base
        return self._columns.seq  # type: ignore[return-value]  # a column, not a field

    @property
    def lags(self) -> Sequence[int]:  # noqa: D102  of the base
        return self._columns.recorded  # type: ignore[return-value]

    @cached_property
    def writers(self) -> list[str]:  # noqa: D102  of the base
        return [signature.writer for signature in self._signed]

    @cached_property
    def agents(self) -> list[str]:  # noqa: D102  of the base
        return [signature.agent for signature in self._signed]

    @cached_property
    def refs(self) -> Sequence[str | None]:  # noqa: D102  of the base
        if not any(self._refs):
            return Same(None, len(self))
        return [None if ref is None else ref.hex() for ref in self._refs]

    @property
    def basis(self) -> Items:  # noqa: D102  of the base
        return RowItems(self._basis)

    @property
    def _basis(self) -> list[tuple[bytes, ...]]:
        return [Skeleton._make(row).basis_ids if row[_BASIS] else () for row in self.rows]

    @cached_property
    def _columns(self) -> Skeleton:
        """The fields of all skeletons, each as a tuple: a skeleton of columns."""
        return Skeleton._make(zip(*self.rows, strict=True))

    @property
    def _refs(self) -> Sequence[bytes | None]:
        return self._columns.source_ref  # type: ignore[return-value]

    @cached_property
    def _signed(self) -> list[Signature]:
        return list(map(self._signatures.__getitem__, self._columns.writer))  # type: ignore[arg-type]

    # -- what the payload says

    @cached_property
    def _fields(self) -> frozenset[str]:
        """Names of the fields that some payload has."""
        return frozenset(chain.from_iterable(self.payloads))

    def field(self, name: str, absent: Any = None) -> Sequence[Any]:  # noqa: D102  of the base
        if name not in self._fields:
            return Same(absent, len(self))
        made = self._made.get(name)
        if made is None:
            try:
                made = [payload[name] for payload in self.payloads]
            except KeyError:
                return [payload.get(name, absent) for payload in self.payloads]
            self._made[name] = made
        return made

    def hexes(self, name: str) -> Cells:  # noqa: D102  of the base
        values = self.field(name)
        if isinstance(values, Same):
            return values
        if None in values:
            return [None if value is None else value.hex() for value in values]
        return octets(values, ID_BYTES)

    def lengths(self, name: str) -> list[int]:  # noqa: D102  of the base
        return [len(items) for items in self.field(name, ())]

    def items(self, name: str) -> Items:  # noqa: D102  of the base
        return RowItems(self.field(name, ()))

    def maps(self, *names: str) -> Sequence[Mapping[str, Any]]:  # noqa: D102  of the base
        return self.payloads

    # -- parts

    def chosen(self, is_chosen: Sequence[Any]) -> Self:  # noqa: D102  of the base
        if all(is_chosen):
            return self
        return type(self)(
            self.type,
            list(compress(self.event_ids, is_chosen)),
            list(compress(self.rows, is_chosen)),
            list(compress(self.payloads, is_chosen)),
            self.words.chosen(is_chosen),
            self._signatures,
        )

    @property
    def referred(self) -> Self:  # noqa: D102  of the base
        return self.chosen(self._refs)

    def facts(self) -> list[Fact]:
        """The events as the rules read them."""
        if not len(self):
            return []
        columns = self._columns
        basis = self._basis if any(columns.basis) else columns.basis
        agents = [signature.agent_hash for signature in self._signed]
        types = [self.type] * len(self)
        place = (columns.hlc, columns.writer, columns.seq, self.event_ids)
        return list(map(Fact._make, zip(*place, types, self.payloads, basis, self._refs, agents, strict=True)))  # type: ignore[call-overload]


class RowItems(Items):
    """Items of lists of objects."""

    def __init__(self, lists: Sequence[Sequence[Any]]) -> None:
        super().__init__(*laid_out(np.array([len(items) for items in lists], dtype=np.int64)))
        self._values = list(chain.from_iterable(lists))

    @property
    def ids(self) -> Octets:  # noqa: D102  of the base
        return octets(self._values, ID_BYTES)

    def field(self, name: str, absent: Any = None) -> list[Any]:  # noqa: D102  of the base
        return [value.get(name, absent) for value in self._values]

    def hexes(self, name: str) -> list[str | None]:  # noqa: D102  of the base
        return [None if found is None else found.hex() for found in self.field(name)]
