"""Answers at a pin: what a store said when it was pinned, said again by a replay of what it held then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beliefbase.events.errors import LogDamaged
from beliefbase.events.log import EventLog
from beliefbase.replay.integrity import Progress
from beliefbase.replay.pin import Pin, lost
from beliefbase.replay.rebuild import replayed
from beliefbase.replay.selection import at_frontier


def active_at(
    log: EventLog, folder: Path, pin: Pin, *, candidates: bool = False, progress: Progress = lambda _what, _n: None
) -> list[dict[str, Any]]:
    """The beliefs that were active at a pin; with ``candidates`` those that were live.

    Costs a rebuild of what the pin holds. Words are today's: what was erased since then is gone from this answer too.

    Raises:
        LogDamaged: the log doesn't hold what was pinned.
    """
    gone = lost(log, pin.heads)
    if gone:
        raise LogDamaged(
            f"the log lacks {len(gone)} of the heads that were pinned, such as seq {gone[0].seq} of writer"
            f" {gone[0].writer.hex()}",
            hint="run `beliefbase audit --pin FILE`; sync with a store that has the events, or restore a backup",
            writer=gone[0].writer,
            seq=gone[0].seq,
        )
    macro = "live_at" if candidates else "active_at"
    with replayed(at_frontier(log, pin.heads), folder, as_of_ms=pin.as_of_ms, progress=progress) as fresh:
        names = [row[0] for row in fresh.rows(f"DESCRIBE SELECT * FROM {macro}({pin.as_of_ms})")]
        rows = fresh.rows(f"SELECT * FROM {macro}({pin.as_of_ms}) ORDER BY began_ms, belief_id")
    return [dict(zip(names, row, strict=True)) for row in rows]
