"""Part (e) of the audit: golden logs, checked in with the digests that each version of the rules gives them.

Beside ``NAME.bblog`` stands ``NAME.digests.json``: a list of (rules, projections, digest, digest of each table).
Every release replays them and must come to the digests kept for its versions; an update is explicit, never in CI.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from beliefbase.beliefs.rules import RULES_VERSION
from beliefbase.projections import registry
from beliefbase.replay.files import BUNDLE_SUFFIX, DIGESTS, audit_file, log_files
from beliefbase.replay.integrity import Progress
from beliefbase.replay.portable import SUFFIX
from beliefbase.replay.report import AuditReport, Finding

VERSION: Final = 1
UPDATE: Final = "beliefbase golden update"


def digests_of(path: Path) -> Path:
    """The file with the digests of a log file."""
    return path.with_name(path.name.removesuffix(SUFFIX) + DIGESTS)


def logs(paths: Iterable[Path]) -> list[Path]:
    """The golden logs among these files, and in these folders and below; with those of which only digests are left."""
    found = set[Path]()
    for path in paths:
        kept = path.rglob(f"*{DIGESTS}") if path.is_dir() else [path] if path.name.endswith(DIGESTS) else []
        found.update(map(_log_of, kept))
        found.update([] if path.name.endswith(DIGESTS) else log_files([path]))
    return sorted(found)


def _log_of(kept: Path) -> Path:
    """The log file that a file of digests is about."""
    name = kept.name.removesuffix(DIGESTS)
    return kept.with_name(name if name.endswith(BUNDLE_SUFFIX) else name + SUFFIX)


def check(path: Path, *, progress: Progress = lambda _what, _done: None) -> AuditReport:
    """Audit one log file, and compare its digests with those that are kept."""
    report = _audited(path, progress)
    if report.digest is None:
        return report
    kept = digests_of(path)
    try:
        entries = _read(kept)
    except (OSError, ValueError) as error:
        report.add([Finding("drift", "golden", f"{kept}: can't be read ({error}); `{UPDATE}` makes it")])
        return report
    mine = _mine(entries)
    report.checked["golden"] = 1
    if mine is None:
        what = f"{kept} has no digests for rules {RULES_VERSION} and these projections; `{UPDATE} {path}` adds them"
        report.add([Finding("drift", "golden", what)])
    elif mine.get("digest") != report.digest:
        tables = mine.get("tables") or {}
        differing = sorted(
            name for name in report.tables.keys() | tables.keys() if report.tables.get(name) != tables.get(name)
        )
        what = (
            f"the replay gives digest {report.digest}, golden is {mine.get('digest')}: a change to code alters answers"
            f" under rules {RULES_VERSION}. Undo it, or give the rules a new version; then `{UPDATE} {path}`"
        )
        report.add(Finding("drift", "golden", what, table=name) for name in differing or [None])
    return report


def update(path: Path, *, progress: Progress = lambda _what, _done: None) -> AuditReport:
    """Keep today's digests of a log file for today's versions; those of other versions stay."""
    report = _audited(path, progress)
    if report.digest is None:
        return report
    kept = digests_of(path)
    entries = _read(kept) if kept.exists() else []
    mine = _mine(entries)
    if mine is None:
        mine = {"rules": RULES_VERSION, "projections": registry.versions()}
        entries.append(mine)
    mine |= {"digest": report.digest, "tables": dict(sorted(report.tables.items()))}
    kept.write_text(json.dumps({"beliefbase_golden": VERSION, "digests": entries}, indent=1) + "\n", "utf-8")
    report.notes.append(f"{kept} now says {report.digest} for rules {RULES_VERSION}")
    return report


def _audited(path: Path, progress: Progress) -> AuditReport:
    kept = digests_of(path)
    if path.exists() or not kept.exists():
        return audit_file(path, progress=progress)
    report = AuditReport(str(path), from_file=True)
    what = f"{path}: the log is missing, and its digests are there; put it back, or delete {kept} as well"
    report.add([Finding("damage", "golden", what)])
    return report


def _read(path: Path) -> list[dict[str, Any]]:
    values = json.loads(path.read_text("utf-8"))
    entries = values.get("digests") if isinstance(values, dict) else None
    if not isinstance(entries, list) or values.get("beliefbase_golden") != VERSION:
        raise ValueError("not a file of golden digests")
    return entries


def _mine(entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    versions = (RULES_VERSION, registry.versions())
    return next((entry for entry in entries if (entry.get("rules"), entry.get("projections")) == versions), None)
