"""The statements about events that are kept aside in PostgreSQL, until their predecessor comes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from beliefbase.events.envelope import Event
from beliefbase.events.log import Gap
from beliefbase.events.postgres_statements import Statements, columns


class PostgresAside(Statements):
    """The part of :class:`beliefbase.events.tables.Tables` that is about what is kept aside."""

    def has_aside(self) -> bool:
        """Whether anything is kept aside."""
        return bool(self._one("SELECT EXISTS (SELECT FROM aside)")[0])

    def put_aside(self, rows: Sequence[tuple[bytes, bytes, int, bytes, bytes, bytes | None, bytes | None]]) -> int:
        """Keep events (hash, writer, seq, prev, skeleton, salt, body); returns how many weren't there yet."""
        hashes = [row[0] for row in rows]
        known = self._one("SELECT count(*) FROM aside WHERE hash = ANY(%s::bytea[])", (hashes,))[0]
        self._run(
            "INSERT INTO aside SELECT * FROM unnest(%s::bytea[], %s::bytea[], %s::bigint[], %s::bytea[], %s::bytea[],"
            " %s::bytea[], %s::bytea[]) ON CONFLICT (hash) DO UPDATE SET salt = excluded.salt, body = excluded.body"
            " WHERE aside.body IS NULL AND excluded.body IS NOT NULL",
            columns(rows),
        )
        return len(set(hashes)) - int(known)

    def aside_after(self, hashes: Collection[bytes]) -> list[Event]:
        """What is kept aside and continues one of these skeletons."""
        rows = self._all("SELECT state, salt, body FROM aside WHERE prev = ANY(%s::bytea[])", (sorted(hashes),))
        return [Event(*row) for row in rows]

    def aside_words(self, hashes: Collection[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """Salt and body of those of these skeletons that are kept aside with their words."""
        rows = self._all(
            "SELECT hash, salt, body FROM aside WHERE body IS NOT NULL AND hash = ANY(%s::bytea[])", (sorted(hashes),)
        )
        return {hash: (salt, body) for hash, salt, body in rows}

    def drop_aside(self, hashes: Collection[bytes]) -> int:
        """Remove what was stored after all; returns how many were there."""
        gone = self._all("DELETE FROM aside WHERE hash = ANY(%s::bytea[]) RETURNING 1", (sorted(hashes),))
        return len(gone)

    def aside(self) -> list[Event]:
        """All that is kept aside."""
        rows = self._all("SELECT state, salt, body FROM aside ORDER BY writer, seq, hash")
        return [Event(*row) for row in rows]

    def gaps(self) -> list[Gap]:
        """What is kept aside and waits for something that isn't here at all."""
        rows = self._all(
            "SELECT writer, seq, prev, substring(hash FROM 1 FOR 16) FROM aside a"
            " WHERE NOT EXISTS (SELECT FROM aside b WHERE b.hash = a.prev) ORDER BY writer, seq, hash"
        )
        return [Gap._make(row) for row in rows]
