"""Commands that prove and examine: audit, pin, doctor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Progress
from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.signing import Trust
from beliefbase.store import BeliefStore
from beliefbase.writing import moment

if TYPE_CHECKING:
    from beliefbase.replay.audit import Request
    from beliefbase.replay.report import AuditReport

A_FILE = click.Path(dir_okay=False, path_type=Path)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options for reports that CI reads."""
    for option in (
        click.option("--github", is_flag=True, help="Print annotations for GitHub Actions as well."),
        click.option("--markdown", type=A_FILE, help="Write a summary in Markdown, cut to fit a step summary."),
        click.option("--junit", type=A_FILE, help="Write a JUnit report."),
    ):
        function = option(function)
    return function


@command("audit")
@click.argument("logs", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--pin", "pins", multiple=True, type=A_FILE, help="Check this pin as well (repeatable).")
@click.option(
    "--keys",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A trust file (lines of `beliefbase key show`): report what no trusted agent signed and no --pin saw.",
)
@click.option("--quick", is_flag=True, help="Only what came after the last full audit; read models are not compared.")
@click.option("--shuffles", type=click.IntRange(min=0), default=0, help="Try so many other arrival orders.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Which ones: a seed gives the same ones each time.")
@output_options
def audit_command(
    settings: Settings,
    logs: tuple[Path, ...],
    pins: tuple[Path, ...],
    keys: Path | None,
    quick: bool,
    shuffles: int,
    seed: int,
    junit: Path | None,
    markdown: Path | None,
    github: bool,
) -> None:
    """Check the log, replay it from nothing, and compare the read models with the replay.

    With LOGS (log files, or folders of them) these are checked instead of a store.

    Exit status: 0 same, 1 drift, 2 usage, 3 store unavailable, 4 log damaged, 5 nothing checked.
    """
    if logs and (pins or quick or shuffles):
        raise click.UsageError("--pin, --quick and --shuffles are for a store, not for log files")
    progress = Progress()
    trust = None if keys is None else Trust.read(keys)
    if logs:
        from beliefbase.replay.files import audit_file, log_files

        reports = [audit_file(path, trust=trust, progress=progress.tell) for path in log_files(logs)]
    else:
        from beliefbase.replay.audit import Request
        from beliefbase.replay.pin import Pin

        read = {str(path): Pin.read(path) for path in pins}
        reports = [_audit_store(settings, Request(read, shuffles, seed, quick, trust), progress)]
    progress.close()
    finish(settings, reports, junit, markdown, github=github)


def _audit_store(settings: Settings, request: Request, progress: Progress) -> AuditReport:
    with BeliefStore.open(settings.path) as store:
        report = store.audit(request, progress=progress.tell)
        report.subject = store.name
    return report


def finish(
    settings: Settings, reports: Sequence[AuditReport], junit: Path | None, markdown: Path | None, *, github: bool
) -> None:
    """Print and write reports, and end with the status of the gravest."""
    from beliefbase.replay import outputs

    if junit is not None:
        _write(junit, outputs.junit(reports))
    if markdown is not None:
        _write(markdown, outputs.markdown(reports))
    status, outcome = outputs.gravest(reports)
    passed = sum(report.exit_code == 0 for report in reports)
    if len(reports) == 1:
        settings.out.object(reports[0].as_dict(), reports[0].as_text())
    elif not reports:
        settings.out.object(
            {"outcome": outcome, "exit": status, "logs": [], "reason": outputs.NO_LOGS}, outputs.NO_LOGS
        )
    else:
        told = {"outcome": outcome, "exit": status, "logs": [report.as_dict() for report in reports]}
        texts = [f"{report.subject}\n{report.as_text()}\n" for report in reports]
        settings.out.object(told, "\n".join([*texts, f"{passed} passed, {len(reports) - passed} failed"]))
    if github:
        click.echo(outputs.github(reports), nl=False, err=settings.json)
    sys.exit(status)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: can't be written ({error.strerror})", hint="choose a writable place", path=str(path)
        ) from error


@command("pin")
@click.option("--out", required=True, type=A_FILE, help="Where to write it: outside of the store.")
@click.option("--as-of", help="The moment to pin: RFC 3339, a date, or milliseconds; by default now.")
def pin_command(settings: Settings, out: Path, as_of: str | None) -> None:
    """Audit the store, and note its frontier and digests in a small file to be kept elsewhere.

    Nothing is pinned unless the audit finds all in order. Check it with `beliefbase audit --pin FILE`; ask what was
    believed with `beliefbase active --pin FILE`.
    """
    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        pin, report = store.pin(as_of=moment(as_of) if as_of else None, progress=progress.tell)
    progress.close()
    if pin is None:
        settings.out.object(report.as_dict(), report.as_text())
        sys.exit(report.exit_code)
    pin.write(out)
    told = {"pin": str(out), "as_of_ms": pin.as_of_ms, "events": pin.events, "root": pin.root, "digest": pin.digest}
    settings.out.object(told)


@command("doctor")
def doctor_command(settings: Settings) -> None:
    """Examine a store: writers, clocks, forks, gaps, words, sizes, settings, and the next step for each finding."""
    from beliefbase.doctor import examine

    with BeliefStore.open(settings.path) as store:
        found = examine(store)
    settings.out.object(found.as_dict(), found.as_text())
    if found.findings:
        sys.exit(1)
