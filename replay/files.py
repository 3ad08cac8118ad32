"""The audit of log files that were checked in or passed on: whole by themselves, and replayed from nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from beliefbase.events.errors import BeliefbaseError, LogDamaged
from beliefbase.events.log import EventLog, Filing
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.integrity import Integrity, Progress
from beliefbase.replay.portable import SUFFIX, PortableLog, read_log
from beliefbase.replay.rebuild import note_replay, replayed
from beliefbase.replay.report import AuditReport, Finding


def log_files(paths: Iterable[Path]) -> list[Path]:
    """The log files among these files, and in these folders and below; sorted."""
    found = set[Path]()
    for path in paths:
        found.update(path.rglob(f"*{SUFFIX}") if path.is_dir() else [path])
    return sorted(found)


def audit_file(path: Path, *, progress: Progress = lambda _what, _done: None) -> AuditReport:
    """Check one log file against itself, and replay it.

    Raises:
        StoreUnavailable: it can't be read.
    """
    report = AuditReport(subject=str(path), from_file=True)
    try:
        portable = read_log(path)
    except LogDamaged as error:
        report.add([Finding("damage", "file", str(error))])
        return report
    with _loaded(portable, report) as log:
        integrity = Integrity(log, report, progress)
        integrity.check()
        if report.damaged:
            report.not_checked.append("replay: a damaged log has no answer")
        elif report.checked["events"]:
            with (
                tempfile.TemporaryDirectory(prefix="audit-") as scratch,
                replayed(log, Path(scratch), as_of_ms=0, progress=progress) as fresh,
            ):
                note_replay(fresh, report)
    return report


@contextmanager
def opened(path: Path, *, as_of_ms: int) -> Iterator[Projector]:
    """The read models of a log file, for the length of a block.

    Raises:
        StoreUnavailable, LogDamaged: it can't be read, or is not of this form.
        NotCanonical, LimitExceeded: an event in it is no event.
    """
    portable = read_log(path)
    with tempfile.TemporaryDirectory(prefix="replay-") as scratch:
        log = SQLiteLog(Path(scratch) / "log.db", durability="process")
        try:
            log.merge(portable.events())
            with replayed(log, Path(scratch), as_of_ms=as_of_ms, progress=lambda _what, _done: None) as fresh:
                yield fresh
        finally:
            log.close()


@contextmanager
def _loaded(portable: PortableLog, report: AuditReport) -> Iterator[EventLog]:
    """A log with the events of a file, as far as it takes them; what is filed where is what the file says."""
    with tempfile.TemporaryDirectory(prefix="audit-") as scratch:
        log = SQLiteLog(Path(scratch) / "log.db", durability="process")
        try:
            try:
                log.merge(portable.events())
            except BeliefbaseError as error:
                report.notes.append(f"not everything could be loaded: {error}")
            yield cast("EventLog", _Loaded(log, portable))
        finally:
            log.close()


class _Loaded:
    """A log of which the filing is that of a file."""

    def __init__(self, log: SQLiteLog, portable: PortableLog) -> None:
        self._log = log
        self._portable = portable

    @contextmanager
    def filing(self) -> Iterator[Filing]:
        yield self._portable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)
