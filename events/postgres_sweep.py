"""Getting erased words out of PostgreSQL's files: a deleted row stays in its page until the table is written anew."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Final

import psycopg

from beliefbase.events.postgres_pool import Connection

_PATIENCE: Final = 2.0
"""Seconds that a short read, or the server's own housekeeping, gets to end."""
_HELD: Final = """
SELECT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND age(backend_xmin) >= age(%(erased)s::text::xid)
) OR EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database())
  OR EXISTS (SELECT FROM pg_replication_slots WHERE age(xmin) >= age(%(erased)s::text::xid))
"""
UNSWEPT: Final = "unswept"
"""Setting: the number of the last transaction that erased words, as long as the tables still have their old rows."""


def sweep(connection: Connection) -> bool:
    """Write the tables of words anew if words were erased; False while somebody may still see their old rows.

    Nobody writes or reads words meanwhile. ``connection`` commits every statement.

    Raises:
        psycopg.Error: as PostgreSQL reports it.
    """
    rows = connection.execute("SELECT number FROM settings WHERE name = %s", (UNSWEPT,)).fetchall()
    if not rows:
        return True
    erased = rows[0][0]
    try:
        # A snapshot that is gone before the tables are written doesn't come back: later ones don't see the old rows.
        deadline = time.monotonic() + _PATIENCE
        while connection.execute(_HELD, {"erased": str(erased % (1 << 32))}).fetchall()[0][0]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        for table in ("words", "aside"):
            connection.execute(f"VACUUM (FULL) {table}".encode())
    except psycopg.errors.LockNotAvailable:
        return False
    with suppress(psycopg.errors.InsufficientPrivilege):  # the old files are emptied already, and go at the next one
        connection.execute("CHECKPOINT")
    connection.execute("DELETE FROM settings WHERE name = %s AND number = %s", (UNSWEPT, erased))
    return True
