"""What an importer gives: items in causal order, and counts of what it saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from beliefbase.events.errors import BeliefbaseError


class ImportFailed(BeliefbaseError):
    """A file can't be imported; nothing of it was stored."""

    code = "import_failed"
    exit_code = 2


class Item(NamedTuple):
    """One event of a source, ready to be checked and stamped."""

    agent: str
    at: int | None
    """Milliseconds since 1970 UTC; None: directly after the item before it."""
    type: str
    fields: Mapping[str, Any]
    """With a source_ref, always: it is what makes importing twice the same as once."""
    ref: str | None = None
    """How later items of the source name this one: "$ref" in a field that holds ids."""


class Source(NamedTuple):
    """One file as its importer reads it. ``items`` are in the order in which they are to be stamped."""

    format: str
    items: list[Item]
    counts: Counter[str]
    """What was in the file, by name; what was not imported is counted as well."""
    notes: list[str]


class Format(NamedTuple):
    """One kind of file."""

    name: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], Source]


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file that aren't blank, with their numbers from 1.

    Raises:
        ImportFailed: the file can't be read.
    """
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise ImportFailed(f"can't read {path}: {error.strerror}", hint="check the path", file=str(path)) from error
