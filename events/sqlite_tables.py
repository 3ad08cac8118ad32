"""The statements of an SQLite log, inside one transaction; no rule of the log is in here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from beliefbase.events import index
from beliefbase.events.envelope import Event
from beliefbase.events.frontier import HASHED, Branch, bucket_hash, bucket_range
from beliefbase.events.log import Gap, Head, Scanned, Stored
from beliefbase.events.sqlite_erasure import SQLiteErasures
from beliefbase.events.sqlite_filed import SQLiteFiled
from beliefbase.events.sqlite_index import SQLiteIndex
from beliefbase.events.sqlite_rows import Rows
from beliefbase.events.sqlite_signatures import SQLiteSignatures
from beliefbase.events.tables import Found, Placed

if TYPE_CHECKING:
    from beliefbase.events.sqlite_sweep import SQLiteSweep

_PARAMETERS: Final = 900
"""Most values in one IN list: below the least limit that SQLite is built with."""
_EVENT: Final = "e.rowid, e.state, w.salt, w.body FROM {} LEFT JOIN words w ON w.position = e.rowid"
_BARE: Final = "e.rowid, e.state, NULL, NULL FROM {}"
_EVENTS: Final = Rows("INSERT INTO events", 5, blobs=[4])
_WORDS: Final = Rows("INSERT INTO words", 4, blobs=[1, 3])
_REFS: Final = Rows("INSERT OR IGNORE INTO refs", 3)
_STAMPS: Final = Rows("INSERT OR IGNORE INTO stamps", 1)
_TIPS: Final = Rows("INSERT OR IGNORE INTO tips", 2, blobs=[0, 1])


class SQLiteTables(SQLiteFiled):
    """Implements :class:`beliefbase.events.tables.Tables` through a cursor that is in a transaction."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        super().__init__(cursor)
        self.erasures = SQLiteErasures(cursor)
        self.signatures = SQLiteSignatures(cursor)
        self.index = SQLiteIndex(cursor)

    @property
    def sweep(self) -> SQLiteSweep:
        """The log as an audit sweeps through it."""
        from beliefbase.events.sqlite_sweep import SQLiteSweep  # who only appends does without numpy

        return SQLiteSweep(self._cursor.connection)

    def alone(self, *, wait: bool = True) -> bool:
        """Whether nobody else is storing: always, a file has one writer at a time."""
        return True

    # ------------------------------------------------------------------ settings

    def setting(self, name: str) -> Any:
        """A setting, None where it isn't set."""
        row = self._cursor.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def change_setting(self, name: str, value: int | bytes | str | None) -> None:
        """Set a setting; None removes it."""
        if value is None:
            self._cursor.execute("DELETE FROM settings WHERE name = ?", (name,))
        else:
            self._cursor.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    # ------------------------------------------------------------------ events

    def last_position(self) -> int:
        """Position of the newest event, 0 for none."""
        return int(self._cursor.execute("SELECT ifnull(max(rowid), 0) FROM events").fetchone()[0])

    def reserve(self, count: int) -> Sequence[int]:
        """The positions after the newest event's."""
        last = self.last_position()
        return range(last + 1, last + 1 + count)

    def store(self, placed: Sequence[Placed], positions: Sequence[int]) -> None:
        """Insert events and their index rows at these positions; not their words."""
        events, refs, stamps = [], [], []
        for position, (stream, event) in zip(positions, placed, strict=True):
            skeleton = event.skeleton
            events.append((position, stream, skeleton.seq, index.topic(skeleton), event.raw))
            refs += index.rows(position, event)
            stamps.append((skeleton.hlc,))
        _EVENTS.insert(self._cursor, events)
        self.add_index(refs, stamps)

    def add_words(self, rows: Sequence[tuple[int, bytes, bytes | None, bytes]]) -> None:
        """Insert bodies: (position, event id, salt, body)."""
        _WORDS.insert(self._cursor, rows)

    def pages(self, after: int, *, limit: int, words: bool) -> Iterator[list[Stored]]:
        """Pages of all events behind a position, in arrival order."""
        what = (_EVENT if words else _BARE).format("events e")
        with self._own_cursor() as cursor:
            cursor.execute(f"SELECT {what} WHERE e.rowid > ? ORDER BY e.rowid", (after,))
            while rows := cursor.fetchmany(limit):
                yield [Stored(position, Event(raw, salt, body)) for position, raw, salt, body in rows]

    def scan(self, *, limit: int) -> Iterator[list[Scanned]]:
        """Pages of all events as they are stored, in arrival order."""
        yield from self._paged(
            "SELECT e.rowid, e.state, w.body FROM events e LEFT JOIN words w ON w.position = e.rowid ORDER BY e.rowid",
            limit,
        )

    def positions(self, name: str) -> list[int]:
        """Positions of the events of a type, of any version, rising."""
        select = "SELECT json_group_array(rowid) FROM events WHERE topic >= ?1 || '/' AND topic < ?1 || '0'"
        found: list[int] = json.loads(self._cursor.execute(select, (name,)).fetchone()[0])
        return sorted(found)

    def scan_at(self, positions: Sequence[int]) -> list[Scanned]:
        """The events at these positions as they are stored, in their order; without their words."""
        return self._cursor.execute(
            "SELECT p.value, e.state, NULL FROM json_each(?) p CROSS JOIN events e ON e.rowid = p.value",
            (json.dumps(positions),),
        ).fetchall()

    def shared(self, roles: Collection[int], *, limit: int) -> Iterator[list[str]]:
        """Pages of the keys that several index rows of some roles have: the positions of these, with commas."""
        select = f"SELECT group_concat(position) FROM refs WHERE role IN ({_listed(roles)})"
        for rows in self._paged(f"{select} GROUP BY key HAVING count(*) > 1", limit):
            yield [positions for (positions,) in rows]

    def links(self, keys: Iterable[int], roles: Collection[int]) -> list[tuple[int, int]]:
        """The index rows (key, position) of some keys in some roles."""
        return self._cursor.execute(
            "SELECT r.key, r.position FROM json_each(?) k CROSS JOIN refs r"
            f" ON r.key = k.value AND r.role IN ({_listed(roles)})",
            (json.dumps(sorted(keys)),),
        ).fetchall()

    def _paged(self, sql: str, limit: int) -> Iterator[list[Any]]:
        with self._own_cursor() as cursor:
            cursor.execute(sql)
            while rows := cursor.fetchmany(limit):
                yield rows

    def stream(self, stream: str, *, after: int = 0, words: bool = True) -> Iterator[Stored]:
        """The events of a stream behind a seq, in seq order."""
        what = (_EVENT if words else _BARE).format("events e")
        with self._own_cursor() as cursor:
            cursor.execute(
                f"SELECT {what} WHERE e.originator_id = ? AND e.originator_version > ? ORDER BY e.originator_version",
                (stream, after),
            )
            for position, raw, salt, body in cursor:
                yield Stored(position, Event(raw, salt, body))

    def stream_ids(self) -> list[str]:
        """Every stream that has events, from the events themselves."""
        found: list[str] = []
        row = self._cursor.execute("SELECT min(originator_id) FROM events").fetchone()
        while row[0] is not None:
            found.append(row[0])
            row = self._cursor.execute("SELECT min(originator_id) FROM events WHERE originator_id > ?", row).fetchone()
        return found

    def at(self, stream: str, seq: int) -> Found | None:
        """The event of a stream with this seq."""
        row = self._cursor.execute(
            "SELECT rowid, originator_id, state, EXISTS (SELECT 1 FROM words w WHERE w.position = e.rowid)"
            " FROM events e WHERE originator_id = ? AND originator_version = ?",
            (stream, seq),
        ).fetchone()
        return None if row is None else Found._make(row)

    def of_type(self, name: str, *, words: bool) -> list[Event]:
        """All events of a type, of any version."""
        what = (_EVENT if words else _BARE).format("events e")
        rows = self._cursor.execute(
            f"SELECT {what} WHERE e.topic >= ? || '/' AND e.topic < ? || '0' ORDER BY e.rowid", (name, name)
        )
        events = [Event(raw, salt, body) for _, raw, salt, body in rows]
        return [event for event in events if event.skeleton.type == name]

    # ------------------------------------------------------------------ index

    def add_index(self, refs: list[tuple[int, int, int]], stamps: Sequence[tuple[int]]) -> None:
        """Insert index rows (key, role, position), and stamps."""
        refs.sort()  # neighbours of the tree share pages
        _REFS.insert(self._cursor, refs)
        _STAMPS.insert(self._cursor, stamps)

    def max_stamp(self, below: int) -> int:
        """The largest stamp that is at most ``below``, 0 for none."""
        return int(
            self._cursor.execute("SELECT ifnull(max(hlc), 0) FROM stamps WHERE hlc <= ?", (below,)).fetchone()[0]
        )

    def naming(self, names: Collection[bytes], roles: Collection[int], *, words: bool = False) -> list[Stored]:
        """The events that name any of these names in any of these roles, in arrival order."""
        of_position = index.named_at(names, lambda keys: self.links(keys, roles))
        return [
            stored
            for stored in self.by_position(sorted(of_position), words=words)
            if index.names(stored.event, of_position[stored.position])
        ]

    def by_position(self, positions: Sequence[int], *, words: bool = False) -> list[Stored]:
        """The events at these positions, in their order."""
        what = (_EVENT if words else _BARE).format("json_each(?) p CROSS JOIN events e ON e.rowid = p.value")
        rows = self._cursor.execute(f"SELECT {what}", (json.dumps(positions),))
        return [Stored(position, Event(raw, salt, body)) for position, raw, salt, body in rows]

    def forget_index(self) -> None:
        """Empty the index, the tips, the stamps and what erasures cover."""
        self.erasures.forget()
        for table in ("refs", "tips", "stamps"):
            self._cursor.execute(f"DELETE FROM {table}")

    def tips(self, keys: Collection[bytes]) -> dict[bytes, set[bytes]]:
        """The latest fate-changing revisions of each key that has any."""
        found: dict[bytes, set[bytes]] = {}
        for key, event_id in self._among("SELECT key, event_id FROM tips WHERE key IN ({})", keys):
            found.setdefault(key, set()).add(event_id)
        return found

    def change_tips(self, added: Iterable[tuple[bytes, bytes]], removed: Iterable[tuple[bytes, bytes]]) -> None:
        """Remove, then add rows (key, event id)."""
        self._cursor.executemany("DELETE FROM tips WHERE key = ? AND event_id = ?", sorted(removed))
        _TIPS.insert(self._cursor, sorted(added))

    # ------------------------------------------------------------------ frontier

    def branches(self, writers: Collection[bytes]) -> dict[bytes, dict[str, Branch]]:
        """The branches of these writers, by stream; the main branch of a writer comes first."""
        found: dict[bytes, dict[str, Branch]] = {}
        for row in self._among(
            "SELECT writer, stream, first, seq, hash, parent FROM heads WHERE writer IN ({}) ORDER BY writer, stream",
            writers,
        ):
            found.setdefault(row[0], {})[row[1]] = Branch(*row)
        return found

    def heads(self, buckets: Collection[int] | None = None) -> list[Head]:
        """The heads of all branches, or of those in these buckets, by writer."""
        select, execute = "SELECT writer, seq, hash FROM heads", self._cursor.execute
        if buckets is None:
            return list(map(Head._make, execute(f"{select} ORDER BY writer")))
        inside = f"{select} WHERE writer BETWEEN ? AND ? ORDER BY writer"
        return [Head._make(row) for bucket in sorted(buckets) for row in execute(inside, bucket_range(bucket))]

    def put_branches(self, branches: Collection[Branch], buckets: Collection[int]) -> None:
        """Write branches as they are now, and mark the buckets of their writers."""
        self._cursor.executemany(
            "INSERT OR REPLACE INTO heads (writer, stream, first, seq, hash, parent) VALUES (?, ?, ?, ?, ?, ?)",
            [(b.writer, b.stream, b.first, b.seq, b.hash, b.parent) for b in branches],
        )
        self._cursor.executemany(
            "INSERT INTO buckets VALUES (?, NULL) ON CONFLICT DO UPDATE SET hash = NULL WHERE hash IS NOT NULL",
            [(bucket,) for bucket in sorted(buckets)],
        )

    def buckets(self) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The hashes of all buckets, and of those the ones that had to be computed anew."""
        # All in one value: rows would take longer to read than everything else that a sync of a few writers does.
        hashes: dict[int, bytes] = dict(HASHED.iter_unpack(self.setting("buckets") or b""))
        fresh = {}
        for bucket, hash in self._cursor.execute("SELECT bucket, hash FROM buckets").fetchall():
            hashes[bucket] = fresh[bucket] = self._bucket_hash(bucket) if hash is None else hash
        return hashes, fresh

    def put_bucket_hashes(self, hashes: Mapping[int, bytes]) -> None:
        """Keep hashes of buckets, of all that have to be computed anew, until their heads change."""
        kept = dict(HASHED.iter_unpack(self.setting("buckets") or b""))
        self.change_setting("buckets", b"".join(HASHED.pack(*item) for item in (kept | dict(hashes)).items()))
        self._cursor.execute("DELETE FROM buckets")

    def _bucket_hash(self, bucket: int) -> bytes:
        inside = "SELECT writer, seq, hash FROM heads WHERE writer BETWEEN ? AND ?"
        return bucket_hash(self._cursor.execute(inside, bucket_range(bucket)).fetchall())

    def forked_writers(self) -> list[bytes]:
        """The writers that have more than one branch."""
        rows = self._cursor.execute("SELECT writer FROM heads GROUP BY writer HAVING count(*) > 1")
        return [row[0] for row in rows]

    def firsts(self, writers: Collection[bytes]) -> Iterator[Event]:
        """The events with seq 1 of these writers: one of each, more where they forked there."""
        for row in self._among(
            "SELECT e.state FROM heads h JOIN events e ON e.originator_id = h.stream AND e.originator_version = 1"
            " WHERE h.first = 1 AND h.writer IN ({})",
            writers,
        ):
            yield Event(row[0])

    # ------------------------------------------------------------------ aside

    def has_aside(self) -> bool:
        """Whether anything is kept aside."""
        return self._cursor.execute("SELECT 1 FROM aside LIMIT 1").fetchone() is not None

    def put_aside(self, rows: Sequence[tuple[bytes, bytes, int, bytes, bytes, bytes | None, bytes | None]]) -> int:
        """Keep events (hash, writer, seq, prev, skeleton, salt, body); returns how many weren't there yet."""
        before = self._cursor.execute("SELECT count(*) FROM aside").fetchone()[0]
        self._cursor.executemany(
            "INSERT INTO aside VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET salt = excluded.salt, body = excluded.body WHERE body IS NULL AND excluded.body IS NOT NULL",
            rows,
        )
        return int(self._cursor.execute("SELECT count(*) FROM aside").fetchone()[0] - before)

    def aside_after(self, hashes: Collection[bytes]) -> list[Event]:
        """What is kept aside and continues one of these skeletons."""
        rows = self._among("SELECT state, salt, body FROM aside WHERE prev IN ({})", hashes)
        return [Event(*row) for row in rows]

    def aside_words(self, hashes: Collection[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """Salt and body of those of these skeletons that are kept aside with their words."""
        rows = self._among("SELECT hash, salt, body FROM aside WHERE body IS NOT NULL AND hash IN ({})", hashes)
        return {hash: (salt, body) for hash, salt, body in rows}

    def drop_aside(self, hashes: Collection[bytes]) -> int:
        """Remove what was stored after all; returns how many were there."""
        self._cursor.executemany("DELETE FROM aside WHERE hash = ?", [(hash,) for hash in hashes])
        return self._cursor.rowcount

    def aside(self) -> list[Event]:
        """All that is kept aside."""
        rows = self._cursor.execute("SELECT state, salt, body FROM aside ORDER BY writer, seq, hash")
        return [Event(*row) for row in rows]

    def gaps(self) -> list[Gap]:
        """What is kept aside and waits for something that isn't here at all."""
        rows = self._cursor.execute(
            "SELECT writer, seq, prev, substr(hash, 1, 16) FROM aside a"
            " WHERE NOT EXISTS (SELECT 1 FROM aside b WHERE b.hash = a.prev) ORDER BY writer, seq, hash"
        )
        return [Gap._make(row) for row in rows]

    def _among(self, statement: str, values: Collection[bytes]) -> Iterator[tuple[Any, ...]]:
        ordered = sorted(values)
        for start in range(0, len(ordered), _PARAMETERS):
            chunk = ordered[start : start + _PARAMETERS]
            yield from self._cursor.execute(statement.format(", ".join("?" * len(chunk))), chunk).fetchall()


def _listed(roles: Collection[int]) -> str:
    return ", ".join(str(int(role)) for role in sorted(roles))
