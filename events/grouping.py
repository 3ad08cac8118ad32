"""Group commit inside one process: what many threads append at once shares a commit, and with it the disk's sync.

One thread stores; the others hand their events over and wait. While a commit is on its way to the disk the next
events gather, so that nobody waits for company: one event alone is stored at once.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

from beliefbase.events.catalog import Draft
from beliefbase.events.errors import BeliefbaseError, InvalidEvent, LogDamaged, StoreUnavailable, UsedAfterFork
from beliefbase.events.writer import Appended, Writer

MOST: Final = 1000
"""Events that are handed over and stored in one commit at most."""


class OpenBatch(Protocol):
    """What is open inside one commit (:class:`beliefbase.events.writer.Batch`)."""

    def expect(self, drafts: Collection[Draft]) -> None:
        """Read in bulk what adding these will ask of the log."""

    def add(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Appended:
        """Give one event its place."""

    def __len__(self) -> int:
        """How many events have a place."""


class _Handed(NamedTuple):
    """One event, and who waits for it."""

    writer: Writer
    draft: Draft
    at: int | None
    future: Future[Appended]


class GroupCommit:
    """Stores what threads hand over, as many at once as have come; use as a context manager.

    Every caller hears back after the commit that holds its event. An event that is refused is refused to its caller
    alone; an error of the commit reaches all whose events were in it. Events of one writer are stored in the order
    in which they were handed over.

    Args:
        begin: Opens a commit: a block that stores everything on leaving it, and nothing when an exception leaves it.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[OpenBatch]]) -> None:
        self._begin = begin
        self._queue: SimpleQueue[_Handed | None] = SimpleQueue()
        self._guard = threading.Lock()
        self._closed = False
        self._pid = os.getpid()
        self.commits = 0
        """Commits so far that stored something."""
        self._thread = threading.Thread(target=self._work, name="beliefbase-group-commit", daemon=True)
        self._thread.start()

    def append(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Appended:
        """Hand an event over and wait until it is stored.

        Raises:
            InvalidEvent: the event is refused; nothing of it was stored, and the others are.
            StoreUnavailable: the commit failed, and nothing of it was stored; or the group was closed before.
            AppendUnknown: the outcome of the commit could not be found out.
            UsedAfterFork: this is a forked child of the process that opened the group.
        """
        return self.submit(writer, draft, at=at).result()

    def submit(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Future[Appended]:
        """Hand an event over; the future has its result, or raises what :meth:`append` raises."""
        if os.getpid() != self._pid:
            raise UsedAfterFork("this group commit was opened in another process", hint="open the store anew")
        future: Future[Appended] = Future()
        future.set_running_or_notify_cancel()  # it can't be taken back: it may be on its way to the disk
        with self._guard:
            if self._closed:
                raise StoreUnavailable("this group commit was closed", hint="nothing was stored; open another one")
            self._queue.put(_Handed(writer, draft, at, future))
        return future

    def close(self) -> None:
        """Store what was handed over, then end; what comes later is refused."""
        if os.getpid() != self._pid:
            return
        with self._guard:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ the thread that stores

    def _work(self) -> None:
        is_open = True
        while is_open:
            taken = [self._queue.get()]
            with suppress(Empty):
                while len(taken) < MOST:
                    taken.append(self._queue.get_nowait())
            is_open = taken[-1] is not None
            self._store([handed for handed in taken if handed is not None])

    def _store(self, waiting: Sequence[_Handed]) -> None:
        """Store all of these in one commit; where one of them spoils it for the others, each in its own."""
        if not self._commit(waiting):
            for handed in waiting:
                if not handed.future.done():
                    self._commit([handed])

    def _commit(self, waiting: Sequence[_Handed]) -> bool:
        """Answer everybody who waits; False where the fault may be one event's and nothing was stored."""
        placed: list[tuple[Future[Appended], Appended]] = []
        try:
            with self._begin() as batch:
                batch.expect([handed.draft for handed in waiting])
                for writer, draft, at, future in waiting:
                    before = len(batch)
                    try:
                        placed.append((future, batch.add(writer, draft, at=at)))
                    except InvalidEvent as error:
                        if len(batch) != before:  # half of it is in, and can't be taken out
                            raise
                        future.set_exception(error)
        except (StoreUnavailable, LogDamaged) as error:
            for handed in waiting:
                if not handed.future.done():
                    handed.future.set_exception(_own(error))
        except BaseException as error:  # noqa: BLE001  whatever it is, somebody waits to hear of it
            if len(waiting) > 1:
                return False
            waiting[0].future.set_exception(error)
        else:
            self.commits += bool(placed)
            for future, appended in placed:
                future.set_result(appended)
        return True


def _own(error: BeliefbaseError) -> BeliefbaseError:
    """The error for one of several callers: each raises it with a traceback of its own."""
    mine = copy.copy(error)
    mine.__cause__ = error
    return mine
