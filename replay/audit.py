"""The audit of a store (DESIGN 8): its log is whole, its replay gives the read models, and pins still hold.

Parts: (a) the log against itself; (b) the read models against a rebuild; (c) other arrival orders; (d) pins, and
signatures; (f) what the projections drop. Part (e), golden logs, is ``beliefbase.replay.golden``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from beliefbase.beliefs.rules import RULES_VERSION
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.log import EventLog, Head
from beliefbase.events.signing import Trust
from beliefbase.projections import registry
from beliefbase.projections.errors import ProjectorBusy
from beliefbase.replay.ahead import ahead
from beliefbase.replay.integrity import Integrity, Progress
from beliefbase.replay.pin import BadPin, Pin
from beliefbase.replay.pinned import PinCheck
from beliefbase.replay.rebuild import check_read_models
from beliefbase.replay.report import SAME, AuditReport
from beliefbase.replay.selection import at_frontier
from beliefbase.replay.shuffle import Shuffles
from beliefbase.replay.signatures import SignatureCheck

AUDITED: Final = "audited.json"
"""In the folder of the read models: the pin of the last full audit that found nothing."""


class Request(NamedTuple):
    """What an audit is to do besides the usual."""

    pins: Mapping[str, Pin] = {}
    """Pins to check, by what people call them."""
    shuffles: int = 0
    """Other arrival orders to try."""
    seed: int = 0
    """Which ones."""
    quick: bool = False
    """Only what came after the last full audit; no read models."""
    trust: Trust | None = None
    """Whose signatures must vouch for every head that no pin does."""


def audit(
    log: EventLog,
    folder: Path,
    request: Request = Request(),  # noqa: B008  immutable
    *,
    as_of_ms: int = 0,
    progress: Progress = lambda _what, _done: None,
) -> AuditReport:
    """Check a store.

    Args:
        log: Its log; only read.
        folder: Its read models; only read, but for a note on what was audited.
        request: What to do besides the usual.
        as_of_ms: The moment that a rebuilt read model's views ask at; no part of what is compared.
        progress: Told now and then what is being done, and how far.

    Raises:
        ProjectorBusy: another process projects this store at the moment.
        StoreUnavailable: the log or the read models can't be read.
    """
    report = AuditReport()
    last = _last(folder, report) if request.quick else None
    if last is not None:
        return _quick(log, folder, request, last, report, progress)
    integrity = Integrity(log, report, progress, indexed=True)
    with ahead(log, folder, as_of_ms) as begun:
        integrity.check()
        whole = not report.damaged and report.checked["events"] > 0
        if whole:
            check_read_models(log, folder, report, as_of_ms=as_of_ms, progress=progress, begun=begun)
    if not integrity.legible:
        report.not_checked.append("read models: parts of the log can't even be read")
    elif not whole:
        _try_read_models(log, folder, report, as_of_ms, progress)
    elif request.shuffles:
        shuffles = Shuffles(at_frontier(log, report.heads), folder, seed=request.seed, progress=progress)
        shuffles.check(request.shuffles, report, as_of_ms=as_of_ms)
    if integrity.legible:
        if request.pins:
            PinCheck(log, folder, request.pins, progress).check(report)
        check_signatures(log, integrity.heads, request, report)
    if report.exit_code == SAME and report.heads == integrity.heads:  # nothing was appended meanwhile
        pin_of(report, as_of_ms).write(folder / AUDITED)
    return report


def check_signatures(log: EventLog, heads: Iterable[Head], request: Request, report: AuditReport) -> None:
    """Look at what vouches for these heads, if it was asked for."""
    if request.trust is not None:
        pinned = (head for pin in request.pins.values() for head in pin.heads)
        report.add(SignatureCheck(log, request.trust, pinned).check(heads, report))


def pin_of(report: AuditReport, as_of_ms: int) -> Pin:
    """The pin of what a full audit found in order."""
    return Pin(
        as_of_ms, report.events, report.heads, report.digest or "", report.tables, RULES_VERSION, registry.versions()
    )


def _last(folder: Path, report: AuditReport) -> Pin | None:
    path = folder / AUDITED
    try:
        return Pin.read(path)
    except BadPin:
        report.notes.append("no full audit was made yet, so this is one" if not path.exists() else f"{path} is no pin")
        return None


def _quick(
    log: EventLog, folder: Path, request: Request, last: Pin, report: AuditReport, progress: Progress
) -> AuditReport:
    """What came after the last full audit, and whether all that it saw is still there."""
    integrity = Integrity(log, report, progress, since=last.heads)
    integrity.check()
    if integrity.legible:
        heads = {"the last full audit": last, **request.pins}
        PinCheck(log, folder, heads, progress).check_heads(report)
        check_signatures(log, integrity.heads, request, report)
    report.checked["events"] = report.checked.get("events", 0)
    report.not_checked += [
        f"the {last.events:,} events that the last full audit saw, beyond their heads (audit without --quick)",
        "the log's index, read models and digests (audit without --quick)",
    ]
    report.seen_before = last.events
    return report


def _try_read_models(log: EventLog, folder: Path, report: AuditReport, as_of_ms: int, progress: Progress) -> None:
    """What a damaged log gives, so that people see what the damage does to the answers; it may give nothing."""
    try:
        check_read_models(log, folder, report, as_of_ms=as_of_ms, progress=progress)
    except ProjectorBusy:
        raise
    except (BeliefbaseError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        report.not_checked.append(f"read models: the damaged log can't be replayed ({str(error).splitlines()[0]})")
