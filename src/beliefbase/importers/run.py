"""Run an import: one clock for each source, one writer for each of its agents, and a report of all that happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.errors import BeliefbaseError
from beliefbase.importers import claude_code, locomo, ndjson
from beliefbase.importers.base import Format, ImportFailed, Item, Source
from beliefbase.lines import PLACEHOLDER, resolved
from beliefbase.store import BeliefStore
from beliefbase.writing import StoreWriter

BATCH: Final = 1000
FORMATS: Final = {
    name: Format(name, module.recognises, module.read)
    for name, module in ((locomo.NAME, locomo), (claude_code.NAME, claude_code), (ndjson.NAME, ndjson))
}
"""The formats by name, in the order in which they are tried."""
SHOWN_NOTES: Final = 20


@dataclass
class FileReport:
    """What became of one file."""

    file: str
    format: str
    counts: dict[str, int]
    notes: list[str]
    stored: int = 0
    """Events that are new in the store, without the writers' own."""
    existing: int = 0

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return dict(vars(self))


@dataclass
class ImportReport:
    """What became of a run."""

    files: list[FileReport] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, with totals."""
        totals: Counter[str] = Counter()
        for file in self.files:
            totals.update(file.counts)
        return {
            "stored": sum(file.stored for file in self.files),
            "existing": sum(file.existing for file in self.files),
            "counts": dict(sorted(totals.items())),
            "files": [file.as_dict() for file in self.files],
        }

    def as_text(self) -> str:
        """For people: a line per file, then what was counted, then what to know."""
        lines = [
            f"{file.file} ({file.format}): {file.stored:,} stored, {file.existing:,} there already"
            for file in self.files
        ]
        whole = self.as_dict()
        lines += [f"  {count:,} {name}" for name, count in whole["counts"].items()]
        notes = [note for file in self.files for note in file.notes]
        lines += [f"  note: {note}" for note in notes[:SHOWN_NOTES]]
        lines += (
            [f"  … and {len(notes) - SHOWN_NOTES} more notes (--json has them)"] if len(notes) > SHOWN_NOTES else []
        )
        return "\n".join(lines)


def import_files(
    path: Path, files: Sequence[Path], format_name: str = "auto", *, progress: Callable[[int, int], None] | None = None
) -> ImportReport:
    """Import files, or all files below folders, into the store at ``path``.

    Every file is read and checked before anything of it is stored, and stored in commits of a thousand events;
    importing again what was cut off in the middle goes on where it ended.

    Raises:
        ImportFailed: a file's format isn't known, or its content is malformed; earlier files are stored.
        StoreUnavailable: the store can't be written.
    """
    report = ImportReport()
    for file in _each(files):
        source = _recognised(file, format_name).read(file)
        _check(file, source)
        told = FileReport(str(file), source.format, dict(sorted(source.counts.items())), source.notes)
        with BeliefStore.open(path, importing=True) as store:
            _store(store, source, told, progress)
        report.files.append(told)
    return report


def _each(files: Sequence[Path]) -> Iterator[Path]:
    for file in files:
        if file.is_dir():
            yield from sorted(inner for inner in file.rglob("*.json*") if inner.suffix in {".json", ".jsonl"})
        else:
            yield file


def _recognised(file: Path, format_name: str) -> Format:
    if format_name != "auto":
        return FORMATS[format_name]
    for known in FORMATS.values():
        if known.recognises(file):
            return known
    raise ImportFailed(f"the format of {file} is not known", hint=f"say --format: {', '.join(FORMATS)}", file=str(file))


def _check(file: Path, source: Source) -> None:
    """Check all items before the first is stored."""
    refs: dict[str, bytes] = {}
    for number, item in enumerate(source.items, 1):
        try:
            _draft(item, refs)
        except BeliefbaseError as error:
            raise ImportFailed(
                f"{file}: item {number}: {error}", hint=error.hint, file=str(file), item=number
            ) from None
        if item.ref:
            refs[item.ref] = PLACEHOLDER


def _store(store: BeliefStore, source: Source, told: FileReport, progress: Callable[[int, int], None] | None) -> None:
    writers: dict[str, StoreWriter] = {}
    ids: dict[str, bytes] = {}
    for start in range(0, len(source.items), BATCH):
        with store.batch():
            for item in source.items[start : start + BATCH]:
                writer = writers.get(item.agent)
                if writer is None:
                    writer = writers[item.agent] = store.writer(item.agent, kind="importer")
                appended = writer.append_draft(_draft(item, ids), at=item.at)
                if item.ref:
                    ids[item.ref] = appended.id
                told.existing += appended.existing
                told.stored += not appended.existing
        if progress:
            progress(min(start + BATCH, len(source.items)), len(source.items))


def _draft(item: Item, ids: dict[str, bytes]) -> Draft:
    return CATALOG.draft(item.type, resolved(item.type, item.fields, ids))
