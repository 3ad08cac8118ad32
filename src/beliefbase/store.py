"""A store: one directory, one tenant; where agents write, analysts query and audits run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from beliefbase.events.catalog import Draft
from beliefbase.events.errors import InvalidEvent
from beliefbase.events.grouping import GroupCommit
from beliefbase.events.hlc import Clock, SourceClock, wall_ms
from beliefbase.events.postgres_url import is_address
from beliefbase.events.signing import AgentKey, key_file
from beliefbase.events.table_log import KeptLog
from beliefbase.events.writer import Appended, Batch, Pen, Writer
from beliefbase.newer_wins import NewerWins
from beliefbase.places import open_log
from beliefbase.writing import StoreWriter, When, milliseconds

if TYPE_CHECKING:
    from beliefbase.projections.projector import Projector, Report
    from beliefbase.projections.relation import Relation
    from beliefbase.replay.audit import Request
    from beliefbase.replay.pin import Pin
    from beliefbase.replay.report import AuditReport

READ_NAME = "read"
KEYS = "BELIEFBASE_KEYS"
"""Names, in the environment, the folder with the keys of agents that sign."""
Progress = Callable[[str, int], None]
"""Told now and then what is being done, and how far."""


def _quiet(_what: str, _done: int) -> None:
    return None


class BeliefStore:
    """One open handle of a store.

    A handle belongs to one process; its methods may be called from any thread, one at a time. Writing methods are
    those of :class:`StoreWriter`.
    """

    def __init__(self, path: Path, log: KeptLog, pen: Pen, *, max_drift_ms: int) -> None:
        self.path = path
        """The directory of the store; of one in a database the folder for what this machine makes from it."""
        self.max_drift_ms = max_drift_ms
        self.log = log
        self._pen = pen
        self._lock = threading.RLock()
        self._batch: Batch | None = None
        self._batch_of: int | None = None
        """The thread whose batch is open."""
        self._group: GroupCommit | None = None
        self._newer_wins = NewerWins(log)
        self.keys: Path | None = None
        """The folder with the keys of agents that sign."""
        self.settled: dict[bytes, Appended] = {}
        """The resolutions that this handle wrote because newer wins, by contradiction."""

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = False,
        importing: bool = False,
        durability: Literal["power", "process"] = "power",
        max_drift_ms: int = 60_000,
        wall: Callable[[], int] = wall_ms,
        keys: str | Path | None = None,
    ) -> Self:
        """Open the store in a directory, or at an address ``postgresql://…`` (docs/postgres.md).

        ``create`` makes it where there is none. ``importing`` gives the handle an importer's clock: its writers say
        with ``at`` when things happened. ``durability="process"`` survives a killed process but may lose the last
        commits at a power cut. ``max_drift_ms`` is how far ahead of the wall a foreign stamp may be before it is
        parked; ``wall`` gives the time in milliseconds since 1970 UTC. Writers sign their heads where the folder
        ``keys``, by default that of the environment's BELIEFBASE_KEYS, has a key of their agent.

        Raises:
            StoreUnavailable: there is no store, or it can't be opened.
        """
        root, log = open_log(path, create=create, durability=durability, wall=wall)
        clock = SourceClock() if importing else Clock(wall, max_drift_ms=max_drift_ms)
        store = cls(root, log, Pen(clock, wall=wall), max_drift_ms=max_drift_ms)
        folder = keys if keys is not None else os.environ.get(KEYS)
        store.keys = Path(folder) if folder else None
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """Where the store is, for people; never with a password."""
        return self.log.name if is_address(self.log.name) else str(self.path)

    def close(self) -> None:
        """Release the files; the handle and its writers can't be used after."""
        if self._group is not None:
            self._group.close()
        self.log.close()

    # -- writing ------------------------------------------------------------------------------------------------------

    def writer(
        self,
        agent: str,
        *,
        kind: Literal["human", "agent", "tool", "importer"] = "agent",
        role: Literal["owner", "member"] = "member",
        model: str | None = None,
    ) -> StoreWriter:
        """A fresh stream for an agent or person; its first event is stored together with the second.

        Raises:
            InvalidEvent: the name or model is malformed.
            BadKey, SigningUnavailable: the agent has a key, and it can't be used.
        """
        path = None if self.keys is None else key_file(self.keys, agent)
        key = AgentKey.read(path) if path is not None and path.exists() else None
        return StoreWriter(self, Writer(self._pen, agent=agent, kind=kind, role=role, model=model, key=key))

    @contextmanager
    def batch(self, expected: Collection[Draft] = ()) -> Iterator[None]:
        """Store everything that is written inside the block in one commit, or nothing of it.

        The log is locked for others until the end of the block. What is ``expected`` to be written there is looked
        up at once, which is faster.
        """
        with self._lock:
            if self._batch is not None:
                raise InvalidEvent("a batch is open already", hint="batches don't nest")
            with Batch(self.log, self._pen) as batch:
                batch.expect(expected)
                self._batch, self._batch_of = batch, threading.get_ident()
                self._newer_wins = NewerWins(self.log)
                try:
                    yield
                finally:
                    self._batch = self._batch_of = None

    @contextmanager
    def group_commit(self) -> Iterator[GroupCommit]:
        """While the block runs, what several threads write at once shares a commit (docs/adr/0015).

        Every call still returns after the commit that holds its event, and raises what concerns its own event. At the
        end of the block everything that was handed over is stored. A :meth:`batch` inside of it is as ever.

        Raises:
            InvalidEvent: one is open already, or this thread has a batch open, which it would wait for.
        """
        with self._lock:
            if self._group is not None:
                raise InvalidEvent("a group commit is open already", hint="one serves all threads of a handle")
            if self._batch is not None:
                raise InvalidEvent("a batch is open", hint="end it first; batches go inside of a group commit")
            self._group = GroupCommit(self._grouped)
        try:
            with self._group as group:
                yield group
        finally:
            self._group = None

    @contextmanager
    def _grouped(self) -> Iterator[_Grouped]:
        with self.batch():
            yield _Grouped(self, cast("Batch", self._batch))

    def append_draft(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Appended:
        """Store one checked event, in the open batch or in a commit of its own.

        A contradiction raised under a profile that says ``newer_wins`` brings its resolution with it.
        """
        group = self._group
        if group is not None and self._batch_of != threading.get_ident():
            return group.append(writer, draft, at=at)
        with self._lock:
            if self._batch is None:
                with self.batch():
                    return self.append_draft(writer, draft, at=at)
            appended = self._batch.add(writer, draft, at=at)
            resolution = self._newer_wins.resolution(draft, appended)
            if resolution is not None:
                self.settled[appended.id] = self._batch.add(writer, resolution, at=at)
            return appended

    # -- reading ------------------------------------------------------------------------------------------------------

    def wall(self) -> int:
        """What this handle takes for now, in milliseconds since 1970 UTC."""
        return self._pen.wall()

    def projector(self, *, progress: Progress = _quiet) -> Projector:
        """The owner of this store's read models; one process at a time can hold it.

        Raises:
            ProjectorBusy: another process holds it.
        """
        from beliefbase.projections.projector import Projector

        return Projector(self.log, self.path / READ_NAME, progress=progress)

    def project(self, *, as_of: When = None, rebuild: bool = False) -> Report:
        """Bring the read models up to date and publish a snapshot of them.

        ``as_of`` is the moment at which the snapshot's views ask, by default now.
        """
        at = self._moment(as_of)
        self.log.carry_out_erasures()
        with self.projector() as projector:
            report = projector.rebuild(at) if rebuild else projector.refresh(at)
            projector.publish()
        return report

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Ask the newest published snapshot, read-only and locked down; rows as dictionaries.

        Raises:
            NoSnapshot: nothing was projected yet.
            QueryRefused, QueryFailed: it isn't one SELECT, or DuckDB can't answer it.
        """
        from beliefbase.projections.query import query

        answer = query(self.path / READ_NAME, sql, parameters)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    def relation(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Relation:
        """Ask the newest published snapshot; columns for the caller's own library: ``polars.DataFrame(relation)``.

        Raises:
            NoSnapshot: nothing was projected yet.
            QueryRefused, QueryFailed: it isn't one SELECT, or DuckDB can't answer it.
        """
        from beliefbase.projections.relation import relation

        return relation(self.path / READ_NAME, sql, parameters)

    def active(self, *, as_of: When = None) -> list[dict[str, Any]]:
        """The beliefs that are active at a moment (now by default), after bringing the read models up to date."""
        return self._believed("active_at", as_of)

    def live(self, *, as_of: When = None) -> list[dict[str, Any]]:
        """Like :meth:`active`, with the candidates."""
        return self._believed("live_at", as_of)

    def belief(self, belief_id: str) -> dict[str, Any] | None:
        """A belief as it stands now; None where no belief has this id."""
        self.project()
        found = self.query("SELECT * FROM beliefs WHERE belief_id = $id", {"id": belief_id})
        return found[0] if found else None

    def digest(self) -> str:
        """The digest over all read models at the frontier, 64 hex digits, after bringing them up to date."""
        with self.projector() as projector:
            projector.refresh(self.wall())
            return projector.digest()

    def audit(self, request: Request | None = None, *, progress: Progress = _quiet) -> AuditReport:
        """Check the log, rebuild the read models from nothing and compare; ``request`` asks for more, or for less.

        Raises:
            ProjectorBusy: another process projects this store at the moment.
        """
        from beliefbase.replay.audit import Request, audit

        return audit(self.log, self.path / READ_NAME, request or Request(), as_of_ms=self.wall(), progress=progress)

    def pin(self, *, as_of: When = None, progress: Progress = _quiet) -> tuple[Pin | None, AuditReport]:
        """Audit the store, and pin what it answers; no pin where the audit finds something or there is nothing."""
        from beliefbase.replay.audit import audit, pin_of

        at = self._moment(as_of)
        report = audit(self.log, self.path / READ_NAME, as_of_ms=at, progress=progress)
        return (None if report.exit_code else pin_of(report, at)), report

    def _believed(self, macro: str, as_of: When) -> list[dict[str, Any]]:
        at = self._moment(as_of)
        self.project()
        return self.query(f"SELECT * FROM {macro}($ts) ORDER BY began_ms, belief_id", {"ts": at})

    def _moment(self, as_of: When) -> int:
        at = milliseconds(as_of)
        return self.wall() if at is None else at


class _Grouped:
    """The batch of a store as a group commit fills it; implements :class:`beliefbase.events.grouping.OpenBatch`."""

    def __init__(self, store: BeliefStore, batch: Batch) -> None:
        self._store = store
        self._batch = batch

    def expect(self, drafts: Collection[Draft]) -> None:
        """Read in bulk what adding these will ask of the log."""
        self._batch.expect(drafts)

    def add(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Appended:
        """Give one event its place, and the resolution that comes with it."""
        return self._store.append_draft(writer, draft, at=at)

    def __len__(self) -> int:
        return len(self._batch)
