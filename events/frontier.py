"""The frontier and its root hash: the heads of all branches, hashed in buckets by writer prefix.

A bucket holds the heads of all writers whose ids start with the same 12 bits. Its hash is SHA-256 over its heads in
order, each as writer (16 bytes) ‖ seq (8 bytes, big-endian) ‖ hash (32 bytes). The root is SHA-256 over the buckets
that have heads, in order, each as its number (2 bytes, big-endian) ‖ its hash. So a store that keeps the hashes of
the buckets finds a new root, and two stores find where they differ, by what changed and not by how many writers ever
were. Stream ids are local and no part of it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import Head

BUCKETS: Final = 4096
HASHED: Final = struct.Struct(">H32s")
"""A bucket's number and hash, as stores may keep them."""
_NUMBERS: Final = tuple(number.to_bytes(2, "big") for number in range(BUCKETS))
EMPTY_ROOT: Final = hashlib.sha256().digest()
"""Root of a log without events."""


@dataclass(slots=True)
class Branch:
    """A chain of events of one writer, as this store keeps it.

    The first chain of a writer to arrive is its main branch. An event that continues no head starts a branch of its
    own, which leaves its parent behind the event that its first event's ``prev`` names.
    """

    writer: bytes
    stream: str
    """Id of the chain in this store: the writer in hex, for a later branch with ``~`` and its first event's id."""
    first: int
    """Seq of the first event that is this branch's own."""
    seq: int
    """Seq of its last event."""
    hash: bytes
    """SHA-256 of its last event's skeleton."""
    parent: str | None
    """Stream that it leaves; None for a branch that starts with seq 1."""

    def covers(self, seq: int) -> bool:
        """Whether an event of this branch's own has this seq."""
        return self.first <= seq <= self.seq

    @property
    def head(self) -> Head:
        """The branch as the frontier lists it."""
        return Head(self.writer, self.seq, self.hash)


def main_stream(writer: bytes) -> str:
    """Stream id of a writer's main branch."""
    return writer.hex()


def branch_stream(writer: bytes, event_id: bytes) -> str:
    """Stream id of a branch that starts with this event."""
    return f"{writer.hex()}~{event_id.hex()}"


def bucket_of(writer: bytes) -> int:
    """Number of a writer's bucket: the first 12 bits of its id."""
    return writer[0] << 4 | writer[1] >> 4


def bucket_range(bucket: int) -> tuple[bytes, bytes]:
    """The least and the greatest writer id of a bucket."""
    start = (bucket << 4).to_bytes(2, "big")
    return start.ljust(ID_BYTES, b"\0"), bytes((start[0], start[1] | 0xF)).ljust(ID_BYTES, b"\xff")


def bucket_hash(heads: Iterable[tuple[bytes, int, bytes]]) -> bytes:
    """Hash of a bucket with these heads; of an empty bucket, nothing."""
    ordered = sorted(heads)
    if not ordered:
        return b""
    return hashlib.sha256(b"".join(w + seq.to_bytes(8, "big") + hash for w, seq, hash in ordered)).digest()


def root_hash(buckets: Mapping[int, bytes]) -> bytes:
    """Root of a frontier with these hashes of buckets."""
    return hashlib.sha256(b"".join([_NUMBERS[n] + hash for n, hash in sorted(buckets.items()) if hash])).digest()


def frontier_root(heads: Iterable[Head]) -> bytes:
    """Root of a frontier that is at hand as a list; for checking pins and peers."""
    buckets: dict[int, list[Head]] = {}
    for head in heads:
        buckets.setdefault(bucket_of(head.writer), []).append(head)
    return root_hash({number: bucket_hash(found) for number, found in buckets.items()})


def held(branches: Mapping[str, Branch], known: Iterable[tuple[str, int]]) -> dict[str, int]:
    """For the branches of one writer: up to which seq a peer holds each, given events (stream, seq) that it holds.

    Who holds an event holds all before it, on the branches that its own leaves as well.
    """
    reach: dict[str, int] = {}
    for start, last in known:
        stream: str | None = start
        seq = last
        while stream is not None and reach.get(stream, 0) < seq:
            reach[stream] = seq
            branch = branches[stream]
            stream, seq = branch.parent, branch.first - 1
    return reach
