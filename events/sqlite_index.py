"""The statements by which an audit compares an SQLite log's index with its events, inside one snapshot."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any


class SQLiteIndex:
    """Implements :class:`beliefbase.events.tables.IndexTables` through a cursor that is in a transaction."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor

    def lacks(self, rows: Collection[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Of rows (key, role, position) those that the index doesn't have."""
        key, role, position = (f"json_extract(j.value, '$[{place}]')" for place in range(3))
        return self._cursor.execute(
            f"SELECT {key}, {role}, {position} FROM json_each(?) j WHERE NOT EXISTS"
            f" (SELECT 1 FROM refs r WHERE r.key = {key} AND r.role = {role} AND r.position = {position})",
            (json.dumps(sorted(rows)),),
        ).fetchall()

    def lacks_stamps(self, stamps: Collection[int]) -> list[int]:
        """Of stamps those that the index doesn't have."""
        rows = self._cursor.execute(
            "SELECT j.value FROM json_each(?) j WHERE NOT EXISTS (SELECT 1 FROM stamps s WHERE s.hlc = j.value)",
            (json.dumps(sorted(stamps)),),
        )
        return [row[0] for row in rows]

    def counts(self) -> tuple[int, int]:
        """How many rows the index has, and how many tips."""
        found: tuple[int, int] = self._cursor.execute(
            "SELECT (SELECT count(*) FROM refs), (SELECT count(*) FROM tips)"
        ).fetchone()
        return found

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """All rows (key, role, position), whatever types the file holds."""
        return self._all("SELECT CAST(key AS INTEGER), CAST(role AS INTEGER), CAST(position AS INTEGER) FROM refs")

    def tips(self) -> Iterator[tuple[bytes, bytes]]:
        """All tips (key, event id), whatever types the file holds."""
        return self._all("SELECT CAST(key AS BLOB), CAST(event_id AS BLOB) FROM tips")

    def _all(self, statement: str) -> Iterator[Any]:
        with closing(self._cursor.connection.cursor()) as cursor:
            cursor.row_factory = None
            yield from cursor.execute(statement)
