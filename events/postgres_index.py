"""The statements by which an audit compares a PostgreSQL log's index with its events, inside one snapshot."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from beliefbase.events.postgres_statements import Statements, columns

_TIPS: Final = "FROM tips t WHERE NOT EXISTS (SELECT FROM passed p WHERE p.key = t.key AND p.event_id = t.event_id)"
_PAGE: Final = 5000


class PostgresIndex(Statements):
    """Implements :class:`beliefbase.events.tables.IndexTables` over a connection that is in a transaction."""

    def lacks(self, rows: Collection[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Of rows (key, role, position) those that the index doesn't have."""
        if not rows:
            return []
        statement = (
            "SELECT g.* FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[]) g(key, role, position) WHERE NOT EXISTS"
            " (SELECT FROM refs r WHERE r.key = g.key AND r.role = g.role AND r.position = g.position)"
        )
        return [(key, role, position) for key, role, position in self._all(statement, columns(sorted(rows)))]

    def lacks_stamps(self, stamps: Collection[int]) -> list[int]:
        """Of stamps those that the index doesn't have."""
        rows = self._all(
            "SELECT h FROM unnest(%s::bigint[]) h WHERE NOT EXISTS (SELECT FROM events e WHERE e.hlc = h)",
            (sorted(stamps),),
        )
        return [row[0] for row in rows]

    def counts(self) -> tuple[int, int]:
        """How many rows the index has, and how many tips."""
        counted_rows, counted_tips = self._one(
            f"SELECT (SELECT count(*) FROM refs), (SELECT count(*) FROM (SELECT DISTINCT t.key, t.event_id {_TIPS}) d)"
        )
        return int(counted_rows), int(counted_tips)

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """All rows (key, role, position)."""
        return self._each("index_rows", "SELECT key, role, position FROM refs")

    def tips(self) -> Iterator[tuple[bytes, bytes]]:
        """All tips (key, event id)."""
        return self._each("index_tips", f"SELECT DISTINCT t.key, t.event_id {_TIPS}")

    def _each(self, name: str, statement: str) -> Iterator[Any]:
        with self._connection.cursor(name, binary=True) as cursor:
            cursor.itersize = _PAGE
            cursor.execute(statement.encode())
            yield from cursor
