"""What an importer gives: items in causal order, and counts of what it saw."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from beliefbase.events import limits
from beliefbase.events.errors import BeliefbaseError
from beliefbase.lines import unmarked

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


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


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that aren't blank, with their numbers from 1.

    Raises:
        ImportFailed: the file can't be read.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(unmarked(lines), 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise ImportFailed(f"can't read {path}: {error.strerror}", hint="check the path", file=str(path)) from error


def storable(text: str) -> str:
    """Lone surrogates, which JSON can escape and UTF-8 can't hold, become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def name(text: str) -> str:
    """A name of a person or session as it can be stored: cut where it is too long."""
    return storable(text)[: limits.NAME_CHARACTERS]


def source_ref(*parts: str) -> str:
    """The name of an item of a source; a long one keeps its beginning and is told apart by a hash."""
    whole = storable(":".join(parts))
    if len(whole) <= limits.NAME_CHARACTERS:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return f"{whole[: limits.NAME_CHARACTERS - len(digest) - 1]}#{digest}"


def pieces(text: str) -> Iterator[str]:
    """A text in pieces that can be stored as verbatim, at least one; nearly always exactly one."""
    raw = storable(text).encode()
    start = 0
    while True:
        end = min(start + limits.VERBATIM_BYTES, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # not inside a character
            end -= 1
        yield raw[start:end].decode()
        if end == len(raw):
            return
        start = end
