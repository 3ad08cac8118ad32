"""The audit of log files that were checked in or passed on: whole by themselves, and replayed from nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

from beliefbase.events.bundle import MAGIC, Bundle
from beliefbase.events.envelope import Event
from beliefbase.events.errors import BeliefbaseError, LogDamaged, StoreUnavailable
from beliefbase.events.log import EventLog, Filing
from beliefbase.events.signing import Trust
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.integrity import Integrity, Progress
from beliefbase.replay.portable import SUFFIX, PortableLog, read_log
from beliefbase.replay.rebuild import note_replay, replayed
from beliefbase.replay.report import AuditReport, Finding
from beliefbase.replay.signatures import SignatureCheck

BUNDLE_SUFFIX: Final = ".bundle"
DIGESTS: Final = ".digests.json"


def log_files(paths: Iterable[Path]) -> list[Path]:
    """The log files and bundles among these files, and in these folders and below; sorted.

    A file of golden digests stands for its log.
    """
    found = set[Path]()
    for path in paths:
        if path.is_dir():
            found.update(file for suffix in (SUFFIX, BUNDLE_SUFFIX) for file in path.rglob(f"*{suffix}"))
        elif path.name.endswith(DIGESTS):
            found.add(path.with_name(path.name.removesuffix(DIGESTS) + SUFFIX))
        else:
            found.add(path)
    return sorted(found)


def audit_file(
    path: Path, *, trust: Trust | None = None, progress: Progress = lambda _what, _done: None
) -> AuditReport:
    """Check one log file or bundle against itself, and replay it; with ``trust`` its signatures as well.

    Raises:
        StoreUnavailable: it can't be read.
        SigningUnavailable: signatures can't be checked.
    """
    report = AuditReport(subject=str(path), from_file=True)
    try:
        with _bundled(path) if _is_bundle(path) else _loaded(read_log(path), report) as log:
            _check(log, report, trust, progress)
    except LogDamaged as error:
        report.add([Finding("damage", "file", str(error))])
    return report


def _check(log: EventLog, report: AuditReport, trust: Trust | None, progress: Progress) -> None:
    integrity = Integrity(log, report, progress)
    integrity.check()
    if trust is not None and integrity.legible:
        report.add(SignatureCheck(log, trust).check(integrity.heads, report))
    if report.damaged:
        report.not_checked.append("replay: a damaged log has no answer")
    elif report.checked["events"]:
        with (
            tempfile.TemporaryDirectory(prefix="audit-") as scratch,
            replayed(log, Path(scratch), as_of_ms=0, progress=progress) as fresh,
        ):
            note_replay(fresh, report)


@contextmanager
def opened(path: Path, *, as_of_ms: int) -> Iterator[Projector]:
    """The read models of a log file, for the length of a block.

    Raises:
        StoreUnavailable, LogDamaged: it can't be read, or is not of this form.
        NotCanonical, LimitExceeded: an event in it is no event.
    """
    with (
        _bundled(path) if _is_bundle(path) else _merged(read_log(path).events()) as log,
        tempfile.TemporaryDirectory(prefix="replay-") as scratch,
        replayed(log, Path(scratch), as_of_ms=as_of_ms, progress=lambda _what, _done: None) as fresh,
    ):
        yield fresh


def _is_bundle(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise StoreUnavailable(f"{path}: can't be read ({error.strerror})", hint="check the path") from error


@contextmanager
def _bundled(path: Path) -> Iterator[EventLog]:
    """A log with the events of a bundle, which checks itself when it is opened."""
    with Bundle(path) as bundle, _merged(event for page in bundle.pages() for event in page) as log:
        log.take_signatures(bundle.signatures)
        yield log


@contextmanager
def _merged(events: Iterable[Event]) -> Iterator[EventLog]:
    with tempfile.TemporaryDirectory(prefix="audit-") as scratch:
        log = SQLiteLog(Path(scratch) / "log.db", durability="process")
        try:
            log.merge(events)
            yield log
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
                log.take_signatures(portable.signatures())
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
