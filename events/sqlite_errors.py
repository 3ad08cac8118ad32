"""What SQLite's errors mean for whoever uses the log: typed, with the path and the next step."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from beliefbase.events.errors import BeliefbaseError, LogDamaged, StoreUnavailable

_MASK: Final = 0xFF
_MEANINGS: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "nothing was stored; free space and try again"),
    sqlite3.SQLITE_BUSY: (
        "another process has kept the log locked",
        "nothing was stored; look for a stopped or hanging writer, then try again",
    ),
    sqlite3.SQLITE_LOCKED: ("the log is locked", "nothing was stored; try again"),
    sqlite3.SQLITE_READONLY: (
        "the log can't be written",
        "the file and its directory must be writable for this user, also for reading: the log has files beside it",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the log can't be opened",
        "check that the directory exists and is writable, also for reading, and that file handles are left",
    ),
    sqlite3.SQLITE_PERM: ("access to the log is denied", "check the owner and mode of the file and its directory"),
    sqlite3.SQLITE_AUTH: ("access to the log is denied", "check the owner and mode of the file and its directory"),
    sqlite3.SQLITE_NOTADB: (
        "this file is not an SQLite database",
        "check the path; a log whose header was overwritten is restored from a backup or a peer",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "check free space, quotas and the kernel's messages; then run `beliefbase audit`",
    ),
    sqlite3.SQLITE_NOMEM: ("there is no memory left", "close other programs and try again"),
    sqlite3.SQLITE_NOLFS: ("the file system can't hold files of this size", "move the store to another file system"),
}
_DAMAGE: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT}
_UNDECODABLE: Final = "Could not decode to UTF-8"
"""What Python's module says, without a code, of bytes that are stored as text."""
_WRITES_NOTHING: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY}


def explained(error: sqlite3.Error, path: Path) -> BeliefbaseError:
    """The typed error for one of SQLite's: LogDamaged where the file contradicts itself, else StoreUnavailable."""
    code = getattr(error, "sqlite_errorcode", 0)
    primary = code & _MASK
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if primary in _DAMAGE or _UNDECODABLE in str(error):
        return LogDamaged(
            f"{path}: the log is damaged ({name}: {error})",
            hint="run `beliefbase audit`; restore the log from a backup or merge it anew from a peer",
            path=str(path),
            sqlite=name,
        )
    what, hint = _MEANINGS.get(primary, (f"SQLite refused: {error}", "run `beliefbase doctor`"))
    return StoreUnavailable(f"{path}: {what} ({name})", hint=hint, path=str(path), sqlite=name)


def writes_nothing(error: sqlite3.Error) -> bool:
    """Whether a commit that failed this way can't have left a whole transaction in the file.

    The last thing that a commit writes is what makes it one; only an error after that, when the disk is asked to
    keep it, leaves a transaction that a later recovery may find.
    """
    code = getattr(error, "sqlite_errorcode", 0)
    return code & _MASK in _WRITES_NOTHING or code == sqlite3.SQLITE_IOERR_WRITE
