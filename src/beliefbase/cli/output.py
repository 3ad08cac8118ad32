"""How commands print: rows as aligned text or JSON, errors with their next step, progress on long work."""

from __future__ import annotations

import json as json_module
import math
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import click

from beliefbase.events.errors import BeliefbaseError

PATIENCE: Final = 1.0
"""Seconds of work before a progress line appears."""
INTERVAL: Final = 0.1
"""Seconds between two looks of it."""
WIDEST: Final = 60
"""Characters of a text column in a table."""


class Output:
    """Prints for people, or JSON for programs."""

    def __init__(self, *, json: bool) -> None:
        self.json = json

    def object(self, value: Mapping[str, Any], text: str | None = None) -> None:
        """One result: JSON, or the given text (or one ``name: value`` line per field)."""
        if self.json:
            self._dump(value)
        else:
            click.echo(
                text if text is not None else "\n".join(f"{name}: {_cell(item)}" for name, item in value.items())
            )

    def rows(
        self,
        rows: Sequence[Mapping[str, Any]],
        columns: Sequence[str] | None = None,
        *,
        empty: str = "",
        whole: Collection[str] = (),
    ) -> None:
        """A list: one JSON array, or an aligned table, in which long cells are cut but for the ``whole`` columns."""
        if self.json:
            self._dump(list(rows))
            return
        if not rows:
            click.echo(empty)
            return
        names = list(columns or rows[0])
        widest = {name: sys.maxsize if name in whole else WIDEST for name in names}
        table = [names, *([_short(_cell(row.get(name)), widest[name]) for name in names] for row in rows)]
        widths = [max(len(line[index]) for line in table) for index in range(len(names))]
        for line in table:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def line(self, value: Mapping[str, Any], *, plain: str) -> None:
        """One of many results: a JSON line, or plain text. Whoever prints many flushes when it waits."""
        text = json_module.dumps(value, ensure_ascii=False, default=_jsonable) if self.json else plain
        sys.stdout.write(f"{text}\n")

    def error(self, error: BeliefbaseError) -> None:
        """An error with what to do next, on standard error."""
        if self.json:
            self.problem(error.as_dict())
            return
        click.echo(f"Error: {error}", err=True)
        if error.hint:
            click.echo(f"  → {error.hint}", err=True)

    def problem(self, told: Mapping[str, Any]) -> None:
        """A JSON line on standard error."""
        click.echo(json_module.dumps(told, ensure_ascii=False, default=_jsonable), err=True)

    def _dump(self, value: Any) -> None:
        click.echo(_json(value, indent=2 if sys.stdout.isatty() else None))


class Progress:
    """A counter on standard error that appears when work takes longer than a second, on a terminal only."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = 0.0

    def tell(self, what: str, done: int, total: int | None = None) -> None:
        """Show what is being done and how far, if it is time to."""
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._started < PATIENCE or now - self._shown < INTERVAL:
            return
        self._shown = now
        share = f" of {total:,} ({100 * done // total} %)" if total else ""
        sys.stderr.write(f"\r\x1b[K{what}: {done:,}{share}")
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = 0.0


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple | dict):
        return _json(value)
    return str(value)


def field(value: Any) -> Any:
    """A value as a field of a CSV file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _cell(value) if isinstance(value, bytes | list | tuple | dict) else value


def _short(text: str, widest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= widest else line[: widest - 1] + "…"


def _json(value: Any, *, indent: int | None = None) -> str:
    try:
        return json_module.dumps(value, ensure_ascii=False, indent=indent, default=_jsonable, allow_nan=False)
    except (TypeError, ValueError):  # a number that JSON doesn't have, or a key that is no text
        return json_module.dumps(_strict(value), ensure_ascii=False, indent=indent, default=_jsonable)


def _strict(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else _cell(key): _strict(item) for key, item in value.items()}
    return [_strict(item) for item in value] if isinstance(value, list | tuple) else value


def _jsonable(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value)
