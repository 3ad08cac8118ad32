"""The fingerprint of the read models: equal wherever the same events were projected under the same rules.

Per table: SHA-256 over its name, columns and rows, each row as the SHA-256 of its fields, in key order. Over all:
SHA-256 over (projection, version, table, digest) in order. Only tables made from skeletons take part; nothing in
them depends on words, on ``as_of``, on arrival or on what is parked (DESIGN 7). A number is written as its digits
and a comma, a text as its length in characters, a colon and itself, NULL as a dash, so no two rows share a text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, Protocol

from beliefbase.projections import registry
from beliefbase.projections.base import Column, Owner, Table

CHUNK_ROWS: Final = 1 << 20
"""About so many rows are sorted at once."""


class Connection(Protocol):
    """What this module needs of a DuckDB connection."""

    def execute(self, query: str, parameters: Any = ..., /) -> Any:
        """Run one statement."""


def digests(*connections: Connection) -> dict[str, str]:
    """The digest of every digested table, by name, as 64 hex digits; connections to the same tables share the work."""
    tables = [table for table in registry.tables().values() if table.digested]
    waiting, found = iter(tables), dict[str, str]()

    def work(connection: Connection) -> None:
        for table in waiting:  # each of them comes to one thread
            found[table.name] = table_digest(connection, table)

    if len(connections) == 1:
        work(connections[0])
    else:
        with ThreadPoolExecutor(len(connections)) as pool:
            list(pool.map(work, connections))
    return {table.name: found[table.name] for table in tables}


def digest(connection: Connection, of_tables: dict[str, str] | None = None) -> str:
    """The digest over all digested tables, as 64 hex digits."""
    found = digests(connection) if of_tables is None else of_tables
    whole = hashlib.sha256()
    for projection in registry.registered():
        for table in projection.TABLES:
            if table.digested:
                whole.update(f"{projection.NAME}@{projection.VERSION}\0{table.name}\0{found[table.name]}\n".encode())
    return whole.hexdigest()


def table_digest(connection: Connection, table: Table) -> str:
    """The digest of one table, as 64 hex digits."""
    running = hashlib.sha256(
        f"{table.name}\0{','.join(f'{column.name} {column.type}' for column in table.columns)}\n".encode()
    )
    for chunk in _row_hashes(connection, table):
        running.update(chunk)
    return running.hexdigest()


def _row_hashes(connection: Connection, table: Table) -> Iterator[bytes]:
    fields = ", ".join(_field(column) for column in table.columns)
    select = f"SELECT sha256(concat({fields})) FROM {table.name}"
    order = "ORDER BY " + ", ".join(f'"{name}"' for name in table.key)
    for where in _chunks(connection, table):
        (hashes,) = connection.execute(f"{select} {where} {order}").fetchnumpy().values()
        yield bytes.fromhex("".join(hashes.tolist()))


def _chunks(connection: Connection, table: Table) -> Iterator[str]:
    """Conditions that cut a large table into stretches of its key order."""
    ((count,),) = connection.execute(f"SELECT count(*) FROM {table.name}").fetchall()
    if count <= CHUNK_ROWS or table.owner is Owner.VALUE:
        yield ""
        return
    parts = min(256, -(-count // CHUNK_ROWS))  # each looks at the whole table for what is its own
    key, bounds = table.key[0], [f"{256 * part // parts:02x}" for part in range(1, parts)]
    yield f"WHERE {key} < '{bounds[0]}'"
    for low, high in pairwise(bounds):
        yield f"WHERE {key} >= '{low}' AND {key} < '{high}'"
    yield f"WHERE {key} >= '{bounds[-1]}' OR {key} IS NULL"


def _field(column: Column) -> str:
    """A field's parts, for a concatenation that leaves out what is NULL."""
    name = f'"{column.name}"'
    if column.type == "VARCHAR":
        return f"length({name}) || ':', {name}, CASE WHEN {name} IS NULL THEN '-' END"
    return f"CAST({name} AS VARCHAR), CASE WHEN {name} IS NULL THEN '-' ELSE ',' END"
