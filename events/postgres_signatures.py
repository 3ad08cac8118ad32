"""The statements about signed heads, inside one transaction of a log in PostgreSQL: the newest of each branch."""

from __future__ import annotations

from collections.abc import Collection

from beliefbase.events.log import SignedHead
from beliefbase.events.postgres_statements import Statements


class PostgresSignatures(Statements):
    """Implements :class:`beliefbase.events.tables.SignatureTables` over a connection that is in a transaction."""

    def put(self, stream: str, signed: SignedHead) -> None:
        """Keep the newest signature of a branch."""
        self._run(
            "INSERT INTO signatures VALUES (%s, %s, %s, %s, %s) ON CONFLICT (stream) DO UPDATE"
            " SET writer = excluded.writer, seq = excluded.seq, hash = excluded.hash, signature = excluded.signature",
            (stream, *signed),
        )

    def at(self, stream: str) -> SignedHead | None:
        """The newest signature of a branch."""
        return next(iter(self._found("WHERE stream = %s", (stream,))), None)

    def all(self) -> list[SignedHead]:
        """The signatures of all branches, by stream."""
        return self._found("ORDER BY stream", ())

    def of(self, writers: Collection[bytes]) -> list[SignedHead]:
        """The signatures of the branches of these writers, by stream."""
        return self._found("WHERE writer = ANY(%s::bytea[]) ORDER BY stream", (sorted(writers),))

    def _found(self, which: str, parameters: tuple[object, ...]) -> list[SignedHead]:
        rows = self._all(f"SELECT writer, seq, hash, signature FROM signatures {which}", parameters)
        return list(map(SignedHead._make, rows))
