"""A log as an audit sweeps through it: pages of what is filed, and the index, as columns and in the file's order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from beliefbase.events.envelope import Event
from beliefbase.events.lanes import Ints, Joined, Lanes, Octets
from beliefbase.events.log import Filed


class Irregular(Exception):
    """What is stored is not of the usual types, or can't be read: only reading row by row can say what is wrong."""


Spoken = tuple[int, bytes, bytes, bytes]
"""Position, salt, body, and the id of the event that they are filed under."""


class FiledPage(NamedTuple):
    """Events as they are filed, the newest first, and what is asked of the words that are filed at their positions."""

    positions: Ints
    streams: Ints
    """By number; not all numbers need be there."""
    seqs: Ints
    topics: Ints
    """Likewise."""
    hashes: Octets
    starts: Ints
    """Where skeletons begin."""
    ends: Ints
    with_words: Ints
    """Places in this page of the events that have words, rising; the columns of words go by it."""
    digests: Sequence[bytes]
    """What a skeleton commits to that has these words; they themselves may be a thousand times as long."""
    words_of: Sequence[bytes]
    """Ids of the events that words are filed under."""
    joined: Joined
    """Skeletons, maybe also of other pages."""
    stream_names: Sequence[str]
    topic_names: Sequence[str]

    def raw(self, place: int) -> bytes:
        """The skeleton of one of the events."""
        return self.joined.octets[self.starts[place] : self.ends[place]]

    def filed(self, place: int, words: Spoken | None = None) -> Filed:
        """One of the events, with words if they are given."""
        _, salt, body, of = words or (None, None, None, None)
        topic = self.topic_names[self.topics[place]]
        return Filed(int(self.seqs[place]), Event(self.raw(place), salt, body), topic, of)

    def lanes(self) -> Lanes:
        """A lane for each skeleton."""
        return Lanes(self.joined, self.starts.copy(), self.ends)

    def halves(self) -> tuple[FiledPage, FiledPage]:
        """The newer half, and the older one."""
        half = len(self.positions) // 2
        words = int(np.searchsorted(self.with_words, half))
        newer = [column[:half] for column in self[:7]] + [column[:words] for column in self[7:10]]
        older = [column[half:] for column in self[:7]] + [column[words:] for column in self[7:10]]
        older[7] = self.with_words[words:] - half
        return FiledPage._make([*newer, *self[10:]]), FiledPage._make([*older, *self[10:]])


class Sweep(Protocol):
    """Reads a whole log in the order of the file, in one snapshot; all of it may raise :class:`Irregular`."""

    def last_position(self) -> int:
        """Position of the newest event."""

    def pages(self, limit: int) -> Iterator[FiledPage]:
        """All events, the newest first, and all words; words without an event are irregular."""

    def words(self, least: int, most: int) -> Iterator[Spoken]:
        """The words that are filed at positions between these two, both included, falling."""

    def refs(self, least: int, most: int) -> Iterator[Ints]:
        """Rows (key, role, position) of the index with keys between these two, both included, in ascending order."""

    def tips(self, least: bytes, below: bytes | None) -> Iterator[Octets]:
        """The tips with keys between these two, the first included, ascending: key and event id, 32 bytes a row."""

    def stamps(self) -> Iterator[Ints]:
        """All stamps."""

    def counts(self) -> tuple[int, int]:
        """How many rows the index has, and how many tips."""
