"""Answers from the newest published snapshot: read-only, locked down, one SELECT at a time.

HAZARD: files, settings and extensions are out of reach of a query, CPU time is not. Whoever runs a stranger's SQL
runs it in a process of its own that can be killed. One more thing is visible: the path of the snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from beliefbase.projections.errors import NoSnapshot, QueryFailed, QueryRefused
from beliefbase.projections.publish import current

SETTINGS: Final[Mapping[str, Any]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "temp_directory": "",
    "max_temp_directory_size": "0B",
    "python_enable_replacements": False,
}
"""What a connection for queries is opened with, besides its limits; then files get out of reach and settings locked."""
NAME: Final = "snapshot"
"""Of the database, in a query."""
MEMORY: Final = "1GB"
_TRIES: Final = 5


class Answer(NamedTuple):
    """The rows of a query."""

    columns: tuple[str, ...]
    """Their names; one that comes again has a number, as DuckDB numbers it in tables and files."""
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    """Whether there were more rows than were asked for."""


@contextmanager
def connect(folder: Path, *, threads: int = 1, memory: str = MEMORY) -> Iterator[duckdb.DuckDBPyConnection]:
    """The newest snapshot of a ``read`` folder, for the length of a block; the lock-down holds, the check does not.

    Raises:
        NoSnapshot: nothing was published yet.
    """
    connection = opened(folder, threads=threads, memory=memory)
    try:
        yield connection
    finally:
        connection.close()


def opened(
    folder: Path, *, threads: int = 1, memory: str = MEMORY, writes: Sequence[Path] = ()
) -> duckdb.DuckDBPyConnection:
    """Like :func:`connect`, for the caller to close; COPY may write to the paths of ``writes`` and to no other."""
    settings = {**SETTINGS, "threads": threads, "memory_limit": memory}
    connection = _open(folder, settings)
    connection.execute("SET TimeZone = 'UTC'")
    if writes:
        connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, writes))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def query(
    folder: Path,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    limit: int | None = None,
    threads: int = 1,
    memory: str = MEMORY,
) -> Answer:
    """Run one SELECT on the newest snapshot.

    Args:
        folder: The ``read`` folder of a store.
        sql: One SELECT (or WITH, VALUES, FROM, DESCRIBE, SUMMARIZE, SHOW); values belong into ``parameters``.
        parameters: Values for ``?``, ``$1`` or ``$name``.
        limit: Most rows to return; None returns all.
        threads: Threads that DuckDB may use.
        memory: Memory that DuckDB may use; there is no temporary file.

    Raises:
        NoSnapshot: nothing was published yet.
        QueryRefused: it isn't one single SELECT.
        QueryFailed: DuckDB can't answer it.
    """
    with connect(folder, threads=threads, memory=memory) as connection:
        return run(connection, sql, parameters, limit=limit)


def run(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    limit: int | None = None,
) -> Answer:
    """Like :func:`query`, on a connection that is open."""
    check_single_select(connection, sql)
    try:
        cursor = connection.execute(sql, parameters) if parameters else connection.execute(sql)
        columns = _numbered([column[0] for column in cursor.description or ()])
        types = tuple(str(column[1]) for column in cursor.description or ())
        if limit is None:
            return Answer(columns, types, cursor.fetchall(), truncated=False)
        rows = cursor.fetchmany(limit + 1)
        cursor.fetchall()
    except (duckdb.Error, OverflowError) as error:
        raise failed(error) from error
    return Answer(columns, types, rows[:limit], truncated=len(rows) > limit)


def check_single_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Refuse anything but one SELECT.

    Raises:
        QueryRefused: it isn't one single SELECT.
        QueryFailed: DuckDB can't read it.
    """
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise failed(error) from error
    if len(statements) != 1:
        raise QueryRefused(
            f"{len(statements)} statements where one SELECT is expected", hint="run them one after the other"
        )
    if statements[0].type != duckdb.StatementType.SELECT:
        name = str(statements[0].type).rpartition(".")[2]
        raise QueryRefused(
            f"only SELECT is answered, not {name}", hint="the snapshot is read-only; append events to change the store"
        )


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    """``a, a, A`` as ``a, a_1, A_2``."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        fresh = name
        while fresh.lower() in seen:
            fresh = f"{name}_{seen[name.lower()]}"
            seen[name.lower()] += 1
        seen[fresh.lower()] = 1
        numbered.append(fresh)
    return tuple(numbered)


def _open(folder: Path, settings: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    failure: duckdb.Error | None = None
    for _ in range(_TRIES):
        path = current(folder)
        if path is None:
            raise NoSnapshot(
                f"{folder}: nothing was published yet", hint="run `beliefbase project` first", path=str(folder)
            )
        try:
            return _attached(path, settings)
        except duckdb.Error as error:  # pruned between the look at the pointer and the open: look again
            failure = error
    raise NoSnapshot(
        f"{folder}: the published snapshot can't be opened ({_first_line(failure)})",
        hint="publish a new one with `beliefbase project`",
        path=str(folder),
    ) from failure


def _attached(path: Path, settings: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """An instance of DuckDB of its own: connections to one path would share one, with its settings and its locks."""
    connection = duckdb.connect(":memory:", config=dict(settings))
    try:
        connection.execute(f"ATTACH {_quoted(path)} AS {NAME} (READ_ONLY)")
        connection.execute(f"USE {NAME}")
        connection.execute("DETACH memory")
    except BaseException:
        connection.close()
        raise
    return connection


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def failed(error: Exception) -> QueryFailed:
    """What DuckDB says of a query that it can't answer."""
    text = re.sub(r"\n\s*\n", "\n", str(error)).strip()
    return QueryFailed(text, hint="docs/tables.md lists the tables and their columns")


def _first_line(error: Exception | None) -> str:
    return str(error).split("\n", 1)[0]
