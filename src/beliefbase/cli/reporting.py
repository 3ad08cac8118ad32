"""Commands that hand results over: report (what extractors called beliefs, and how these behaved), and export."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.snapshots import PIN, answering, asked
from beliefbase.store import BeliefStore

DAY_MS: Final = 86_400_000
ASPECTS: Final = ("kind", "node_kind", "speech_act", "policy", "extractor", "misfit_reason", "obsolete_when", "tag")
ENDINGS: Final = ("superseded", "contradicted", "retracted", "obsolete", "expired", "duplicate", "erased")
COLUMNS: Final = (
    "aspect",
    "label",
    "beliefs",
    "candidates",
    "active",
    *ENDINGS,
    "shown",
    "used",
    "corrected",
    "invalidated at",
)
MISFITS: Final = ("belief_id", "kind", "kind_misfit_reason", "statement", "obsolete_when", "tags", "status")


@command("report")
@click.option("--aspect", "aspects", multiple=True, type=click.Choice(ASPECTS), help="Only this one (repeatable).")
@click.option("--misfits", is_flag=True, help="Instead: each belief of which the extractor said that no kind fits.")
@click.option("--limit", type=click.IntRange(min=1), default=20, help="Labels per aspect, the most frequent first.")
@PIN
def report_command(
    settings: Settings, aspects: tuple[str, ...], misfits: bool, limit: int, pin_file: Path | None
) -> None:
    """Report what beliefs were called and how they ended.

    Kinds, misfits with their reasons, obsolete-when phrases and tags of the extractor, beside the observed endings.
    """
    with BeliefStore.open(settings.path) as store, answering(store, pin_file, as_of=None) as (folder, _):
        if misfits:
            rows = asked(folder, "SELECT * FROM misfit_report ORDER BY began_ms, belief_id")
            settings.out.rows(rows, MISFITS, empty="(no misfits)")
            return
        rows = asked(
            folder,
            "SELECT * EXCLUDE (place) FROM (SELECT *, row_number() OVER"
            " (PARTITION BY aspect ORDER BY beliefs DESC, label) AS place FROM distribution_report) AS r"
            " WHERE place <= $limit AND list_contains($aspects, aspect)"
            " ORDER BY list_position($aspects, aspect), place",
            {"limit": limit, "aspects": list(aspects or ASPECTS)},
        )
    if settings.json:
        settings.out.rows(rows)
        return
    for row in rows:
        age = row["median_age_at_invalidation_ms"]
        row["invalidated at"] = "-" if age is None else f"{age / DAY_MS:,.1f} d"
    shown = [name for name in COLUMNS if name not in ENDINGS or any(row[name] for row in rows)]
    settings.out.rows(rows, shown, empty="(no beliefs)")


@command("export")
@click.option("--parquet", "target", required=True, type=click.Path(path_type=Path), help="The folder to write into.")
@PIN
def export_command(settings: Settings, target: Path, pin_file: Path | None) -> None:
    """Write all read models as Parquet files.

    One file for each table and view, its rows in one stable order, and export.json with what they stand for. An
    erasure does not reach exported files: delete them, or export anew.
    """
    from beliefbase.projections.export import export

    with BeliefStore.open(settings.path) as store, answering(store, pin_file, as_of=None) as (folder, _):
        done = export(folder, target)
    told = {"folder": str(done.folder), "root": done.root, "as_of_ms": done.as_of_ms, "files": dict(done.files)}
    settings.out.object(told, f"{len(done.files)} files, {sum(done.files.values()):,} rows, in {done.folder}")
