"""Part (c) of the audit: the same events in other arrival orders and batches give the same digest."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from beliefbase.events.envelope import Event
from beliefbase.events.frontier import frontier_root
from beliefbase.events.log import EventLog
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.integrity import Progress
from beliefbase.replay.report import AuditReport, Finding

_BATCHES: Final = 12
"""About so many batches one order is cut into."""
_PAGE: Final = 1000


class Shuffles:
    """Stores the events of a log in other orders, and compares what is then projected.

    Args:
        log: Its log; only read.
        folder: Where temporary stores may be made.
        seed: Which orders: the same seed gives the same ones.
    """

    def __init__(self, log: EventLog, folder: Path, *, seed: int, progress: Progress) -> None:
        self._log = log
        self._folder = folder
        self._seed = seed
        self._progress = progress
        self._ids = [stored.event.id for page in log.read(words=False) for stored in page]

    def check(self, count: int, report: AuditReport, *, as_of_ms: int) -> None:
        """Try ``count`` orders against the report's digest."""
        root = frontier_root(report.heads)
        for number in range(count):
            self._progress("shuffling", number + 1)
            report.checked["shuffles"] = report.checked.get("shuffles", 0) + 1
            name = f"arrival order {number} of seed {self._seed}"
            with tempfile.TemporaryDirectory(prefix="shuffle-", dir=self._folder) as scratch:
                log = SQLiteLog(Path(scratch) / "log.db", durability="process")
                try:
                    tables, digest = self._store(log, Path(scratch), number, as_of_ms)
                    same_root = log.root() == root
                finally:
                    log.close()
            if not same_root:
                report.add([Finding("drift", "shuffle", f"{name} gives another frontier")])
            elif digest != report.digest:
                report.add(
                    Finding("drift", "shuffle", f"{name} gives another digest", table=table)
                    for table in sorted(tables)
                    if tables[table] != report.tables.get(table)
                )

    def _store(self, log: SQLiteLog, folder: Path, number: int, as_of_ms: int) -> tuple[dict[str, str], str]:
        """Merge and project batch by batch; every third batch comes twice."""
        with Projector(log, folder / "read") as projector:
            for batch, ids in enumerate(self._batches(number)):
                for _ in range(2 if batch % 3 == 2 else 1):
                    log.merge(self._events(ids))
                projector.refresh(as_of_ms)
            tables = projector.digests()
            return tables, projector.digest(tables)

    def _batches(self, number: int) -> Iterator[list[bytes]]:
        key = f"{self._seed} {number} ".encode()
        order = sorted(self._ids, key=lambda event_id: hashlib.sha256(key + event_id).digest())
        most = max(1, 2 * len(order) // _BATCHES)
        start = 0
        while start < len(order):
            draw = int.from_bytes(hashlib.sha256(key + order[start]).digest()[:8], "big")
            size = 1 + draw % most
            yield order[start : start + size]
            start += size

    def _events(self, ids: Sequence[bytes]) -> Iterator[Event]:
        for start in range(0, len(ids), _PAGE):
            page = ids[start : start + _PAGE]
            found = {event.id: event for event in self._log.by_id(page, words=True)}
            yield from (found[event_id] for event_id in page if event_id in found)
