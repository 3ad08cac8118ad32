"""Answers at a pin: what a store said when it was pinned, said again by a replay of what it held then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from beliefbase.events.errors import LogDamaged
from beliefbase.events.log import EventLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.integrity import Progress
from beliefbase.replay.pin import Pin, lost
from beliefbase.replay.rebuild import quoted, replayed
from beliefbase.replay.selection import at_frontier


@contextmanager
def read_models_at(
    log: EventLog,
    folder: Path,
    pin: Pin,
    *,
    as_of_ms: int | None = None,
    progress: Progress = lambda _what, _n: None,
) -> Iterator[Projector]:
    """The read models of what a pin holds, for the length of a block, their views asking at its moment or another.

    Costs a rebuild of what the pin holds. Words are today's: what was erased since then is gone from here too.

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
    at = pin.as_of_ms if as_of_ms is None else as_of_ms
    with replayed(at_frontier(log, pin.heads), folder, as_of_ms=at, progress=progress) as fresh:
        yield fresh


def active_at(
    log: EventLog,
    folder: Path,
    pin: Pin,
    *,
    as_of_ms: int | None = None,
    candidates: bool = False,
    progress: Progress = lambda _what, _n: None,
) -> list[dict[str, Any]]:
    """The beliefs that were active at a pin; with ``candidates`` those that were live. Raises as the above."""
    at = pin.as_of_ms if as_of_ms is None else as_of_ms
    macro = "live_at" if candidates else "active_at"
    with read_models_at(log, folder, pin, as_of_ms=at, progress=progress) as fresh:
        return _dictionaries(fresh, f"SELECT * FROM {macro}({at}) ORDER BY began_ms, belief_id")


def learnt_since(fresh: Projector, snapshot: Path, *, as_of_ms: int) -> list[dict[str, Any]]:
    """The beliefs that stand otherwise at one moment by what a pin held (``fresh``) and by a newer snapshot."""
    fresh.rows(f"CREATE OR REPLACE TEMP TABLE pinned AS FROM beliefs_at({as_of_ms})")
    fresh.rows(f"ATTACH {quoted(snapshot)} AS newer (READ_ONLY)")
    try:
        fresh.rows("USE newer")
        return _dictionaries(fresh, _LEARNT.format(as_of_ms))
    finally:
        fresh.rows("USE work")
        fresh.rows("DETACH newer")


_LEARNT: Final = """
SELECT
    coalesce(b.belief_id, a.belief_id) AS belief_id,
    coalesce(b.statement, a.statement) AS statement,
    a.status AS status_before,
    b.status AS status_after,
    a.stale AS stale_before,
    b.stale AS stale_after,
    a.contested AS contested_before,
    b.contested AS contested_after,
    a.forked AS forked_before,
    b.forked AS forked_after,
    b.ended_by,
    coalesce(b.kind, a.kind) AS kind,
    coalesce(b.speech_act, a.speech_act) AS speech_act,
    coalesce(b.agent, a.agent) AS agent,
    coalesce(b.began_ms, a.began_ms) AS began_ms
FROM temp.pinned AS a
FULL JOIN beliefs_at({}) AS b ON b.belief_id = a.belief_id
WHERE (a.status, a.stale, a.contested, a.forked, a.ended_by)
    IS DISTINCT FROM (b.status, b.stale, b.contested, b.forked, b.ended_by)
ORDER BY began_ms, belief_id
"""


def _dictionaries(fresh: Projector, sql: str) -> list[dict[str, Any]]:
    names = [row[0] for row in fresh.rows(f"DESCRIBE {sql}")]
    return [dict(zip(names, row, strict=True)) for row in fresh.rows(sql)]
