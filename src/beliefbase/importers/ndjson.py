"""NDJSON in the form that ``append`` takes, with times; a line without a source_ref is named by its content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Final

from beliefbase.events.catalog import CATALOG
from beliefbase.events.erasure import ERASED
from beliefbase.importers.base import ImportFailed, Item, Source, numbered_lines
from beliefbase.lines import PLACEHOLDER, BadLine, parse

NAME: Final = "ndjson"
NOT_ONE_STORED: Final = "nothing of this file was stored; docs/events.md lists types and fields"


def recognises(path: Path) -> bool:
    """Whether a file's first line is an event as ``append`` takes it."""
    for _, raw in numbered_lines(path):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            return False
        named = line.get("type") if isinstance(line, dict) else None
        return isinstance(named, str) and named in CATALOG.models and "agent" in line
    return False


def read(path: Path) -> Source:
    """Read a file.

    Raises:
        ImportFailed: names the first bad line, its field and the reason; nothing is stored.
    """
    items: list[Item] = []
    counts: Counter[str] = Counter()
    refs: dict[str, bytes] = {}
    seen: Counter[str] = Counter()
    for number, raw in numbered_lines(path):
        try:
            line = parse(number, raw, refs, importer=True)
        except BadLine as error:
            raise ImportFailed(f"{path}: {error}", hint=NOT_ONE_STORED, file=str(path), **error.data) from None
        if line.type == ERASED:
            raise ImportFailed(
                f"{path}: line {number}: type: an import writes as a member; only an owner erases",
                hint="take the line out; beliefbase forget SUBJECT --as NAME writes as an owner",
                file=str(path),
                line=number,
                field="type",
            )
        if line.ref:
            refs[line.ref] = PLACEHOLDER
        content = hashlib.sha256(raw.strip()).hexdigest()
        seen[content] += 1
        fields = {"source_ref": f"{NAME}:{content}:{seen[content]}", **line.fields}
        counts[line.type] += 1
        items.append(Item(line.agent, line.at, line.type, fields, line.ref))
    return Source(NAME, items, counts, [])
