"""The audit of a store (DESIGN 8): (a) the log is whole, (b) its replay gives the read models, (f) what was dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from beliefbase.events.envelope import Event
from beliefbase.events.erasure import covered
from beliefbase.events.ids import ID_BYTES, skeleton_hash
from beliefbase.events.log import EventLog
from beliefbase.replay.chain import check_stream, fork_notes, gap_notes
from beliefbase.replay.rebuild import Progress, check_read_models
from beliefbase.replay.report import AuditReport


def audit(
    log: EventLog, folder: Path, *, as_of_ms: int = 0, progress: Progress = lambda _what, _done: None
) -> AuditReport:
    """Check a store.

    Args:
        log: Its log; only read.
        folder: Its read models.
        as_of_ms: The moment that a rebuilt read model's views ask at; no part of what is compared.
        progress: Told now and then what is being done, and how far.

    Raises:
        ProjectorBusy: another process projects this store at the moment.
        StoreUnavailable: the log or the read models can't be read.
    """
    report = AuditReport()
    check_log(log, report, progress)
    if any(finding.severity == "damage" for finding in report.findings):
        report.not_checked.append("read models: a damaged log gives no answer to compare them with")
        return report
    if report.checked["events"]:
        check_read_models(log, folder, report, as_of_ms=as_of_ms, progress=progress)
    return report


def check_log(log: EventLog, report: AuditReport, progress: Progress) -> None:
    """Part (a): every stream, its words and its head."""
    heads = dict(log.branches())
    erased = covered(log)
    known = _Hashes(log)
    counts = {"events": 0, "words": 0}

    def counted(events: Iterator[tuple[int, Event]]) -> Iterator[tuple[int, Event]]:
        for seq, event in events:
            counts["events"] += 1
            counts["words"] += event.body is not None
            if counts["events"] % 10_000 == 0:
                progress("checking events", counts["events"])
            yield seq, event

    seen = set()
    for stream, events in log.streams():
        seen.add(stream)
        head = heads.get(stream)
        report.add(
            check_stream(stream, counted(events), head, branches=known, covered=lambda event: event.id in erased)
        )
    for stream in sorted(heads.keys() - seen):
        report.add(check_stream(stream, (), heads[stream], branches=known, covered=lambda event: event.id in erased))
    report.add(fork_notes(log.forks()))
    report.add(gap_notes(log.gaps()))
    report.checked |= counts | {"streams": len(seen | heads.keys())}


class _Hashes:
    """The hashes of all stored events, looked up one by one."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def __contains__(self, wanted: object) -> bool:
        if not isinstance(wanted, bytes):
            return False
        event = self._log.get(wanted[:ID_BYTES])
        return event is not None and skeleton_hash(event.raw) == wanted
