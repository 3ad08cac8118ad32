"""The statements of a log in PostgreSQL, inside one transaction; no rule of the log is in here.

Many transactions store at once, each under READ COMMITTED, so every statement sees what was committed before it.
Locks (``beliefbase.events.postgres_locks``) do what SQLite's one writer does, and rows that several transactions would
have to change are only added (``dirty``, ``passed``), so that none waits for another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from beliefbase.events import index
from beliefbase.events.envelope import Event
from beliefbase.events.frontier import BUCKETS
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import Filed, FiledHead, Head, Scanned, Stored
from beliefbase.events.postgres_aside import PostgresAside
from beliefbase.events.postgres_erasure import PostgresErasures
from beliefbase.events.postgres_frontier import PostgresFrontier
from beliefbase.events.postgres_index import PostgresIndex
from beliefbase.events.postgres_locks import Locks
from beliefbase.events.postgres_pool import Connection
from beliefbase.events.postgres_signatures import PostgresSignatures
from beliefbase.events.postgres_statements import columns
from beliefbase.events.tables import Found, Placed

_PAGE: Final = 1000
_EVENT: Final = "e.position, e.state, w.salt, w.body FROM {} LEFT JOIN words w ON w.position = e.position"
_BARE: Final = "e.position, e.state, NULL, NULL FROM {}"
_FILED: Final = (
    "SELECT e.position, e.originator_id, e.originator_version, e.topic, e.state, w.salt, w.body, w.event_id"
    " FROM events e LEFT JOIN words w ON w.position = e.position"
)


class PostgresTables(PostgresFrontier, PostgresAside):
    """Implements :class:`beliefbase.events.tables.Tables`.

    Args:
        connection: In a transaction; of one snapshot where nothing is to be stored.
        store_id: That of the log, for the names of its locks.
        storing: Whether locks are taken.
    """

    def __init__(self, connection: Connection, store_id: bytes, *, storing: bool) -> None:
        super().__init__(connection)
        self._locks = Locks(connection, store_id, storing=storing)
        self.erasures = PostgresErasures(connection, self._locks)
        self.signatures = PostgresSignatures(connection)
        self.index = PostgresIndex(connection)
        self.sweep = None

    def alone(self, *, wait: bool = True) -> bool:
        """Hold the log's lock exclusive: nobody else is storing, nor begins to (see the protocol)."""
        return self._locks.alone(wait=wait)

    @property
    def number(self) -> str | None:
        """The server's number of this transaction, where it was asked for."""
        begun = self._locks.begun()
        return None if begun is None else begun.number

    # ------------------------------------------------------------------ settings

    def setting(self, name: str) -> Any:
        """A setting, None where it isn't set."""
        rows = self._all("SELECT number, bytes, string FROM settings WHERE name = %s", (name,))
        return next((value for row in rows for value in row if value is not None), None)

    def change_setting(self, name: str, value: int | bytes | str | None) -> None:
        """Set a setting; None removes it."""
        self._run("DELETE FROM settings WHERE name = %s", (name,))
        if value is not None:
            column = {int: "number", bytes: "bytes", str: "string"}[type(value)]
            self._run(f"INSERT INTO settings (name, {column}) VALUES (%s, %s)", (name, value))

    # ------------------------------------------------------------------ events

    def last_position(self) -> int:
        """The greatest position of an event, 0 for none; later ones may be smaller."""
        return int(self._one("SELECT coalesce(max(position), 0) FROM events")[0])

    def reserve(self, count: int) -> Sequence[int]:
        """The next positions; other transactions have theirs between and behind them."""
        begun = self._locks.begun()
        if begun is not None and count <= len(begun.positions):
            positions, begun.positions = begun.positions[:count], []
            return positions
        rows = self._all("SELECT nextval('positions') FROM generate_series(1, %s)", (count,))
        return [row[0] for row in rows]

    def store(self, placed: Sequence[Placed], positions: Sequence[int]) -> None:
        """Insert events and their index rows at these positions; not their words."""
        skeletons = [event.skeleton for _, event in placed]
        self._run(
            "INSERT INTO events SELECT * FROM"
            " unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bytea[], %s::bytea[], %s::bigint[])",
            (
                list(positions),
                [stream for stream, _ in placed],
                [skeleton.seq for skeleton in skeletons],
                [index.topic(skeleton).encode() for skeleton in skeletons],
                [event.raw for _, event in placed],
                [skeleton.hlc for skeleton in skeletons],
            ),
        )
        rows = (index.rows(position, event) for position, (_, event) in zip(positions, placed, strict=True))
        self.add_index(list(chain.from_iterable(rows)), ())

    def add_words(self, rows: Sequence[tuple[int, bytes, bytes | None, bytes]]) -> None:
        """Insert bodies: (position, event id, salt, body)."""
        if rows:
            self._run(
                "INSERT INTO words SELECT * FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[], %s::bytea[])",
                columns(rows),
            )

    def pages(self, after: int, *, limit: int, words: bool) -> Iterator[list[Stored]]:
        """Pages of all events behind a position, in the order of positions."""
        select = f"SELECT {(_EVENT if words else _BARE).format('events e')}"
        while rows := self._all(f"{select} WHERE e.position > %s ORDER BY e.position LIMIT %s", (after, limit)):
            yield [Stored(position, Event(raw, salt, body)) for position, raw, salt, body in rows]
            after = rows[-1][0]
            if len(rows) < limit:
                return

    def scan(self, *, limit: int) -> Iterator[list[Scanned]]:
        """Pages of all events as they are stored, in the order of positions."""
        select = (
            "SELECT e.position, e.state, w.body FROM events e LEFT JOIN words w ON w.position = e.position"
            " WHERE e.position > %s ORDER BY e.position LIMIT %s"
        )
        after = 0
        while rows := self._all(select, (after, limit)):
            yield [(position, raw, body) for position, raw, body in rows]
            after = rows[-1][0]

    def scan_at(self, positions: Sequence[int]) -> list[Scanned]:
        """The events at these positions as they are stored, in their order; without their words."""
        rows = self._all(
            "SELECT e.position, e.state FROM unnest(%s::bigint[]) WITH ORDINALITY p(position, place)"
            " JOIN events e ON e.position = p.position ORDER BY p.place",
            (list(positions),),
        )
        return [(position, raw, None) for position, raw in rows]

    def stream(self, stream: str, *, after: int = 0, words: bool = True) -> Iterator[Stored]:
        """The events of a stream behind a seq, in seq order."""
        what = (_EVENT if words else _BARE).format("events e")
        statement = (
            f"SELECT e.originator_version, {what} WHERE e.originator_id = %s AND e.originator_version > %s"
            " ORDER BY e.originator_version LIMIT %s"
        )
        while rows := self._all(statement, (stream, after, _PAGE)):
            yield from (Stored(position, Event(raw, salt, body)) for _, position, raw, salt, body in rows)
            after = rows[-1][0]
            if len(rows) < _PAGE:
                return

    def filed(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back, as they are filed."""
        before = (1 << 63) - 1
        where = "WHERE e.originator_id = %s AND e.originator_version < %s ORDER BY e.originator_version DESC LIMIT %s"
        while rows := self._all(f"{_FILED} {where}", (stream, before, _PAGE)):
            yield from (_filed(row) for row in rows)
            before = rows[-1][2]

    def all_filed(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, in the order of positions turned round, as they are filed."""
        before = (1 << 63) - 1
        while rows := self._all(f"{_FILED} WHERE e.position < %s ORDER BY e.position DESC LIMIT %s", (before, _PAGE)):
            yield from ((row[1], _filed(row)) for row in rows)
            before = rows[-1][0]

    def filed_heads(self) -> Iterator[tuple[str, FiledHead]]:
        """Every branch, as it is filed."""
        for stream, first, parent, *head in self._all(
            "SELECT stream, first, parent, writer, seq, hash FROM heads ORDER BY writer, stream"
        ):
            yield stream, FiledHead(Head._make(head), first, parent)

    def unusable(self) -> Iterator[str]:
        """What is wrong with settings and buckets that can't have been stored as they are."""
        store_id = self.setting("store_id")
        if not isinstance(store_id, bytes) or len(store_id) != ID_BYTES:
            yield "the store's setting store_id is missing or is none that a log keeps"
        for name in ("index_version", "reworded"):
            if not isinstance(self.setting(name), int | None):
                yield f"the store's setting {name} is missing or is none that a log keeps"
        odd = "SELECT bucket FROM {} WHERE bucket NOT BETWEEN 0 AND %s{} ORDER BY bucket"
        for table, more in (("buckets", " OR length(hash) NOT IN (0, 32)"), ("dirty", "")):
            for (bucket,) in self._all(odd.format(table, more), (BUCKETS - 1,)):
                yield f"row {bucket} of the table {table} is none that a log keeps"

    def loose_words(self) -> list[bytes]:
        """Ids that words are filed under at positions without an event."""
        rows = self._all(
            "SELECT event_id FROM words w WHERE NOT EXISTS (SELECT FROM events e WHERE e.position = w.position)"
            " ORDER BY position"
        )
        return [row[0] for row in rows]

    def stream_ids(self) -> list[str]:
        """Every stream that has events, from the events themselves."""
        rows = self._all(
            "WITH RECURSIVE found(id) AS (SELECT min(originator_id) FROM events UNION ALL"
            " SELECT (SELECT min(originator_id) FROM events WHERE originator_id > id) FROM found WHERE id IS NOT NULL)"
            " SELECT id FROM found WHERE id IS NOT NULL"
        )
        return [row[0] for row in rows]

    def at(self, stream: str, seq: int) -> Found | None:
        """The event of a stream with this seq."""
        rows = self._all(
            "SELECT position, originator_id, state, EXISTS (SELECT FROM words w WHERE w.position = e.position)"
            " FROM events e WHERE originator_id = %s AND originator_version = %s",
            (stream, seq),
        )
        return Found._make(rows[0]) if rows else None

    def of_type(self, name: str, *, words: bool) -> list[Event]:
        """All events of a type, of any version."""
        found = self.by_position(self.positions(name), words=words)
        return [stored.event for stored in found if stored.event.skeleton.type == name]

    def positions(self, name: str) -> list[int]:
        """Positions of the events of a type, of any version, rising."""
        rows = self._all(
            "SELECT position FROM events WHERE topic >= %s AND topic < %s ORDER BY position",
            (f"{name}/".encode(), f"{name}0".encode()),
        )
        return [row[0] for row in rows]

    # ------------------------------------------------------------------ index

    def add_index(self, refs: list[tuple[int, int, int]], stamps: Sequence[tuple[int]]) -> None:
        """Insert index rows (key, role, position); the stamps are in the events."""
        if refs:
            rows = sorted(set(refs))  # neighbours of the tree share pages
            self._run(
                "INSERT INTO refs SELECT * FROM unnest(%s::bigint[], %s::smallint[], %s::bigint[])", columns(rows)
            )

    def max_stamp(self, below: int) -> int:
        """The largest stamp that is at most ``below``, 0 for none."""
        return int(self._one("SELECT coalesce(max(hlc), 0) FROM events WHERE hlc <= %s", (below,))[0])

    def naming(self, names: Collection[bytes], roles: Collection[int], *, words: bool = False) -> list[Stored]:
        """The events that name any of these names in any of these roles, in the order of positions."""
        of_position = index.named_at(names, lambda keys: self.links(keys, roles)) if roles else {}
        return [
            stored
            for stored in self.by_position(sorted(of_position), words=words)
            if index.names(stored.event, of_position[stored.position])
        ]

    def shared(self, roles: Collection[int], *, limit: int) -> Iterator[list[str]]:
        """Pages of the keys that several index rows of some roles have: the positions of these, with commas."""
        select = (
            "SELECT key, string_agg(position::text, ',') FROM refs"
            " WHERE role = ANY(%s::smallint[]) AND key >= %s::bigint"
            " GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT %s"
        )
        first = -(1 << 63)
        while rows := self._all(select, (sorted(map(int, roles)), first, limit)):
            yield [positions for _, positions in rows]
            first = rows[-1][0] + 1
            if first == 1 << 63:
                break

    def links(self, keys: Iterable[int], roles: Collection[int]) -> list[tuple[int, int]]:
        """The index rows (key, position) of some keys in some roles."""
        return self._all(
            "SELECT r.key, r.position FROM unnest(%s::bigint[]) k"
            " JOIN refs r ON r.key = k AND r.role = ANY(%s::smallint[])",
            (sorted(keys), sorted(map(int, roles))),
        )

    def by_position(self, positions: Sequence[int], *, words: bool = False) -> list[Stored]:
        """The events at these positions, in their order."""
        places = "unnest(%s::bigint[]) WITH ORDINALITY p(position, place) JOIN events e ON e.position = p.position"
        statement = f"SELECT {(_EVENT if words else _BARE).format(places)} ORDER BY p.place"
        return [
            Stored(position, Event(raw, salt, body))
            for start in range(0, len(positions), 10 * _PAGE)
            for position, raw, salt, body in self._all(statement, (list(positions[start : start + 10 * _PAGE]),))
        ]

    def forget_index(self) -> None:
        """Empty the index, the tips, and what erasures cover."""
        self.erasures.forget()
        for table in ("refs", "tips", "passed"):
            self._run(f"DELETE FROM {table}")

    def tips(self, keys: Collection[bytes]) -> dict[bytes, set[bytes]]:
        """The latest fate-changing revisions of each key that has any."""
        found: dict[bytes, set[bytes]] = {}
        if keys:
            for key, event_id in self._all(
                "SELECT t.key, t.event_id FROM tips t WHERE t.key = ANY(%s::bytea[])"
                " AND NOT EXISTS (SELECT FROM passed p WHERE p.key = t.key AND p.event_id = t.event_id)",
                (sorted(keys),),
            ):
                found.setdefault(key, set()).add(event_id)
        return found

    def change_tips(self, added: Iterable[tuple[bytes, bytes]], removed: Iterable[tuple[bytes, bytes]]) -> None:
        """Remove, then add rows (key, event id); a removed one never comes back."""
        for table, rows in (("passed", sorted(removed)), ("tips", sorted(added))):
            if rows:
                self._run(f"INSERT INTO {table} SELECT * FROM unnest(%s::bytea[], %s::bytea[])", columns(rows))


def _filed(row: tuple[Any, ...]) -> Filed:
    _, _, seq, topic, raw, salt, body, words_of = row
    return Filed(seq, Event(raw, salt, body), topic.decode("utf-8", "replace"), words_of)
