"""Events of one type as columns: what a projection makes rows of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any, Final, NamedTuple

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.events.envelope import Skeleton
from beliefbase.projections.columns import Ints, Same, Texts, hexes, keys_of, texts

Row = tuple[Any, ...]
"""A skeleton as a plain tuple: its fields in their order."""
_BASIS: Final = Skeleton._fields.index("basis")
_TEXT_OR_NOTHING: Final = frozenset({str, type(None)})


class Signature(NamedTuple):
    """Whose events a writer's are."""

    writer: str
    """Stream, as it is shown."""
    agent: str
    """Hash of the agent's name, as it is shown; the stream where it never said its name."""
    agent_hash: bytes


class Batch:
    """Usable events of one type."""

    def __init__(
        self,
        type_name: str,
        event_ids: Sequence[bytes],
        rows: Sequence[Row],
        payloads: Sequence[Mapping[str, Any]],
        words: Sequence[Mapping[str, Any] | None],
        signatures: Mapping[bytes, Signature],
    ) -> None:
        self.type = type_name
        self.event_ids = event_ids
        self.rows = rows
        self.payloads = payloads
        """In the current version of the type."""
        self.words = words
        """Maps of the bodies; None where there is none or it was erased. Anyone may have written them."""
        self._signatures = signatures
        self._made: dict[str, list[Any]] = {}
        """Fields that all payloads have, once they were asked for."""

    def __len__(self) -> int:
        return len(self.event_ids)

    # -- what every event has

    @cached_property
    def keys(self) -> Ints:
        """Row keys."""
        return keys_of(self.event_ids)

    @cached_property
    def ids(self) -> Texts:
        """Ids, as they are shown."""
        return texts(hexes(self.event_ids))

    @cached_property
    def stamps(self) -> Ints:
        """Stamps."""
        return np.array(self._columns.hlc, dtype=np.int64)

    @property
    def seqs(self) -> Sequence[int]:
        """Places in their streams."""
        return self._columns.seq  # type: ignore[return-value]  # a column, not a field

    @property
    def lags(self) -> Sequence[int]:
        """Wall milliseconds at append minus those of the stamp."""
        return self._columns.recorded  # type: ignore[return-value]

    @cached_property
    def writers(self) -> list[str]:
        """Streams, as they are shown."""
        return [signature.writer for signature in self._signed]

    @cached_property
    def agents(self) -> list[str]:
        """Hashes of the agents' names, as they are shown."""
        return [signature.agent for signature in self._signed]

    @cached_property
    def refs(self) -> Sequence[str | None]:
        """Hashes of their source_refs, as they are shown."""
        if not any(self._refs):
            return Same(None, len(self))
        return [None if ref is None else ref.hex() for ref in self._refs]

    @property
    def basis(self) -> list[tuple[bytes, ...]]:
        """The revisions that the authors had read."""
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

    # -- what the payload and the words say

    @cached_property
    def _fields(self) -> frozenset[str]:
        """Names of the fields that some payload has."""
        return frozenset(chain.from_iterable(self.payloads))

    @cached_property
    def _texts(self) -> frozenset[str]:
        """Names of the texts that the words of some event have."""
        return frozenset(chain.from_iterable(filter(None, self.words)))

    def field(self, name: str, absent: Any = None) -> Sequence[Any]:
        """A field of the payloads."""
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

    def hexes(self, name: str) -> Sequence[str | None]:
        """A field that holds an id or hash, as it is shown."""
        values = self.field(name)
        if isinstance(values, Same):
            return values
        if None in values:
            return [None if value is None else value.hex() for value in values]
        return list[str | None](hexes(values))

    def text(self, name: str) -> Sequence[Any]:
        """A text of the words; None where it isn't one."""
        if name not in self._texts:
            return Same(None, len(self))
        values = self._said(name)
        if set(map(type, values)) <= _TEXT_OR_NOTHING:
            return values
        return [value if isinstance(value, str) else None for value in values]

    def text_list(self, name: str) -> Sequence[list[str] | None]:
        """A list of texts of the words; None where it isn't one, or empty."""
        if name not in self._texts:
            return Same(None, len(self))
        return [
            list(value) if value and isinstance(value, tuple) and set(map(type, value)) == {str} else None
            for value in self._said(name)
        ]

    def _said(self, name: str) -> list[Any]:
        return [None if words is None else words.get(name) for words in self.words]

    # -- parts

    def chosen(self, is_chosen: Sequence[Any]) -> Batch:
        """The events for which there is something true in a column."""
        if all(is_chosen):
            return self
        return Batch(
            self.type,
            list(compress(self.event_ids, is_chosen)),
            list(compress(self.rows, is_chosen)),
            list(compress(self.payloads, is_chosen)),
            list(compress(self.words, is_chosen)),
            self._signatures,
        )

    @property  # not cached: it may be the batch itself, and cycles are not collected while a log is read
    def worded(self) -> Batch:
        """The events whose words are here."""
        return self if None not in self.words else self.chosen([words is not None for words in self.words])

    @property
    def referred(self) -> Batch:
        """The events that have a source_ref."""
        return self.chosen(self._refs)

    def saying(self, *names: str) -> Batch:
        """The events whose words have a text of one of these names."""
        found = [self.text(name) for name in names]
        return self.chosen([any(value is not None for value in values) for values in zip(*found, strict=True)])

    def items(self, name: str) -> Items:
        """A field that holds a list, item by item."""
        if name not in self._fields:
            return Items(np.zeros(0, np.int64), np.zeros(0, np.int64), [])
        lists = self.field(name, ())
        lengths = np.array([len(items) for items in lists], dtype=np.int64)
        owner = np.repeat(np.arange(len(lists), dtype=np.int64), lengths)
        starts = np.cumsum(lengths) - lengths
        return Items(owner, np.arange(len(owner), dtype=np.int64) - starts[owner], list(chain.from_iterable(lists)))

    def facts(self) -> list[Fact]:
        """The events as the rules read them."""
        if not len(self):
            return []
        columns = self._columns
        basis = self.basis if any(columns.basis) else columns.basis
        agents = [signature.agent_hash for signature in self._signed]
        types = [self.type] * len(self)
        place = (columns.hlc, columns.writer, columns.seq, self.event_ids)
        return list(map(Fact._make, zip(*place, types, self.payloads, basis, self._refs, agents, strict=True)))  # type: ignore[call-overload]


class Items(NamedTuple):
    """The items of the lists of several events, laid end to end."""

    owner: Ints
    """Position of each item's event in the batch."""
    place: Ints
    """Place in its list, from 0."""
    values: list[Any]

    def field(self, name: str, absent: Any = None) -> list[Any]:
        """A field of items that are maps."""
        return [value.get(name, absent) for value in self.values]

    def hexes(self, name: str) -> list[str | None]:
        """A field of items that are maps, which holds an id, as it is shown."""
        return [None if found is None else found.hex() for found in self.field(name)]
