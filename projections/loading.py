"""Events on their way into tables: each event to the projections that have rows of it, rows to DuckDB in bulk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.reasons import Note
from beliefbase.projections import registry
from beliefbase.projections.base import Dropped, Owner, Read, Rows, Table
from beliefbase.projections.stretches import Stretches
from beliefbase.projections.work import WorkDatabase

FLUSH_ROWS = 100_000
"""Rows of one table that are collected before they are loaded."""


class Loader:
    """Collects rows and loads them; with ``resolve``, against the copies that are in the database already."""

    def __init__(self, work: WorkDatabase, *, resolve: bool) -> None:
        self._work = work
        self._resolve = resolve
        self._tables = registry.tables()
        self._rows = Rows()
        self._pending = 0
        projections = registry.registered()
        self._of_event: dict[str, list[Callable[[Read, Rows], None]]] = {}
        for projection in projections:
            for type_ in projection.TYPES:
                self._of_event.setdefault(type_, []).append(projection.of_event)
        self._of_unreadable = [p.of_unreadable for p in projections if p.uses("of_unreadable")]
        self._of_lives = [p for p in projections if p.uses("of_lives")]
        self._of_notes = [p.of_notes for p in projections if p.uses("of_notes")]

    def add_events(self, events: Iterable[Read | Dropped], *, without: Collection[bytes] = ()) -> None:
        """Add the rows of events, those of ``without`` (copies) excepted."""
        rows, of_event = self._rows, self._of_event
        for event in events:
            if isinstance(event, Read):
                if not without or event.event_id not in without:
                    for handler in of_event.get(event.type, ()):
                        handler(event, rows)
            else:
                for drop in self._of_unreadable:
                    drop(event, rows)
        self._flush(FLUSH_ROWS)

    def add_lives(self, lives: Sequence[Life]) -> None:
        """Load the rows of folded beliefs."""
        if not lives:
            return
        stretches = Stretches(lives)
        for projection in self._of_lives:
            for name, columns in projection.of_lives(stretches).items():
                self._work.insert_columns(self._tables[name], columns)

    def add_notes(self, notes: Iterable[Note], facts: Iterable[Fact]) -> None:
        """Add the rows of remarks, those about events that are not among ``facts`` excepted."""
        for handler in self._of_notes:
            handler(notes, facts, self._rows)

    def finish(self) -> None:
        """Load what is left."""
        self._flush(1)

    def _flush(self, least: int) -> None:
        for name, rows in self._rows.items():
            if len(rows) >= least:
                self._work.insert(self._tables[name], rows, resolve=self._resolve)
                rows.clear()


def event_tables(types: Collection[str]) -> list[Table]:
    """The tables whose rows stand for one event of these types each."""
    return [
        table
        for projection in registry.registered()
        if not types or not set(projection.TYPES).isdisjoint(types)
        for table in projection.TABLES
        if table.owner is Owner.EVENT
    ]


def belief_tables() -> list[Table]:
    """The tables whose rows stand for a belief's life."""
    return [table for table in registry.tables().values() if table.owner is Owner.BELIEF]


def note_tables() -> list[Table]:
    """The tables whose rows are remarks of the fold."""
    return [table for p in registry.registered() if p.uses("of_notes") for table in p.TABLES]


def tables_with_entities() -> list[Table]:
    """The tables in which ids of copies become those of entities."""
    return [table for table in registry.tables().values() if any(column.entity for column in table.columns)]
