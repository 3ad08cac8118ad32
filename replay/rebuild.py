"""Parts (b) and (f) of the audit: what a rebuild from nothing gives, compared with the read models that are there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from beliefbase.events.frontier import frontier_root
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog, Head
from beliefbase.projections.errors import BadPointer
from beliefbase.projections.projector import LOCK, WORK, Projector, owned
from beliefbase.projections.publish import POINTER, STATE, published
from beliefbase.replay.ahead import Ahead
from beliefbase.replay.differences import Comparison
from beliefbase.replay.integrity import Progress
from beliefbase.replay.report import AuditReport, Finding
from beliefbase.replay.selection import at_frontier

LISTED: Final = 1000
"""Dropped events that a report lists."""
_ALIAS: Final = "examined"
_LIVE: Final = "the live read model"
_SNAPSHOT: Final = "the published snapshot"
_MADE_BY: Final = {
    "store_id": "it was made from another log",
    "rules": "it was made under another version of the rules",
    "projections": "it was made by other versions of the projections",
    "schema": "it was made in another layout",
    "reworded": "words came or were erased since it was made",
}
"""Columns of meta that must agree for a comparison to say anything, and what it means where they don't."""


@contextmanager
def replayed(
    log: EventLog, folder: Path, *, as_of_ms: int, progress: Progress, begun: Ahead | None = None
) -> Iterator[Projector]:
    """Read models made from nothing in a temporary place inside ``folder``, for the length of a block.

    Where another process has begun to make them, they are taken from there.
    """
    if begun is not None and begun.done(progress):
        with Projector(log, begun.folder, progress=progress) as fresh:
            fresh.refresh(as_of_ms)
            yield fresh
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="audit-", dir=folder) as scratch,
        Projector(log, Path(scratch), progress=progress) as fresh,
    ):
        fresh.rebuild(as_of_ms)
        yield fresh


def check_read_models(
    log: EventLog,
    folder: Path,
    report: AuditReport,
    *,
    as_of_ms: int,
    progress: Progress,
    begun: Ahead | None = None,
) -> None:
    """Rebuild the read models, note their digests, and compare those in ``folder`` and the newest snapshot with them.

    They are only read. Those that are behind the log are compared with the replay of what they were made from.

    Raises:
        ProjectorBusy: another process projects this store at the moment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with owned(folder / LOCK):
        snapshot = _snapshot(folder, report)
        models = [Model(_LIVE, folder / WORK), *([] if snapshot is None else [snapshot])]
        if report.damaged and snapshot is None and not (folder / WORK).exists():
            report.not_checked.append("read models: there are none, and a damaged log has no answer")
            return
        with replayed(log, folder, as_of_ms=as_of_ms, progress=progress, begun=begun) as fresh:
            if not report.damaged:
                note_replay(fresh, report)
            late = {model.path: heads for model in models if (heads := model.check(log, fresh, report))}
        for heads in sorted(set(late.values())):
            part = at_frontier(log, heads)
            with replayed(part, folder, as_of_ms=as_of_ms, progress=progress) as fresh:
                for model in models:
                    if late.get(model.path) == heads:
                        model.check(part, fresh, report, behind=True)


def _snapshot(folder: Path, report: AuditReport) -> Model | None:
    """The newest snapshot; None for none, or for one that can't be found, which is drift."""
    try:
        found = published(folder)
    except BadPointer as error:
        report.add([Finding("drift", "rebuild", f"{_SNAPSHOT} can't be found: {error} ({error.hint})")])
        return None
    if found is None:
        report.not_checked.append("snapshot: none was published yet")
        return None
    path, state = found
    if not path.exists():
        what = f"{_SNAPSHOT} is gone: {POINTER} names {path.name}, which isn't there (beliefbase project)"
        report.add([Finding("drift", "rebuild", what)])
        return None
    return Model(_SNAPSHOT, path, state)


def note_replay(fresh: Projector, report: AuditReport) -> None:
    """Note what a replay gave: its digests, its frontier, and part (f), what the projections can't use."""
    report.tables = fresh.digests()
    report.digest = fresh.digest(report.tables)
    report.heads = _frontier(fresh, "work")
    ((report.events,),) = fresh.rows("SELECT events FROM work.meta")
    _list_dropped(fresh, report)


class Model(NamedTuple):
    """Read models in a file."""

    what: str
    path: Path
    state: Mapping[str, Any] | None = None
    """What its row of ``meta`` must say, where something beside it says so."""

    def check(
        self, log: EventLog, fresh: Projector, report: AuditReport, *, behind: bool = False
    ) -> tuple[Head, ...] | None:
        """Compare with a replay of the same events; otherwise return the frontier that it was made from."""
        if not self.path.exists():
            report.not_checked.append(f"{self.what}: nothing was projected yet (beliefbase project)")
            return None
        try:
            fresh.rows(f"ATTACH {quoted(self.path)} AS {_ALIAS} (READ_ONLY)")
        except duckdb.Error as error:
            report.add([self._drift(f"can't be read: {_first_line(error)}")])
            return None
        try:
            return self._check(log, fresh, report, behind=behind)
        finally:
            fresh.rows(f"DETACH {_ALIAS}")

    def _check(self, log: EventLog, fresh: Projector, report: AuditReport, *, behind: bool) -> tuple[Head, ...] | None:
        try:
            report.add(self._restated(fresh))
            meta, rebuilt = _meta(fresh, _ALIAS), _meta(fresh, "work")
            heads = _frontier(fresh, _ALIAS)
        except (duckdb.Error, ValueError, TypeError) as error:
            report.add([self._drift(f"doesn't say what it was made from: {_first_line(error)}")])
            return None
        for name, reason in _MADE_BY.items():
            if meta[name] != rebuilt[name]:
                report.not_checked.append(f"{self.what}: {reason} (beliefbase project)")
                return None
        if meta["root"] == rebuilt["root"]:
            comparison = Comparison(log, fresh, _ALIAS, self.what, behind=behind)
            report.add(comparison.findings())
            report.checked["tables"] = report.checked.get("tables", 0) + comparison.tables
            report.checked["rows"] = report.checked.get("rows", 0) + comparison.rows
            return None
        if frontier_root(heads).hex() != meta["root"]:
            report.add([self._drift("was changed: its frontier is not the one that it says it was made from")])
            return None
        lost = [head for head in heads if (event := log.get(head.hash[:ID_BYTES])) is None or event.hash != head.hash]
        report.add(
            Finding(
                "damage",
                "tail",
                f"{self.what} was made from an event that the log doesn't have",
                head.writer.hex(),
                head.seq,
                head.hash[:ID_BYTES].hex(),
            )
            for head in lost
        )
        return None if lost else heads

    def _restated(self, fresh: Projector) -> Iterator[Finding]:
        if self.state is None:
            return
        for name in STATE:
            ((value,),) = fresh.rows(f"SELECT {name} FROM {_ALIAS}.meta")
            if value != self.state.get(name):
                said = f"its {name} is {_brief(value)}, and {POINTER} says {_brief(self.state.get(name))}"
                yield Finding("drift", "rebuild", f"{self.what} was changed: {said} (beliefbase project)", table="meta")

    def _drift(self, what: str) -> Finding:
        return Finding("drift", "rebuild", f"{self.what} {what}")


def _meta(fresh: Projector, alias: str) -> dict[str, Any]:
    names = ("root", *_MADE_BY)
    ((*values,),) = fresh.rows(f"SELECT {', '.join(names)} FROM {alias}.meta")
    return dict(zip(names, values, strict=True))


def _frontier(fresh: Projector, alias: str) -> tuple[Head, ...]:
    found = fresh.rows(f"SELECT writer_id, seq, hash FROM {alias}.frontier")
    return tuple(sorted(Head(bytes.fromhex(writer), seq, bytes.fromhex(hash_)) for writer, seq, hash_ in found))


def _list_dropped(fresh: Projector, report: AuditReport) -> None:
    """Part (f): what the projections can't use."""
    ((report.dropped_total,),) = fresh.rows("SELECT count(*) FROM work.dropped")
    names = ("event_id", "reason", "detail", "type", "writer_id", "seq")
    found = fresh.rows(f"SELECT {', '.join(names)} FROM work.dropped ORDER BY hlc, event_id LIMIT {LISTED}")
    report.dropped = [dict(zip(names, row, strict=True)) for row in found]


def _brief(value: Any) -> str:
    return str(value)[:100]


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]


def quoted(path: Path) -> str:
    """A path as a text in SQL."""
    return "'" + str(path).replace("'", "''") + "'"
