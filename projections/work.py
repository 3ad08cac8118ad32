"""The projector's private database: tables, bulk loads, deletion by key, and the one row of ``meta``.

It is a cache: whatever is wrong with the file, it is made anew from the log. Columns are loaded, never rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import duckdb

from beliefbase.projections import registry
from beliefbase.projections.base import Column, Owner, Table
from beliefbase.projections.columns import Array, Columns, Same, keys_of, loadable, select, texts

MEMORY: Final = "512MB"
"""What DuckDB may use; beyond that it writes temporary files beside the database."""
STORAGE: Final = "v1.5.0"
"""Format of every file written: the oldest supported DuckDB reads it."""
SCHEMA_VERSION: Final = 1

META: Final = (
    Column("store_id", "VARCHAR", "Id of the log that was read"),
    Column("root", "VARCHAR", "Root hash of the frontier: which events the tables are made from"),
    Column("position", "BIGINT", "Arrival position up to which the log was read; a local hint"),
    Column("events", "BIGINT", "How many events were read"),
    Column("newest_hlc", "BIGINT", "Largest stamp read, parked ones included"),
    Column("reworded", "BIGINT", "How often words or erasures had changed something stored before; a local hint"),
    Column("as_of_ms", "BIGINT", "The moment that views are asked at, in ms since 1970 UTC; an input of the projector"),
    Column("rules", "VARCHAR", "Version of the lifecycle rules"),
    Column("projections", "VARCHAR", "Names and versions of the projections"),
    Column("schema", "BIGINT", "Version of the layout of the work database"),
)


class WorkDatabase:
    """A DuckDB file that one projector owns."""

    def __init__(self, path: Path, *, threads: int | None = None) -> None:
        self.path = path
        self.connection = duckdb.connect(":memory:", config={"threads": threads} if threads else {})
        try:
            run = self.connection.execute
            run(f"SET memory_limit = '{MEMORY}'")
            run(f"SET temp_directory = {_quoted(path.with_suffix('.tmp'))}")
            run("SET preserve_insertion_order = false")
            # Without a sample, text columns are read as text whatever their first rows hold.
            run("SET pandas_analyze_sample = 0")
            run(f"ATTACH {_quoted(path)} AS work (STORAGE_VERSION '{STORAGE}')")
            run("USE work")
        except BaseException:
            self.connection.close()
            raise

    @contextmanager
    def another(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A second connection to the same file, for another thread; it sees what was committed."""
        with self.connection.cursor() as connection:
            connection.execute("USE work")
            yield connection

    def close(self) -> None:
        """Write everything back and close the file."""
        self.connection.close()

    def create(self, tables: Iterable[Table] | None = None) -> None:
        """Make these tables, by default all of them and ``meta``, with their comments."""
        for table in registry.tables().values() if tables is None else tables:
            self._create(table.name, table.comment, table.all_columns)
        if tables is None:
            about = "What these tables were made from, and the moment that views are asked at: one row"
            self._create("meta", about, META)

    def take_over(self, path: Path, tables: Iterable[Table]) -> None:
        """Copy the rows of these tables from another work database."""
        self.connection.execute(f"ATTACH {_quoted(path)} AS taken (READ_ONLY)")
        for table in tables:
            self.connection.execute(f"INSERT INTO work.{table.name} FROM taken.{table.name}")

    def create_views(self) -> None:
        """Make all views and macros; those of an earlier release go."""
        run = self.connection.execute
        for (name,) in self.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = 'work'"):
            run(f'DROP VIEW IF EXISTS "{name}"')
        for script in registry.scripts():
            run(script.sql)
        comments: dict[str, dict[str, str | None]] = {}
        for table, column, comment in self.rows(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE database_name = 'work'"
        ):
            comments.setdefault(table, {})[column] = comment
        for script in registry.scripts():
            for column, comment in comments.get(script.name, {}).items():
                known = [comments[like][column] for like in script.like if comments[like].get(column)]
                if comment is None and known:
                    comments[script.name][column] = known[0]
                    run(f"COMMENT ON COLUMN {script.name}.{column} IS {_quoted(known[0])}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block, roll back on an exception."""
        self.connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.connection.execute(sql, parameters).fetchall()

    def insert(self, table: Table, columns: Columns, *, resolve: bool = False) -> None:
        """Load columns by name; with ``resolve``, ids of copies become those of entities."""
        if not len(columns[table.key[0]]):
            return
        batch: dict[str, Array] = {}
        chosen, joins, same, distinct, where = [], [], list[Any](), "", ""
        for number, column in enumerate(table.all_columns):
            values = columns[column.name]
            if isinstance(values, Same) and (values.value is None or not column.entity):
                chosen.append(f"CAST(? AS {column.type})")
                same.append(values.value)
                continue
            batch[column.name] = loadable(column.type, values)
            if resolve and column.entity:
                chosen.append(f'coalesce(c{number}.entity_id, b."{column.name}")')
                joins.append(f'LEFT JOIN copies c{number} ON c{number}.copy_id = b."{column.name}"')
            else:
                chosen.append(select(column.type, f'b."{column.name}"'))
        if table.owner is Owner.VALUE:
            distinct = "DISTINCT"
            where = f"WHERE b.{table.key[0]} NOT IN (SELECT {table.key[0]} FROM {table.name})"
        select_rows = f"SELECT {distinct} {', '.join(chosen)} FROM batch b {' '.join(joins)} {where}"
        with self.registered("batch", batch):
            self.connection.execute(f"INSERT INTO {table.name} {select_rows}", same)

    @contextmanager
    def registered(self, name: str, batch: Mapping[str, Array]) -> Iterator[None]:
        """Columns that SQL may name inside the block."""
        self.connection.register(name, batch)
        try:
            yield
        except BaseException:
            with suppress(duckdb.Error):  # in a transaction that failed it only hides what failed (an interrupt, too)
                self.connection.unregister(name)
            raise
        self.connection.unregister(name)

    def delete(self, tables: Collection[Table], ids: Collection[bytes]) -> None:
        """Remove the rows of these owners."""
        if not ids or not tables:
            return
        ordered = sorted(ids)
        batch = {"key": keys_of(ordered), "id": texts([owner.hex() for owner in ordered])}
        with self.registered("gone", batch):
            for table in tables:
                self.connection.execute(
                    f"DELETE FROM {table.name} WHERE row_key IN (SELECT key FROM gone)"
                    f" AND {table.key[0]} IN (SELECT id FROM gone)"
                )

    def meta(self) -> dict[str, Any] | None:
        """The row of ``meta``; None where nothing was projected yet, or by a release that keeps another one."""
        columns = self.rows(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = 'work' AND table_name = 'meta'"
        )
        if {name for (name,) in columns} != {column.name for column in META}:
            return None
        found = self.rows(f"SELECT {', '.join(column.name for column in META)} FROM meta")
        return dict(zip((column.name for column in META), found[0], strict=True)) if found else None

    def write_meta(self, values: Mapping[str, Any]) -> None:
        """Replace the row of ``meta``."""
        names = [column.name for column in META]
        self.connection.execute("DELETE FROM meta")
        self.connection.execute(
            f"INSERT INTO meta ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            [values[name] for name in names],
        )

    def _create(self, name: str, comment: str, columns: Sequence[Column]) -> None:
        run = self.connection.execute
        defined = ", ".join(f'"{column.name}" {column.type}{_packing(column)}' for column in columns)
        run(f"CREATE TABLE {name} ({defined})")
        run(f"COMMENT ON TABLE {name} IS {_quoted(comment)}")
        for column in columns:
            run(f'COMMENT ON COLUMN {name}."{column.name}" IS {_quoted(column.comment)}')


def _packing(column: Column) -> str:
    """Ids are as good as random: looking for a way to squeeze them took a tenth of a rebuild."""
    is_id = column.type == "VARCHAR" and column.name.endswith("_id") and column.name != "writer_id"
    return " USING COMPRESSION uncompressed" if is_id else ""


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"
