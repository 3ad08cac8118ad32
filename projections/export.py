"""Parquet files of a snapshot: every table and every view, in one stable order, and what they were made from.

DuckDB writes them itself. Equal snapshots give equal rows in equal order; the bytes depend on DuckDB's version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from beliefbase.events.errors import StoreUnavailable
from beliefbase.projections.query import MEMORY, check_single_select, failed, opened

MANIFEST: Final = "export.json"
SUFFIX: Final = ".parquet"


class Exported(NamedTuple):
    """What was written."""

    folder: Path
    files: Mapping[str, int]
    """Rows by table or view; each is one file of that name."""
    root: str
    """Root hash of the frontier that the files stand for."""
    as_of_ms: int


def export(folder: Path, target: Path, *, threads: int = 2, memory: str = MEMORY) -> Exported:
    """Write every table and view of the newest snapshot of a ``read`` folder into ``target``, one file each.

    A file is complete or absent. Files of an earlier export there are replaced, and those whose table is gone removed.

    Raises:
        NoSnapshot: nothing was published yet.
        StoreUnavailable: the target can't be written, or holds something else.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        foreign = [path.name for path in target.iterdir() if path.name != MANIFEST and path.suffix != SUFFIX]
    except OSError as error:
        raise _unwritable(target, error) from error
    if foreign:
        raise StoreUnavailable(
            f"{target} holds other files ({foreign[0]})", hint="name a folder of its own", path=str(target)
        )
    partial = target / f"partial{SUFFIX}"
    connection = opened(folder, threads=threads, memory=memory, writes=_written(partial))
    files: dict[str, int] = {}
    try:
        ((root, as_of_ms),) = connection.execute("SELECT root, as_of_ms FROM meta").fetchall()
        for name in _names(connection):
            files[name] = _write(
                connection, f'SELECT * FROM "{name}" ORDER BY ALL', partial, target / f"{name}{SUFFIX}"
            )
        for path in target.glob(f"*{SUFFIX}"):
            if path.stem not in files:
                path.unlink()
        told = {"root": root, "as_of_ms": as_of_ms, "files": files}
        (target / MANIFEST).write_text(json.dumps(told, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    except (OSError, duckdb.IOException) as error:
        raise _unwritable(target, error) from error
    finally:
        connection.close()
    return Exported(target, files, root, as_of_ms)


def write_answer(
    folder: Path,
    sql: str,
    path: Path,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    limit: int | None = None,
    threads: int = 1,
    memory: str = MEMORY,
) -> int:
    """Write the answer to one SELECT as a Parquet file, in its own order; returns the number of rows.

    Raises:
        NoSnapshot: nothing was published yet.
        QueryRefused, QueryFailed: it isn't one SELECT, or DuckDB can't answer it.
        StoreUnavailable: the file can't be written.
    """
    path = path.absolute()
    partial = path.with_name(f"{path.name}.partial{SUFFIX}")
    connection = opened(folder, threads=threads, memory=memory, writes=_written(partial))
    try:
        check_single_select(connection, sql)
        asked = sql.rstrip().rstrip(";")
        return _write(
            connection, asked if limit is None else f"FROM ({asked}\n) LIMIT {limit}", partial, path, parameters
        )
    except (OSError, duckdb.IOException) as error:
        raise _unwritable(path, error) from error
    except duckdb.Error as error:
        raise failed(error) from error
    finally:
        connection.close()
        partial.unlink(missing_ok=True)


def _names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT internal"
        " UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"
    ).fetchall()
    return [name for (name,) in found]


def _write(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    partial: Path,
    path: Path,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
) -> int:
    quoted = str(partial).replace("'", "''")
    copy = f"COPY ({select}\n) TO '{quoted}' (FORMAT parquet)"
    ((rows,),) = (connection.execute(copy, parameters) if parameters else connection.execute(copy)).fetchall()
    partial.rename(path)
    return int(rows)


def _written(partial: Path) -> tuple[Path, ...]:
    """The path, and the one that older releases of DuckDB write to before they rename it."""
    partial = partial.absolute()
    return partial, partial.with_name(f"tmp_{partial.name}")


def _unwritable(path: Path, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"can't write {path}: {str(error).splitlines()[0]}",
        hint="check the path, its rights and the disk",
        path=str(path),
    )
