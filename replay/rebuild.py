"""Part (b) of the audit: the read models are those that a rebuild from nothing gives, table by table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from beliefbase.events.catalog import Role
from beliefbase.events.log import EventLog
from beliefbase.projections import registry
from beliefbase.projections.base import Table
from beliefbase.projections.projector import WORK, Projector
from beliefbase.projections.publish import current
from beliefbase.replay.report import AuditReport, Finding

Progress = Callable[[str, int], None]
_REBUILT: Final = "rebuilt"
_PUBLISHED: Final = "published"
_ROWS: Final = 3
"""Differing rows that are told of one table."""


def check_read_models(log: EventLog, folder: Path, report: AuditReport, *, as_of_ms: int, progress: Progress) -> None:
    """Rebuild the read models from nothing and compare them with those in ``folder``, and with the newest snapshot.

    The live ones are brought up to date first: being behind the log is no drift. Text columns are compared as well.

    Raises:
        ProjectorBusy: another process projects this store at the moment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="audit-", dir=folder) as scratch:
        with Projector(log, Path(scratch), progress=progress) as fresh:
            fresh.rebuild(as_of_ms)
            report.digest = fresh.digest()
            _list_dropped(fresh, report)
        if not (folder / WORK).exists():
            report.not_checked.append("read models: nothing was projected yet (beliefbase project)")
            return
        with Projector(log, folder, progress=progress) as live:
            live.refresh(as_of_ms)
            live.rows(f"ATTACH {_quoted(Path(scratch) / WORK)} AS {_REBUILT} (READ_ONLY)")
            report.add(_differences(live, log, "work", report))
            _check_snapshot(live, log, folder, report)


def _check_snapshot(live: Projector, log: EventLog, folder: Path, report: AuditReport) -> None:
    snapshot = current(folder)
    if snapshot is None:
        report.not_checked.append("snapshot: none was published yet")
        return
    live.rows(f"ATTACH {_quoted(snapshot)} AS {_PUBLISHED} (READ_ONLY)")
    roots = live.rows(f"SELECT (SELECT root FROM {_PUBLISHED}.meta) = (SELECT root FROM {_REBUILT}.meta)")
    if roots == [(True,)]:
        report.add(_differences(live, log, _PUBLISHED, report))
    else:
        report.not_checked.append("snapshot: the newest one is of an earlier frontier (beliefbase project)")


def _list_dropped(fresh: Projector, report: AuditReport) -> None:
    """Part (f): what the projections can't use."""
    ((report.dropped_total,),) = fresh.rows("SELECT count(*) FROM dropped")
    names = ("event_id", "reason", "detail", "type", "writer", "seq")
    found = fresh.rows(f"SELECT {', '.join(names)} FROM dropped ORDER BY hlc, event_id LIMIT 1000")
    report.dropped = [dict(zip(names, row, strict=True)) for row in found]


def _differences(live: Projector, log: EventLog, database: str, report: AuditReport) -> Iterator[Finding]:
    for table in registry.tables().values():
        ((rows,),) = live.rows(f"SELECT count(*) FROM {_REBUILT}.{table.name}")
        report.checked["tables"] = report.checked.get("tables", 0) + 1
        report.checked["rows"] = report.checked.get("rows", 0) + rows
        yield from _differing_rows(live, log, database, table)


def _differing_rows(live: Projector, log: EventLog, database: str, table: Table) -> Iterator[Finding]:
    columns = ", ".join(f'"{column.name}"' for column in table.all_columns)
    right, wrong = f"{_REBUILT}.{table.name}", f"{database}.{table.name}"
    order = ", ".join(f'"{name}"' for name in table.key)
    found = live.rows(
        f"SELECT * FROM (SELECT 'lacks' AS side, * FROM (SELECT {columns} FROM {right} EXCEPT ALL SELECT {columns} FROM {wrong})"
        f" UNION ALL SELECT 'has', * FROM (SELECT {columns} FROM {wrong} EXCEPT ALL SELECT {columns} FROM {right}))"
        f" ORDER BY {order}, side LIMIT {_ROWS}"
    )
    where = "the published snapshot" if database == _PUBLISHED else "the live read model"
    for side, *values in found:
        row = dict(zip((column.name for column in table.all_columns), values, strict=True))
        row.pop("row_key", None)
        shown = ", ".join(f"{name}={value!r}" for name, value in row.items())
        owner = row.get(table.key[0])
        belief = row.get("belief_id")
        what = f"{where} {side} the row ({shown}) that the replay {'gives' if side == 'lacks' else 'does not give'}"
        yield Finding(
            "drift",
            "rebuild",
            what,
            table=table.name if database != _PUBLISHED else f"{table.name} (published)",
            belief=belief,
            event=owner if isinstance(owner, str) and owner != belief else None,
            events=_makers(log, belief or owner),
        )


def _makers(log: EventLog, key: Any) -> tuple[str, ...]:
    """The events that a row about this belief or event is made from."""
    if not isinstance(key, str) or len(key) != 32:
        return ()
    try:
        named = bytes.fromhex(key)
    except ValueError:
        return ()
    events = log.naming([named], [Role.SELF, Role.STATE])
    ordered = sorted(
        events, key=lambda event: (event.skeleton.hlc, event.skeleton.writer, event.skeleton.seq, event.id)
    )
    return tuple(event.id.hex() for event in ordered[:20])


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
