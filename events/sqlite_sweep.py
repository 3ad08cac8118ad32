"""The statements by which an audit sweeps through an SQLite log, inside one snapshot.

Values are read as they are stored. SQLite's types come as those of Python, so that a look at a column's types shows
whether all of it is stored as a log stores it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

import numpy as np

from beliefbase.events.filed_pages import FiledPage, Irregular, Spoken
from beliefbase.events.ids import HASH_BYTES, ID_BYTES, hashes_of
from beliefbase.events.lanes import Ints, Joined, Octets
from beliefbase.events.sqlite_filed import cursor_of

_EVENTS: Final = "SELECT rowid, originator_id, originator_version, topic, state FROM events ORDER BY rowid DESC"
_WORDS: Final = "SELECT position, salt, body, event_id FROM words WHERE position BETWEEN ? AND ? ORDER BY position DESC"
_REFS: Final = (
    "SELECT json_group_array(key), json_group_array(role), json_group_array(position) FROM (SELECT key, role, position"
    " FROM refs WHERE (key, role, position) > (?, ?, ?) AND key <= ? ORDER BY key, role, position LIMIT ?)"
)
_STAMPS: Final = "SELECT json_group_array(hlc) FROM (SELECT hlc FROM stamps WHERE hlc > ? ORDER BY hlc LIMIT ?)"
_SPOKEN: Final = 100
"""Words that are read at once: they may be long."""
_OCTETS: Final = 1 << 24
"""A page ends behind so many bytes of skeletons."""
_RUN: Final = 200
"""Rows that are taken apart at once: a few hundred stay in the processor's cache."""
_ROWS: Final = 20_000
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1


class SQLiteSweep:
    """Implements :class:`beliefbase.events.filed_pages.Sweep` on a connection that is in a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def last_position(self) -> int:
        """Position of the newest event."""
        with self._rows("SELECT ifnull(max(rowid), 0) FROM events") as cursor:
            return int(cursor.fetchone()[0])

    def pages(self, limit: int) -> Iterator[FiledPage]:
        """All events, the newest first, and all words."""
        before = _LAST + 1
        with self._rows(_EVENTS) as cursor:
            while len((events := _events(cursor, limit)).positions):
                places, digests, of = self._spoken(events.positions, before - 1)
                yield events._replace(with_words=places, digests=digests, words_of=of)
                before = int(events.positions[-1])
        with self._rows("SELECT 1 FROM words WHERE position <= ? LIMIT 1", max(before - 1, _FIRST)) as cursor:
            if cursor.fetchone() is not None:
                raise Irregular

    def _spoken(self, positions: Ints, most: int) -> tuple[Ints, list[bytes], list[bytes]]:
        """Of some positions those that have words, what these come to, and whose they are filed under."""
        at, digests, of = array("q"), list[bytes](), list[bytes]()
        sha256 = hashlib.sha256
        try:
            with self._rows(_WORDS, int(positions[-1]), most) as cursor:
                while rows := cursor.fetchmany(_SPOKEN):
                    places, salts, bodies, ids = zip(*rows, strict=True)
                    at += array("q", places)
                    digests += [sha256(salt + body).digest() for salt, body in zip(salts, bodies, strict=True)]
                    of += ids
                    if len(at) > len(positions):
                        raise Irregular
        except TypeError as error:  # nothing else can be hashed than bytes
            raise Irregular from error
        if set(map(type, of)) - {bytes}:
            raise Irregular
        return _places(positions, np.asarray(at)), digests, of

    def words(self, least: int, most: int) -> Iterator[Spoken]:
        """The words that are filed at positions between these two, falling."""
        with self._rows(_WORDS, least, most) as cursor:
            yield from cursor

    def refs(self, least: int, most: int) -> Iterator[Ints]:
        """Rows (key, role, position) of the index with keys between these two, ascending."""
        after: tuple[int, ...] = (least, -1, 0)
        while True:
            with self._rows(_REFS, *after, most, _ROWS) as cursor:
                columns = [_integers(text) for text in cursor.fetchone()]
            if not len(columns[0]):
                return
            yield np.stack(columns, axis=1)
            after = tuple(int(column[-1]) for column in columns)

    def tips(self, least: bytes, below: bytes | None) -> Iterator[Octets]:
        """The tips with keys between these two, ascending."""
        sql = "SELECT key, event_id FROM tips WHERE key >= ?{} ORDER BY key, event_id"
        bounds = (least,) if below is None else (least, below)
        with self._rows(sql.format("" if below is None else " AND key < ?"), *bounds) as cursor:
            while rows := cursor.fetchmany(_ROWS):
                flat = list(chain.from_iterable(rows))
                if set(map(type, flat)) != {bytes} or set(map(len, flat)) != {ID_BYTES}:
                    raise Irregular
                yield np.frombuffer(b"".join(flat), dtype=np.uint8).reshape(-1, 2 * ID_BYTES)

    def stamps(self) -> Iterator[Ints]:
        """All stamps."""
        after = _FIRST
        while True:
            with self._rows(_STAMPS, after, _ROWS) as cursor:
                stamps = _integers(cursor.fetchone()[0])
            if not len(stamps):
                return
            yield stamps
            after = int(stamps[-1])

    def counts(self) -> tuple[int, int]:
        """How many rows the index has, and how many tips."""
        with self._rows("SELECT (SELECT count(*) FROM refs), (SELECT count(*) FROM tips)") as cursor:
            refs, tips = cursor.fetchone()
            return refs, tips

    @contextmanager
    def _rows(self, sql: str, *parameters: Any) -> Iterator[sqlite3.Cursor]:
        try:
            with cursor_of(self._connection) as cursor:
                cursor.execute(sql, parameters)
                yield cursor
        except sqlite3.Error as error:  # as it is read row by row, it is told which row can't be read
            raise Irregular from error


class _Numbers(dict[Any, int]):
    """A number for each value that is asked for."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number


def _events(cursor: sqlite3.Cursor, limit: int) -> FiledPage:
    """The next rows of events, at most so many; fewer where skeletons are long. Nothing is said about words."""
    positions, streams, seqs, topics, lengths = (array("q") for _ in range(5))
    names, titles = _Numbers(), _Numbers()
    raws, hashes, octets = list[bytes](), list[bytes](), 0
    try:
        while octets < _OCTETS and len(positions) < limit:
            rows = cursor.fetchmany(min(_RUN, limit - len(positions)))
            if not rows:
                break
            at, named, numbered, titled, skeletons = zip(*rows, strict=True)
            positions += array("q", at)
            streams.extend(map(names.__getitem__, named))
            seqs += array("q", numbered)
            topics.extend(map(titles.__getitem__, titled))
            lengths.extend(map(len, skeletons))
            hashes.append(b"".join(hashes_of(skeletons)))
            raws.append(b"".join(skeletons))
            octets += len(raws[-1])
    except TypeError as error:  # an array takes nothing else than integers, and nothing else can be hashed than bytes
        raise Irregular from error
    if set(map(type, chain(names, titles))) - {str}:
        raise Irregular
    joined = Joined(raws, np.asarray(lengths))
    return FiledPage(
        positions=np.asarray(positions),
        streams=np.asarray(streams),
        seqs=np.asarray(seqs),
        topics=np.asarray(topics),
        hashes=np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, HASH_BYTES),
        starts=joined.bounds[:-1],
        ends=joined.bounds[1:],
        with_words=np.zeros(0, np.int64),
        digests=[],
        words_of=[],
        joined=joined,
        stream_names=list(names),
        topic_names=list(titles),
    )


def _integers(text: str) -> Ints:
    """A list of integers in JSON, which is four times as fast to get as rows of them."""
    octets = text.encode()
    if octets.translate(None, b"[,-0123456789]"):  # a text stands in quotes, a real has a point
        raise Irregular
    return np.fromstring(octets[1:-1], np.int64, sep=",") if len(octets) > 2 else np.zeros(0, np.int64)


def _places(positions: Ints, spoken: Ints) -> Ints:
    """The places of some positions among others; both fall."""
    falling, wanted = -positions, -spoken
    if (falling[1:] <= falling[:-1]).any() or (wanted[1:] <= wanted[:-1]).any():
        raise Irregular
    places = np.searchsorted(falling, wanted)
    if len(wanted) and (places[-1] >= len(falling) or (falling[places] != wanted).any()):
        raise Irregular
    return places
