"""Commands around the read models: project, query, digest."""

from __future__ import annotations

import csv
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Output, Progress, field
from beliefbase.cli.snapshots import PIN, answering
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import moment

if TYPE_CHECKING:
    from beliefbase.projections.projector import Report
    from beliefbase.projections.publish import Snapshot

WATCH_SECONDS: Final = 0.5
IDLE_SECONDS: Final = 600
"""Without new events a snapshot is published so often, for the views to be asked at a moment that isn't long past."""


@command("project")
@click.option("--watch", is_flag=True, help="Go on until interrupted.")
@click.option("--rebuild", is_flag=True, help="Start from nothing instead of from the last state.")
@click.option("--as-of", help="The moment at which the snapshot's views ask; by default now.")
def project_command(settings: Settings, watch: bool, rebuild: bool, as_of: str | None) -> None:
    """Bring the read models up to date and publish a snapshot for analysts."""
    at = moment(as_of) if as_of else None
    progress = Progress()
    with (
        BeliefStore.open(settings.path) as store,
        store.projector(progress=progress.tell) as projector,
        _interruptible(watch) as interrupted,
    ):
        published = -IDLE_SECONDS * 1000
        while True:
            now = store.wall() if at is None else at
            done = projector.rebuild(now) if rebuild else projector.refresh(now)
            rebuild = False
            if done.how != "unchanged" or now - published >= IDLE_SECONDS * 1000:
                snapshot, published = projector.publish(), now
                progress.close()
                settings.out.line({**done._asdict(), "snapshot": str(snapshot.path)}, plain=_plain(done, snapshot))
                sys.stdout.flush()
            if not watch or interrupted.wait(WATCH_SECONDS):
                return


@contextmanager
def _interruptible(watch: bool) -> Iterator[Event]:
    """While watching, the first interrupt ends it after what is being done; a second one breaks that off."""
    interrupted = Event()

    def note(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        interrupted.set()

    before = signal.signal(signal.SIGINT, note) if watch else signal.getsignal(signal.SIGINT)
    try:
        yield interrupted
    finally:
        if watch:
            signal.signal(signal.SIGINT, before)


@command("query")
@click.argument("sql")
@click.option(
    "--format", "format_name", type=click.Choice(["table", "json", "csv", "parquet"]), help="How to print the rows."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file to write, for --format parquet."
)
@click.option("--limit", type=click.IntRange(min=1), help="Print at most so many rows.")
@PIN
def query_command(
    settings: Settings,
    sql: str,
    format_name: str | None,
    output: Path | None,
    limit: int | None,
    pin_file: Path | None,
) -> None:
    """Ask the newest snapshot one SELECT, read-only and locked down."""
    if (format_name == "parquet") != (output is not None):
        raise click.UsageError("--format parquet and --output FILE go together")
    with BeliefStore.open(settings.path) as store:  # says what is wrong where there is none
        if pin_file is None:
            _answer(settings, store.path / READ_NAME, sql, format_name, output, limit)
        else:
            with answering(store, pin_file, as_of=None) as (folder, _):
                _answer(settings, folder, sql, format_name, output, limit)


def _answer(
    settings: Settings, folder: Path, sql: str, format_name: str | None, output: Path | None, limit: int | None
) -> None:
    from beliefbase.projections.query import query

    if output is not None:
        from beliefbase.projections.export import write_answer

        rows = write_answer(folder, sql, output, limit=limit)
        settings.out.object({"file": str(output), "rows": rows}, f"{rows:,} rows in {output}")
        return
    answer = query(folder, sql, limit=limit)
    chosen = format_name or ("json" if settings.json else "table")
    if chosen == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows(map(field, row) for row in answer.rows)
    else:
        told = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        Output(json=chosen == "json").rows(told, answer.columns, empty="(no rows)")
    if answer.truncated:
        click.echo(f"(the first {limit} rows; there are more)", err=True)


@command("digest")
@click.option("--tables", is_flag=True, help="Print the digest of each table as well.")
def digest_command(settings: Settings, tables: bool) -> None:
    """Print the digest over all read models at the frontier."""
    with BeliefStore.open(settings.path) as store, store.projector() as projector:
        projector.refresh(store.wall())
        of_tables = projector.digests()
        whole = projector.digest()
    lines = [*(f"{name}\t{value}" for name, value in of_tables.items()), whole] if tables else [whole]
    settings.out.object({"digest": whole, "tables": of_tables}, "\n".join(lines))


def _plain(done: Report, snapshot: Snapshot) -> str:
    read = f"{done.events:,} events read" if done.how != "unchanged" else "nothing new"
    return f"{done.how}: {read}; published as {snapshot.path}"
