"""The tables of an SQLite log, and how a file becomes one or is recognised as one.

=========  ==========================================================================================
events     the skeletons at their positions (rowid); the table of eventsourcing's recorder (originator_id = stream)
words      the bodies that are here, at the position of their event
heads      every branch with its last event: the frontier
buckets    those whose hash, which settings keep, is to be computed anew
refs       the index: which events name what, in which role
tips       for beliefs: the latest fate-changing revisions
aside      foreign events whose predecessor isn't stored
erasures   whose words are to go, and whether that is still pending
covered    the events whose words an erasure covers, with the earliest that does
wanted     the events whose words are not here although no erasure covers them
stamps     the stamps of all events, for the clock
signatures the newest signed head of each branch that has one
settings   index version, store id; `buckets`: hashes of the heads by writer prefix; `erasing` while words are deleted;
           `reworded` counts what became of words later; what restarts.py notes
=========  ==========================================================================================

Everything but events, words, aside, signatures and the store id can be made anew from events and words.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.index import INDEX_VERSION
from beliefbase.events.locks import WriteLock
from beliefbase.events.sqlite_errors import explained

Durability = Literal["power", "process"]
"""What an acknowledged append survives: a power cut (synchronous=FULL), or only the end of the process (NORMAL)."""

APPLICATION_ID: Final = 0x62656C66
"""``belf``."""
SCHEMA_VERSION: Final = 1
BUSY_SECONDS: Final = 30
SYNCHRONOUS: Final[dict[Durability, str]] = {"power": "FULL", "process": "NORMAL"}

SIGNATURES: Final = """CREATE TABLE IF NOT EXISTS signatures (
    stream TEXT PRIMARY KEY,
    writer BLOB NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    signature BLOB NOT NULL
) WITHOUT ROWID"""
"""Of its own, because the first logs didn't have it."""
SCHEMA: Final = f"""
CREATE TABLE events (
    rowid INTEGER PRIMARY KEY AUTOINCREMENT,
    originator_id TEXT NOT NULL,
    originator_version INTEGER NOT NULL,
    topic TEXT NOT NULL,
    state BLOB NOT NULL,
    UNIQUE (originator_id, originator_version)
);
CREATE INDEX events_topic ON events (topic);
CREATE TABLE words (position INTEGER PRIMARY KEY, event_id BLOB NOT NULL, salt BLOB NOT NULL, body BLOB NOT NULL);
CREATE TABLE heads (
    writer BLOB NOT NULL,
    stream TEXT NOT NULL,
    first INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    parent TEXT,
    PRIMARY KEY (writer, stream)
) WITHOUT ROWID;
CREATE TABLE buckets (bucket INTEGER PRIMARY KEY, hash BLOB);
CREATE TABLE refs (
    key INTEGER NOT NULL, role INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (key, role, position)
) WITHOUT ROWID;
CREATE TABLE tips (key BLOB NOT NULL, event_id BLOB NOT NULL, PRIMARY KEY (key, event_id)) WITHOUT ROWID;
CREATE TABLE stamps (hlc INTEGER PRIMARY KEY);
CREATE TABLE aside (
    hash BLOB PRIMARY KEY,
    writer BLOB NOT NULL,
    seq INTEGER NOT NULL,
    prev BLOB NOT NULL,
    state BLOB NOT NULL,
    salt BLOB,
    body BLOB
) WITHOUT ROWID;
CREATE INDEX aside_prev ON aside (prev);
CREATE TABLE erasures (
    event_id BLOB PRIMARY KEY,
    subject BLOB NOT NULL,
    hlc INTEGER NOT NULL,
    writer BLOB NOT NULL,
    seq INTEGER NOT NULL,
    pending INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX erasures_subject ON erasures (subject);
CREATE INDEX erasures_pending ON erasures (hlc) WHERE pending;
CREATE TABLE covered (position INTEGER PRIMARY KEY, hlc INTEGER NOT NULL, erasure BLOB NOT NULL);
CREATE INDEX covered_erasure ON covered (erasure);
CREATE TABLE wanted (position INTEGER PRIMARY KEY);
{SIGNATURES};
CREATE TABLE settings (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER words_no_update BEFORE UPDATE ON words BEGIN SELECT RAISE(ABORT, 'words are never changed'); END;
CREATE TRIGGER words_no_delete BEFORE DELETE ON words
    WHEN NOT EXISTS (SELECT 1 FROM settings WHERE name = 'erasing')
    BEGIN SELECT RAISE(ABORT, 'words go by erasure only'); END;

-- The id of the store is no part of any answer, so it may be random.
INSERT INTO settings VALUES ('store_id', randomblob(16)), ('index_version', {INDEX_VERSION});
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


def connect(path: Path, durability: Durability, *, create: bool = False) -> sqlite3.Connection:
    """Open a connection to a log file, set up as every connection to a log is.

    Raises:
        sqlite3.Error: as SQLite reports it.
    """
    mode = "rwc" if create else "rw"
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for pragma in (
            f"synchronous = {SYNCHRONOUS[durability]}",
            "trusted_schema = OFF",
            "cell_size_check = ON",
            # Always: a row that moves to another page would otherwise leave its text behind for ever.
            "secure_delete = ON",
            "cache_size = -32768",
            "temp_store = MEMORY",
            "wal_autocheckpoint = 4000",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(path: Path, durability: Durability, lock: WriteLock, *, create: bool) -> None:
    """See to it that ``path`` is a log that this release can use; make a new one where there is none.

    Raises:
        StoreUnavailable: missing, not a log, of a newer release, or not to be opened.
    """
    try:
        if not path.parent.is_dir():
            raise _unavailable(path, "the directory doesn't exist", "make it, or check the path")
        if not create and not path.exists():
            raise _unavailable(path, "there is no log", "check the path, or make a store with `beliefbase init`")
    except OSError as error:
        what = f"its directory can't be looked into ({error.strerror})"
        raise _unavailable(path, what, "check the owner and mode of the directory and of those above it") from error
    try:
        connection = connect(path, durability, create=create)
        try:
            if not _is_log(connection, path):
                if not create:
                    raise _unavailable(path, "the file is empty", "check the path, or open it with create=True")
                with lock.held():
                    _make(connection, path)
            elif _patiently(connection, "PRAGMA journal_mode") != ("wal",):  # a copy made by VACUUM INTO
                with lock.held():
                    _patiently(connection, "PRAGMA journal_mode = WAL")
            if _patiently(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'signatures'") == (0,):
                with lock.held():
                    connection.execute(SIGNATURES)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise explained(error, path) from error


def _is_log(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a log; False for an empty file, an error for anything else."""
    # One statement, and so one snapshot: the file may be becoming a log just now.
    application, version, tables = _patiently(
        connection,
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),"
        " (SELECT count(*) FROM sqlite_master)",
    )
    if application == APPLICATION_ID:
        if version != SCHEMA_VERSION:
            raise _unavailable(
                path,
                f"the log has format {version}; this release knows {SCHEMA_VERSION}",
                "use the release that wrote it, or a newer one",
            )
        return True
    if application or version or tables:
        raise _unavailable(path, "this SQLite database is not a beliefbase log", "check the path; it is left untouched")
    return False


def _make(connection: sqlite3.Connection, path: Path) -> None:
    _patiently(connection, "PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _is_log(connection, path):
            for statement in _statements(SCHEMA):
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: run as a script, SQLite's module would commit before it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _patiently(connection: sqlite3.Connection, statement: str) -> tuple[int | str, ...]:
    """The first row, tried again while others make the file a log: SQLite's busy timeout doesn't cover that."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            row: tuple[int | str, ...] = connection.execute(statement).fetchone()
            return row
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if code not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _unavailable(path: Path, what: str, hint: str) -> StoreUnavailable:
    return StoreUnavailable(f"{path}: {what}", hint=hint, path=str(path))
