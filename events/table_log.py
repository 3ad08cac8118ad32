"""A log that keeps its rows in tables: everything that a backend's protocol asks for on top of its transactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final

from beliefbase.events import index, tips
from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.envelope import Event
from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.frontier import root_hash
from beliefbase.events.log import Filed, Filing, Fork, Gap, Head, MergeReport, Stored
from beliefbase.events.merging import Merger, checked, forks_of
from beliefbase.events.sending import lacking
from beliefbase.events.sqlite_tables import Tables
from beliefbase.events.transaction import LogTransaction

_PAGE: Final = 1000
_SETTLE: Final = 64
"""From so many buckets to compute anew, their hashes are kept for the next reader."""


class TableLog(ABC):
    """Implements :class:`beliefbase.events.log.EventLog`; a backend opens transactions and snapshots."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[LogTransaction]:
        """Begin; commit at the end of the block, roll back on an exception (see the protocol)."""

    @abstractmethod
    def close(self) -> None:
        """Release what is held; the log can't be used after."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Tables]:
        """The tables as they are now, for the length of a block."""

    # ------------------------------------------------------------------ writing

    def append(self, events: Sequence[Event]) -> list[bytes]:
        """Store a batch of built events, all or none; events already stored byte for byte are a success."""
        with self.transaction() as transaction:
            transaction.insert(events)
        return [event.id for event in events]

    def merge(self, events: Iterable[Event]) -> MergeReport:
        """Set union with foreign events (see the protocol), in transactions of about 1000 events."""
        merger = Merger()
        for page in checked(events):
            with self.transaction() as transaction:
                merger.take(transaction, page)
        with self._reading() as tables:
            merger.finish(tables)
        return merger.report

    # ------------------------------------------------------------------ reading

    def read(self, after: int = 0, *, limit: int = _PAGE, words: bool = True) -> Iterator[list[Stored]]:
        """Pages in arrival order of all events behind a position, as of the first page."""
        with self._reading() as tables:
            yield from tables.pages(after, limit=limit, words=words)

    @contextmanager
    def still(self) -> Iterator[TableLog]:
        """The log as it is now, for the length of a block: only to be read, while others may go on writing."""
        with self._reading() as tables:
            tables.last_position()  # a snapshot begins with its first read
            yield _Still(tables)

    def since(self, frontier: Iterable[Head], buckets: Collection[int] | None = None) -> Iterator[list[Event]]:
        """Pages of the events that a holder of ``frontier`` lacks (see the protocol)."""
        with self._reading() as tables:
            yield from lacking(tables, frontier, buckets, limit=_PAGE)

    def last_position(self) -> int:
        """Position of the newest event, 0 for an empty log."""
        with self._reading() as tables:
            return tables.last_position()

    def frontier(self) -> tuple[Head, ...]:
        """Every branch head, sorted."""
        with self._reading() as tables:
            return tuple(sorted(tables.heads()))

    def root(self) -> bytes:
        """SHA-256 over the frontier (``beliefbase.events.frontier``); costs by what changed."""
        with self._reading() as tables:
            hashes, fresh = tables.buckets()
        if len(fresh) >= _SETTLE:
            with suppress(StoreUnavailable), self.transaction() as transaction:
                transaction.tables.put_bucket_hashes(transaction.tables.buckets()[1])
        return root_hash(hashes)

    def buckets(self) -> Mapping[int, bytes]:
        """The hash of every bucket of the frontier that has heads."""
        with self._reading() as tables:
            return tables.buckets()[0]

    def heads(self, buckets: Collection[int]) -> list[Head]:
        """The heads in these buckets."""
        with self._reading() as tables:
            return tables.heads(buckets)

    def get(self, event_id: bytes) -> Event | None:
        """One event by its id, with its words."""
        return next(iter(self.by_id([event_id], words=True)), None)

    def by_id(self, ids: Collection[bytes], *, words: bool = False) -> list[Event]:
        """The stored ones of these ids."""
        wanted = frozenset(ids)
        return [event for event in self.naming(wanted, {Role.SELF}, words=words) if event.id in wanted]

    def naming(self, keys: Collection[bytes], roles: Collection[int], *, words: bool = False) -> list[Event]:
        """Events that name any of these keys in any of these roles (``beliefbase.events.catalog.Role``)."""
        with self._reading() as tables:
            return [stored.event for stored in tables.naming(keys, roles, words=words)]

    def of_types(self, types: Collection[str], *, words: bool = False) -> list[Event]:
        """All events of these types, of any version."""
        with self._reading() as tables:
            return [event for name in sorted(set(types)) for event in tables.of_type(name, words=words)]

    def agents(self, writers: Collection[bytes]) -> Mapping[bytes, bytes]:
        """For writers: the hash of the agent name in their ``writer.joined``; of a forked one, in the earliest."""
        found: dict[bytes, tuple[int, bytes, bytes]] = {}
        with self._reading() as tables:
            for event in tables.firsts(writers):
                skeleton = event.skeleton
                payload = CATALOG.read(skeleton) if skeleton.type == "writer.joined" else None
                if isinstance(payload, Mapping):
                    order = (skeleton.hlc, event.id, payload["agent"])
                    found[skeleton.writer] = min(order, found.get(skeleton.writer, order))
        return {writer: agent for writer, (_, _, agent) in found.items()}

    def firsts(self, writers: Collection[bytes]) -> list[Event]:
        """The first event of each of these writers, with its words; more than one of a writer that forked there."""
        with self._reading() as tables:
            ids = {event.id for event in tables.firsts(writers)}
            found = tables.naming(ids, {Role.SELF}, words=True) if ids else []
            return [stored.event for stored in found if stored.event.id in ids]

    @contextmanager
    def filing(self) -> Iterator[Filing]:
        """What is filed where, in one snapshot, for audits."""
        with self._reading() as tables:
            yield _Filing(tables)

    def erased(self) -> Mapping[bytes, tuple[int, bytes]]:
        """The beliefs whose words an erasure covers: id to the erasure's stamp and id."""
        with self._reading() as tables:
            return tables.erasures.beliefs() if tables.erasures.any() else {}

    def reworded(self) -> int:
        """How often something became of the words or the coverage of events that were stored already."""
        with self._reading() as tables:
            return tables.erasures.reworded()

    def wanted(self) -> list[bytes]:
        """Ids of the events whose words are not here although no erasure covers them."""
        with self._reading() as tables:
            return [stored.event.id for stored in tables.by_position(tables.erasures.wanted())]

    def want(self, ids: Collection[bytes]) -> None:
        """Note events whose words are gone without an erasure, so that a sync asks for them."""
        new = set(ids).difference(self.wanted())
        if new:
            with self.transaction() as transaction:
                found = transaction.tables.naming(new, {Role.SELF})
                transaction.tables.erasures.want([stored.position for stored in found if stored.event.id in new])

    def carry_out_erasures(self) -> int:
        """Delete the words of erasures that were stamped ahead of the wall and no longer are; returns how many."""
        with self._reading() as tables:
            if not tables.erasures.pending():
                return 0
        with self.transaction() as transaction:
            transaction.carry_out()
            return transaction.erased

    def forks(self) -> list[Fork]:
        """Every (writer, seq) under which more than one event is stored."""
        with self._reading() as tables:
            return [fork for writer in tables.forked_writers() for fork in forks_of(tables, writer)]

    def gaps(self) -> list[Gap]:
        """What is kept aside and waits for an event that isn't here at all."""
        with self._reading() as tables:
            return tables.gaps()

    def store_id(self) -> bytes:
        """16 random bytes that tell this file from others; no part of any answer."""
        with self._reading() as tables:
            return bytes(tables.setting("store_id"))

    # ------------------------------------------------------------------ index

    def ensure_index(self) -> None:
        """Make the index anew where another release made it."""
        with self._reading() as tables:
            if tables.setting("index_version") == index.INDEX_VERSION:
                return
        with self.transaction() as transaction:
            tables = transaction.tables
            tables.forget_index()
            for page in tables.pages(0, limit=_PAGE, words=False):
                tables.add_index(
                    [row for position, event in page for row in index.rows(position, event)],
                    [(event.skeleton.hlc,) for _, event in page],
                )
                tips.update(tables, [event for _, event in page])
                transaction.cover(page)
            tables.change_setting("index_version", index.INDEX_VERSION)


class _Still(TableLog):
    """A log in one snapshot. HAZARD: reads share a cursor; finish an iterator before the next read."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def transaction(self) -> AbstractContextManager[LogTransaction]:
        """Refuse."""
        raise StoreUnavailable("this view of the log is only to be read", hint="write to the log itself")

    def close(self) -> None:
        """Nothing: it ends with its block."""

    @contextmanager
    def _reading(self) -> Iterator[Tables]:
        yield self._tables


class _Filing:
    """Implements :class:`beliefbase.events.log.Filing`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def heads(self) -> Mapping[str, Head]:
        """Every stream with its head, off the heads."""
        return dict(self._tables.filed_heads())

    def streams(self) -> Iterable[str]:
        """Every stream that has events, off the events."""
        return self._tables.stream_ids()

    def stream(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back."""
        return self._tables.filed(stream)

    def newest_first(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, in the order of arrival turned round."""
        return self._tables.all_filed()

    def root(self) -> bytes:
        """The root of the frontier by the hashes that the store keeps."""
        return root_hash(self._tables.buckets()[0])

    def loose_words(self) -> list[bytes]:
        """Ids that words are filed under for which no event is stored."""
        return self._tables.loose_words()
