"""The frontier as the projector follows it: proof that the tables were made from what the log holds.

An arrival position is a hint. Every head is followed from event to event, and the root over them is compared with
the log's own: where they differ (another log, a restored backup, a rewritten file), the tables are rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from beliefbase.events.envelope import Event, Skeleton
from beliefbase.events.frontier import bucket_hash, bucket_of, root_hash
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.log import Head
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.work import WorkDatabase

_FRONTIER = Table(
    "frontier",
    "The last event of every branch of every stream that was read",
    Owner.VALUE,
    (
        Column("hash", "VARCHAR", "SHA-256 of the last event's skeleton"),
        Column("writer_id", "VARCHAR", "The stream"),
        Column("seq", "BIGINT", "Place of that event in the stream"),
        Column("bucket", "BIGINT", "First 12 bits of the writer's id"),
    ),
    ("hash",),
    digested=False,
)
_BUCKETS = Table(
    "frontier_buckets",
    "Hashes of the frontier by the first 12 bits of the writer's id; the root hash is made from them",
    Owner.VALUE,
    (
        Column("bucket", "BIGINT", "First 12 bits of the writer's id"),
        Column("hash", "VARCHAR", "SHA-256 over the heads of the bucket"),
    ),
    ("bucket",),
    digested=False,
)


class Frontier(Projection):
    """The tables of the frontier; :class:`Heads` fills them."""

    NAME = "frontier"
    TABLES: ClassVar[tuple[Table, ...]] = (_FRONTIER, _BUCKETS)


PROJECTION = Frontier()


class Heads:
    """The heads that a batch of events changes."""

    def __init__(self) -> None:
        self._continued: set[bytes] = set()
        """Hashes of events outside of the batch that it continues."""
        self._last: dict[bytes, Event] = {}
        """By id, which is the first half of the hash."""

    def follow(self, events: Iterable[Event], skeletons: Iterable[Skeleton]) -> None:
        """Take note of events, predecessors first."""
        last = self._last
        for event, skeleton in zip(events, skeletons, strict=True):
            prev = skeleton.prev
            if last.pop(prev[:16], None) is None:
                self._continued.add(prev)
            last[event.id] = event

    def root(self) -> bytes:
        """Root of the frontier where nothing was known before."""
        buckets: dict[int, list[Head]] = {}
        for head in self._heads():
            buckets.setdefault(bucket_of(head.writer), []).append(head)
        return root_hash({number: bucket_hash(heads) for number, heads in buckets.items()})

    def store(self, work: WorkDatabase) -> bytes:
        """Bring the tables up to date, and return the root over all heads."""
        heads = self._heads()
        self._remove(work)
        work.insert(
            _FRONTIER,
            {
                "hash": [head.hash.hex() for head in heads],
                "writer_id": [head.writer.hex() for head in heads],
                "seq": [head.seq for head in heads],
                "bucket": [bucket_of(head.writer) for head in heads],
            },
        )
        changed = sorted({bucket_of(head.writer) for head in heads})
        if changed:
            marks = ", ".join("?" * len(changed))
            inside: dict[int, list[Head]] = {}
            for bucket, writer, seq, hash_ in work.rows(
                f"SELECT bucket, writer_id, seq, hash FROM frontier WHERE bucket IN ({marks})", changed
            ):
                inside.setdefault(bucket, []).append(Head(bytes.fromhex(writer), seq, bytes.fromhex(hash_)))
            work.connection.execute(f"DELETE FROM frontier_buckets WHERE bucket IN ({marks})", changed)
            hashes = [bucket_hash(found).hex() for found in inside.values()]
            work.insert(_BUCKETS, {"bucket": list(inside), "hash": hashes})
        return root_hash({bucket: bytes.fromhex(hash_) for bucket, hash_ in work.rows("FROM frontier_buckets")})

    def _heads(self) -> list[Head]:
        return sorted(
            Head(event.skeleton.writer, event.skeleton.seq, skeleton_hash(event.raw)) for event in self._last.values()
        )

    def _remove(self, work: WorkDatabase) -> None:
        if self._continued and work.rows("SELECT 1 FROM frontier LIMIT 1"):
            work.connection.execute(
                "DELETE FROM frontier WHERE hash IN (SELECT unnest(?))", [[prev.hex() for prev in self._continued]]
            )
