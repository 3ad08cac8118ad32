"""A log that keeps its rows in tables: everything that a backend's protocol asks for on top of its transactions."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import Final

from beliefbase.events import index, restarts, tips
from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.envelope import Event
from beliefbase.events.erasure import coverage
from beliefbase.events.errors import InvalidEvent, StoreUnavailable
from beliefbase.events.filing import TablesFiling
from beliefbase.events.frontier import root_hash
from beliefbase.events.ids import commitment
from beliefbase.events.indexed import misindexed
from beliefbase.events.log import (
    Filing,
    Fork,
    Gap,
    Head,
    MergeReport,
    Misindexed,
    Scanned,
    SignedHead,
    Stored,
)
from beliefbase.events.merging import Merger, checked, forks_of
from beliefbase.events.noted import misnoted
from beliefbase.events.restarts import Restart
from beliefbase.events.sending import lacking
from beliefbase.events.signing import Certificate, can_sign
from beliefbase.events.tables import Tables
from beliefbase.events.transaction import LogTransaction

_PAGE: Final = 1000
_SETTLE: Final = 16
"""From so many buckets to compute anew, their hashes are kept for the next reader."""


class TableLog(ABC):
    """Implements :class:`beliefbase.events.log.EventLog`; a backend opens transactions and snapshots."""

    in_order: bool = True
    """Whether events become visible in the order of their positions (see the protocol)."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[LogTransaction]:
        """Begin; commit at the end of the block, roll back on an exception (see the protocol)."""

    @abstractmethod
    def close(self) -> None:
        """Release what is held; the log can't be used after."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Tables]:
        """The tables as they are now, for the length of a block."""

    def _settling(self) -> AbstractContextManager[LogTransaction]:
        """A transaction that a reader can do without: StoreUnavailable rather than a long wait."""
        return self.transaction()

    # ------------------------------------------------------------------ writing

    def append(self, events: Sequence[Event]) -> list[bytes]:
        """Store a batch of built events, all or none; events already stored byte for byte are a success."""
        for event in events:
            _check_words(event)
        with self.transaction() as transaction:
            transaction.insert(events)
        return [event.id for event in events]

    def merge(self, events: Iterable[Event]) -> MergeReport:
        """Set union with foreign events (see the protocol), in transactions of about 1000 events."""
        merger = Merger()
        for page in checked(events):
            with self.transaction() as transaction:
                transaction.tables.alone()
                merger.take(transaction, page)
        with self._reading() as tables:
            merger.finish(tables)
        return merger.report

    def take_signatures(self, signed: Iterable[SignedHead]) -> int:
        """Keep foreign signatures of stored events, in transactions of about 1000 (see the protocol)."""
        kept, coming = 0, iter(signed)
        while page := list(islice(coming, _PAGE)):
            certificates: dict[bytes, list[Certificate]] = {}
            for joined in self.firsts({one.writer for one in page}):
                certificate = Certificate.of(joined)
                if certificate is not None:
                    certificates.setdefault(joined.skeleton.writer, []).append(certificate)
            checks = can_sign()
            genuine = [
                one
                for one in page
                if any(not checks or certificate.covers(one) for certificate in certificates.get(one.writer, ()))
            ]
            if genuine:
                with self.transaction() as transaction:
                    kept += transaction.sign(genuine)
        return kept

    # ------------------------------------------------------------------ reading

    def read(self, after: int = 0, *, limit: int = _PAGE, words: bool = True) -> Iterator[list[Stored]]:
        """Pages in arrival order of all events behind a position, as of the first page."""
        with self._reading() as tables:
            yield from tables.pages(after, limit=limit, words=words)

    def scan(self, *, limit: int = _PAGE) -> Iterator[list[Scanned]]:
        """Pages of all events as they are stored, in arrival order."""
        with self._reading() as tables:
            yield from tables.scan(limit=limit)

    def positions(self, types: Collection[str]) -> list[int]:
        """Positions of the events of some types, of any version, rising."""
        with self._reading() as tables:
            return sorted(place for name in set(types) for place in tables.positions(name))

    def scan_at(self, positions: Sequence[int], *, limit: int = _PAGE) -> Iterator[list[Scanned]]:
        """Pages of the events at these positions as they are stored, in their order; without their words."""
        with self._reading() as tables:
            for start in range(0, len(positions), limit):
                yield tables.scan_at(positions[start : start + limit])

    def shared(self, roles: Collection[int], *, limit: int = _PAGE) -> Iterator[list[str]]:
        """Pages of what several events name in some roles (see the protocol)."""
        with self._reading() as tables:
            yield from tables.shared(roles, limit=limit)

    def positions_naming(self, names: Collection[bytes], roles: Collection[int]) -> Mapping[int, Sequence[bytes]]:
        """Positions of the events that name some of these in some roles (see the protocol)."""
        with self._reading() as tables:
            return index.named_at(names, lambda keys: tables.links(keys, roles))

    @contextmanager
    def still(self) -> Iterator[TableLog]:
        """The log as it is now, for the length of a block: only to be read, while others may go on writing."""
        self.buckets()  # who only reads can't keep the hashes of what changed, and would compute them every time
        with self._reading() as tables:
            tables.last_position()  # a snapshot begins with its first read
            yield _Still(tables, self)

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
        return root_hash(self.buckets())

    def buckets(self) -> Mapping[int, bytes]:
        """The hash of every bucket of the frontier that has heads."""
        with self._reading() as tables:
            hashes, fresh = tables.buckets()
        if len(fresh) >= _SETTLE:
            with suppress(StoreUnavailable), self._settling() as transaction:
                if transaction.tables.alone(wait=False):
                    transaction.tables.put_bucket_hashes(transaction.tables.buckets()[1])
        return hashes

    def heads(self, buckets: Collection[int]) -> list[Head]:
        """The heads in these buckets."""
        with self._reading() as tables:
            return tables.heads(buckets)

    def signatures(self, writers: Collection[bytes] | None = None) -> list[SignedHead]:
        """The newest signature of each branch that has one: of these writers, or of all."""
        with self._reading() as tables:
            return tables.signatures.all() if writers is None else tables.signatures.of(writers)

    def signed_root(self) -> bytes:
        """SHA-256 over the heads that are signed; costs by how many there are."""
        return hashlib.sha256(b"".join(sorted(one.hash for one in self.signatures()))).digest()

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
            yield TablesFiling(tables)

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

    def misindexed(self, progress: Callable[[int], None] = lambda _read: None) -> Iterator[Misindexed]:
        """Where the index is not what the events give, for audits; ``progress`` hears how many were looked at."""
        with self._reading() as tables:
            yield from misindexed(tables, progress)

    def misnoted(self) -> Iterator[Misindexed]:
        """Where what the store notes about erasures and wanted words is not what the events give, for audits."""
        with self._reading() as tables:
            yield from misnoted(tables, coverage(_Still(tables, self)))

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

    def restarted(self) -> Restart | None:
        """The newest restart of the machine after which events may be missing (``beliefbase.events.restarts``)."""
        with self._reading() as tables:
            return restarts.found(tables)

    # ------------------------------------------------------------------ index

    def ensure_index(self) -> None:
        """Make the index anew where another release made it."""
        with self._reading() as tables:
            if tables.setting("index_version") == index.INDEX_VERSION:
                return
        with self.transaction() as transaction:
            tables = transaction.tables
            tables.alone()
            tables.forget_index()
            for page in tables.pages(0, limit=_PAGE, words=False):
                tables.add_index(
                    [row for position, event in page for row in index.rows(position, event)],
                    [(event.skeleton.hlc,) for _, event in page],
                )
                tips.update(tables, [event for _, event in page])
                transaction.cover(page)
            tables.change_setting("index_version", index.INDEX_VERSION)


def _check_words(event: Event) -> None:
    skeleton = event.skeleton
    if event.body is not None and commitment(event.salt or b"", event.body) != skeleton.commitment:
        raise InvalidEvent(
            f"the words of this {skeleton.type} are not those that its skeleton commits to",
            hint="build the skeleton from the same salt and body",
            writer=skeleton.writer,
            seq=skeleton.seq,
        )


class KeptLog(TableLog):
    """A log that a store opens: it is somewhere, and takes room there."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where it is, for people; never with a password."""

    @abstractmethod
    def size(self) -> int:
        """Bytes that it takes."""

    @abstractmethod
    def checkpoint(self) -> bool:
        """Get what was erased out of its files as well; False while an open read prevents it."""


class _Still(TableLog):
    """A log in one snapshot. HAZARD: reads share a cursor; finish an iterator before the next read."""

    def __init__(self, tables: Tables, log: TableLog) -> None:
        self._tables = tables
        self.in_order = log.in_order

    def transaction(self) -> AbstractContextManager[LogTransaction]:
        """Refuse."""
        raise StoreUnavailable("this view of the log is only to be read", hint="write to the log itself")

    def close(self) -> None:
        """Nothing: it ends with its block."""

    @contextmanager
    def _reading(self) -> Iterator[Tables]:
        yield self._tables
