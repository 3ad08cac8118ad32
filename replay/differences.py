"""How read models differ from their replay: table by table, with the belief, the interval, the events and the rule."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import duckdb

from beliefbase.beliefs.rules import FOREVER
from beliefbase.events.catalog import Role
from beliefbase.events.envelope import Event
from beliefbase.events.hlc import ms_of
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog
from beliefbase.projections import registry
from beliefbase.projections.base import Table
from beliefbase.projections.projector import Projector
from beliefbase.replay.report import Finding

ROWS: Final = 3
"""Differing rows that are told of one table."""
MAKERS: Final = 10
"""Events that are told of one row."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Comparison:
    """Compares a database that is attached to a fresh replay's connection with that replay.

    Args:
        log: What was replayed.
        fresh: The replay.
        alias: Name that the other database is attached under.
        where: What people call it.
        behind: Whether it was made from an earlier frontier; words may have come or been erased since then.
    """

    def __init__(self, log: EventLog, fresh: Projector, alias: str, where: str, *, behind: bool = False) -> None:
        self._behind = behind
        self._log = log
        self._fresh = fresh
        self._alias = alias
        self._where = where
        self.tables = self.rows = 0
        """How much was compared."""

    def findings(self) -> Iterator[Finding]:
        """Every difference; of one table the first few rows, and how many there are."""
        names = registry.tables()
        counts = ", ".join(f"(SELECT count(*) FROM work.{name})" for name in names)
        self.rows = sum(self._fresh.rows(f"SELECT {counts}")[0])
        for table in names.values():
            yield from self._table(table)
        yield from self._definitions()

    def _table(self, table: Table) -> Iterator[Finding]:
        self.tables += 1
        try:
            if not self._differs(table):
                return
            if self._behind and not table.digested:
                what = f"{self._where} holds other words than the log does by now, such as some that were erased since"
                yield Finding("note", "rebuild", f"{what}; `beliefbase project` brings it up to date", table=table.name)
                return
            lacking, surplus = self._beyond(table, "work", self._alias), self._beyond(table, self._alias, "work")
        except duckdb.Error as error:
            what = f"{self._where} has not the table that the replay gives: {str(error).splitlines()[0]}"
            yield Finding("drift", "rebuild", what, table=table.name)
            return
        for row in lacking:
            yield self._differing(table, row, f"{self._where} lacks the row", "gives")
        for row in surplus:
            yield self._differing(table, row, f"{self._where} has the row", "does not give")
        if len(lacking) == ROWS or len(surplus) == ROWS:
            yield Finding("drift", "rebuild", f"{self._where} differs in more rows", table=table.name)

    def _differs(self, table: Table) -> bool:
        """Whether any row stands more often on one side than on the other: one pass over both."""
        if self._same_in_order(table):
            return False
        columns = ", ".join(f'"{column.name}"' for column in table.all_columns)
        return bool(
            self._fresh.rows(
                f"SELECT 1 FROM (SELECT {columns}, 1 AS side FROM work.{table.name} UNION ALL"
                f" SELECT {columns}, -1 FROM {self._alias}.{table.name})"
                f" GROUP BY {columns} HAVING sum(side) <> 0 LIMIT 1"
            )
        )

    def _same_in_order(self, table: Table) -> bool:
        """Whether both have the same rows in the same order, as most tables do: that takes a fifth of the time."""
        mine, other = f"work.{table.name}", f"{self._alias}.{table.name}"
        different = " OR ".join(f'm."{column.name}" IS DISTINCT FROM o."{column.name}"' for column in table.all_columns)
        ((same,),) = self._fresh.rows(
            f"SELECT (SELECT count(*) FROM {mine}) = (SELECT count(*) FROM {other})"
            f" AND NOT EXISTS (SELECT 1 FROM {mine} m POSITIONAL JOIN {other} o WHERE {different})"
        )
        return bool(same)

    def _beyond(self, table: Table, one: str, other: str) -> list[dict[str, Any]]:
        names = [column.name for column in table.all_columns]
        columns = ", ".join(f'"{name}"' for name in names)
        order = ", ".join(f'"{name}"' for name in table.key)
        found = self._fresh.rows(
            f"SELECT * FROM (SELECT {columns} FROM {one}.{table.name} EXCEPT ALL SELECT {columns} FROM"
            f" {other}.{table.name}) ORDER BY {order}, {columns} LIMIT {ROWS}"
        )
        return [dict(zip(names, row, strict=True)) for row in found]

    def _differing(self, table: Table, row: dict[str, Any], has: str, gives: str) -> Finding:
        names = [column.name for column in table.columns] if table.digested else list(table.key)
        shown = ", ".join(f"{name}={row[name]!r}" for name in names)
        if not table.digested:
            shown += "; words are not repeated here"  # a report outlives an erasure
        belief = row.get("belief_id")
        makers = makers_of(self._log, belief or row.get(table.key[0]))
        owner = row.get(table.key[0])
        types = {event.id.hex(): event.skeleton.type for event in makers}
        return Finding(
            "drift",
            "rebuild",
            f"{has} ({shown}) that the replay {gives}",
            table=table.name,
            belief=belief if isinstance(belief, str) else None,
            event=owner if isinstance(owner, str) and owner != belief and owner in types else None,
            interval=_interval(row),
            rule=self._rule(row, types),
            events=tuple(types),
        )

    def _rule(self, row: dict[str, Any], types: dict[str, str]) -> str | None:
        """What the replay says of the belief at that place, and what brought that about."""
        belief, since = row.get("belief_id"), row.get("since_hlc")
        if not isinstance(belief, str) or not isinstance(since, int):
            return None
        found = self._fresh.rows(
            "SELECT status, stale, contested, forked, cause_id, by_id FROM work.belief_intervals"
            " WHERE belief_id = ? AND since_hlc <= ? AND ? < until_hlc",
            [belief, since, since],
        )
        if not found:
            return "no stretch of this belief's life holds that moment"
        status, stale, contested, forked, cause, by = found[0]
        flags = [name for name, on in (("stale", stale), ("contested", contested), ("forked", forked)) if on]
        maker = by or cause
        made = f"by {types.get(maker, 'event')} {maker}" if maker else "by the passing of time"
        return " ".join([status, *flags, made])

    def _definitions(self) -> Iterator[Finding]:
        """Who changes views and macros changes what analysts read; by a table's collation its texts are compared."""
        tables = "SELECT database_name, table_name, sql FROM duckdb_tables() WHERE NOT internal"
        views = "SELECT database_name, view_name, sql FROM duckdb_views() WHERE NOT internal"
        macros = (
            "SELECT database_name, function_name, parameters::VARCHAR || macro_definition FROM duckdb_functions()"
            " WHERE NOT internal"
        )
        for kind, select in (("table", tables), ("view", views), ("macro", macros)):
            mine: set[tuple[str, str]] = set()
            other: set[tuple[str, str]] = set()
            for database, name, definition in self._fresh.rows(select):
                if database in {"work", self._alias}:
                    (mine if database == "work" else other).add((name, definition))
            for name in sorted({name for name, _ in mine ^ other}):
                yield Finding("drift", "rebuild", f"{self._where} has another definition of the {kind}", table=name)


def makers_of(log: EventLog, key: object) -> list[Event]:
    """The events that a row about this belief or event is made from, earliest first."""
    if not isinstance(key, str) or len(key) != 2 * ID_BYTES:
        return []
    try:
        named = bytes.fromhex(key)
    except ValueError:
        return []
    found = log.naming([named], [Role.SELF, Role.STATE])
    order = {event.id: (event.skeleton.hlc, event.skeleton.writer, event.skeleton.seq, event.id) for event in found}
    return sorted(found, key=lambda event: order[event.id])[:MAKERS]


def clock(ms: int) -> str:
    """A moment in UTC, to the millisecond; far ones as their number."""
    if not 0 <= ms < 253_402_300_800_000:
        return f"{ms} ms"
    return (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _interval(row: dict[str, Any]) -> str | None:
    since, until = row.get("since_hlc"), row.get("until_hlc")
    if not isinstance(since, int) or not isinstance(until, int):
        return None
    return f"from {clock(ms_of(since))} " + ("on" if until >= FOREVER else f"to {clock(ms_of(until))}")
