"""NDJSON in the form that ``append`` takes, with times; a line without a source_ref is named by its content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Final

from beliefbase.events.catalog import CATALOG
from beliefbase.importers.base import ImportFailed, Item, Source, numbered_lines
from beliefbase.lines import BadLine, parse

NAME: Final = "ndjson"


def recognises(path: Path) -> bool:
    """Whether a file's first line is an event as ``append`` takes it."""
    for _, text in numbered_lines(path):
        try:
            line = json.loads(text)
        except ValueError:
            return False
        return isinstance(line, dict) and line.get("type") in CATALOG.models and "agent" in line
    return False


def read(path: Path) -> Source:
    """Read a file.

    Raises:
        ImportFailed: names the first bad line, its field and the reason; nothing is stored.
    """
    items: list[Item] = []
    counts: Counter[str] = Counter()
    refs: set[str] = set()
    seen: Counter[str] = Counter()
    for number, text in numbered_lines(path):
        try:
            line = parse(number, text, refs, importer=True)
        except BadLine as error:
            raise ImportFailed(f"{path}: {error}", hint=error.hint, file=str(path), **error.data) from None
        if line.ref:
            refs.add(line.ref)
        content = hashlib.sha256(text.strip().encode("utf-8", "surrogateescape")).hexdigest()
        seen[content] += 1
        fields = {"source_ref": f"{NAME}:{content}:{seen[content]}", **line.fields}
        counts[line.type] += 1
        items.append(Item(line.agent, line.at, line.type, fields, line.ref))
    return Source(NAME, items, counts, [])
