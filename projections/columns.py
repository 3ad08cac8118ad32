"""Columns on their way into DuckDB: arrays, never rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from beliefbase.events.lanes import Octets, halves

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.object_]
Cells = Array | Sequence[Any]
"""A column: of ids also as an array with one in each row, which is a fifth of what their texts take."""
Columns = Mapping[str, Cells]


class Same(Sequence[Any]):
    """A column of one value: it is made and loaded once."""

    def __init__(self, value: Any, length: int) -> None:
        self.value, self._length = value, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        return Same(self.value, len(range(self._length)[place])) if isinstance(place, slice) else self.value

    def __iter__(self) -> Iterator[Any]:
        return repeat(self.value, self._length)

    def copy(self) -> Same:
        """Itself: there is nothing behind it that a part would keep in memory."""
        return self


NO_INTEGER: Final = -(1 << 63)
"""Stands for NULL in integer columns; no integer of an event is as low."""
_NO_FLAG: Final = -1


def texts(values: Sequence[str | None]) -> Texts:
    """Texts, None for NULL."""
    return np.array(values, dtype=object)


def shown(ids: Octets) -> Texts:
    """Ids or hashes, one in each row, as they are loaded and shown."""
    found: Texts = np.empty(len(ids), dtype=object)
    if len(ids):
        found[:] = ids.tobytes().hex(" ", ids.shape[1]).split()
    return found


def octets(values: Sequence[bytes], size: int) -> Octets:
    """Values of so many bytes, one in each row; others, which only a damaged store has, are cut or filled up."""
    joined = b"".join(values)
    if len(joined) != size * len(values) or set(map(len, values)) - {size}:
        joined = b"".join([value[:size].ljust(size, b"\0") for value in values])
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, size)


def distinct(ids: Octets) -> tuple[Ints, list[bytes]]:
    """The number of each id, and the different ids by number."""
    parts = halves(ids)
    _, first, numbers = np.unique(parts[:, 0], return_index=True, return_inverse=True)
    if (parts[first][numbers] != parts).any():  # different ids that begin alike
        _, first, numbers = np.unique(parts, axis=0, return_index=True, return_inverse=True)
    return numbers.reshape(-1), [ids[place].tobytes() for place in first.tolist()]


def keys_in(ids: Octets) -> Ints:
    """Row keys of ids, one in each row."""
    return halves(ids)[:, 0].view(np.int64)


def keys_of(ids: Sequence[bytes]) -> Ints:
    """Row keys: the first 8 bytes of ids as signed integers."""
    return np.frombuffer(b"".join([id_[:8] for id_ in ids]), dtype=">i8").astype(np.int64)


def kept(type_name: str, values: Cells) -> Array | Same:
    """A part of a column of a DuckDB type, to be :func:`joined` with others."""
    return values if isinstance(values, np.ndarray | Same) else loadable(type_name, values)


def joined(type_name: str, parts: Sequence[Array | Same]) -> Array | Same:
    """Parts of a column of a DuckDB type, one after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Same) and all(isinstance(part, Same) and part.value == first.value for part in parts):
        return Same(first.value, sum(map(len, parts)))
    if all(isinstance(part, np.ndarray) and part.ndim == 2 for part in parts):
        return np.concatenate(parts)
    return np.concatenate([loadable(type_name, part) for part in parts])


def loadable(type_name: str, values: Cells) -> Array:
    """A column of a DuckDB type as DuckDB takes it; :func:`select` reads it back."""
    if isinstance(values, np.ndarray):
        return shown(values) if values.ndim == 2 else values
    if type_name == "BIGINT":
        try:
            return np.array(values, dtype=np.int64)
        except TypeError:
            return np.array([NO_INTEGER if value is None else value for value in values], dtype=np.int64)
    if type_name == "BOOLEAN":
        return np.array([_NO_FLAG if value is None else value for value in values], dtype=np.int8)
    if type_name == "VARCHAR[]":
        return texts([None if value is None else json.dumps(value) for value in values])
    return texts(values)


def select(type_name: str, name: str) -> str:
    """The SQL that gives a loaded column its type."""
    if type_name == "BIGINT":
        return f"nullif({name}, {NO_INTEGER})"
    if type_name == "BOOLEAN":
        return f"CAST(nullif(CAST({name} AS TINYINT), {_NO_FLAG}) AS BOOLEAN)"
    if type_name == "VARCHAR[]":
        return f"CAST(CAST({name} AS JSON) AS VARCHAR[])"
    return name
