"""What a projection is: a name, a version, tables, and the rows that events and lives of beliefs give.

A projection is one module of this package that binds ``PROJECTION``; it is found by a scan (``registry.py``), and
no other file names it. Its tables hold nothing that depends on ``as_of``, on arrival or on what is parked: status,
flags and counts at a time are views (``sql/``). Text that people wrote stands in tables of its own, outside of
every digest, because words can be erased (DESIGN 1 and 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.reasons import Note
from beliefbase.events.envelope import Skeleton
from beliefbase.events.index import key_of as row_key
from beliefbase.projections.stretches import Columns, Stretches

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
    def keyed(self) -> bool:
        """Whether its rows are found by the key of their owner."""
        return self.owner is not Owner.VALUE

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The columns as they are stored, the row key first."""
        return (ROW_KEY, *self.columns) if self.keyed else self.columns


ROW_KEY: Final = Column(
    "row_key", "BIGINT", "First 8 bytes of the id in the next column as an integer: a short key for joins"
)
"""Found by, but not unique: the id is compared as well."""
NO_INTEGER: Final = -(1 << 63)
"""Stands for NULL in integer columns on their way into DuckDB."""


class Signature(NamedTuple):
    """Whose event it is."""

    writer: str
    """Stream, as it is shown."""
    agent: str
    """Hash of the agent's name, as it is shown; the stream where it never said its name."""
    agent_hash: bytes


class Read:
    """One event of a type that this release understands, as projections see it."""

    __slots__ = (
        "agent", "agent_hash", "event_id", "hlc", "id", "key", "payload", "skeleton", "type", "words", "writer",
    )  # fmt: skip

    def __init__(
        self,
        event_id: bytes,
        skeleton: Skeleton,
        payload: Mapping[str, Any],
        words: Mapping[str, Any],
        signature: Signature,
    ) -> None:
        self.event_id = event_id
        self.id = event_id.hex()
        """The id as it is shown."""
        self.key = row_key(event_id)
        """Its row key."""
        self.skeleton = skeleton
        self.type = skeleton.type
        self.hlc = skeleton.hlc
        self.payload = payload
        """In the current version of the type."""
        self.words = words
        """The map of the body; empty where there is none or it was erased. Anyone may have written it."""
        self.writer, self.agent, self.agent_hash = signature

    def fact(self) -> Fact:
        """The event as the rules read it."""
        skeleton = self.skeleton
        return Fact(
            skeleton.hlc,
            skeleton.writer,
            skeleton.seq,
            self.event_id,
            skeleton.type,
            self.payload,
            skeleton.basis_ids,
            skeleton.source_ref,
            self.agent_hash,
        )


class Rows(dict[str, list[tuple[Any, ...]]]):
    """Rows by table name, in the order of the table's ``all_columns``, until the projector takes them."""

    def __missing__(self, name: str) -> list[tuple[Any, ...]]:
        rows = self[name] = []
        return rows


class Projection:
    """Base of every projection: override what it has rows of."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1
    """Other rows for the same log = another version: what was stored is rebuilt."""
    TABLES: ClassVar[tuple[Table, ...]]
    TYPES: ClassVar[tuple[str, ...]] = ()
    """Event types that :meth:`of_event` is asked about."""

    def of_event(self, event: Read, rows: Rows) -> None:
        """Add the rows that one event gives by itself."""
        raise NotImplementedError

    def of_lives(self, lives: Stretches) -> Mapping[str, Columns]:
        """The columns of its tables that folded beliefs give, by table and column."""
        raise NotImplementedError

    def of_notes(self, notes: Iterable[Note], facts: Iterable[Fact], rows: Rows) -> None:
        """Add the rows that remarks of the fold give; ``facts`` holds the events that they are about."""

    def of_unreadable(self, message: Dropped, rows: Rows) -> None:
        """Add the rows that an event gives which this release can't use."""

    @classmethod
    def uses(cls, method: str) -> bool:
        """Whether it has rows of that sort."""
        return getattr(cls, method) is not getattr(Projection, method)


class Dropped(NamedTuple):
    """A stored event that this release can't use, and why."""

    event_id: bytes
    skeleton: Skeleton
    reason: str
    detail: str


def text(words: Mapping[str, Any], name: str) -> str | None:
    """A text out of words that anyone may have written; None where it isn't one."""
    value = words.get(name)
    return value if isinstance(value, str) else None


def texts(words: Mapping[str, Any], name: str) -> Sequence[str] | None:
    """A list of texts out of words that anyone may have written; None where it isn't one."""
    value = words.get(name)
    return value if isinstance(value, tuple) and all(isinstance(item, str) for item in value) else None


def hexed(value: bytes | None) -> str | None:
    """An id or hash as it is shown."""
    return None if value is None else value.hex()
