"""What a disk may hold after a power cut: a trace of what was asked of it, and the states that each moment allows.

What was written and not yet synced may be there or not, by sectors, in any mixture; the write that was under way may
have stopped at any byte. A file's name is there for sure once a journal made beside it was synced, which is when SQLite
syncs the folder; a deletion that nobody asked to be durable may be undone. Bytes outside of a write are never touched:
SQLite presumes that as well.
"""

from pathlib import Path
from typing import NamedTuple

from tests.faults.vfs import Watcher

SECTOR = 512


class Write(NamedTuple):
    path: str
    offset: int
    data: bytes


class Truncate(NamedTuple):
    path: str
    size: int


class Sync(NamedTuple):
    path: str


class Create(NamedTuple):
    path: str


class Delete(NamedTuple):
    path: str
    durably: bool


class Done(NamedTuple):
    """The program was told that this is stored."""

    what: object


class Trace(Watcher):
    """Takes down everything that changes files, and what the program was told in between."""

    def __init__(self):
        self.steps = []

    def opened(self, path, new):
        if new:
            self.steps.append(Create(path))

    def wrote(self, path, offset, data):
        self.steps.append(Write(path, offset, data))

    def truncated(self, path, size):
        self.steps.append(Truncate(path, size))

    def synced(self, path):
        self.steps.append(Sync(path))

    def deleted(self, path, durably):
        self.steps.append(Delete(path, durably))

    def done(self, what):
        self.steps.append(Done(what))


class Disk:
    """Follows a trace step by step; ``contents`` gives a state that a cut just now may leave."""

    def __init__(self):
        self._kept = {}
        """By path what the disk keeps for sure: the bytes of each file whose name it keeps."""
        self._pending = {}
        """By path of each file that programs see: writes and cuts since it was synced last."""
        self._unsure = {}
        """Files that were deleted, and may be back."""
        self._nameless = {}
        """Files that were made and synced, but whose names no sync has reached: their bytes."""
        self._last_written = None
        self.done = []

    def step(self, step):
        match step:
            case Create(path):
                self._nameless[path] = b""
                self._pending[path] = []
                self._unsure.pop(path, None)
                self._kept.pop(path, None)
            case Write(path) | Truncate(path):
                self._pending[path].append(step)
                self._last_written = path
            case Sync(path):
                before = self._nameless if path in self._nameless else self._kept
                before[path] = _applied(before[path], self._pending[path])
                self._pending[path] = []
                if path in self._nameless and not path.endswith(".db"):  # SQLite syncs the folder with a new journal
                    self._kept |= self._nameless
                    self._nameless.clear()
                    self._unsure.clear()
            case Delete(path, durably):
                self._pending.pop(path)
                self._nameless.pop(path, None)
                if path in self._kept:
                    self._unsure[path] = self._kept.pop(path)
                if durably:
                    self._unsure.clear()
            case Done(what):
                self.done.append(what)

    def kept(self):
        """The least: nothing but what was synced."""
        return {**self._kept, **self._unsure}

    def written(self):
        """The most: everything, as after the end of the process alone."""
        before = {**self._nameless, **self._kept}
        return {path: _applied(before[path], steps) for path, steps in self._pending.items()}

    def torn(self, rng):
        """Everything but the end of the last write."""
        found = self.written()
        steps = self._pending.get(self._last_written)
        if steps and isinstance(steps[-1], Write):
            before = {**self._nameless, **self._kept}[self._last_written]
            part = steps[-1]._replace(data=steps[-1].data[: rng.randrange(len(steps[-1].data))])
            found[self._last_written] = _applied(before, [*steps[:-1], part])
        return found

    def mixed(self, rng):
        """Any of the sectors that were not synced, any of the names."""
        found = {path: data for path, data in self._unsure.items() if rng.random() < 0.5}
        nameless = self._nameless if rng.random() < 0.5 else {}
        for path, data in {**nameless, **self._kept}.items():
            steps = []
            for step in self._pending[path]:
                if isinstance(step, Truncate):
                    steps += [step] if rng.random() < 0.5 else []
                    continue
                for start in range(0, len(step.data), SECTOR):
                    if rng.random() < 0.5:
                        steps.append(Write(path, step.offset + start, step.data[start : start + SECTOR]))
            found[path] = _applied(data, steps)
        return found

    def _last(self, kind):
        return next(
            (s for steps in reversed(self._pending.values()) for s in reversed(steps) if isinstance(s, kind)), None
        )


def put(files, folder):
    """Write the files of a state into a folder of its own."""
    folder.mkdir()
    for path, data in files.items():
        (folder / Path(path).name).write_bytes(data)
    return folder


def _applied(data, steps):
    found = bytearray(data)
    for step in steps:
        if isinstance(step, Truncate):
            del found[step.size :]
        else:
            found.extend(bytes(max(0, step.offset - len(found))))
            found[step.offset : step.offset + len(step.data)] = step.data
    return bytes(found)
