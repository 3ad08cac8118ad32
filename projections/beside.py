"""A second process that folds a log's beliefs while this one reads its events; then both fold what is left.

Run as ``python -m beliefbase.projections.beside LOG FOLDER`` this module plans the sets of facts once it is told to go,
and folds one after the other into a database of its own, which the projector takes over. The projector begins with the
last set. A set is folded by who first makes the file that is named after it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from beliefbase.beliefs.collector import paused
from beliefbase.events.log import EventLog
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.errors import FoldingFailed
from beliefbase.projections.folding import fold_sets
from beliefbase.projections.loading import belief_tables, note_tables
from beliefbase.projections.orphans import end_with_parent
from beliefbase.projections.partition import Plan, Sets
from beliefbase.projections.reading import Reader
from beliefbase.projections.work import WorkDatabase

LARGE: Final = 100_000
"""Events from which on a second process pays."""
_SHARED, _PLAN, _FOLDED = "folding", "plan.npz", "folded.duckdb"
_GO: Final = b"go\n"
_SOON: Final = 0.01
"""Seconds between two looks for the plan."""


class Beside:
    """The second process, for logs that another process can open, where there is a second core."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._folder = folder / _SHARED
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "beliefbase.projections.beside", str(path), str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    @classmethod
    def of(cls, log: EventLog, folder: Path) -> Beside | None:
        """Start one where that is possible and pays; ``folder`` is for what it makes."""
        alone = not sys.executable or len(os.sched_getaffinity(0)) < 2
        if alone or type(log) is not SQLiteLog or log.last_position() < LARGE:
            return None
        return cls(log.path, folder)

    def go(self) -> None:
        """Let it look at the log: it folds whatever is there by now."""
        with suppress(BrokenPipeError):  # what it died of is told when its result is taken over
            assert self._process.stdin is not None  # noqa: S101  it is a pipe
            self._process.stdin.write(_GO)
            self._process.stdin.flush()

    def help(self, log: EventLog, work: WorkDatabase, progress: Callable[[str, int], None]) -> None:
        """Fold the sets that it hasn't come to, the last ones first."""
        plan = self._folder / _PLAN
        while not plan.exists() and self._process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SOON)
        if plan.exists():
            sets = Sets(log, Reader(log), Plan.load(plan))
            fold_sets(log, work, sets, _mine(self._folder, reversed(range(len(sets)))), progress)

    def take_over(self, work: WorkDatabase) -> None:
        """Wait for the end and load the result.

        Raises:
            FoldingFailed: the process ended otherwise than it should.
        """
        assert self._process.stderr is not None  # noqa: S101  it is a pipe
        complaint = self._process.stderr.read()  # the other pipe stays open: without it the process would end
        if self._process.wait():
            last = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise FoldingFailed(
                f"the process that folds beliefs ended with status {self._process.returncode}: {last}",
                hint="free some memory and try again",
                status=self._process.returncode,
            )
        work.take_over(self._folder / _FOLDED, belief_tables() + note_tables())

    def stop(self) -> None:
        """End it, whatever it is at, and remove what it made."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)


def _mine(folder: Path, numbers: Iterable[int]) -> Iterator[int]:
    """The numbers of sets up to the first one that the other process has taken."""
    for number in numbers:
        try:
            (folder / f"set-{number}").touch(exist_ok=False)
        except FileExistsError:
            return
        yield number


def main(log_path: str, shared: str) -> None:
    """Fold a log into a new database in a folder."""
    folder = Path(shared)
    if sys.stdin.buffer.readline() != _GO:
        return  # the projector is gone
    end_with_parent()
    log = SQLiteLog(log_path, create=False)
    work = WorkDatabase(folder / _FOLDED, threads=1)
    work.create(belief_tables() + note_tables())
    with paused():
        reader = Reader(log)
        plan = Plan.of(log, reader)
        plan.save(folder / _PLAN)
        sets = Sets(log, reader, plan)
        fold_sets(log, work, sets, _mine(folder, range(len(sets))), lambda _what, _number: None)
    work.close()
    log.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
