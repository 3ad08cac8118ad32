"""The statements by which an audit reads an SQLite log: what is filed where, whatever has become of the file.

SQLite keeps any type in any column, and compares types before values. So values are read as the type that they should
have, and which have another is told apart: a row that no comparison finds is damage, though its bytes are right.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final

from beliefbase.events.envelope import Event
from beliefbase.events.frontier import BUCKETS, HASHED
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import Filed, FiledHead, Head

_OF_EVENTS: Final = {
    "e.originator_id": "text",
    "e.originator_version": "integer",
    "e.topic": "text",
    "e.state": "blob",
}
_OF_WORDS: Final = {"w.event_id": "blob", "w.salt": "blob", "w.body": "blob"}
_OF_HEADS: Final = {
    "h.writer": "blob",
    "h.stream": "text",
    "h.first": "integer",
    "h.seq": "integer",
    "h.hash": "blob",
}
_SETTINGS: Final[dict[str, type]] = {
    "store_id": bytes,
    "index_version": int,
    "reworded": int,
    "buckets": bytes,
    "process_boot": str,
    "restart_position": int,
    "restart_ms": int,
}


@contextmanager
def cursor_of(connection: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """A cursor that gives plain tuples and is closed in the end; left open, a traceback would keep the file open."""
    cursor = connection.cursor()
    cursor.row_factory = None
    try:
        yield cursor
    finally:
        with suppress(sqlite3.ProgrammingError):  # its connection is closed already
            cursor.close()


def _other_types(columns: Mapping[str, str]) -> str:
    """An expression: the columns that hold another type than these, with it; NULL for none."""
    named = " || ".join(
        f"CASE typeof({column}) WHEN '{kind}' THEN '' ELSE ' {column[2:]} as ' || typeof({column}) END"
        for column, kind in columns.items()
    )
    usual = " AND ".join(f"typeof({column}) = '{kind}'" for column, kind in columns.items())
    return f"CASE WHEN {usual} THEN NULL ELSE {named} END"


_FILED: Final = (
    "SELECT CAST(e.originator_id AS BLOB), CAST(e.originator_version AS INTEGER), CAST(e.topic AS BLOB),"
    " CAST(e.state AS BLOB), CAST(w.salt AS BLOB), CAST(w.body AS BLOB), CAST(w.event_id AS BLOB),"
    f" {_other_types(_OF_EVENTS)}, CASE WHEN w.position IS NULL THEN NULL ELSE {_other_types(_OF_WORDS)} END"
    " FROM events e LEFT JOIN words w ON w.position = e.rowid"
)
_HEADS: Final = (
    "SELECT CAST(h.stream AS BLOB), CAST(h.writer AS BLOB), CAST(h.seq AS INTEGER), CAST(h.hash AS BLOB),"
    f" CAST(h.first AS INTEGER), CAST(h.parent AS BLOB), {_other_types(_OF_HEADS)},"
    " CASE WHEN typeof(h.parent) IN ('text', 'null') THEN NULL ELSE ' parent as ' || typeof(h.parent) END"
    " FROM heads h ORDER BY h.writer, h.stream"
)


class SQLiteFiled:
    """The part of :class:`beliefbase.events.tables.Tables` that is for audits."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor

    def filed(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back, as they are filed, whatever has become of the file."""
        where = "WHERE e.originator_id = ? ORDER BY e.originator_version DESC"
        return (filed for _, filed in self._filed(where, (stream,)))

    def all_filed(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, in the order of arrival turned round, as they are filed."""
        return self._filed("ORDER BY e.rowid DESC", ())

    def _filed(self, where: str, parameters: tuple[str, ...]) -> Iterator[tuple[str, Filed]]:
        with self._own_cursor() as cursor:
            for row in cursor.execute(f"{_FILED} {where}", parameters):
                stream, seq, topic, raw, salt, body, words_of, *other = row
                yield _text(stream), Filed(seq, Event(raw, salt, body), _text(topic), words_of, _listed(other))

    def filed_heads(self) -> Iterator[tuple[str, FiledHead]]:
        """Every branch, as it is filed."""
        with self._own_cursor() as cursor:
            for stream, writer, seq, hash_, first, parent, *other in cursor.execute(_HEADS):
                leaves = None if parent is None else _text(parent)
                yield _text(stream), FiledHead(Head(writer, seq, hash_), first, leaves, _listed(other))

    def loose_words(self) -> list[bytes]:
        """Ids that words are filed under at positions without an event."""
        rows = self._cursor.execute(
            "SELECT CAST(event_id AS BLOB) FROM words w"
            " WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.rowid = w.position) ORDER BY position"
        )
        return [row[0] for row in rows]

    def unusable(self) -> Iterator[str]:
        """What is wrong with settings and buckets that can't have been stored as they are."""
        settings: dict[Any, Any] = dict(self._cursor.execute("SELECT name, value FROM settings").fetchall())
        for name, kind in _SETTINGS.items():
            value = settings.get(name)
            wrong = name in settings and type(value) is not kind
            wrong = wrong or (name == "store_id" and len(value or b"") != ID_BYTES)
            if wrong or (name == "buckets" and len(value or b"") % HASHED.size):
                yield f"the store's setting {name} is missing or is none that a log keeps"
        for bucket, kind, size in self._cursor.execute("SELECT bucket, typeof(hash), length(hash) FROM buckets"):
            if not 0 <= bucket < BUCKETS or (kind, size) not in {("null", None), ("blob", 32)}:
                yield f"row {bucket} of the table buckets is none that a log keeps"

    def _own_cursor(self) -> AbstractContextManager[sqlite3.Cursor]:
        """A cursor in the same transaction, for rows that are read while other statements run."""
        return cursor_of(self._cursor.connection)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _listed(columns: Sequence[str | None]) -> str:
    return ",".join(filter(None, columns)).strip()
