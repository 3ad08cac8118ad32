"""The log in PostgreSQL: many machines on one store (ADR 0014).

The skeletons and words are byte for byte those of any other log, and the heads are the frontier. There is no lock on
a table: transactions store side by side (``beliefbase.events.postgres_tables`` says how), so an event can become
visible behind one with a greater position. Whoever follows the log follows the frontier.

HAZARD: an exception from a commit doesn't say that nothing was stored: the connection may have gone after it. The
outcome is looked up over another one, by the number of the transaction and by the events, before anything is reported.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Final, Literal

import psycopg

from beliefbase.events.catalog import Role
from beliefbase.events.envelope import Event
from beliefbase.events.erasure import ERASED
from beliefbase.events.errors import AppendUnknown, BeliefbaseError, StoreUnavailable, UsedAfterFork
from beliefbase.events.hlc import wall_ms
from beliefbase.events.postgres_errors import explained, is_lost
from beliefbase.events.postgres_pool import SECONDS, Connection, Pool
from beliefbase.events.postgres_schema import prepare
from beliefbase.events.postgres_sweep import sweep
from beliefbase.events.postgres_tables import PostgresTables
from beliefbase.events.postgres_url import Address
from beliefbase.events.table_log import KeptLog
from beliefbase.events.transaction import LogTransaction

_STORE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT EXISTS (SELECT FROM erasures WHERE pending)"
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_LOOK: Final = 0.05
"""Seconds between two looks at a transaction that the server hasn't ended yet."""


class PostgresLog(KeptLog):
    """A log in a schema of a PostgreSQL database; implements :class:`beliefbase.events.log.EventLog`.

    Args:
        address: ``postgresql://…``; ``schema`` in its query names the schema.
        create: Whether to make a new log where there is none.
        durability: ``power``: an append is acknowledged when the server has it on disk. ``process``: a moment earlier;
            a crash of the server may take the newest appends away.
        wall: Now, in milliseconds: an erasure stamped later waits.

    Raises:
        StoreUnavailable: can't be reached, missing, not a log, or of a newer release.
    """

    in_order = False

    def __init__(
        self,
        address: str,
        *,
        create: bool = True,
        durability: Literal["power", "process"] = "power",
        wall: Callable[[], int] = wall_ms,
    ) -> None:
        self.address = Address.read(address)
        self._wall = wall
        self._pid = os.getpid()
        self._pool = Pool(self.address, durability)
        self._open = threading.local()
        self._closed = False
        try:
            with closing(self._pool.new()) as connection:
                self._store_id = prepare(connection, self.address, create=create)
        except psycopg.Error as error:
            raise explained(error, self.address) from None
        self.ensure_index()
        self.carry_out_erasures()

    # ------------------------------------------------------------------ writing

    @contextmanager
    def transaction(self) -> Iterator[LogTransaction]:
        """Begin; commit at the end of the block, roll back on an exception (see the protocol)."""
        self._check_usable()
        if getattr(self._open, "transaction", False):
            raise StoreUnavailable(
                f"{self.address.shown}: this thread already holds a transaction on the log",
                hint="use the transaction that is open, or end it first",
                store=self.address.shown,
            )
        self._open.transaction = True
        try:
            with self._explaining(), self._pool.begun(_STORE) as (connection, given):
                tables = self._tables(connection, storing=True)
                transaction = LogTransaction(tables, self._wall())
                try:
                    with self._committing(connection, tables, transaction.stored):
                        if given.nextset() and given.fetchall()[0][0]:
                            transaction.carry_out()
                        yield transaction
                        if not transaction.whole:
                            raise StoreUnavailable(
                                f"{self.address.shown}: storing failed, and its error was passed over",
                                hint="nothing was stored; let errors of insert end the transaction",
                                store=self.address.shown,
                            )
                finally:
                    transaction.end()
        finally:
            self._open.transaction = False
        if transaction.erased and _erases(transaction):
            with suppress(BeliefbaseError):  # what was erased is erased; checkpoint() says whether its rows are gone
                self.checkpoint()

    def checkpoint(self) -> bool:
        """Write the tables of words anew where words were erased; False while an open read or a lock prevents it.

        After True no erased text is left in the files of the tables. The server's write-ahead log, its archive, its
        standbys and its backups are its administrator's matter.
        """
        self._check_usable()
        with self._explaining(), closing(self._pool.new()) as connection:
            return sweep(connection)

    # ------------------------------------------------------------------ the connection

    @property
    def name(self) -> str:
        """The address, for people: without any password."""
        return self.address.shown

    def size(self) -> int:
        """Bytes of the tables and their indexes."""
        with self._explaining(), self._pool.begun(_READ) as (connection, _):
            rows = connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
                " WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r'",
                (self.address.schema,),
            ).fetchall()
        return int(rows[0][0])

    def close(self) -> None:
        """Close the connections; the log can't be used after. In a forked child they are left to the parent."""
        self._closed = True
        self._pool.close()

    @contextmanager
    def _reading(self) -> Iterator[PostgresTables]:
        """One snapshot."""
        self._check_usable()
        with self._explaining(), self._pool.begun(_READ) as (connection, _):
            yield self._tables(connection, storing=False)

    def _tables(self, connection: Connection, *, storing: bool) -> PostgresTables:
        return PostgresTables(connection, self._store_id, storing=storing)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise explained(error, self.address) from error

    def _check_usable(self) -> None:
        if os.getpid() != self._pid:
            raise UsedAfterFork(
                f"{self.address.shown}: this log was opened in another process",
                hint="open the log anew in the child process",
                store=self.address.shown,
            )
        if self._closed:
            raise StoreUnavailable(
                f"{self.address.shown}: this log was closed", hint="open it anew", store=self.address.shown
            )

    # ------------------------------------------------------------------ an unclear end

    @contextmanager
    def _committing(self, connection: Connection, tables: PostgresTables, stored: Sequence[Event]) -> Iterator[None]:
        """Send what the block asks for in a pipeline, and the commit at its end."""
        number: str | None = None
        try:
            with connection.pipeline():
                yield
                number = tables.number
                if number is None:  # alone, or nothing that needs a writer's lock
                    rows = connection.execute("SELECT pg_current_xact_id_if_assigned()::text").fetchall()
                    number = rows[0][0]
                connection.execute("COMMIT", prepare=False)
        except psycopg.Error as error:
            if number is None or not is_lost(error):
                raise
            connection.close()
            self._find_out(number, stored, error)

    def _find_out(self, number: str, events: Sequence[Event], error: psycopg.Error) -> None:
        """After a commit without an answer: return if it was stored after all, raise what is known otherwise."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                with closing(self._pool.new()) as connection:
                    status = self._status(connection, number)
                    if status != "in progress":
                        # A server that lost the number in a crash gives it to another transaction: it proves nothing.
                        if self._are_stored(connection, events) if events else status == "committed":
                            return
                        raise explained(error, self.address) from error
            except psycopg.Error as second:
                if time.monotonic() > deadline:
                    raise self._unknown(error, second, events) from error
            if time.monotonic() > deadline:
                raise self._unknown(error, "the server still works on it", events) from error
            time.sleep(_LOOK)

    def _status(self, connection: Connection, number: str) -> str:
        """What the server knows of a transaction: committed, aborted, in progress, or unknown."""
        try:
            status = connection.execute("SELECT pg_xact_status(%s::xid8)", (number,)).fetchall()[0][0]
        except psycopg.errors.InvalidParameterValue:  # ahead of all numbers: the server lost it in a crash
            status = None
        return str(status or "unknown")

    def _are_stored(self, connection: Connection, events: Sequence[Event]) -> bool:
        tables = self._tables(connection, storing=False)
        found = {stored.event.raw for stored in tables.naming({event.id for event in events}, {Role.SELF})}
        return found.issuperset(event.raw for event in events)

    def _unknown(self, error: psycopg.Error, second: object, events: Sequence[Event]) -> AppendUnknown:
        said = self.address.scrubbed(f"{error}), and whether it was stored can't be looked up ({second}")
        return AppendUnknown(
            f"{self.address.shown}: the connection was lost at the commit ({said})",
            hint="append the same events again once the store is back: those that were stored are passed over",
            store=self.address.shown,
            event_ids=[event.id.hex() for event in events],
        )


def _erases(transaction: LogTransaction) -> bool:
    """Whether words went because of an erasure that came just now or became due, not by a late copy at the door."""
    return not transaction.stored or any(event.skeleton.type == ERASED for event in transaction.stored)
