"""All beliefs folded from nothing, set by set: in this process, or beside it while it reads the events.

Run as ``python -m beliefbase.projections.folding LOG FILE`` this module folds a log into a database of its own,
which the projector takes over. Both read the log as it is when they come to it; what either lacks of the other's
newest events, the refresh after the rebuild brings.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from beliefbase.beliefs.collector import paused
from beliefbase.beliefs.fold import fold
from beliefbase.events.log import EventLog
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.errors import FoldingFailed
from beliefbase.projections.loading import Loader, belief_tables, note_tables
from beliefbase.projections.partition import sets
from beliefbase.projections.reading import Reader
from beliefbase.projections.work import WorkDatabase

LARGE: Final = 100_000
"""Events from which on a second process pays."""


def fold_log(log: EventLog, work: WorkDatabase, progress: Callable[[str, int], None]) -> None:
    """Fill the tables of beliefs and of remarks."""
    loader, beliefs, erased = Loader(work, resolve=False), 0, log.erased()
    for facts, context in sets(log, Reader(log)):
        folded = fold(facts + context, erased={fact.id: erased[fact.id] for fact in facts if fact.id in erased})
        loader.add_lives(list(folded.lives.values()))
        loader.add_notes(folded.notes, facts)
        beliefs += len(folded.lives)
        progress("folding", beliefs)
        del folded
        gc.collect()  # lives refer to one another, and the collector is paused


class Beside:
    """A second process that folds a log; for logs that another process can open, where there is a second core."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._file = folder / "folded.duckdb"
        _remove(self._file)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "beliefbase.projections.folding", str(path), str(self._file)],
            stdin=subprocess.DEVNULL,
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

    def take_over(self, work: WorkDatabase) -> None:
        """Wait for the end and load the result.

        Raises:
            FoldingFailed: the process ended otherwise than it should.
        """
        _, complaint = self._process.communicate()
        if self._process.returncode:
            last = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise FoldingFailed(
                f"the process that folds beliefs ended with status {self._process.returncode}: {last}",
                hint="free some memory and try again",
                status=self._process.returncode,
            )
        work.take_over(self._file, belief_tables() + note_tables())
        _remove(self._file)

    def stop(self) -> None:
        """End it, whatever it is at."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
            _remove(self._file)


def main(log_path: str, file: str) -> None:
    """Fold a log into a new database."""
    log = SQLiteLog(log_path, create=False)
    work = WorkDatabase(Path(file), threads=1)
    work.create(belief_tables() + note_tables())
    with paused():
        fold_log(log, work, lambda _what, _number: None)
    work.close()
    log.close()


def _remove(path: Path) -> None:
    for leftover in (path, path.with_name(path.name + ".wal")):
        leftover.unlink(missing_ok=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
