"""Events of one type as columns: what a projection makes rows of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.events.lanes import Octets
from beliefbase.projections.columns import Cells, Ints
from beliefbase.projections.words import Words


class Signature(NamedTuple):
    """Whose events a writer's are."""

    writer: str
    """Stream, as it is shown."""
    agent: str
    """Hash of the agent's name, as it is shown; the stream where it never said its name."""
    agent_hash: bytes


class Items(ABC):
    """The items of the lists of several events, laid end to end."""

    def __init__(self, owner: Ints, place: Ints) -> None:
        self.owner = owner
        """Position of each item's event in the batch."""
        self.place = place
        """Place in its list, from 0."""

    @property
    @abstractmethod
    def ids(self) -> Cells:
        """Items that are ids."""

    @abstractmethod
    def field(self, name: str, absent: Any = None) -> Cells:
        """A field of items that are maps."""

    @abstractmethod
    def hexes(self, name: str) -> Cells:
        """A field of items that are maps, which holds an id."""


class Batch(ABC):
    """Usable events of one type."""

    def __init__(self, type_name: str, words: Words) -> None:
        self.type = type_name
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    # -- what every event has

    @property
    @abstractmethod
    def keys(self) -> Ints:
        """Row keys."""

    @property
    @abstractmethod
    def ids(self) -> Octets:
        """Ids, one in each row."""

    @property
    @abstractmethod
    def stamps(self) -> Ints:
        """Stamps."""

    @property
    @abstractmethod
    def seqs(self) -> Cells:
        """Places in their streams."""

    @property
    @abstractmethod
    def lags(self) -> Cells:
        """Wall milliseconds at append minus those of the stamp."""

    @property
    @abstractmethod
    def writers(self) -> Cells:
        """Streams, as they are shown."""

    @property
    @abstractmethod
    def agents(self) -> Cells:
        """Hashes of the agents' names, as they are shown."""

    @property
    @abstractmethod
    def refs(self) -> Cells:
        """Hashes of their source_refs."""

    @property
    @abstractmethod
    def basis(self) -> Items:
        """The revisions that the authors had read."""

    # -- what the payload says

    @abstractmethod
    def field(self, name: str, absent: Any = None) -> Cells:
        """A field of the payloads, as it is stored; ids and lists of ids or maps have methods of their own."""

    @abstractmethod
    def hexes(self, name: str) -> Cells:
        """A field that holds an id or hash."""

    @abstractmethod
    def lengths(self, name: str) -> Cells:
        """How long the lists in a field are."""

    @abstractmethod
    def items(self, name: str) -> Items:
        """A field that holds a list, item by item."""

    @abstractmethod
    def maps(self, *names: str) -> Sequence[Mapping[str, Any]]:
        """A map for each event, which has all of these fields that its payload has."""

    # -- what the words say

    def text(self, name: str) -> Sequence[Any]:
        """A text of the words; None where it isn't one."""
        return self.words.text(name)

    def text_list(self, name: str) -> Sequence[list[str] | None]:
        """A list of texts of the words; None where it isn't one, or empty."""
        return self.words.text_list(name)

    # -- what the rules read

    @abstractmethod
    def facts(self) -> list[Fact]:
        """The events as the rules read them."""

    # -- parts

    @abstractmethod
    def chosen(self, is_chosen: Sequence[Any]) -> Self:
        """The events for which there is something true in a column."""

    @property
    @abstractmethod
    def referred(self) -> Self:
        """The events that have a source_ref."""

    @property  # not cached: it may be the batch itself, and cycles are not collected while a log is read
    def worded(self) -> Self:
        """The events whose words are here."""
        return self if self.words.here.all() else self.chosen(self.words.here.tolist())

    def saying(self, *names: str) -> Self:
        """The events whose words have a text of one of these names."""
        return self.chosen(np.any([self.words.has(name) for name in names], axis=0).tolist())
