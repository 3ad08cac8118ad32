"""What a log asks of its tables: every backend implements it, inside one transaction or one snapshot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from beliefbase.events.envelope import Event
from beliefbase.events.erasure import By, Erasure
from beliefbase.events.frontier import Branch
from beliefbase.events.log import Filed, FiledHead, Gap, Head, Scanned, SignedHead, Stored

if TYPE_CHECKING:
    from beliefbase.events.filed_pages import Sweep


class Placed(NamedTuple):
    """An event with its place: what a row of the log is made from."""

    stream: str
    event: Event


class Found(NamedTuple):
    """A stored skeleton, looked up by stream and seq."""

    position: int
    stream: str
    raw: bytes
    has_words: bool


class ErasureTables(Protocol):
    """Reads and writes what a log keeps about erasures."""

    def any(self) -> bool:
        """Whether there is an erasure at all."""

    def note(self, erasure: Erasure) -> None:
        """Keep an erasure; it is pending until it is carried out."""

    def of_subjects(self, subjects: Collection[bytes]) -> list[Erasure]:
        """The erasures of these subjects."""

    def pending(self) -> list[By]:
        """The erasures that were not carried out yet, the earliest first."""

    def settle(self, erasure: By) -> None:
        """Note that an erasure is carried out, from now on as its events arrive."""

    def settled_until(self) -> int:
        """Stamp of the latest erasure that was carried out, 0 for none."""

    def coverage(self, positions: Collection[int]) -> dict[int, By]:
        """Of the events at these positions the covered ones, each with the erasure that covers it."""

    def covered_by(self, erasure: By) -> list[int]:
        """Positions of the events that this erasure covers, and no earlier one."""

    def called(self, names: Collection[bytes]) -> dict[int, By]:
        """The covered events whose id or source_ref begins like one of these names."""

    def cover(self, found: Mapping[int, By]) -> None:
        """Write what covers the events at these positions; their words are not wanted."""

    def beliefs(self) -> dict[bytes, tuple[int, bytes]]:
        """The beliefs whose words are covered: id to stamp and id of the erasure."""

    def noted(self) -> list[tuple[Any, ...]]:
        """All rows (event id, subject, hlc, writer, seq, pending), for audits."""

    def all_covered(self) -> Iterator[tuple[int, By]]:
        """Positions of all covered events, each with the erasure that covers it, for audits."""

    def count(self) -> int:
        """How many events are covered."""

    def want(self, positions: Iterable[int]) -> None:
        """Note events whose words are not here, those that an erasure covers excepted."""

    def fill(self, position: int) -> None:
        """Note that words came for an event that was stored without them."""

    def wanted(self) -> list[int]:
        """Positions of the events whose words are not here although no erasure covers them."""

    def reworded(self) -> int:
        """How often something became of stored events' words or coverage."""

    def reword(self) -> None:
        """Note that something did."""

    def delete(self, positions: Collection[int]) -> int:
        """Delete the bodies of the events at these positions; returns how many there were."""

    def delete_aside(self, hashes: Collection[bytes]) -> int:
        """Delete the bodies of these events kept aside; returns how many there were."""


class SignatureTables(Protocol):
    """Reads and writes the newest signed head of each branch that has one."""

    def put(self, stream: str, signed: SignedHead) -> None:
        """Keep the newest signature of a branch."""

    def at(self, stream: str) -> SignedHead | None:
        """The newest signature of a branch."""

    def all(self) -> list[SignedHead]:
        """The signatures of all branches, by stream."""

    def of(self, writers: Collection[bytes]) -> list[SignedHead]:
        """The signatures of the branches of these writers, by stream."""


class IndexTables(Protocol):
    """Asks the log's index what an audit compares with the events."""

    def lacks(self, rows: Collection[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Of rows (key, role, position) those that the index doesn't have."""

    def lacks_stamps(self, stamps: Collection[int]) -> list[int]:
        """Of stamps those that the index doesn't have."""

    def counts(self) -> tuple[int, int]:
        """How many rows the index has, and how many tips."""

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """All rows (key, role, position)."""

    def tips(self) -> Iterator[tuple[bytes, bytes]]:
        """All tips (key, event id)."""


class Tables(Protocol):
    """Reads and writes the rows of a log."""

    @property
    def erasures(self) -> ErasureTables:
        """The tables about erasures, in the same transaction."""

    @property
    def index(self) -> IndexTables:
        """The index as an audit looks at it, in the same snapshot."""

    @property
    def sweep(self) -> Sweep | None:
        """The log as an audit sweeps through it, in the same snapshot; None where it can only be read one by one."""

    @property
    def signatures(self) -> SignatureTables:
        """The table of signed heads, in the same transaction."""

    def alone(self, *, wait: bool = True) -> bool:
        """Wait until no other transaction is storing, and let none begin to before this one's end.

        For what is a rule on all events, also on those that others are about to commit. Without ``wait`` it is only
        tried; returns whether it is so.
        """

    def setting(self, name: str) -> Any:
        """A setting, None where it isn't set."""

    def change_setting(self, name: str, value: int | bytes | str | None) -> None:
        """Set a setting; None removes it."""

    def last_position(self) -> int:
        """Position of the newest event, 0 for none."""

    def reserve(self, count: int) -> Sequence[int]:
        """Rising positions for so many events that are about to be stored; nobody else gets them."""

    def store(self, placed: Sequence[Placed], positions: Sequence[int]) -> None:
        """Insert events and their index rows at these positions; not their words."""

    def add_words(self, rows: Sequence[tuple[int, bytes, bytes | None, bytes]]) -> None:
        """Insert bodies: (position, event id, salt, body)."""

    def pages(self, after: int, *, limit: int, words: bool) -> Iterator[list[Stored]]:
        """Pages of all events behind a position, in the order of positions."""

    def scan(self, *, limit: int) -> Iterator[list[Scanned]]:
        """Pages of all events as they are stored, in the order of positions."""

    def positions(self, name: str) -> list[int]:
        """Positions of the events of a type, of any version, rising."""

    def scan_at(self, positions: Sequence[int]) -> list[Scanned]:
        """The events at these positions as they are stored, in their order; without their words."""

    def shared(self, roles: Collection[int], *, limit: int) -> Iterator[list[str]]:
        """Pages of the keys that several index rows of some roles have: the positions of these, with commas."""

    def links(self, keys: Iterable[int], roles: Collection[int]) -> list[tuple[int, int]]:
        """The index rows (key, position) of some keys in some roles."""

    def stream(self, stream: str, *, after: int = 0, words: bool = True) -> Iterator[Stored]:
        """The events of a stream behind a seq, in seq order."""

    def filed(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back, as they are filed, whatever has become of the store."""

    def all_filed(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, each stream's from the newest back, as they are filed."""

    def filed_heads(self) -> Iterator[tuple[str, FiledHead]]:
        """Every branch, as it is filed."""

    def unusable(self) -> Iterable[str]:
        """What is wrong with settings and buckets that can't have been stored as they are, for people."""

    def loose_words(self) -> list[bytes]:
        """Ids that words are filed under at positions without an event."""

    def stream_ids(self) -> list[str]:
        """Every stream that has events, from the events themselves."""

    def at(self, stream: str, seq: int) -> Found | None:
        """The event of a stream with this seq."""

    def of_type(self, name: str, *, words: bool) -> list[Event]:
        """All events of a type, of any version."""

    def add_index(self, refs: list[tuple[int, int, int]], stamps: Sequence[tuple[int]]) -> None:
        """Insert index rows (key, role, position), and stamps."""

    def forget_index(self) -> None:
        """Empty the index, the tips, the stamps and what erasures cover."""

    def max_stamp(self, below: int) -> int:
        """The largest stamp that is at most ``below``, 0 for none."""

    def naming(self, names: Collection[bytes], roles: Collection[int], *, words: bool = False) -> list[Stored]:
        """The events that name any of these names in any of these roles, in the order of positions."""

    def by_position(self, positions: Sequence[int], *, words: bool = False) -> list[Stored]:
        """The events at these positions, in their order."""

    def tips(self, keys: Collection[bytes]) -> dict[bytes, set[bytes]]:
        """The latest fate-changing revisions of each key that has any."""

    def change_tips(self, added: Iterable[tuple[bytes, bytes]], removed: Iterable[tuple[bytes, bytes]]) -> None:
        """Remove, then add rows (key, event id)."""

    def branches(self, writers: Collection[bytes]) -> dict[bytes, dict[str, Branch]]:
        """The branches of these writers, by stream; the main branch of a writer comes first."""

    def heads(self, buckets: Collection[int] | None = None) -> list[Head]:
        """The heads of all branches, or of those in these buckets, by writer."""

    def put_branches(self, branches: Collection[Branch], buckets: Collection[int]) -> None:
        """Write branches as they are now, and mark the buckets of their writers."""

    def buckets(self) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The hashes of all buckets, and of those the ones that had to be computed anew."""

    def put_bucket_hashes(self, hashes: Mapping[int, bytes]) -> None:
        """Keep hashes of buckets, computed in this transaction, until their heads change."""

    def forked_writers(self) -> list[bytes]:
        """The writers that have more than one branch."""

    def firsts(self, writers: Collection[bytes]) -> Iterator[Event]:
        """The events with seq 1 of these writers: one of each, more where they forked there."""

    def has_aside(self) -> bool:
        """Whether anything is kept aside."""

    def put_aside(self, rows: Sequence[tuple[bytes, bytes, int, bytes, bytes, bytes | None, bytes | None]]) -> int:
        """Keep events (hash, writer, seq, prev, skeleton, salt, body); returns how many weren't there yet."""

    def aside_after(self, hashes: Collection[bytes]) -> list[Event]:
        """What is kept aside and continues one of these skeletons."""

    def aside_words(self, hashes: Collection[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """Salt and body of those of these skeletons that are kept aside with their words."""

    def drop_aside(self, hashes: Collection[bytes]) -> int:
        """Remove what was stored after all; returns how many were there."""

    def aside(self) -> list[Event]:
        """All that is kept aside."""

    def gaps(self) -> list[Gap]:
        """What is kept aside and waits for something that isn't here at all."""
