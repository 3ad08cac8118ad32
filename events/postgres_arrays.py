"""Columns of rows as PostgreSQL takes them: one binary array each, packed at once instead of value by value."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterable
from functools import cache
from itertools import chain
from typing import Any, ClassVar, Final

from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEADER: Final = struct.Struct(">iiIii")
"""Dimensions, whether there are NULLs, type of the elements, how many, number of the first."""
_LENGTH: Final = struct.Struct(">i").pack
_NULL: Final = _LENGTH(-1)


class Array:
    """The values of one column, or a set to look for; ``element`` and ``array`` are the numbers of the types."""

    element: ClassVar[int]
    array: ClassVar[int]

    def __init__(self, values: Collection[Any]) -> None:
        self.values = values

    def packed(self) -> bytes:
        """The array in PostgreSQL's binary format."""
        count = len(self.values)
        head = _HEADER.pack(1, 1, self.element, count, 1) if count else _HEADER.pack(0, 0, self.element, 0, 0)[:12]
        return head + self._elements()

    def _elements(self) -> bytes:
        raise NotImplementedError


class Bytes(Array):
    """``bytea[]``; None is NULL."""

    element = 17
    array = 1001

    def _elements(self) -> bytes:
        parts: Iterable[tuple[bytes, ...]] = (
            (_NULL,) if value is None else (_LENGTH(len(value)), value) for value in self.values
        )
        return b"".join(chain.from_iterable(parts))


class Texts(Bytes):
    """``text[]``; None is NULL."""

    element = 25
    array = 1009

    def __init__(self, values: Collection[str | None]) -> None:
        super().__init__([None if value is None else value.encode() for value in values])


class Integers(Array):
    """``bigint[]``."""

    element = 20
    array = 1016

    def _elements(self) -> bytes:
        return struct.pack(">" + "iq" * len(self.values), *chain.from_iterable((8, value) for value in self.values))


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.packed()


class _BytesDumper(_ArrayDumper):
    oid = Bytes.array


class _TextsDumper(_ArrayDumper):
    oid = Texts.array


class _IntegersDumper(_ArrayDumper):
    oid = Integers.array


_KINDS: Final = {"bytea": Bytes, "text": Texts, "bigint": Integers, "integer": Integers, "smallint": Integers}
_PARAMETER: Final = re.compile(r"%s(?:::(\w+)\[\])?")


def register(connection: Connection[Any]) -> None:
    """Teach a connection to take these as parameters."""
    for kind, dumper in ((Bytes, _BytesDumper), (Texts, _TextsDumper), (Integers, _IntegersDumper)):
        connection.adapters.register_dumper(kind, dumper)


@cache
def kinds(statement: str) -> tuple[type[Array] | None, ...]:
    """For every parameter of a statement the array that it is, by the type that it is cast to there."""
    return tuple(_KINDS.get(name) for name in _PARAMETER.findall(statement))
