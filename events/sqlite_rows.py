"""Inserting many rows of one table: many with each run of a statement, for half of what one by one costs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

_RUNS: Final = (128, 16, 1)
"""How many rows a run inserts: of seven columns, SQLite's least limit of 999 values has room for as many."""


class Rows:
    """Inserts rows of so many columns; ``into`` is the statement up to its values.

    ``blobs`` are columns that hold bytes in every row. They are bound as bytearrays, which sqlite3 takes as they are:
    for each bytes object it first looks for an adapter, which takes longer than to copy it.
    """

    def __init__(self, into: str, columns: int, blobs: Sequence[int] = ()) -> None:
        row = f"({', '.join('?' * columns)})"
        self._statements = [(count, f"{into} VALUES {', '.join([row] * count)}") for count in _RUNS]
        self._blobs = [slice(blob, None, columns) for blob in blobs]

    def insert(self, cursor: sqlite3.Cursor, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert these rows, in their order."""
        start = 0
        for count, statement in self._statements:
            stop = len(rows) - (len(rows) - start) % count
            if stop > start:
                cursor.executemany(statement, self._runs(rows, range(start, stop, count), count))
            start = stop

    def _runs(self, rows: Sequence[tuple[Any, ...]], starts: range, count: int) -> Iterator[list[Any]]:
        for start in starts:
            values = list(chain.from_iterable(rows[start : start + count]))
            for blob in self._blobs:
                values[blob] = map(bytearray, values[blob])
            yield values
