"""The statements about erasures in PostgreSQL: which there are, what they cover, and which words are wanted or go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from beliefbase.events import index
from beliefbase.events.erasure import EXTRACTED, By, Erasure
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.postgres_locks import Locks
from beliefbase.events.postgres_pool import Connection
from beliefbase.events.postgres_statements import Statements
from beliefbase.events.postgres_sweep import UNSWEPT


class PostgresErasures(Statements):
    """Implements :class:`beliefbase.events.tables.ErasureTables` over a connection that is in a transaction."""

    def __init__(self, connection: Connection, locks: Locks) -> None:
        super().__init__(connection)
        self._locks = locks

    # ------------------------------------------------------------------ erasures

    def any(self) -> bool:
        """Whether there is an erasure at all."""
        begun = self._locks.begun()
        if begun is not None:
            return begun.erasures
        return bool(self._all("SELECT EXISTS (SELECT FROM erasures)")[0][0])

    def note(self, erasure: Erasure) -> None:
        """Keep an erasure; it is pending until it is carried out."""
        _, writer, seq, _ = erasure.place
        self._run(
            "INSERT INTO erasures VALUES (%s, %s, %s, %s, %s, true) ON CONFLICT DO NOTHING",
            (erasure.by.id, erasure.subject, erasure.by.hlc, writer, seq),
        )
        begun = self._locks.begun()
        if begun is not None:
            begun.erasures = True

    def of_subjects(self, subjects: Collection[bytes]) -> list[Erasure]:
        """The erasures of these subjects."""
        if not subjects:
            return []
        rows = self._all(
            "SELECT subject, hlc, writer, seq, event_id FROM erasures WHERE subject = ANY(%s::bytea[])",
            (sorted(subjects),),
        )
        return [Erasure(By(hlc, id_), subject, (hlc, writer, seq, id_)) for subject, hlc, writer, seq, id_ in rows]

    def pending(self) -> list[By]:
        """The erasures that were not carried out yet, the earliest first."""
        rows = self._all("SELECT hlc, event_id FROM erasures WHERE pending ORDER BY hlc, event_id")
        return [By(*row) for row in rows]

    def settle(self, erasure: By) -> None:
        """Note that an erasure is carried out, from now on as its events arrive."""
        self._run("UPDATE erasures SET pending = false WHERE event_id = %s", (erasure.id,))

    def settled_until(self) -> int:
        """Stamp of the latest erasure that was carried out, 0 for none."""
        return int(self._all("SELECT coalesce(max(hlc), 0) FROM erasures WHERE NOT pending")[0][0])

    # ------------------------------------------------------------------ coverage

    def coverage(self, positions: Collection[int]) -> dict[int, By]:
        """Of the events at these positions the covered ones, each with the erasure that covers it."""
        rows = self._all(
            "SELECT c.position, c.hlc, c.erasure FROM unnest(%s::bigint[]) p JOIN covered c ON c.position = p",
            (sorted(positions),),
        )
        return {position: By(hlc, erasure) for position, hlc, erasure in rows}

    def covered_by(self, erasure: By) -> list[int]:
        """Positions of the events that this erasure covers, and no earlier one."""
        rows = self._all("SELECT position FROM covered WHERE erasure = %s", (erasure.id,))
        return [row[0] for row in rows]

    def called(self, names: Collection[bytes]) -> dict[int, By]:
        """The covered events whose id or source_ref begins like one of these names."""
        rows = self._all(
            "SELECT c.position, c.hlc, c.erasure FROM unnest(%s::bigint[]) k"
            " JOIN refs r ON r.key = k AND r.role = 0 JOIN covered c ON c.position = r.position",
            (sorted({index.key_of(name) for name in names}),),
        )
        return {position: By(hlc, erasure) for position, hlc, erasure in rows}

    def cover(self, found: Mapping[int, By]) -> None:
        """Write what covers the events at these positions; their words are not wanted."""
        if found:
            positions = sorted(found)
            self._run(
                "INSERT INTO covered SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[])"
                " ON CONFLICT (position) DO UPDATE SET hlc = excluded.hlc, erasure = excluded.erasure",
                (positions, [found[place].hlc for place in positions], [found[place].id for place in positions]),
            )
            self._run("DELETE FROM wanted WHERE position = ANY(%s::bigint[])", (positions,))

    def beliefs(self) -> dict[bytes, tuple[int, bytes]]:
        """The beliefs whose words are covered: id to stamp and id of the erasure."""
        rows = self._all(
            "SELECT e.state, c.hlc, c.erasure FROM covered c JOIN events e ON e.position = c.position"
            " WHERE e.topic >= %s AND e.topic < %s",
            (f"{EXTRACTED}/".encode(), f"{EXTRACTED}0".encode()),
        )
        return {skeleton_hash(state)[:16]: (hlc, erasure) for state, hlc, erasure in rows}

    def noted(self) -> list[tuple[Any, ...]]:
        """All rows (event id, subject, hlc, writer, seq, pending), for audits."""
        return self._all("SELECT event_id, subject, hlc, writer, seq, pending FROM erasures")

    def all_covered(self) -> Iterator[tuple[int, By]]:
        """Positions of all covered events, each with the erasure that covers it, for audits."""
        for position, *by in self._all("SELECT position, hlc, erasure FROM covered ORDER BY position"):
            yield position, By._make(by)

    def count(self) -> int:
        """How many events are covered."""
        return int(self._all("SELECT count(*) FROM covered")[0][0])

    def forget(self) -> None:
        """Empty what can be made anew from the events."""
        for table in ("erasures", "covered"):
            self._run(f"DELETE FROM {table}")

    # ------------------------------------------------------------------ words

    def want(self, positions: Iterable[int]) -> None:
        """Note events whose words are not here, those that an erasure covers excepted."""
        self._run(
            "INSERT INTO wanted SELECT p FROM unnest(%s::bigint[]) p"
            " WHERE NOT EXISTS (SELECT FROM covered c WHERE c.position = p) ON CONFLICT DO NOTHING",
            (sorted(positions),),
        )

    def fill(self, position: int) -> None:
        """Note that words came for an event that was stored without them."""
        self._run("DELETE FROM wanted WHERE position = %s", (position,))
        self.reword()

    def wanted(self) -> list[int]:
        """Positions of the events whose words are not here although no erasure covers them."""
        return [row[0] for row in self._all("SELECT position FROM wanted ORDER BY position")]

    def reworded(self) -> int:
        """How often something became of stored events' words or coverage."""
        rows = self._all("SELECT number FROM settings WHERE name = 'reworded'")
        return int(rows[0][0]) if rows else 0

    def reword(self) -> None:
        """Note that something did."""
        self._run(
            "INSERT INTO settings (name, number) VALUES ('reworded', 1)"
            " ON CONFLICT (name) DO UPDATE SET number = settings.number + 1"
        )

    def delete(self, positions: Collection[int]) -> int:
        """Delete the bodies of the events at these positions; returns how many there were."""
        if not positions:
            return 0
        self._run("SELECT set_config('beliefbase.erasing', 'on', true)")
        gone = self._all("DELETE FROM words WHERE position = ANY(%s::bigint[]) RETURNING 1", (sorted(positions),))
        self._run("SELECT set_config('beliefbase.erasing', 'off', true)")
        self._note_erased(len(gone))
        return len(gone)

    def delete_aside(self, hashes: Collection[bytes]) -> int:
        """Delete the bodies of these events kept aside; returns how many there were."""
        if not hashes:
            return 0
        gone = self._all(
            "UPDATE aside SET salt = NULL, body = NULL WHERE hash = ANY(%s::bytea[]) AND body IS NOT NULL RETURNING 1",
            (sorted(hashes),),
        )
        self._note_erased(len(gone))
        return len(gone)

    def _note_erased(self, bodies: int) -> None:
        if bodies:
            self._run(
                "INSERT INTO settings (name, number) VALUES (%s, pg_current_xact_id()::text::bigint)"
                " ON CONFLICT (name) DO UPDATE SET number = excluded.number",
                (UNSWEPT,),
            )
