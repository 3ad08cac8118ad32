"""The write lock of a log: one writer at a time, in the order in which they came.

SQLite lets waiting writers try again at random, so one of them can starve for seconds; the kernel serves those that
wait for a file lock in turn. Nothing depends on this lock but fairness: SQLite's own locks keep the log whole.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beliefbase.events.errors import StoreUnavailable


class WriteLock:
    """Excludes other threads and other processes that hold a lock on the same file."""

    def __init__(self, path: Path, *, seconds: float) -> None:
        self._path = path
        self._seconds = seconds
        self._thread = threading.Lock()
        self._owner: int | None = None

    @contextmanager
    def held(self, *, wait: bool = True) -> Iterator[None]:
        """Hold the lock for the length of a block.

        Raises:
            StoreUnavailable: another holds it for too long, without ``wait`` at all; or its file can't be opened.
        """
        if self._owner == threading.get_ident():
            raise StoreUnavailable(
                f"{self._path}: this thread already holds a transaction on the log",
                hint="use the transaction that is open, or end it first",
                path=str(self._path),
            )
        seconds = self._seconds if wait else 0.0
        deadline = time.monotonic() + seconds
        if not self._thread.acquire(timeout=seconds):
            raise self._busy("a thread of this process")
        self._owner = threading.get_ident()
        try:
            file = self._lock_file(deadline if wait else None)
            try:
                yield
            finally:
                # A forked child may have the file open as well: closing alone would leave the lock to it.
                fcntl.flock(file, fcntl.LOCK_UN)
                os.close(file)
        finally:
            self._owner = None
            self._thread.release()

    def _lock_file(self, deadline: float | None) -> int:
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreUnavailable(
                f"{self._path}: the lock file can't be opened ({error.strerror})",
                hint="writing needs an existing directory that this user may write to, and free file handles",
                path=str(self._path),
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if deadline is None:
                os.close(file)
                raise self._busy("another process") from None
            if not _Waiter(file).wait(deadline - time.monotonic()):
                raise self._busy("another process") from None
        except OSError as error:
            os.close(file)
            raise StoreUnavailable(
                f"{self._path}: this file system has no file locks ({error.strerror})",
                hint="keep the store on a local disk",
                path=str(self._path),
            ) from error
        return file

    def _busy(self, holder: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self._path}: {holder} has held the write lock for {self._seconds:g} s",
            hint="nothing was stored; look for a stopped or hanging writer, then try again",
            path=str(self._path),
        )


class _Waiter(threading.Thread):
    """Waits in the kernel's queue on behalf of a thread that has a deadline, which a file lock hasn't."""

    def __init__(self, file: int) -> None:
        super().__init__(name="beliefbase-write-lock", daemon=True)
        self._file = file
        self._guard = threading.Lock()
        self._has_it = False
        self._unwanted = False

    def wait(self, seconds: float) -> bool:
        """Whether the lock was got in time; if it wasn't, the file is closed once it comes."""
        self.start()
        try:
            self.join(max(0.0, seconds))
        finally:
            with self._guard:
                got = self._has_it
                self._unwanted = not got
        return got

    def run(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._guard:
            self._has_it = not self._unwanted
            if self._unwanted:
                os.close(self._file)
