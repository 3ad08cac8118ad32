"""The answer to a query as columns, for the caller's own library: polars, pandas, pyarrow, whatever reads Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from beliefbase.projections.query import MEMORY, check_single_select, failed, opened


class Relation:
    """One SELECT on one snapshot: ``polars.DataFrame(relation)``, ``pyarrow.table(relation)``, ``relation.df()``.

    The snapshot stays the same, and can be read, until the relation is closed or forgotten.

    Raises, on making it and on reading:
        QueryRefused: it isn't one single SELECT.
        QueryFailed: DuckDB can't answer it.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        sql: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    ) -> None:
        self._connection = connection
        check_single_select(connection, sql)
        try:
            self._relation = connection.sql(sql, params=parameters or None)
        except duckdb.Error as error:
            raise failed(error) from error

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._relation.columns)

    @property
    def types(self) -> tuple[str, ...]:
        """DuckDB's types of the columns."""
        return tuple(map(str, self._relation.types))

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as tuples."""
        try:
            return self._relation.fetchall()
        except duckdb.Error as error:
            raise failed(error) from error

    def df(self) -> Any:
        """A pandas DataFrame (needs pandas)."""
        try:
            return self._relation.df()
        except duckdb.Error as error:
            raise failed(error) from error

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule protocol."""
        try:
            return self._relation.__arrow_c_stream__(requested_schema)
        except duckdb.Error as error:
            raise failed(error) from error

    def close(self) -> None:
        """Let go of the snapshot; what was read before stays valid."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def relation(
    folder: Path,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    threads: int = 2,
    memory: str = MEMORY,
) -> Relation:
    """Ask the newest snapshot of a ``read`` folder.

    Raises:
        NoSnapshot: nothing was published yet.
        QueryRefused, QueryFailed: it isn't one SELECT, or DuckDB can't answer it.
    """
    connection = opened(folder, threads=threads, memory=memory)
    try:
        return Relation(connection, sql, parameters)
    except BaseException:
        connection.close()
        raise
