"""Rows that are gathered in any order and read by key: in memory while they are few, then in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from beliefbase.events.lanes import Array, Octets

SHELVES: Final = 256
"""How many parts of the keys are read apart: of 100 million rows each has some 400,000."""
ROOM: Final = 1 << 24
"""Bytes of rows that are kept in memory."""


class Spill:
    """Rows of one width, each with the shelf that it belongs on."""

    def __init__(self, width: int, dtype: npt.DTypeLike) -> None:
        self._width, self._dtype = width, np.dtype(dtype)
        self._rows: list[Array] = []
        self._shelves: list[Octets] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._ends: list[Array] = []
        """Of each run in the file where its shelves end, in rows from the beginning of the file."""
        self._stored = 0

    def add(self, rows: Array, shelves: Octets) -> None:
        """Gather rows."""
        if len(rows):
            self._rows.append(rows)
            self._shelves.append(shelves)
            self._bytes += rows.nbytes
            if self._bytes > ROOM:
                self._write()

    @property
    def spilled(self) -> bool:
        """Whether not all is in memory."""
        return self._file is not None

    def take(self, first: int, last: int) -> Array:
        """The rows of one shelf; those of several only of a spill that is in memory, and then of all."""
        if last > first:
            return np.concatenate([np.zeros((0, self._width), self._dtype), *self._rows])
        if self._rows:
            self._write()
        return np.concatenate([np.zeros((0, self._width), self._dtype), *self._runs(first)])

    def _runs(self, number: int) -> Iterator[Array]:
        size, file = self._width * self._dtype.itemsize, self._file
        for ends in self._ends:
            start, end = int(ends[number]), int(ends[number + 1])
            if file is not None and end > start:
                file.seek(start * size)
                octets: npt.NDArray[Any] = np.frombuffer(file.read((end - start) * size), dtype=np.uint8)
                yield octets.view(self._dtype).reshape(-1, self._width)

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="beliefbase-")  # noqa: SIM115  closed with the spill
        shelves = np.concatenate(self._shelves)
        order = np.argsort(shelves, kind="stable")
        counts = np.bincount(shelves, minlength=SHELVES)
        self._ends.append(self._stored + np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))
        self._stored += len(order)
        self._file.seek(0, 2)
        self._file.write(np.concatenate(self._rows).take(order, axis=0).tobytes())
        self._rows, self._shelves, self._bytes = [], [], 0

    def close(self) -> None:
        """Remove what is in the file."""
        if self._file is not None:
            self._file.close()
