"""Pages of a log in which there is plainly nothing to be found: they are looked at as columns (ADR 0029).

It says yes only where :meth:`Streams.step` would find nothing about any event of a page. Else that has to go through
them one by one, and is the only one to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from beliefbase.events import index
from beliefbase.events.catalog import CATALOG
from beliefbase.events.catalog.lane_shapes import Values
from beliefbase.events.catalog.lockstep import Group, LockstepReader
from beliefbase.events.envelope import MAX_STAMP, Event, Skeleton
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.filed_pages import FiledPage
from beliefbase.events.ids import HASH_BYTES, ID_BYTES
from beliefbase.events.lanes import Flags, Ints, Octets
from beliefbase.replay.streams import Streams

_WRONG: Final = (ValueError, TypeError, LookupError, BeliefbaseError)
_READER: Final = LockstepReader(CATALOG)
LEAST: Final = 50
"""Fewer events of a type than this are read one by one, and then also looked at one by one, and indexed."""


class PlainPage(NamedTuple):
    """A page about which nothing is to be found, as it was read."""

    ids: Octets
    stamps: Ints
    groups: Sequence[Group]
    others: Sequence[tuple[int, Event]]
    """Events that were read by themselves, with their positions."""


class PlainPages:
    """Looks at pages, one after the other."""

    def __init__(self, streams: Streams, erased: Callable[[], frozenset[bytes] | None]) -> None:
        self._streams = streams
        self._erased = erased

    def take(self, page: FiledPage) -> PlainPage | None:
        """Go on behind a page if there is nothing to be found in it; None, and nothing done, where that isn't known."""
        looked = _Look(page, self._streams)
        if looked.late():
            return None
        if not (looked.read_others() and looked.chained() and looked.placed() and looked.words(self._erased)):
            return None
        for stream, place in zip(looked.names, looked.oldest, strict=True):
            self._streams.pass_over(stream, page.filed(place))
        others = [(int(page.positions[place]), event) for place, event in looked.others.items()]
        return PlainPage(looked.ids, looked.heads.hlc, looked.groups, others)


class _Look:
    """What is asked of one page."""

    def __init__(self, page: FiledPage, streams: Streams) -> None:
        self._page = page
        self._streams = streams
        self.ids = page.hashes[:, :ID_BYTES]
        read = _READER.read_lanes(page.lanes(), LEAST)
        self.heads, self.groups, self._left = read.heads, read.groups, read.left
        self.others: dict[int, Event] = {}
        order = np.argsort(page.streams, kind="stable")
        ordered = page.streams[order]
        follows = ordered[1:] == ordered[:-1]
        self._newer, self._older = order[:-1][follows], order[1:][follows]
        """Places of events and of those that come before them in their streams."""
        bounds = np.flatnonzero(~follows)
        self._newest = order[np.concatenate([[0], bounds + 1])].tolist()
        self.oldest = order[np.concatenate([bounds, [len(order) - 1]])].tolist()
        """Of each stream the places of its newest and of its oldest event."""
        self.names = [page.stream_names[page.streams[place]] for place in self._newest]

    def late(self) -> bool:
        """Whether an event has a stamp that is not after that of the one before it.

        A log may have such events for ever, so they are seen before the costlier half of a look.
        """
        heads, newer, older = self.heads, self._newer, self._older
        late = (heads.seq[older] == heads.seq[newer] - 1) & (heads.hlc[older] >= heads.hlc[newer])
        return bool(late.any())

    def read_others(self) -> bool:
        """Read what was not read side by side, where something vouches for it: other bytes may do anything."""
        heads, page, left = self.heads, self._page, self._left.tolist()
        if not left:
            return True
        newer = np.full(len(page.positions), -1, np.int64)
        newer[self._older] = self._newer
        for place, after in zip(left, newer[self._left].tolist(), strict=True):
            if after >= 0:
                voucher = heads.prev[after].tobytes()
            else:
                wanted = self._streams.wanted(page.stream_names[page.streams[place]])
                voucher = b"" if wanted is None else wanted[1]
            event = Event(page.raw(place))
            if event.hash != voucher:
                return False
            try:
                skeleton = event.skeleton
                if not _fits(skeleton) or index.topic(skeleton) != page.topic_names[page.topics[place]]:
                    return False
            except _WRONG:
                return False
            heads.writer[place] = np.frombuffer(skeleton.writer, dtype=np.uint8)
            heads.prev[place] = np.frombuffer(skeleton.prev, dtype=np.uint8)
            heads.seq[place], heads.hlc[place] = skeleton.seq, skeleton.hlc
            self.others[place] = event
        return True

    def chained(self) -> bool:
        """Whether every event is what the event after it, or what was looked at before, vouches for."""
        heads, newer, older = self.heads, self._newer, self._older
        if (
            (heads.seq[older] != heads.seq[newer] - 1).any()
            or (heads.hlc[older] >= heads.hlc[newer]).any()
            or (self._page.hashes[older] != heads.prev[newer]).any()
            or (heads.seq < 1).any()
        ):
            return False
        for name, first, last in zip(self.names, self._newest, self.oldest, strict=True):
            wanted = self._streams.wanted(name)
            if wanted is None:
                return False
            seq, hash_, below = wanted
            if heads.seq[first] != seq or self._page.hashes[first].tobytes() != hash_:
                return False
            if below is not None and heads.hlc[first] >= below:
                return False
            if heads.seq[last] == 1 and not self._streams.may_begin(name, heads.prev[last].tobytes()):
                return False
        return True

    def placed(self) -> bool:
        """Whether the store files every event under its own writer, seq and type."""
        page, heads = self._page, self.heads
        writers = [_writer(name) for name in self.names]
        if (page.seqs != heads.seq).any() or (heads.writer[self._newer] != heads.writer[self._older]).any():
            return False
        if writers != [heads.writer[place].tobytes() for place in self._newest]:
            return False
        for group in self.groups:
            filed = np.flatnonzero(np.bincount(page.topics[group.places])).tolist()
            if [page.topic_names[number] for number in filed] != [f"{group.type}/{group.version}"]:
                return False
        return True

    def words(self, erased: Callable[[], frozenset[bytes] | None]) -> bool:
        """Whether the words are those that are committed to, and an erasure covers those that are missing."""
        page = self._page
        wanted, commits = self._commitments()
        here = page.with_words
        if (
            not commits[here].all()
            or b"".join(page.digests) != wanted[here].tobytes()
            or b"".join(page.words_of) != self.ids[here].tobytes()
            or set(map(len, page.words_of)) - {ID_BYTES}
        ):
            return False
        commits[here] = False
        missing = np.flatnonzero(commits).tolist()
        if not missing:
            return True
        covered = erased()
        return covered is not None and covered.issuperset(self.ids[place].tobytes() for place in missing)

    def _commitments(self) -> tuple[Octets, Flags]:
        """What each event commits to, and whether it does."""
        wanted = np.zeros((len(self.ids), HASH_BYTES), np.uint8)
        commits = np.zeros(len(self.ids), np.bool_)
        for group in self.groups:
            values: Values = group.commitments
            wanted[group.places] = values.array
            commits[group.places] = True if values.here is None else values.here
        for place, event in self.others.items():
            commitment = event.skeleton.commitment
            if commitment is not None:
                wanted[place], commits[place] = np.frombuffer(commitment, dtype=np.uint8), True
        return wanted, commits


def _fits(skeleton: Skeleton) -> bool:
    """Whether what every event begins and ends with can stand in columns."""
    lengths = (skeleton.writer, ID_BYTES), (skeleton.prev, HASH_BYTES)
    commitment = skeleton.commitment
    return (
        all(isinstance(value, bytes) and len(value) == length for value, length in lengths)
        and all(type(value) is int and 0 <= value <= MAX_STAMP for value in (skeleton.seq, skeleton.hlc))
        and (commitment is None or (isinstance(commitment, bytes) and len(commitment) == HASH_BYTES))
    )


def _writer(stream: str) -> bytes | None:
    """The writer whose stream it is; None for a name that no stream has."""
    try:
        writer = bytes.fromhex(stream[:32])
    except ValueError:
        return None
    return writer if writer.hex() == stream[:32] else None
