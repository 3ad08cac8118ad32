"""Events of one type as columns: what a projection makes rows of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.events.envelope import Skeleton
from beliefbase.projections.columns import Ints, Texts, keys_of, texts


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
        skeletons: Sequence[Skeleton],
        payloads: Sequence[Mapping[str, Any]],
        words: Sequence[Mapping[str, Any] | None],
        signatures: Mapping[bytes, Signature],
    ) -> None:
        self.type = type_name
        self.event_ids = event_ids
        self.skeletons = skeletons
        self.payloads = payloads
        """In the current version of the type."""
        self.words = words
        """Maps of the bodies; None where there is none or it was erased. Anyone may have written them."""
        self._signatures = signatures

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
        return texts([event_id.hex() for event_id in self.event_ids])

    @cached_property
    def stamps(self) -> Ints:
        """Stamps."""
        return np.array([skeleton.hlc for skeleton in self.skeletons], dtype=np.int64)

    @cached_property
    def seqs(self) -> list[int]:
        """Places in their streams."""
        return [skeleton.seq for skeleton in self.skeletons]

    @cached_property
    def lags(self) -> list[int]:
        """Wall milliseconds at append minus those of the stamp."""
        return [skeleton.recorded for skeleton in self.skeletons]

    @cached_property
    def writers(self) -> list[str]:
        """Streams, as they are shown."""
        signatures = self._signatures
        return [signatures[skeleton.writer].writer for skeleton in self.skeletons]

    @cached_property
    def agents(self) -> list[str]:
        """Hashes of the agents' names, as they are shown."""
        signatures = self._signatures
        return [signatures[skeleton.writer].agent for skeleton in self.skeletons]

    @cached_property
    def refs(self) -> list[str | None]:
        """Hashes of their source_refs, as they are shown."""
        return [
            None if skeleton.source_ref is None else skeleton.source_ref.hex() for skeleton in self.skeletons
        ]

    # -- what the payload and the words say

    def field(self, name: str, absent: Any = None) -> list[Any]:
        """A field of the payloads."""
        return [payload.get(name, absent) for payload in self.payloads]

    def hexes(self, name: str) -> list[str | None]:
        """A field that holds an id or hash, as it is shown."""
        return [value.hex() if (value := payload.get(name)) is not None else None for payload in self.payloads]

    def text(self, name: str) -> list[str | None]:
        """A text of the words; None where it isn't one."""
        return [
            value if words is not None and isinstance(value := words.get(name), str) else None for words in self.words
        ]

    def text_list(self, name: str) -> list[list[str] | None]:
        """A list of texts of the words; None where it isn't one, or empty."""
        return [
            list(value)
            if words is not None and (value := words.get(name)) and isinstance(value, tuple) and _are_texts(value)
            else None
            for words in self.words
        ]

    # -- parts

    def chosen(self, is_chosen: Callable[[int], bool]) -> Batch:
        """The events at the positions for which this holds."""
        places = [place for place in range(len(self)) if is_chosen(place)]
        if len(places) == len(self):
            return self
        parts = (self.event_ids, self.skeletons, self.payloads, self.words)
        return Batch(self.type, *([part[place] for place in places] for part in parts), self._signatures)  # type: ignore[misc]

    @cached_property
    def worded(self) -> Batch:
        """The events whose words are here."""
        return self.chosen(lambda place: self.words[place] is not None)

    def chosen_by_text(self, name: str) -> Batch:
        """The events whose words have a text of this name."""
        found = self.text(name)
        return self.chosen(lambda place: found[place] is not None)

    def items(self, name: str) -> Items:
        """A field that holds a list, item by item."""
        lists = self.field(name, ())
        lengths = np.array([len(items) for items in lists], dtype=np.int64)
        owner = np.repeat(np.arange(len(lists), dtype=np.int64), lengths)
        starts = np.cumsum(lengths) - lengths
        return Items(owner, np.arange(len(owner), dtype=np.int64) - starts[owner], [x for items in lists for x in items])

    def facts(self) -> list[Fact]:
        """The events as the rules read them."""
        type_name, signatures = self.type, self._signatures
        return [
            Fact(
                skeleton.hlc,
                skeleton.writer,
                skeleton.seq,
                event_id,
                type_name,
                payload,
                skeleton.basis_ids if skeleton.basis else (),
                skeleton.source_ref,
                signatures[skeleton.writer].agent_hash,
            )
            for event_id, skeleton, payload in zip(self.event_ids, self.skeletons, self.payloads, strict=True)
        ]


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
        return [found.hex() if (found := value.get(name)) is not None else None for value in self.values]


def _are_texts(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, str) for value in values)
