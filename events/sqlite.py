"""The SQLite log: the embedded default (DESIGN 3, ADR 0003).

Built on the pool and the recorder of eventsourcing 9.5. The recorder's table is the log's, so its readers work on
it; writing has its own path, because heads, words and index rows belong into the same transaction.

HAZARD: an exception from a commit doesn't say that nothing was stored. The outcome is looked up over a fresh
connection before anything is reported, and AppendUnknown says that this failed as well.

HAZARD: a log whose file was removed or replaced under an open handle would still take writes, into a file that no
one can open again. Every transaction and every read checks that the path still names the file that was opened.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Final, cast

from eventsourcing.persistence import ConnectionPoolClosedError, ConnectionUnavailableError
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteConnection, SQLiteConnectionPool, SQLiteDatastore

from beliefbase.events import restarts
from beliefbase.events.catalog import Role
from beliefbase.events.envelope import Event
from beliefbase.events.errors import AppendUnknown, BeliefbaseError, StoreUnavailable, UsedAfterFork
from beliefbase.events.hlc import wall_ms
from beliefbase.events.locks import WriteLock
from beliefbase.events.sqlite_errors import explained, writes_nothing
from beliefbase.events.sqlite_filed import cursor_of
from beliefbase.events.sqlite_schema import BUSY_SECONDS, SYNCHRONOUS, Durability, connect, prepare
from beliefbase.events.sqlite_tables import SQLiteTables
from beliefbase.events.table_log import KeptLog
from beliefbase.events.transaction import LogTransaction

_INHERITED: Final[list[object]] = []
"""Connections that a forked child must not even close: that could take the parent's files away."""


class _Connection(SQLiteConnection):
    """The library's connection, with the one below it."""

    @property
    def sqlite(self) -> sqlite3.Connection:
        """The connection of Python's own module."""
        return self._sqlite_conn


class _Pool(SQLiteConnectionPool):
    """Connections that are set up as a log needs them."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self._path = path
        self._durability = durability
        super().__init__(
            db_name=str(path),
            lock_timeout=BUSY_SECONDS,
            pool_size=8,
            max_overflow=56,
            pool_timeout=float(BUSY_SECONDS),
        )

    @staticmethod
    def detect_memory_mode(db_name: str) -> bool:  # noqa: ARG004  the library's signature
        """Whether the database is in memory: never; a path is a path, whatever it is called."""
        return False

    def _create_connection(self) -> _Connection:
        connection = connect(self._path, self._durability)
        connection.row_factory = sqlite3.Row
        return _Connection(connection, max_age=None)


class _Datastore(SQLiteDatastore):
    """The library's datastore over our pool."""

    def __init__(self, path: Path, durability: Durability) -> None:
        # Not the parent's constructor: it would make the library's own pool.
        self.pool = _Pool(path, durability)
        self.single_row_tracking = True
        self.originator_id_type = "text"
        self._pid = os.getpid()

    def close(self) -> None:
        """Close the connections, in the process that made them."""
        if os.getpid() == self._pid:
            self.pool.close()
        else:
            _INHERITED.append(self.pool)


class Recorder(SQLiteApplicationRecorder):
    """The library's recorder over the log's table of events."""

    def __init__(self, datastore: SQLiteDatastore) -> None:
        super().__init__(datastore, events_table_name="events")
        self.insert_events_statement = (
            "INSERT INTO events (originator_id, originator_version, topic, state) VALUES (?, ?, ?, ?)"
        )

    def construct_create_table_statements(self) -> list[str]:
        """Nothing: the table comes with the others of the log."""
        return []


class SQLiteLog(KeptLog):
    """A log in one SQLite file; implements :class:`beliefbase.events.log.EventLog`.

    Args:
        path: The file; its directory exists.
        create: Whether to make a new log where there is none.
        durability: ``power``: an acknowledged append survives a power cut. ``process``: it survives the end of the
            process, and a power cut may take the newest appends away.
        wall: Now, in milliseconds: an erasure stamped later waits.
        boot: Names this run of the machine (``beliefbase.events.restarts``).

    Raises:
        StoreUnavailable: missing, not a log, of a newer release, or not to be opened.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        durability: Durability = "power",
        wall: Callable[[], int] = wall_ms,
        boot: Callable[[], str] = restarts.boot_id,
    ) -> None:
        self.path = Path(path).absolute()
        self._durability = durability
        self._wall = wall
        self._boot = boot()
        self._safe = durability == "power"
        """Whether the log knows, should the power go, that events may be missing."""
        self._pid = os.getpid()
        self._lock = WriteLock(self.path.with_name(self.path.name + ".lock"), seconds=BUSY_SECONDS)
        prepare(self.path, durability, self._lock, create=create)
        self._file = self._inode()
        self._datastore = _Datastore(self.path, durability)
        self.recorder = Recorder(self._datastore)
        self._closed = False
        self.ensure_index()
        self.carry_out_erasures()
        self._find_restart()

    # ------------------------------------------------------------------ writing

    @contextmanager
    def transaction(self, *, wait: bool = True) -> Iterator[LogTransaction]:
        """Begin; commit at the end of the block, roll back on an exception (see the protocol).

        Without ``wait`` StoreUnavailable is raised where another writes just now.
        """
        self._check_usable()
        with self._lock.held(wait=wait), self._connection() as connection, cursor_of(connection.sqlite) as cursor:
            self._check_usable()
            try:
                if not self._safe:
                    self._note_boot(cursor)
                cursor.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise explained(error, self.path) from error
            transaction = LogTransaction(SQLiteTables(cursor), self._wall())
            try:
                transaction.carry_out()
                yield transaction
                if not transaction.whole:
                    raise StoreUnavailable(
                        f"{self.path}: storing failed, and its error was passed over",
                        hint="nothing was stored; let errors of insert end the transaction",
                        path=str(self.path),
                    )
            except BaseException as error:
                _roll_back(connection)
                if isinstance(error, sqlite3.Error):
                    raise explained(error, self.path) from error
                raise
            finally:
                transaction.end()
            try:
                cursor.execute("COMMIT")
            except sqlite3.Error as error:
                cursor.close()
                connection.close()
                self._find_out(transaction.stored, error)
            if transaction.erased:
                with suppress(sqlite3.Error):  # what was erased is erased; checkpoint() says whether the file is empty
                    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _note_boot(self, cursor: sqlite3.Cursor) -> None:
        """Before the first append that a power cut may take: note, such that none can take it, that it may happen."""
        tables = SQLiteTables(cursor)
        if not restarts.is_noted(tables, self._boot):
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute("BEGIN IMMEDIATE")
            try:
                if restarts.is_new(tables, self._boot):
                    restarts.find(tables, self._wall())
                restarts.note(tables, self._boot)
                cursor.execute("COMMIT")
            finally:
                if cursor.connection.in_transaction:
                    cursor.execute("ROLLBACK")
                cursor.execute(f"PRAGMA synchronous = {SYNCHRONOUS[self._durability]}")
        self._safe = True

    def _find_restart(self) -> None:
        """Take note, at the first opening after a restart of the machine, of up to where events are left."""
        with self._reading() as tables:
            if not restarts.is_new(tables, self._boot):
                return
        with suppress(StoreUnavailable), self.transaction() as transaction:
            if restarts.is_new(transaction.tables, self._boot):
                restarts.find(transaction.tables, self._wall())

    def _settling(self) -> AbstractContextManager[LogTransaction]:
        return self.transaction(wait=False)

    def checkpoint(self) -> bool:
        """Move everything into the main file and empty the write-ahead file; False while an open read prevents it.

        After True no erased text is left in the files.
        """
        self._check_usable()
        with self._lock.held(), self._connection() as connection, cursor_of(connection.sqlite) as cursor:
            try:
                busy: int = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.Error as error:
                raise explained(error, self.path) from error
            return not busy

    # ------------------------------------------------------------------ the file

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def size(self) -> int:
        """Bytes of the file and of its write-ahead file."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Release the files; the log can't be used after. In a forked child they are left to the parent."""
        self._closed = True
        self._datastore.close()

    @contextmanager
    def _reading(self) -> Iterator[SQLiteTables]:
        """One snapshot."""
        self._check_usable()
        with self._connection() as connection, cursor_of(connection.sqlite) as cursor:
            try:
                cursor.execute("BEGIN")
                yield SQLiteTables(cursor)
            except sqlite3.Error as error:
                raise explained(error, self.path) from error
            finally:
                _roll_back(connection)

    @contextmanager
    def _connection(self) -> Iterator[_Connection]:
        # Not as a writer in the pool's sense: its writer lock is never given back once a connection can't be made.
        pool = self._datastore.pool
        try:
            connection = cast("_Connection", pool.get_connection())
        except ConnectionPoolClosedError:
            raise self._closed_error() from None
        except ConnectionUnavailableError as error:
            raise self._unavailable(
                "too many reads are open at once", "finish or close the iterators of earlier reads"
            ) from error
        except sqlite3.Error as error:
            raise explained(error, self.path) from error
        try:
            yield connection
        finally:
            try:
                pool.put_connection(connection)
            except ConnectionPoolClosedError:  # the log was closed while this was in use
                connection.close()

    def _check_usable(self) -> None:
        if os.getpid() != self._pid:
            raise UsedAfterFork(
                f"{self.path}: this log was opened in another process",
                hint="open the log anew in the child process",
                path=str(self.path),
            )
        if self._closed:
            raise self._closed_error()
        if self._inode() != self._file:
            raise self._unavailable(
                "the log file was removed or replaced while it was open",
                "nothing was stored; close this handle, find out what replaced the file, and open it anew",
            )

    def _inode(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _find_out(self, events: Sequence[Event], error: sqlite3.Error) -> None:
        """After a commit that failed: return if it was stored after all, raise what is known otherwise."""
        try:
            with closing(connect(self.path, self._durability)) as connection, cursor_of(connection) as cursor:
                tables = SQLiteTables(cursor)
                if not writes_nothing(error):
                    # The whole transaction may be in the file, not yet on the disk and visible only after a crash.
                    # A commit that succeeds either writes over it or takes it to the disk.
                    tables.change_setting("store_id", tables.setting("store_id"))
                found = {stored.event.raw for stored in tables.naming({event.id for event in events}, {Role.SELF})}
                if events and found.issuperset(event.raw for event in events):
                    return
        except (sqlite3.Error, BeliefbaseError) as second:
            raise AppendUnknown(
                f"{self.path}: the commit failed ({error}), and whether it was stored can't be looked up ({second})",
                hint="append the same events again once the store is back: those that were stored are passed over",
                path=str(self.path),
                event_ids=[event.id.hex() for event in events],
            ) from error
        raise explained(error, self.path) from error

    def _closed_error(self) -> StoreUnavailable:
        return self._unavailable("this log was closed", "open it anew")

    def _unavailable(self, what: str, hint: str) -> StoreUnavailable:
        return StoreUnavailable(f"{self.path}: {what}", hint=hint, path=str(self.path))


def _roll_back(connection: _Connection) -> None:
    """End the transaction; a connection that can't even do that is not used again."""
    try:
        connection.rollback()
    except sqlite3.Error:
        connection.close()
