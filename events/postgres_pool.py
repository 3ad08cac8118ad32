"""Connections to a log in PostgreSQL: set up as a log needs them, kept for the next use, and never shared with a child.

HAZARD: the settings below hold for a session. A pooler between here and the server that gives every transaction
another session (pgbouncer's ``transaction`` mode) undoes them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

import psycopg
from psycopg import Cursor
from psycopg.pq import TransactionStatus

from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.postgres_arrays import register
from beliefbase.events.postgres_url import Address

Connection = psycopg.Connection[Any]
SECONDS: Final = 30
"""How long anything waits for a lock, or for a connection."""
_KEPT: Final = 8
_MOST: Final = 64
_INHERITED: Final[list[object]] = []
"""Connections that a forked child must not even close: that would end the parent's sessions."""
_DEFAULTS: Final = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "tcp_user_timeout": "60000",
    "client_encoding": "UTF8",
    "application_name": "beliefbase",
}
_SETTINGS: Final = (
    "SELECT set_config('search_path', %s, false), set_config('lock_timeout', %s, false),"
    # Every join here goes from a few rows into an index; tables without statistics would tempt the planner.
    " set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),"
    " set_config('jit', 'off', false), set_config('default_transaction_isolation', 'read committed', false),"
    # Anything stronger than "on" that the server asks for stays.
    " set_config('synchronous_commit', CASE WHEN %s THEN"
    " CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'"
    " ELSE current_setting('synchronous_commit') END ELSE 'off' END, false)"
)


def connect(address: Address, durability: Literal["power", "process"]) -> Connection:
    """A connection of its own, which commits every statement unless a transaction was begun.

    Raises:
        psycopg.Error: as libpq and PostgreSQL report it.
    """
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
    wanted = psycopg.conninfo.make_conninfo(address.conninfo, **{**_DEFAULTS, **given})
    connection = psycopg.connect(wanted, autocommit=True)
    try:
        register(connection)
        connection.execute(_SETTINGS, (f'"{address.schema}"', f"{SECONDS}s", durability == "power"))
    except BaseException:
        connection.close()
        raise
    return connection


class Pool:
    """Hands out connections, each to one user at a time.

    Args:
        address: Where they lead.
        durability: ``power``: a commit is acknowledged when the server has it on disk.
    """

    def __init__(self, address: Address, durability: Literal["power", "process"]) -> None:
        self._address = address
        self._durability = durability
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(_MOST)
        self._pid = os.getpid()
        self._closed = False

    @contextmanager
    def begun(self, begin: str) -> Iterator[tuple[Connection, Cursor[Any]]]:
        """A connection in a transaction that ``begin`` has begun, and what that gave; in the end all is rolled back.

        Raises:
            StoreUnavailable: there is none to be had.
            psycopg.Error: the server refuses.
        """
        if not self._free.acquire(timeout=SECONDS):
            raise StoreUnavailable(
                f"{self._address.shown}: {_MOST} transactions and reads are open at once",
                hint="finish or close the iterators of earlier reads",
                store=self._address.shown,
            )
        try:
            connection, given = self._taken(begin)
            try:
                yield connection, given
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def new(self) -> Connection:
        """One that is not from the pool and doesn't go back there; the caller closes it.

        Raises:
            psycopg.Error: the server refuses.
        """
        return connect(self._address, self._durability)

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it comes back."""
        self._closed = True
        with self._lock:
            idle, self._idle = self._idle, []
        if os.getpid() != self._pid:
            _INHERITED.append(idle)
            return
        for connection in idle:
            connection.close()

    def _taken(self, begin: str) -> tuple[Connection, Cursor[Any]]:
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is not None:
            try:
                return idle, idle.execute(begin.encode())
            except psycopg.OperationalError:  # the server has ended it meanwhile; nothing was asked of it yet
                idle.close()
                with self._lock:
                    stale, self._idle = self._idle, []
                for connection in stale:
                    connection.close()
        connection = self.new()
        try:
            return connection, connection.execute(begin.encode())
        except BaseException:
            connection.close()
            raise

    def _give_back(self, connection: Connection) -> None:
        if os.getpid() != self._pid:
            _INHERITED.append(connection)
            return
        with suppress(psycopg.Error):
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        usable = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            if usable and not self._closed and len(self._idle) < _KEPT:
                self._idle.append(connection)
                return
        connection.close()
