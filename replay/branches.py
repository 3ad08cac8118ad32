"""Part (a) of the audit for what a store keeps about its branches: it decides answers, and no hash covers it."""

from __future__ import annotations

from collections.abc import Iterator

from beliefbase.events.envelope import Skeleton
from beliefbase.events.ids import ID_BYTES, skeleton_hash
from beliefbase.events.log import Filed, FiledHead, Filing
from beliefbase.replay.report import Finding


def check_kept(stream: str, kept: FiledHead) -> Iterator[Finding]:
    """Whether a branch is kept in a form that can be compared and hashed, under its own writer."""
    writer, seq = kept.head.writer, kept.head.seq
    if kept.misstored:
        yield _found(f"its stream's head is not stored as a log stores it: {kept.misstored}", stream, seq)
    if len(writer) != ID_BYTES or writer.hex() != stream[:32]:
        yield _found(f"its stream's head is kept under another writer, {writer.hex()[:80]}", stream, seq)
    if not 1 <= seq < 1 << 63:
        yield _found(f"its stream's head can't have seq {seq}", stream, seq)


def check_beginning(stream: str, kept: FiledHead, oldest: tuple[Filed, Skeleton], filing: Filing) -> Iterator[Finding]:
    """Whether a branch begins, and leaves another, where its oldest event says."""
    filed, skeleton = oldest
    event_id = filed.event.id.hex()
    if kept.first != filed.seq:
        what = f"the store says that its stream begins with seq {kept.first}, and this event is its first"
        yield _found(what, stream, filed.seq, event_id)
    elif (kept.parent is not None) != (filed.seq > 1) or not _leaves(kept, skeleton, filing):
        leaves = "no other stream" if kept.parent is None else f"stream {kept.parent[:80]}"
        yield _found(
            f"the store says that its stream leaves {leaves}, and its prev doesn't", stream, filed.seq, event_id
        )


def _leaves(kept: FiledHead, skeleton: Skeleton, filing: Filing) -> bool:
    if kept.parent is None:
        return True
    raw = filing.skeleton(kept.parent, kept.first - 1)
    return isinstance(raw, bytes) and skeleton_hash(raw) == skeleton.prev


def _found(what: str, stream: str, seq: int, event: str | None = None) -> Finding:
    return Finding("damage", "heads", what, stream[:32], seq, event)
