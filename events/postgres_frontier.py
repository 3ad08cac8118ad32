"""The statements about branches and heads in PostgreSQL, and the hashes of the frontier."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from beliefbase.events.envelope import Event
from beliefbase.events.frontier import Branch, bucket_hash, bucket_of, bucket_range
from beliefbase.events.log import Head
from beliefbase.events.postgres_locks import Locks
from beliefbase.events.postgres_statements import Statements, columns


class PostgresFrontier(Statements):
    """The part of :class:`beliefbase.events.tables.Tables` that is about the frontier."""

    _locks: Locks

    def branches(self, writers: Collection[bytes]) -> dict[bytes, dict[str, Branch]]:
        """The branches of these writers, by stream; the main branch of a writer comes first."""
        self._locks.claim(writers)
        found: dict[bytes, dict[str, Branch]] = {}
        if writers:
            for row in self._all(
                "SELECT writer, stream, first, seq, hash, parent FROM heads WHERE writer = ANY(%s::bytea[])"
                " ORDER BY writer, stream",
                (sorted(writers),),
            ):
                found.setdefault(row[0], {})[row[1]] = Branch(*row)
        return found

    def heads(self, buckets: Collection[int] | None = None) -> list[Head]:
        """The heads of all branches, or of those in these buckets, by writer."""
        if buckets is None:
            return list(map(Head._make, self._all("SELECT writer, seq, hash FROM heads ORDER BY writer")))
        if not buckets:
            return []
        rows = self._all(
            "SELECT h.writer, h.seq, h.hash FROM unnest(%s::bytea[], %s::bytea[]) b(least, greatest)"
            " JOIN heads h ON h.writer BETWEEN b.least AND b.greatest ORDER BY h.writer",
            columns([bucket_range(bucket) for bucket in sorted(buckets)]),
        )
        return list(map(Head._make, rows))

    def put_branches(self, branches: Collection[Branch], buckets: Collection[int]) -> None:
        """Write branches as they are now, and mark the buckets of their writers."""
        rows = sorted((b.writer, b.stream, b.first, b.seq, b.hash, b.parent) for b in branches)
        self._run(
            "INSERT INTO heads SELECT * FROM unnest(%s::bytea[], %s::text[], %s::bigint[], %s::bigint[], %s::bytea[],"
            " %s::text[]) ON CONFLICT (writer, stream) DO UPDATE"
            " SET first = excluded.first, seq = excluded.seq, hash = excluded.hash, parent = excluded.parent",
            columns(rows),
        )
        # A mark that is seen here stays until this transaction's end: whoever removes marks does it alone.
        self._run(
            "INSERT INTO dirty SELECT b FROM unnest(%s::integer[]) b"
            " WHERE NOT EXISTS (SELECT FROM dirty WHERE bucket = b)",
            (sorted(buckets),),
        )

    def buckets(self) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The hashes of all buckets, and of those the ones that had to be computed anew."""
        hashes: dict[int, bytes] = dict(self._all("SELECT bucket, hash FROM buckets"))
        marked = {row[0] for row in self._all("SELECT DISTINCT bucket FROM dirty")}
        heads: dict[int, list[Head]] = {bucket: [] for bucket in marked}
        for head in self.heads(marked):
            heads[bucket_of(head.writer)].append(head)
        fresh = {bucket: bucket_hash(found) for bucket, found in heads.items()}
        return hashes | fresh, fresh

    def put_bucket_hashes(self, hashes: Mapping[int, bytes]) -> None:
        """Keep hashes of buckets, computed in this transaction, which is alone, until their heads change."""
        if hashes:
            self._run(
                "INSERT INTO buckets SELECT * FROM unnest(%s::integer[], %s::bytea[])"
                " ON CONFLICT (bucket) DO UPDATE SET hash = excluded.hash",
                columns(sorted(hashes.items())),
            )
            self._run("DELETE FROM dirty WHERE bucket = ANY(%s::integer[])", (sorted(hashes),))

    def forked_writers(self) -> list[bytes]:
        """The writers that have more than one branch."""
        rows = self._all("SELECT writer FROM heads GROUP BY writer HAVING count(*) > 1 ORDER BY writer")
        return [row[0] for row in rows]

    def firsts(self, writers: Collection[bytes]) -> Iterator[Event]:
        """The events with seq 1 of these writers: one of each, more where they forked there."""
        if writers:
            rows = self._all(
                "SELECT e.state FROM unnest(%s::bytea[]) w JOIN heads h ON h.writer = w AND h.first = 1"
                " JOIN events e ON e.originator_id = h.stream AND e.originator_version = 1",
                (sorted(writers),),
            )
            yield from (Event(row[0]) for row in rows)
