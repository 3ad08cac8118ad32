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
from beliefbase.importers.base import Format, ImportFailed, Source, numbered_lines
from beliefbase.lines import PLACEHOLDER, resolved
from beliefbase.store import BeliefStore
from beliefbase.writing import StoreWriter

Progress = Callable[[str, int, int], None]
BATCH: Final = 1000
FORMATS: Final = {
    name: Format(name, module.recognises, module.read)
    for name, module in ((locomo.NAME, locomo), (claude_code.NAME, claude_code), (ndjson.NAME, ndjson))
}
"""The formats by name, in the order in which they are tried."""
SHOWN_NOTES: Final = 20


def _quiet(_what: str, _done: int, _of: int) -> None:
    return None


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
    passed_over: list[str] = field(default_factory=list)
    """Files in folders that no importer knows."""
    empty: list[str] = field(default_factory=list)
    """Files without anything in them, which are passed over too."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, with totals."""
        totals: Counter[str] = Counter()
        for file in self.files:
            totals.update(file.counts)
        if self.empty:
            totals["empty files (passed over)"] = len(self.empty)
        return {
            "stored": sum(file.stored for file in self.files),
            "existing": sum(file.existing for file in self.files),
            "counts": dict(sorted(totals.items())),
            "files": [file.as_dict() for file in self.files],
            "passed_over": self.passed_over,
            "empty": self.empty,
        }

    def as_text(self) -> str:
        """For people: a line per file, then what was counted, then what to know."""
        lines = [
            f"{file.file} ({file.format}): {file.stored:,} stored, {file.existing:,} there already"
            for file in self.files
        ]
        whole = self.as_dict()
        lines += [f"  {count:,} {name}" for name, count in whole["counts"].items()]
        lines += [f"  passed over, of no known format: {file}" for file in self.passed_over]
        lines += [f"  passed over, empty: {file}" for file in self.empty]
        notes = [note for file in self.files for note in file.notes]
        lines += [f"  note: {note}" for note in notes[:SHOWN_NOTES]]
        lines += (
            [f"  … and {len(notes) - SHOWN_NOTES} more notes (--json has them)"] if len(notes) > SHOWN_NOTES else []
        )
        return "\n".join(lines)


def import_files(
    path: str | Path, files: Sequence[Path], format_name: str = "auto", *, progress: Progress = _quiet
) -> ImportReport:
    """Import files, and all files below folders that an importer knows, into the store at ``path``.

    Every file is read and checked before anything of it is stored, and stored in commits of a thousand events;
    importing again what was cut off in the middle goes on where it ended. Empty files are passed over. Each file has a
    clock of its own, so its stamps don't depend on what is imported beside it. ``progress`` is told the file, how many
    of its items are stored, and how many there are.

    Raises:
        ImportFailed: a file's format isn't known, or its content is malformed, or a folder has nothing to import;
            earlier files are stored.
        StoreUnavailable: the store can't be written.
    """
    report = ImportReport()
    for file, named in _each(files):
        if next(numbered_lines(file), None) is None:
            report.empty.append(str(file))
            continue
        known = FORMATS[format_name] if format_name != "auto" and named else _recognised(file)
        if known is None or format_name not in {"auto", known.name}:
            if named:
                raise ImportFailed(
                    f"the format of {file} is not known", hint=f"say --format: {', '.join(FORMATS)}", file=str(file)
                )
            report.passed_over.append(str(file))
            continue
        source = known.read(file)
        drafts = _checked(file, source)
        told = FileReport(str(file), source.format, dict(sorted(source.counts.items())), source.notes)
        with BeliefStore.open(path, importing=True) as store:
            _store(store, source, drafts, told, progress)
        report.files.append(told)
    if not report.files and not report.empty:
        raise ImportFailed(f"nothing to import in {', '.join(map(str, files))}", hint=f"formats: {', '.join(FORMATS)}")
    return report


def _each(files: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Every file, and whether it was named itself."""
    for file in files:
        if file.is_dir():
            for inner in sorted(file.rglob("*.json*")):
                if inner.suffix in {".json", ".jsonl"} and inner.is_file():
                    yield inner, False
        else:
            yield file, True


def _recognised(file: Path) -> Format | None:
    return next((known for known in FORMATS.values() if known.recognises(file)), None)


def _checked(file: Path, source: Source) -> list[Draft | None]:
    """The event of every item, checked before the first is stored; None where refs still have to be looked up."""
    drafts: list[Draft | None] = []
    refs: dict[str, bytes] = {}
    for number, item in enumerate(source.items, 1):
        try:
            fields = resolved(item.type, item.fields, refs)
            checked = CATALOG.draft(item.type, fields)
        except BeliefbaseError as error:
            raise ImportFailed(
                f"{file}: item {number}: {error}", hint=error.hint, file=str(file), item=number
            ) from None
        drafts.append(checked if fields is item.fields else None)
        if item.ref:
            refs[item.ref] = PLACEHOLDER
    return drafts


def _store(
    store: BeliefStore, source: Source, drafts: Sequence[Draft | None], told: FileReport, progress: Progress
) -> None:
    writers: dict[str, StoreWriter] = {}
    ids: dict[str, bytes] = {}
    for start in range(0, len(drafts), BATCH):
        batch = drafts[start : start + BATCH]
        with store.batch([draft for draft in batch if draft is not None]):
            for item, known in zip(source.items[start : start + BATCH], batch, strict=True):
                draft = known or CATALOG.draft(item.type, resolved(item.type, item.fields, ids))
                writer = writers.get(item.agent)
                if writer is None:
                    writer = writers[item.agent] = store.writer(item.agent, kind="importer")
                appended = writer.append_draft(draft, at=item.at)
                if item.ref:
                    ids[item.ref] = appended.id
                told.existing += appended.existing
                told.stored += not appended.existing
        progress(f"importing {told.file}", start + len(batch), len(drafts))
