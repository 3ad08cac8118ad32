"""One replacement of one belief by another, as a thing that waits, is in force, or is over."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from beliefbase.beliefs.intervals import CODE

if TYPE_CHECKING:
    from beliefbase.beliefs.contradictions import Contradiction
    from beliefbase.beliefs.life import Life


class State(Enum):
    """Where a replacement stands."""

    WAITING = "waiting"
    EFFECTIVE = "effective"
    UNDONE = "undone"
    VOID = "void"


WAITING: Final = State.WAITING
EFFECTIVE: Final = State.EFFECTIVE
UNDONE: Final = State.UNDONE
VOID: Final = State.VOID

SUPERSESSION: Final = CODE["superseded"]
MERGE: Final = CODE["duplicate"]
RESOLUTION: Final = CODE["contradicted"]


class Replacement:
    """``target`` would end because ``replacer`` takes its place."""

    __slots__ = (
        "began", "bites", "contradiction", "deferred", "effect", "event", "kind", "named", "over", "queued", "replacer",
        "seq", "state", "target", "trigger", "undone",
    )  # fmt: skip

    def __init__(
        self, seq: int, event: bytes, kind: int, target: Life, named: bytes, contradiction: Contradiction | None
    ) -> None:
        # What is read most comes first: compiled, it lies close together in memory.
        self.state = WAITING
        self.target = target
        self.replacer: Life | None = None
        """None while it isn't known."""
        self.kind = kind
        """Code of the status that the target ends with: ``SUPERSESSION``, ``MERGE`` or ``RESOLUTION``."""
        self.seq = seq
        """Its place among all replacements: the first that can act acts first."""
        self.event = event
        self.named = named
        """Id of the replacer as the event names it."""
        self.contradiction = contradiction
        """The contradiction that a resolution is about."""
        self.began: int | None = None
        """Stamp from which it was in force."""
        self.over: int | None = None
        """Stamp at which it was undone or void."""
        self.effect = 0
        """Its place among the replacements that took effect."""
        self.bites = False
        """Whether it makes its target contested: it waits, and its replacer lives or isn't known."""
        self.queued = False
        self.deferred = False
        """Whether its replacer alone was not fit for it to act where it is written."""
        self.trigger: bytes | None = None
        """The event with which it acted, if it was deferred."""
        self.undone: bytes | None = None
        """The reinstatement that undid it, if it was in force until then."""

    def __lt__(self, other: Replacement) -> bool:
        return self.seq < other.seq
