"""The statements about erasures: which there are, what they cover, and which words are wanted or go."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from beliefbase.events import index
from beliefbase.events.erasure import EXTRACTED, By, Erasure
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.sqlite_filed import cursor_of

REWORDED: Final = "reworded"
"""Setting: how often something became of stored events' words, or of their coverage, after they had been stored."""


class SQLiteErasures:
    """Implements :class:`beliefbase.events.tables.ErasureTables` through a cursor that is in a transaction."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor

    # ------------------------------------------------------------------ erasures

    def any(self) -> bool:
        """Whether there is an erasure at all."""
        return self._cursor.execute("SELECT 1 FROM erasures LIMIT 1").fetchone() is not None

    def note(self, erasure: Erasure) -> None:
        """Keep an erasure; it is pending until it is carried out."""
        _, writer, seq, _ = erasure.place
        row = (erasure.by.id, erasure.subject, erasure.by.hlc, writer, seq)
        self._cursor.execute("INSERT OR IGNORE INTO erasures VALUES (?, ?, ?, ?, ?, 1)", row)

    def of_subjects(self, subjects: Collection[bytes]) -> list[Erasure]:
        """The erasures of these subjects."""
        select = "SELECT hlc, writer, seq, event_id FROM erasures WHERE subject = ?"
        return [
            Erasure(By(hlc, id_), subject, (hlc, writer, seq, id_))
            for subject in subjects
            for hlc, writer, seq, id_ in self._cursor.execute(select, (subject,)).fetchall()
        ]

    def pending(self) -> list[By]:
        """The erasures that were not carried out yet, the earliest first."""
        rows = self._cursor.execute("SELECT hlc, event_id FROM erasures WHERE pending ORDER BY hlc, event_id")
        return [By(*row) for row in rows]

    def settle(self, erasure: By) -> None:
        """Note that an erasure is carried out, from now on as its events arrive."""
        self._cursor.execute("UPDATE erasures SET pending = 0 WHERE event_id = ?", (erasure.id,))

    def settled_until(self) -> int:
        """Stamp of the latest erasure that was carried out, 0 for none."""
        row = self._cursor.execute("SELECT ifnull(max(hlc), 0) FROM erasures WHERE NOT pending").fetchone()
        return int(row[0])

    # ------------------------------------------------------------------ coverage

    def coverage(self, positions: Collection[int]) -> dict[int, By]:
        """Of the events at these positions the covered ones, each with the erasure that covers it."""
        rows = self._cursor.execute(
            "SELECT c.position, c.hlc, c.erasure FROM json_each(?) p JOIN covered c ON c.position = p.value",
            (json.dumps(sorted(positions)),),
        )
        return {position: By(hlc, erasure) for position, hlc, erasure in rows}

    def covered_by(self, erasure: By) -> list[int]:
        """Positions of the events that this erasure covers, and no earlier one."""
        rows = self._cursor.execute("SELECT position FROM covered WHERE erasure = ?", (erasure.id,))
        return [row[0] for row in rows]

    def called(self, names: Collection[bytes]) -> dict[int, By]:
        """The covered events whose id or source_ref begins like one of these names."""
        rows = self._cursor.execute(
            "SELECT c.position, c.hlc, c.erasure FROM json_each(?) k"
            " CROSS JOIN refs r ON r.key = k.value AND r.role = 0 JOIN covered c ON c.position = r.position",
            (json.dumps(sorted({index.key_of(name) for name in names})),),
        )
        return {position: By(hlc, erasure) for position, hlc, erasure in rows}

    def cover(self, found: Mapping[int, By]) -> None:
        """Write what covers the events at these positions; their words are not wanted."""
        self._cursor.executemany(
            "INSERT OR REPLACE INTO covered VALUES (?, ?, ?)", [(p, by.hlc, by.id) for p, by in sorted(found.items())]
        )
        self._cursor.executemany("DELETE FROM wanted WHERE position = ?", [(position,) for position in found])

    def beliefs(self) -> dict[bytes, tuple[int, bytes]]:
        """The beliefs whose words are covered: id to stamp and id of the erasure."""
        rows = self._cursor.execute(
            "SELECT e.state, c.hlc, c.erasure FROM covered c JOIN events e ON e.rowid = c.position"
            " WHERE e.topic >= ? AND e.topic < ?",
            (f"{EXTRACTED}/", f"{EXTRACTED}0"),
        )
        return {skeleton_hash(state)[:16]: (hlc, erasure) for state, hlc, erasure in rows}

    def noted(self) -> list[tuple[Any, ...]]:
        """All rows (event id, subject, hlc, writer, seq, pending), for audits."""
        return self._cursor.execute("SELECT event_id, subject, hlc, writer, seq, pending FROM erasures").fetchall()

    def all_covered(self) -> Iterator[tuple[int, By]]:
        """Positions of all covered events, each with the erasure that covers it, for audits."""
        with cursor_of(self._cursor.connection) as cursor:
            for position, *by in cursor.execute("SELECT position, hlc, erasure FROM covered ORDER BY position"):
                yield position, By._make(by)

    def count(self) -> int:
        """How many events are covered."""
        return int(self._cursor.execute("SELECT count(*) FROM covered").fetchone()[0])

    def forget(self) -> None:
        """Empty what can be made anew from the events."""
        for table in ("erasures", "covered"):
            self._cursor.execute(f"DELETE FROM {table}")

    # ------------------------------------------------------------------ words

    def want(self, positions: Iterable[int]) -> None:
        """Note events whose words are not here, those that an erasure covers excepted."""
        self._cursor.executemany(
            "INSERT OR IGNORE INTO wanted SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM covered WHERE position = ?1)",
            [(position,) for position in positions],
        )

    def fill(self, position: int) -> None:
        """Note that words came for an event that was stored without them."""
        self._cursor.execute("DELETE FROM wanted WHERE position = ?", (position,))
        self.reword()

    def wanted(self) -> list[int]:
        """Positions of the events whose words are not here although no erasure covers them."""
        return [row[0] for row in self._cursor.execute("SELECT position FROM wanted ORDER BY position")]

    def reworded(self) -> int:
        """How often something became of stored events' words or coverage."""
        row = self._cursor.execute("SELECT value FROM settings WHERE name = ?", (REWORDED,)).fetchone()
        return 0 if row is None else int(row[0])

    def reword(self) -> None:
        """Note that something did."""
        self._cursor.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (REWORDED, self.reworded() + 1))

    def delete(self, positions: Collection[int]) -> int:
        """Delete the bodies of the events at these positions; returns how many there were."""
        self._cursor.execute("INSERT OR REPLACE INTO settings VALUES ('erasing', 1)")
        self._cursor.executemany("DELETE FROM words WHERE position = ?", [(position,) for position in positions])
        deleted = self._cursor.rowcount
        self._cursor.execute("DELETE FROM settings WHERE name = 'erasing'")
        return max(deleted, 0)

    def delete_aside(self, hashes: Collection[bytes]) -> int:
        """Delete the bodies of these events kept aside; returns how many there were."""
        self._cursor.executemany(
            "UPDATE aside SET salt = NULL, body = NULL WHERE hash = ? AND body IS NOT NULL", [(h,) for h in hashes]
        )
        return max(self._cursor.rowcount, 0)
