"""The statements about signed heads, inside one transaction of an SQLite log: the newest signature of each branch."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection

from beliefbase.events.log import SignedHead


class SQLiteSignatures:
    """Implements :class:`beliefbase.events.tables.SignatureTables` through a cursor that is in a transaction."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor

    def put(self, stream: str, signed: SignedHead) -> None:
        """Keep the newest signature of a branch."""
        self._cursor.execute("INSERT OR REPLACE INTO signatures VALUES (?, ?, ?, ?, ?)", (stream, *signed))

    def at(self, stream: str) -> SignedHead | None:
        """The newest signature of a branch."""
        row = self._cursor.execute(
            "SELECT writer, seq, hash, signature FROM signatures WHERE stream = ?", (stream,)
        ).fetchone()
        return None if row is None else SignedHead._make(row)

    def all(self) -> list[SignedHead]:
        """The signatures of all branches."""
        rows = self._cursor.execute("SELECT writer, seq, hash, signature FROM signatures ORDER BY stream")
        return list(map(SignedHead._make, rows))

    def of(self, writers: Collection[bytes]) -> list[SignedHead]:
        """The signatures of the branches of these writers."""
        rows = self._cursor.execute(
            "SELECT s.writer, s.seq, s.hash, s.signature FROM json_each(?) w"
            " JOIN signatures s ON s.stream >= w.value AND s.stream < w.value || '~~' ORDER BY s.stream",
            (json.dumps(sorted(writer.hex() for writer in writers)),),
        )
        return list(map(SignedHead._make, rows))
