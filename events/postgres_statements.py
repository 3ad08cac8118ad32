"""Running a statement in PostgreSQL, inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Cursor

from beliefbase.events.postgres_arrays import kinds
from beliefbase.events.postgres_pool import Connection


class Statements:
    """Whatever runs statements over a connection that is in a transaction.

    HAZARD: a transaction that stores runs in a pipeline. What is sent without a result asked for fails later than
    where it stands.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _run(self, statement: str, parameters: Sequence[Any] = ()) -> Cursor[Any]:
        # A cursor of its own each time: in a pipeline it has to outlive the statements after it.
        given = [
            value if kind is None else kind(value) for kind, value in zip(kinds(statement), parameters, strict=True)
        ]
        return self._connection.cursor(binary=True).execute(statement.encode(), given)

    def _all(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._run(statement, parameters).fetchall()

    def _one(self, statement: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        (row,) = self._run(statement, parameters).fetchall()
        return tuple(row)


def columns(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows as ``unnest`` takes them."""
    return [list(column) for column in zip(*rows, strict=True)]
