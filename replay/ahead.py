"""A replay in another process, begun while part (a) of an audit still looks at the log (ADR 0031)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from beliefbase.events.log import EventLog
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.beside import LARGE
from beliefbase.projections.orphans import end_with_parent
from beliefbase.projections.projector import Projector
from beliefbase.replay.integrity import Progress

_TOLD: Final = "progress.txt"
_SOON: Final = 0.1
"""Seconds between two looks at how far it is."""


class Ahead:
    """The process, and the folder into which it projects; both go with :meth:`stop`."""

    def __init__(self, path: Path, folder: Path, as_of_ms: int) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="audit-", dir=folder, ignore_cleanup_errors=True)
        self.folder = Path(self._scratch.name)
        with (self.folder / _TOLD).open("wb") as told:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(path), str(self.folder), str(as_of_ms)],
                stdin=subprocess.PIPE,
                stdout=told,
                stderr=subprocess.DEVNULL,
            )

    def done(self, progress: Progress) -> bool:
        """Wait for the end; False where it came to none, and whoever does the same will see why."""
        while self._process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SOON)
            what, _, number = (self.folder / _TOLD).read_text("ascii").rstrip("\n").rpartition("\n")[2].partition(" ")
            if number.isdigit():
                progress(what, int(number))
        return self._process.returncode == 0

    def stop(self) -> None:
        """End it, whatever it is at, and remove what it made."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._scratch.cleanup()


@contextmanager
def ahead(log: EventLog, folder: Path, as_of_ms: int) -> Iterator[Ahead | None]:
    """Start one for the length of a block, where another process can open the log and that pays; else None."""
    begun = None
    if sys.executable and len(os.sched_getaffinity(0)) > 1 and type(log) is SQLiteLog and log.last_position() >= LARGE:
        with suppress(OSError):  # who replays here will say what is wrong with the folder
            folder.mkdir(parents=True, exist_ok=True)
            begun = Ahead(log.path, folder, as_of_ms)
    try:
        yield begun
    finally:
        if begun is not None:
            begun.stop()


def main(log_path: str, folder: str, as_of_ms: str) -> None:
    """Project a log into a folder, telling how far it is."""
    end_with_parent()
    log = SQLiteLog(log_path, create=False)
    with Projector(log, Path(folder), progress=_tell) as projector:
        projector.rebuild(int(as_of_ms))
    log.close()


def _tell(what: str, number: int) -> None:
    sys.stdout.write(f"{what} {number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
