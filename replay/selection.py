"""A part of a log, read as if it were all there is: a prefix at a frontier, or a log without somebody's events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import Event
from beliefbase.events.erasure import erased_beliefs
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog, Head, Scanned, Stored
from beliefbase.projections.heads import Heads
from beliefbase.projections.reading import Reader

Keeps = Callable[[Event], bool]


class Selection:
    """The reading half of an :class:`~beliefbase.events.log.EventLog`, over the events that ``keeps`` says.

    ``added``, which are profiles and policies, are read first, as if they had been the first to arrive; they are
    nowhere stored. What arrives later in the log is no part of it.
    """

    in_order = True

    def __init__(self, log: EventLog, keeps: Keeps, added: Sequence[Event] = ()) -> None:
        self._log = log
        self._keeps = keeps
        self._added = list(added)
        self._last = log.last_position()
        self._root: bytes | None = None

    @contextmanager
    def still(self) -> Iterator[EventLog]:
        """The same selection of the log as it is now, for the length of a block."""
        with self._log.still() as log:
            copy = Selection(log, self._keeps, self._added)
            copy._last = self._last
            yield cast("EventLog", copy)

    def read(self, after: int = 0, *, limit: int = 1000, words: bool = True) -> Iterator[list[Stored]]:
        """Pages of what is kept, in arrival order."""
        if after == 0 and self._added:
            yield [Stored(0, event) for event in self._added]
        for page in self._log.read(after, limit=limit, words=words):
            kept = [stored for stored in page if stored.position <= self._last and self._keeps(stored.event)]
            if kept:
                yield kept
            if page[-1].position >= self._last:
                return

    def scan(self, *, limit: int = 1000) -> Iterator[list[Scanned]]:
        """Pages of the kept events as they are stored, in arrival order."""
        for page in self.read(limit=limit):
            yield [(position, event.raw, event.body) for position, event in page]

    def positions(self, types: Collection[str]) -> list[int]:
        """Positions of the kept events of some types, rising; the added ones have none."""
        kept = (stored for page in self.read(words=False) for stored in page if stored.position)
        return [stored.position for stored in kept if stored.event.skeleton.type in types]

    def scan_at(self, positions: Sequence[int], *, limit: int = 1000) -> Iterator[list[Scanned]]:
        """Pages of the events at these positions, of which all are kept, in their order; without their words."""
        yield from self._log.scan_at(positions, limit=limit)

    def shared(self, roles: Collection[int], *, limit: int = 1000) -> Iterator[list[str]]:
        """Pages of what several events name in some roles; those that are not kept are among them."""
        yield from self._log.shared(roles, limit=limit)

    def positions_naming(self, names: Collection[bytes], roles: Collection[int]) -> Mapping[int, Sequence[bytes]]:
        """Positions of the events that name some of these in some roles; those that are not kept are among them."""
        return self._log.positions_naming(names, roles)

    def last_position(self) -> int:
        """Position of the last event that could be kept."""
        return self._last

    def mark(self) -> tuple[int, bytes]:
        """Position of the last event that could be kept, and the root hash over what is kept."""
        return self._last, self.root()

    def root(self) -> bytes:
        """Root hash over the last events of what is kept."""
        if self._root is None:
            heads, reader = Heads(), Reader(cast("EventLog", self))
            for page in self.read(words=False):
                events = [stored.event for stored in page]
                heads.follow(reader.read(events))
            self._root = heads.root()
        return self._root

    def get(self, event_id: bytes) -> Event | None:
        """One event by its id."""
        return next(iter(self.by_id([event_id], words=True)), None)

    def by_id(self, ids: Collection[bytes], *, words: bool = False) -> list[Event]:
        """The kept ones of these ids."""
        wanted = set(ids)
        return [event for event in self._added if event.id in wanted] + self._kept(self._log.by_id(ids, words=words))

    def naming(self, keys: Collection[bytes], roles: Collection[int], *, words: bool = False) -> list[Event]:
        """The kept events that name any of these keys in any of these roles."""
        wanted = {(key, int(role)) for key in keys for role in roles}
        added = [event for event in self._added if wanted & CATALOG.references(event.skeleton, event.id)]
        return added + self._kept(self._log.naming(keys, roles, words=words))

    def of_types(self, types: Collection[str], *, words: bool = False) -> list[Event]:
        """The kept events of these types."""
        added = [event for event in self._added if event.skeleton.type in types]
        return added + self._kept(self._log.of_types(types, words=words))

    def firsts(self, writers: Collection[bytes]) -> list[Event]:
        """The kept first events of these writers, with their words."""
        added = [event for event in self._added if event.skeleton.seq == 1 and event.skeleton.writer in writers]
        return added + self._kept(self._log.firsts(writers))

    def agents(self, writers: Collection[bytes]) -> Mapping[bytes, bytes]:
        """For writers: the hash of the agent name in their earliest kept first event."""
        found: dict[bytes, tuple[int, bytes, bytes]] = {}
        for event in self.firsts(writers):
            skeleton = event.skeleton
            payload = CATALOG.read(skeleton) if skeleton.type == "writer.joined" else None
            if isinstance(payload, Mapping):
                order = (skeleton.hlc, event.id, payload["agent"])
                found[skeleton.writer] = min(order, found.get(skeleton.writer, order))
        return {writer: agent for writer, (_, _, agent) in found.items()}

    def erased(self) -> Mapping[bytes, tuple[int, bytes]]:
        """The kept beliefs whose words a kept erasure covers, computed from nothing."""
        return erased_beliefs(self)

    def reworded(self) -> int:
        """That of the log: words are today's."""
        return self._log.reworded()

    def store_id(self) -> bytes:
        """That of the log."""
        return self._log.store_id()

    def _kept(self, events: Iterable[Event]) -> list[Event]:
        return [event for event in events if self._keeps(event)]


def select(log: EventLog, keeps: Keeps, added: Sequence[Event] = ()) -> EventLog:
    """A part of a log, for whoever only reads."""
    return cast("EventLog", Selection(log, keeps, added))


def at_frontier(log: EventLog, heads: Iterable[Head]) -> EventLog:
    """The log as it was when these were all its heads; events of heads that it doesn't have are left out."""
    theirs: dict[bytes, list[Head]] = {}
    for head in heads:
        theirs.setdefault(head.writer, []).append(head)
    branches: dict[bytes, int] = {}
    for head in log.frontier():
        branches[head.writer] = branches.get(head.writer, 0) + 1
    upto: dict[bytes, int] = {}
    chains: dict[bytes, frozenset[bytes]] = {}
    for writer, of_writer in theirs.items():
        if branches.get(writer) == 1 and len(of_writer) == 1:
            upto[writer] = of_writer[0].seq
        else:
            chains[writer] = _chain(log, of_writer)

    def keeps(event: Event) -> bool:
        skeleton = event.skeleton
        known = upto.get(skeleton.writer)
        if known is not None:
            return skeleton.seq <= known
        return event.id in chains.get(skeleton.writer, ())

    return select(log, keeps)


def _chain(log: EventLog, heads: Iterable[Head]) -> frozenset[bytes]:
    """The ids of everything that leads to these heads."""
    found: set[bytes] = set()
    for head in heads:
        event = log.get(head.hash[:ID_BYTES])
        while event is not None and event.id not in found:
            found.add(event.id)
            event = log.get(event.skeleton.prev[:ID_BYTES])
    return frozenset(found)
