"""Events and lives on their way into tables: each to the projections that have columns of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

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
"""Rows of one table that are loaded at once: one row group of DuckDB's, which is written once and not into its WAL as
well. Of more rows, the last ones would be a group of their own, and every checkpoint would merge such groups."""
_LETTERS: Final = 1 << 26
"""Letters of one table's texts from which on its rows are loaded sooner."""


class Loader:
    """Loads what the projections make.

    Args:
        work: The database.
        resolve: Whether ids of copies known to the database become those of entities.
        at_once: Rows of a table to load at once, fewer where they hold long words; those that are left wait for more,
            or for :meth:`finish`.
    """

    def __init__(self, work: WorkDatabase, *, resolve: bool, at_once: int = 0) -> None:
        self._work = work
        self._resolve = resolve
        self._waiting: dict[str, list[Mapping[str, Array | Same]]] = {}
        self._rows: dict[str, int] = {}
        self._letters: dict[str, int] = {}
        self._tables = registry.tables()
        self._at_once = at_once
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
                if not table.digested:
                    self._letters[name] = self._letters.get(name, 0) + _letters(part.values())
                if self._letters.get(name, 0) >= _LETTERS or not self._at_once:
                    self._flush(name)
                elif self._rows[name] >= self._at_once:
                    self._flush(name, self._rows[name] % self._at_once)

    def _flush(self, name: str, left: int = 0) -> None:
        """Load what was collected of a table, except for the last rows."""
        table, rows = self._tables[name], self._rows[name] - left
        whole = _whole(table, self._waiting.pop(name))
        self._rows[name], self._letters[name] = left, 0
        if left:
            self._waiting[name] = [{column: values[rows:].copy() for column, values in whole.items()}]
            whole = {column: values[:rows] for column, values in whole.items()}
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


def _whole(table: Table, parts: Sequence[Mapping[str, Array | Same]]) -> Mapping[str, Array | Same]:
    return {column.name: joined(column.type, [part[column.name] for part in parts]) for column in table.all_columns}


def _letters(columns: Iterable[Array | Same]) -> int:
    """How many letters there are in columns, those that are the same in all rows left out."""
    texts = [column.tolist() for column in columns if isinstance(column, np.ndarray) and column.dtype == object]
    return sum(sum(map(len, filter(None, cells))) for cells in texts)


def _using(method: str) -> list[Projection]:
    return [projection for projection in registry.registered() if projection.uses(method)]
