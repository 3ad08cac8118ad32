"""The projector: sole owner of the work database, which it keeps equal to what the log says."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import duckdb

from beliefbase.beliefs.rules import RULES_VERSION
from beliefbase.events.errors import InvalidEvent, StoreUnavailable
from beliefbase.events.log import EventLog
from beliefbase.projections import digest, publish, registry
from beliefbase.projections.disk import on_disk
from beliefbase.projections.errors import LogMoved, ProjectorBusy
from beliefbase.projections.rebuild import Progress, Reached, rebuild
from beliefbase.projections.refresh import Arrivals, RebuildNeeded
from beliefbase.projections.work import SCHEMA_VERSION, WorkDatabase

WORK: Final = "work.duckdb"
LOCK: Final = "work.lock"
_TRIES: Final = 3


class Report(NamedTuple):
    """What a refresh or rebuild did."""

    how: str
    """unchanged, refreshed or rebuilt."""
    events: int
    """Events read."""
    beliefs: int
    """Beliefs folded again; -1 for all of them."""
    position: int
    """Arrival position up to which the log was read."""
    root: str
    """Root hash of the frontier that the tables stand for."""
    as_of_ms: int


class Projector:
    """Keeps ``<folder>/work.duckdb`` up to date with a log, and publishes snapshots of it beside it.

    Args:
        log: The event log; only read.
        folder: The ``read`` folder of the store; made if it isn't there. Everything in it can be deleted.
        threads: Threads that DuckDB may use; None leaves it to DuckDB. No answer depends on it.
        progress: Told now and then what is being done, and how many events or beliefs were.

    Raises:
        ProjectorBusy: another projector owns the folder.
        StoreUnavailable: the folder can't be written, here or in any method that writes.
    """

    def __init__(
        self, log: EventLog, folder: Path, *, threads: int | None = None, progress: Progress = lambda _what, _n: None
    ) -> None:
        self._log = log
        self._threads = threads
        self._progress = progress
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock: int | None = _locked(folder / LOCK)
        except OSError as error:
            raise StoreUnavailable(
                f"{folder}: can't be written ({error.strerror})",
                hint="check the rights of the folder",
                path=str(folder),
            ) from error
        try:
            self._work = self._open()
        except BaseException:
            os.close(self._lock)
            raise

    @on_disk
    def refresh(self, as_of_ms: int) -> Report:
        """Catch up with the log; the tables are then equal to a rebuild's.

        Args:
            as_of_ms: The moment that views are asked at, in ms since 1970 UTC.

        Raises:
            LogMoved: the log was written to faster than it can be read.
        """
        _check_moment(as_of_ms)
        meta = self._work.meta()
        if meta is None or any(meta[name] != value for name, value in self._made_by().items()):
            return self.rebuild(as_of_ms)
        try:
            return self._catch_up(meta, as_of_ms, gives_up=True)
        except RebuildNeeded:
            return self.rebuild(as_of_ms)

    @on_disk
    def rebuild(self, as_of_ms: int) -> Report:
        """Make all tables anew from the log, in a new file.

        Raises:
            LogMoved: the log was written to faster than it can be read.
            FoldingFailed: a second process, which folds the beliefs of a large log, ended otherwise than it should.
        """
        _check_moment(as_of_ms)
        for _ in range(_TRIES):
            meta = self._make_anew(as_of_ms)
            try:
                done = self._catch_up(meta, as_of_ms, gives_up=False)
            except RebuildNeeded:
                continue
            return done._replace(how="rebuilt", events=meta["events"] + done.events, beliefs=-1)
        raise LogMoved(
            f"the log did not come to one frontier in {_TRIES} rebuilds",
            hint="try again; if it stays so, run `beliefbase doctor`",
        )

    def _make_anew(self, as_of_ms: int) -> dict[str, Any]:
        path = self.folder / WORK
        fresh = path.with_name("fresh.duckdb")
        made_by = self._made_by()  # before the log is read: what becomes of words meanwhile asks for another rebuild
        _remove(fresh)
        work = WorkDatabase(fresh, threads=self._threads)
        try:
            reached = rebuild(self._log, work, self.folder, self._progress)
            meta = self._meta(made_by, reached, as_of_ms)
            work.write_meta(meta)
        finally:
            work.close()
        self._work.close()
        _remove(path)
        fresh.rename(path)
        self._work = WorkDatabase(path, threads=self._threads)
        return meta

    def _catch_up(self, meta: dict[str, Any], as_of_ms: int, *, gives_up: bool) -> Report:
        with self._work.transaction(), self._log.still() as log:
            done = Arrivals(log, self._work, meta, gives_up=gives_up).apply()
            if done is not None:
                self._work.write_meta(self._meta(meta, done.reached, as_of_ms))
            elif meta["as_of_ms"] != as_of_ms:
                self._work.write_meta({**meta, "as_of_ms": as_of_ms})
        if done is None:
            return Report("unchanged", 0, 0, meta["position"], meta["root"], as_of_ms)
        reached = done.reached
        return Report("refreshed", done.events, done.beliefs, reached.position, reached.root.hex(), as_of_ms)

    @on_disk
    def publish(self) -> publish.Snapshot:
        """Publish the tables as they are, unless the newest snapshot is of the same frontier, versions and as_of."""
        meta = self._work.meta() or {}
        state = {name: meta[name] for name in publish.STATE}
        return publish.publish(self._work.connection, self.folder, state=state)

    def digests(self) -> dict[str, str]:
        """The digest of every table."""
        with self._work.another() as other:
            return digest.digests(self._work.connection, other)

    def digest(self, of_tables: dict[str, str] | None = None) -> str:
        """The digest over all tables, whose own digests may be at hand."""
        return digest.digest(self._work.connection, of_tables)

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a query on the work database."""
        return self._work.rows(sql, parameters or ())

    def close(self) -> None:
        """Close the work database and let others project."""
        self._work.close()
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> WorkDatabase:
        """The work database; a file that can't be used is deleted, since all of it comes from the log."""
        path = self.folder / WORK
        try:
            return WorkDatabase(path, threads=self._threads)
        except duckdb.Error:
            _remove(path)
            return WorkDatabase(path, threads=self._threads)

    def _meta(self, made_by: dict[str, Any], reached: Reached, as_of_ms: int) -> dict[str, Any]:
        return {
            **made_by,
            "root": reached.root.hex(),
            "position": reached.position,
            "events": reached.events,
            "newest_hlc": reached.newest_hlc,
            "as_of_ms": as_of_ms,
        }

    def _made_by(self) -> dict[str, Any]:
        """What tables must have been made by and from to be brought up to date rather than rebuilt."""
        return {
            "store_id": self._log.store_id().hex(),
            "rules": RULES_VERSION,
            "projections": registry.versions(),
            "schema": registry.layout(SCHEMA_VERSION),
            "reworded": self._log.reworded(),
        }


def _check_moment(as_of_ms: int) -> None:
    if not 0 <= as_of_ms < 1 << 47:
        raise InvalidEvent(
            f"as_of {as_of_ms} is no moment between 1970 and 6429",
            hint="give milliseconds since 1970 UTC",
            field="as_of",
        )


@contextmanager
def owned(path: Path) -> Iterator[None]:
    """Nobody projects the store while the block runs, whose lock file this is.

    Raises:
        ProjectorBusy: another process does at the moment.
    """
    descriptor = _locked(path)
    try:
        yield
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise ProjectorBusy(
            f"{path.parent}: another process projects this store",
            hint="wait for it, or stop the `beliefbase project --watch` that is running",
            path=str(path),
        ) from error
    return descriptor


def _remove(path: Path) -> None:
    for leftover in (path, path.with_name(path.name + ".wal")):
        leftover.unlink(missing_ok=True)
