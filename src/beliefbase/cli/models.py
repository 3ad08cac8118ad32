"""Commands around the read models: project, query, digest."""

from __future__ import annotations

import csv
import sys
import time
from typing import Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.events.hlc import wall_ms
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import moment

WATCH_SECONDS: Final = 0.5


@command("project")
@click.option("--watch", is_flag=True, help="Go on until interrupted.")
@click.option("--rebuild", is_flag=True, help="Start from nothing instead of from the last state.")
@click.option("--as-of", help="The moment at which the snapshot's views ask; by default now.")
def project_command(settings: Settings, watch: bool, rebuild: bool, as_of: str | None) -> None:
    """Bring the read models up to date and publish a snapshot for analysts."""
    with BeliefStore.open(settings.path) as store, store.projector() as projector:
        while True:
            done = projector.project(as_of_ms=moment(as_of) if as_of else wall_ms(), rebuild=rebuild)
            rebuild = False
            if done.published or not watch:
                settings.out.line(done.as_dict(), plain=done.as_text())
                sys.stdout.flush()
            if not watch:
                return
            try:
                time.sleep(WATCH_SECONDS)
            except KeyboardInterrupt:
                return


@command("query")
@click.argument("sql")
@click.option("--format", "format_name", type=click.Choice(["table", "json", "csv"]), help="How to print the rows.")
@click.option("--limit", type=click.IntRange(min=1), help="Print at most so many rows.")
def query_command(settings: Settings, sql: str, format_name: str | None, limit: int | None) -> None:
    """Ask the newest snapshot one SELECT, read-only and locked down."""
    from beliefbase.projections.query import query

    with BeliefStore.open(settings.path) as store:
        result = query(store.path / READ_NAME, sql, {}, limit=limit)
    chosen = format_name or ("json" if settings.json else "table")
    if chosen == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(result.columns)
        writer.writerows(result.rows)
        return
    Settings(settings.store, chosen == "json").out.rows(result.as_dicts(), result.columns, empty="(no rows)")


@command("digest")
@click.option("--tables", is_flag=True, help="Print the digest of each table as well.")
def digest_command(settings: Settings, tables: bool) -> None:
    """Print the digest over all read models at the frontier."""
    with BeliefStore.open(settings.path) as store, store.projector() as projector:
        projector.refresh()
        digest = projector.digest()
    lines = [*(f"{name}\t{value}" for name, value in digest.tables.items()), digest.total] if tables else [digest.total]
    settings.out.object({"digest": digest.total, "tables": digest.tables}, "\n".join(lines))
