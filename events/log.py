"""The event log: what every backend promises, and the reports that its doors give.

One contract suite (``tests/contract/test_event_log.py``) holds for every backend. The frontier, the sorted list
of branch heads, is the only cursor that counts; positions are a local hint for finding new rows (DESIGN 3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from beliefbase.events.envelope import Event

if TYPE_CHECKING:
    from beliefbase.events.filed_pages import Sweep


class Head(NamedTuple):
    """The last event of one branch of one writer's stream."""

    writer: bytes
    seq: int
    hash: bytes
    """SHA-256 of its skeleton, 32 bytes."""


class SignedHead(NamedTuple):
    """A head that its writer's key vouches for, and by it for everything before (``beliefbase.events.signing``)."""

    writer: bytes
    seq: int
    hash: bytes
    signature: bytes
    """64 bytes."""

    @property
    def head(self) -> Head:
        """What is signed."""
        return Head(self.writer, self.seq, self.hash)


class Stored(NamedTuple):
    """An event as a page of the log gives it."""

    position: int
    """Arrival position in this store: a hint for finding new rows, never a truth, no part of any answer."""
    event: Event


class Filed(NamedTuple):
    """An event as an audit reads it: what the store keeps, and where, whatever its bytes say."""

    seq: int
    """Where it is filed in its stream."""
    event: Event
    """HAZARD: nobody has checked these bytes since they were stored; decoding them may raise or take any memory."""
    topic: str
    """The type that the store lists it under."""
    words_of: bytes | None
    """Id of the event that its words are filed under; None where there are none."""
    misstored: str = ""
    """The columns that hold another type than a log stores, with it: comparing by them passes the event over."""


class FiledHead(NamedTuple):
    """A branch as an audit reads it off the heads that the store keeps."""

    head: Head
    first: int
    """Seq that the store takes for that of its first event."""
    parent: str | None
    """Stream that the store says it leaves."""
    misstored: str = ""
    """The columns that hold another type than a log stores, with it."""


class Filing(Protocol):
    """A log as an audit reads it: events and heads apart, each as it is filed."""

    def heads(self) -> Mapping[str, Head]:
        """Every stream (branch) that has a head, with it."""

    def branches(self) -> Sequence[tuple[str, FiledHead]]:
        """All that the store keeps about its branches; nothing where it keeps nothing but heads."""

    def skeleton(self, stream: str, seq: int) -> bytes | None:
        """The skeleton that is filed in a stream under a seq."""

    def unusable(self) -> Iterable[str]:
        """What is wrong with settings and rows about the frontier that can't have been stored as they are."""

    def streams(self) -> Iterable[str]:
        """Every stream that has events, read off the events; its id begins with its writer in hex."""

    def stream(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back."""

    def newest_first(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, each stream's from the newest back; far faster than stream by stream."""

    @property
    def sweep(self) -> Sweep | None:
        """Reads all of it by the page; None for a store that is read one by one."""

    def root(self) -> bytes:
        """The root hash of the frontier that the store keeps."""

    def loose_words(self) -> list[bytes]:
        """Ids that words are filed under for which no event is stored."""


Scanned = tuple[int, bytes, bytes | None]
"""Position, skeleton and body of a stored event: what a pass over a whole log takes for an :class:`Event`."""


class Known(NamedTuple):
    """Where a stored event stands in the order of all events."""

    hlc: int
    writer: bytes
    seq: int
    id: bytes


class Gap(NamedTuple):
    """Events that a stream lacks: an event is kept aside whose predecessor isn't stored."""

    writer: bytes
    seq: int
    """The seq of the event kept aside."""
    prev: bytes
    """SHA-256 of the skeleton that is wanted."""
    event_id: bytes
    """The event kept aside."""


class Misindexed(NamedTuple):
    """A row of a log's index that is not what the events give."""

    what: str
    event: Event | None
    """Which event it is about, where one is stored."""


class Fork(NamedTuple):
    """Two events under one (writer, seq): a cloned disk, a restored backup, or a forgery."""

    writer: bytes
    seq: int
    event_ids: tuple[bytes, ...]


@dataclass
class MergeReport:
    """What became of the events handed to :meth:`EventLog.merge`."""

    stored: int = 0
    known: int = 0
    aside: int = 0
    """Kept until their predecessor comes."""
    words_filled: int = 0
    """Bodies that came for skeletons already stored."""
    words_refused: int = 0
    """Bodies that an erasure covers: dropped at the door (DESIGN 3)."""
    words_erased: int = 0
    """Bodies that were here and that an erasure, or what came with it, covers: deleted."""
    forks: list[Fork] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)


class Transaction(Protocol):
    """One critical section on the log: reading the clock's bounds, stamping, and storing happen inside it."""

    def max_hlc(self, below: int) -> int:
        """The largest stored stamp that is at most ``below``, 0 where there is none."""

    def head(self, writer: bytes) -> Head | None:
        """The newest head of a writer of this store, None for one that has no events."""

    def find_refs(self, refs: Collection[tuple[str, bytes]]) -> Mapping[tuple[str, bytes], Known]:
        """Of (type, source_ref) pairs those that are stored, with the entity's earliest event."""

    def tips(self, keys: Collection[bytes]) -> Mapping[bytes, frozenset[bytes]]:
        """For beliefs (or contradictions): their latest fate-changing revisions, as this log knows them."""

    def subjects(self, ids: Collection[bytes]) -> Mapping[bytes, tuple[bytes, ...]]:
        """For stored events (by id or source_ref hash): whose words they hold."""

    def sides(self, contradiction: bytes) -> tuple[bytes, bytes] | None:
        """The two sides of a stored contradiction."""

    def insert(self, events: Sequence[Event]) -> None:
        """Store events that continue their writers' streams.

        Raises:
            BrokenChain: seq or prev doesn't follow the head.
            Equivocation: other bytes stand under the same (writer, seq).
        """

    def sign(self, signed: Iterable[SignedHead]) -> int:
        """Keep the signatures of stored events, of a branch the newest; returns how many were kept."""


class EventLog(Protocol):
    """An append-only set of hash-chained streams with their words."""

    @property
    def in_order(self) -> bool:
        """Whether events become visible in the order of their positions, so that none ever appears behind the last.

        Where they don't, whoever follows the log asks :meth:`since` the frontier that it has.
        """

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin; commit at the end of the block, roll back on an exception.

        Raises:
            StoreUnavailable: the log can't be locked or written; nothing was stored.
            AppendUnknown: the commit failed and the outcome could not be found out.
        """

    def append(self, events: Sequence[Event]) -> list[bytes]:
        """Store a batch of built events, all or none; events already stored byte for byte are a success."""

    def merge(self, events: Iterable[Event]) -> MergeReport:
        """Set union with foreign events: verified, idempotent, in any order, several writers mixed.

        Raises:
            NotCanonical, LimitExceeded: an event breaks what no release may change; nothing after it is stored.
        """

    def read(self, after: int = 0, *, limit: int = 1000, words: bool = True) -> Iterator[list[Stored]]:
        """Pages in arrival order of all events behind a position."""

    def scan(self, *, limit: int = 1000) -> Iterator[list[Scanned]]:
        """Pages of all events as they are stored, in arrival order."""

    def positions(self, types: Collection[str]) -> list[int]:
        """Positions of the events of some types, of any version, rising."""

    def scan_at(self, positions: Sequence[int], *, limit: int = 1000) -> Iterator[list[Scanned]]:
        """Pages of the events at these positions as they are stored, in their order; without their words."""

    def shared(self, roles: Collection[int], *, limit: int = 1000) -> Iterator[list[str]]:
        """Pages of what several events name in some roles (``beliefbase.events.catalog.Role``), by key.

        Of each key the positions are given, as a text of numbers with commas. Keys are the first 8 bytes of names
        (ADR 0008): two names may have one.
        """

    def positions_naming(self, names: Collection[bytes], roles: Collection[int]) -> Mapping[int, Sequence[bytes]]:
        """Positions of the events that name some of these, or others with the same keys, in some roles; and which."""

    def still(self) -> AbstractContextManager[EventLog]:
        """The log as it is now, for the length of a block: only to be read, while others may go on writing."""

    def since(self, frontier: Iterable[Head], buckets: Collection[int] | None = None) -> Iterator[list[Event]]:
        """Pages of the events that a holder of ``frontier`` lacks: per writer in seq order.

        With ``buckets`` only those of writers in there, which is all that the frontier then has to list.
        """

    def last_position(self) -> int:
        """Position of the newest event, 0 for an empty log."""

    def frontier(self) -> tuple[Head, ...]:
        """Every branch head, sorted."""

    def root(self) -> bytes:
        """SHA-256 over the frontier, hashed in buckets by writer prefix; costs by what changed."""

    def buckets(self) -> Mapping[int, bytes]:
        """The hash of every bucket of the frontier that has heads."""

    def heads(self, buckets: Collection[int]) -> list[Head]:
        """The heads in these buckets."""

    def signatures(self, writers: Collection[bytes] | None = None) -> list[SignedHead]:
        """The newest signature of each branch that has one: of these writers, or of all."""

    def signed_root(self) -> bytes:
        """SHA-256 over the heads that are signed; costs by how many there are."""

    def take_signatures(self, signed: Iterable[SignedHead]) -> int:
        """Keep foreign signatures of stored events; returns how many were new.

        Those that the key in the writer's first event didn't make are passed over, where that can be checked.
        """

    def get(self, event_id: bytes) -> Event | None:
        """One event by its id."""

    def by_id(self, ids: Collection[bytes], *, words: bool = False) -> list[Event]:
        """The stored ones of these ids."""

    def naming(self, keys: Collection[bytes], roles: Collection[int], *, words: bool = False) -> list[Event]:
        """Events that name any of these keys in any of these roles (``beliefbase.events.catalog.Role``)."""

    def of_types(self, types: Collection[str], *, words: bool = False) -> list[Event]:
        """All events of these types; for the few that are part of every slice."""

    def agents(self, writers: Collection[bytes]) -> Mapping[bytes, bytes]:
        """For writers: the hash of the agent name in their ``writer.joined``; absent where there is none."""

    def firsts(self, writers: Collection[bytes]) -> list[Event]:
        """The first event of each of these writers, with its words; more than one of a writer that forked there."""

    def filing(self) -> AbstractContextManager[Filing]:
        """What is filed where, in one snapshot, for audits."""

    def erased(self) -> Mapping[bytes, tuple[int, bytes]]:
        """The beliefs whose words an erasure covers, as the fold takes them: id to the erasure's stamp and id."""

    def reworded(self) -> int:
        """How often something became of the words or the coverage of events that were stored already; a local hint."""

    def wanted(self) -> list[bytes]:
        """Ids of the events whose words never came, or went by :meth:`Transaction.erase_words` without an erasure."""

    def want(self, ids: Collection[bytes]) -> None:
        """Note events whose words are gone in another way, such as by damage, so that a sync asks for them."""

    def misindexed(self, progress: Callable[[int], None] = ...) -> Iterator[Misindexed]:
        """Where the index is not what the events give, for audits; ``progress`` hears how many were looked at."""

    def misnoted(self) -> Iterator[Misindexed]:
        """Where what the store notes about erasures, and of whose words are wanted, is not what the events give."""

    def forks(self) -> list[Fork]:
        """Every (writer, seq) under which more than one event is stored."""

    def gaps(self) -> list[Gap]:
        """What is kept aside, and what it waits for."""

    def store_id(self) -> bytes:
        """16 random bytes that tell this store from others; no part of any answer."""

    def close(self) -> None:
        """Release the files; the log can't be used after."""
