"""The frontier as the projector follows it: proof that the tables were made from what the log holds.

An arrival position is a hint. Every head is followed from event to event, and the root over them is compared with
the log's own: where they differ (another log, a restored backup, a rewritten file), the tables are rebuilt.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np

from beliefbase.events.envelope import decode
from beliefbase.events.frontier import bucket_hash, bucket_of, root_hash
from beliefbase.events.ids import ID_BYTES, skeleton_hash
from beliefbase.events.lanes import Octets, halves
from beliefbase.events.log import Head
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.columns import Ints
from beliefbase.projections.reading import Page
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


def buckets_of(work: WorkDatabase) -> dict[int, bytes]:
    """The hash of every bucket of the frontier that the tables stand for."""
    return {bucket: bytes.fromhex(hash_) for bucket, hash_ in work.rows("FROM frontier_buckets")}


def heads_in(work: WorkDatabase, buckets: Collection[int]) -> list[Head]:
    """The heads in these buckets of the frontier that the tables stand for."""
    if not buckets:
        return []
    rows = work.rows("SELECT writer_id, seq, hash FROM frontier WHERE bucket IN (SELECT unnest(?))", [sorted(buckets)])
    return [Head(bytes.fromhex(writer), seq, bytes.fromhex(hash_)) for writer, seq, hash_ in rows]


class Heads:
    """The heads that a batch of events changes."""

    def __init__(self) -> None:
        self._continued: set[bytes] = set()
        """Hashes of events outside of the batch that it continues."""
        self._last: dict[bytes, bytes] = {}
        """Skeletons by id, which is the first half of their hash."""

    def follow(self, page: Page[Any]) -> None:
        """Take note of events, predecessors first."""
        places = places_of(page.prevs[:, :ID_BYTES], page.ids)
        outside = {prev.tobytes() for prev in page.prevs[places < 0]}
        self._continued.update([prev for prev in outside if self._last.pop(prev[:ID_BYTES], None) is None])
        last = np.ones(len(page.raws), np.bool_)
        last[places[places >= 0]] = False
        self._last.update((page.ids[place].tobytes(), page.raws[place]) for place in np.flatnonzero(last).tolist())

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
            for head in heads_in(work, changed):
                inside.setdefault(bucket_of(head.writer), []).append(head)
            work.connection.execute(f"DELETE FROM frontier_buckets WHERE bucket IN ({marks})", changed)
            hashes = [bucket_hash(found).hex() for found in inside.values()]
            work.insert(_BUCKETS, {"bucket": list(inside), "hash": hashes})
        return root_hash(buckets_of(work))

    def _heads(self) -> list[Head]:
        last = [(decode(raw), skeleton_hash(raw)) for raw in self._last.values()]
        return sorted(Head(skeleton.writer, skeleton.seq, hash_) for skeleton, hash_ in last)

    def _remove(self, work: WorkDatabase) -> None:
        if self._continued and work.rows("SELECT 1 FROM frontier LIMIT 1"):
            work.connection.execute(
                "DELETE FROM frontier WHERE hash IN (SELECT unnest(?))", [[prev.hex() for prev in self._continued]]
            )


def places_of(wanted: Octets, ids: Octets) -> Ints:
    """The place of each wanted id among different ids; -1 where it isn't there."""
    if not len(ids):
        return np.full(len(wanted), -1)
    sought, known = halves(wanted), halves(ids)
    order = np.argsort(known[:, 0])
    begins = known[order, 0]
    if (begins[1:] == begins[:-1]).any():  # two ids begin alike
        by_id = {id_.tobytes(): place for place, id_ in enumerate(ids)}
        return np.array([by_id.get(id_.tobytes(), -1) for id_ in wanted], dtype=np.int64)
    near = order[np.minimum(np.searchsorted(begins, sought[:, 0]), len(ids) - 1)]
    return np.where((known[near, 0] == sought[:, 0]) & (known[near, 1] == sought[:, 1]), near, -1)
