"""Events and lives on their way into tables: each to the projections that have columns of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.reasons import Note
from beliefbase.projections import registry
from beliefbase.projections.base import Owner, Projection, Table
from beliefbase.projections.columns import Array, Columns, Same, joined, kept
from beliefbase.projections.reading import Page
from beliefbase.projections.stretches import Stretches
from beliefbase.projections.work import WorkDatabase

ROWS: Final = 122_880
"""Rows of one table that are loaded at once: from so many on, DuckDB writes them once and not into its WAL as well."""


class Loader:
    """Loads what the projections make.

    Args:
        work: The database.
        resolve: Whether ids of copies known to the database become those of entities.
        at_once: Rows of a table to collect before they are loaded, a third of it where they hold words, which may be
            long; call :meth:`finish` after the last ones.
    """

    def __init__(self, work: WorkDatabase, *, resolve: bool, at_once: int = 0) -> None:
        self._work = work
        self._resolve = resolve
        self._waiting: dict[str, list[Mapping[str, Array | Same]]] = {}
        self._rows: dict[str, int] = {}
        self._tables = registry.tables()
        self._at_once = {name: at_once if table.digested else at_once // 3 for name, table in self._tables.items()}
        self._of_events: dict[str, list[Projection]] = {}
        for projection in registry.registered():
            for type_name in projection.TYPES:
                self._of_events.setdefault(type_name, []).append(projection)

    def add_events(self, page: Page[Any]) -> None:
        """Add the rows of events."""
        for batch in page.batches:
            for projection in self._of_events.get(batch.type, ()):
                self._load(projection.of_events(batch))
        if page.dropped:
            for projection in _using("of_dropped"):
                self._load(projection.of_dropped(page.dropped))

    def add_lives(self, lives: Sequence[Life]) -> None:
        """Add the rows of folded beliefs."""
        if lives:
            self.add_stretches(Stretches.of(lives))

    def add_stretches(self, stretches: Stretches) -> None:
        """Add the rows of beliefs' lives."""
        for projection in _using("of_lives"):
            self._load(projection.of_lives(stretches))

    def add_notes(self, notes: Iterable[Note], facts: Iterable[Fact]) -> None:
        """Add the rows of remarks, those about events that are not among ``facts`` excepted."""
        notes = list(notes)
        if notes:
            by_id = {fact.id: fact for fact in facts}
            known = [(note, by_id[note.event]) for note in notes if note.event in by_id]
            for projection in _using("of_notes"):
                self._load(projection.of_notes(known))

    def finish(self) -> None:
        """Load what was collected."""
        for name in list(self._waiting):
            self._flush(name)

    def _load(self, made: Mapping[str, Columns]) -> None:
        for name, columns in made.items():
            table = self._tables[name]
            rows = len(columns[table.key[0]])
            if rows:
                part = {column.name: kept(column.type, columns[column.name]) for column in table.all_columns}
                self._waiting.setdefault(name, []).append(part)
                self._rows[name] = self._rows.get(name, 0) + rows
                if self._rows[name] >= self._at_once[name]:
                    self._flush(name)

    def _flush(self, name: str) -> None:
        table, parts = self._tables[name], self._waiting.pop(name)
        self._rows[name] = 0
        whole = {
            column.name: joined(column.type, [part[column.name] for part in parts]) for column in table.all_columns
        }
        self._work.insert(table, whole, resolve=self._resolve)


def event_tables(types: Collection[str]) -> list[Table]:
    """The tables whose rows stand for one event of these types each."""
    return [
        table
        for projection in registry.registered()
        if not set(projection.TYPES).isdisjoint(types)
        for table in projection.TABLES
        if table.owner is Owner.EVENT
    ]


def belief_tables() -> list[Table]:
    """The tables whose rows stand for a belief's life."""
    return [table for table in registry.tables().values() if table.owner is Owner.BELIEF]


def note_tables() -> list[Table]:
    """The tables whose rows are remarks of the fold."""
    return [table for projection in _using("of_notes") for table in projection.TABLES]


def tables_with_entities() -> list[Table]:
    """The tables in which ids of copies become those of entities."""
    return [table for table in registry.tables().values() if any(column.entity for column in table.columns)]


def _using(method: str) -> list[Projection]:
    return [projection for projection in registry.registered() if projection.uses(method)]
