"""What a projection is: a name, a version, tables, and the columns that events and lives of beliefs give.

A projection is one module of this package that binds ``PROJECTION``; it is found by a scan (``registry.py``), and
no other file names it. Its tables hold nothing that depends on ``as_of``, on arrival or on what is parked: status,
flags and counts at a time are views (``sql/``). Text that people wrote stands in tables of its own, outside of
every digest, because words can be erased (DESIGN 1 and 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar, Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.reasons import Note
from beliefbase.events.envelope import Skeleton
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns
from beliefbase.projections.stretches import Stretches


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str
    """DuckDB type: VARCHAR, BIGINT, BOOLEAN or VARCHAR[]."""
    comment: str
    entity: bool = False
    """Holds the id of an entity: the id of a copy is shown as that of the entity's earliest event."""


class Owner(Enum):
    """What a row stands and falls with."""

    EVENT = "event"
    """The event whose id the owning column holds; a copy of an entity has no rows but those of its earliest event."""
    MESSAGE = "message"
    """As EVENT, but copies have rows of their own."""
    BELIEF = "belief"
    """The life of the belief whose id the owning column holds: rewritten when that belief is folded again."""
    VALUE = "value"
    """Nothing: equal rows of several events are one row."""


class Table(NamedTuple):
    """A table that a projection fills."""

    name: str
    comment: str
    owner: Owner
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """Columns that order the rows totally; the first is the owning column."""
    digested: bool = True
    """False for tables made from words."""

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The columns as they are stored, the row key first."""
        return self.columns if self.owner is Owner.VALUE else (ROW_KEY, *self.columns)


ROW_KEY: Final = Column(
    "row_key", "BIGINT", "First 8 bytes of the id in the next column as an integer: a short key for joins"
)
"""Rows are found by it; it need not be unique, so the id is compared as well."""


class Dropped(NamedTuple):
    """A stored event that this release can't use, and why."""

    event_id: bytes
    skeleton: Skeleton
    reason: str
    detail: str


class Projection:
    """Base of every projection: override what it has columns of, by table and column."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1
    """Other rows for the same log = another version: what was stored is rebuilt."""
    TABLES: ClassVar[tuple[Table, ...]]
    TYPES: ClassVar[tuple[str, ...]] = ()
    """Event types that :meth:`of_events` is asked about."""

    def of_events(self, events: Batch) -> Mapping[str, Columns]:
        """What events of one type give by themselves."""
        raise NotImplementedError

    def of_lives(self, lives: Stretches) -> Mapping[str, Columns]:
        """What folded beliefs give."""
        raise NotImplementedError

    def of_notes(self, notes: Sequence[tuple[Note, Fact]]) -> Mapping[str, Columns]:
        """What remarks of the fold give, each with the event that it is about."""
        raise NotImplementedError

    def of_dropped(self, events: Sequence[Dropped]) -> Mapping[str, Columns]:
        """What events give that this release can't use."""
        raise NotImplementedError

    @classmethod
    def uses(cls, method: str) -> bool:
        """Whether it has columns of that sort."""
        return getattr(cls, method) is not getattr(Projection, method)
