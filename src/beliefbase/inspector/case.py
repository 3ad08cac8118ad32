"""One belief under inspection: the slice of the log that decides its life, folded up to a moment."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.rules import FOREVER
from beliefbase.beliefs.slices import Slice
from beliefbase.events.errors import UnknownId
from beliefbase.events.hlc import ms_of, stamp
from beliefbase.inspector.desk import Desk, Entry
from beliefbase.inspector.errors import NotABelief
from beliefbase.writing import clock_text

COUNTER: Final = (1 << 16) - 1
DRIFT_MS: Final = 60_000
"""Now takes in what writers whose clocks are this much ahead have written: the next event here sorts after it."""


class Case:
    """A belief as it stands at a moment.

    Args:
        desk: look-ups in the log.
        belief_id: the belief, by the id of any of its copies.
        as_of_ms: the moment, its whole millisecond; None for all of time, future bounds included.
        now: whether the moment is the present.

    Raises:
        UnknownId: nothing has this id.
        NotABelief: something has, but no belief.
    """

    def __init__(self, desk: Desk, belief_id: bytes, as_of_ms: int | None, *, now: bool = False) -> None:
        self.desk = desk
        self.named = belief_id
        facts = Slice(desk.source, (belief_id,)).facts
        self.until = FOREVER - 1 if as_of_ms is None else stamp(as_of_ms, COUNTER)
        if now and as_of_ms is not None:
            drift = stamp(as_of_ms + DRIFT_MS, COUNTER)
            self.until = max((self.until, *(fact.hlc for fact in facts if fact.hlc <= drift)))
        self._fold(facts)

    def widen(self, others: Collection[bytes]) -> None:
        """Fold again with all that decides these beliefs as well, so that what the fold says of them is exact."""
        self._fold(Slice(self.desk.source, {self.named, *others}).facts)

    def _fold(self, facts: Collection[Fact]) -> None:
        erased = self.desk.erased
        covered = {fact.id: erased[fact.id] for fact in facts if fact.id in erased}
        self.fold: Fold = fold(facts, erased=covered, until=self.until)
        found = self.fold.of(self.named)
        if found is None:
            raise self._nothing(self.named)
        self.life: Life = found

    @property
    def id(self) -> bytes:
        """The belief's own id: of the earliest of its copies."""
        return self.life.id

    @property
    def faces(self) -> tuple[bytes, ...]:
        """Every id that names it."""
        return self.life.faces

    @property
    def standing(self) -> Interval:
        """The interval that holds the moment."""
        return next(row for row in reversed(self.life.intervals) if row.since <= self.until)

    def _nothing(self, belief_id: bytes) -> UnknownId | NotABelief:
        entry = self.desk.get(belief_id)
        shown = belief_id.hex()
        if entry is None:
            return UnknownId(
                f"nothing in this store has the id {shown}",
                hint="ids are printed by append, log and active; what another store has comes with a sync",
                id=shown,
            )
        return NotABelief(f"{shown} is no belief: {_what(entry, self.until)}", hint=_instead(entry), id=shown)


def _what(entry: Entry, until: int) -> str:
    if entry.unreadable is not None:
        if entry.unreadable.reason == "question":
            return "it is a question, and a question is never a memory"
        return f"this release can't use it ({entry.unreadable.reason} {entry.unreadable.detail})".replace(" )", ")")
    if entry.type == "belief.extracted" and entry.skeleton.hlc > until:
        return f"it is extracted later, at {clock_text(ms_of(entry.skeleton.hlc))}"
    return f"its type is {entry.type}"


_INSTEAD: Final = {
    "question.raised": "list questions: beliefbase questions",
    "contradiction.raised": "say what holds of it: beliefbase resolve {id} left|right|both_hold|neither",
    "utterance.recorded": "see it: beliefbase show {id}; beliefs: beliefbase log --type belief.extracted",
}


def _instead(entry: Entry) -> str:
    if entry.unreadable is not None and entry.unreadable.reason == "question":
        return "list questions: beliefbase questions"
    if entry.type == "belief.extracted":
        return "ask for a later moment with --as-of"
    for field in ("belief_id", "superseded_id", "duplicate_id"):
        if isinstance(entry.payload.get(field), bytes):
            return f"it is about the belief {entry.payload[field].hex()}"
    return _INSTEAD.get(entry.type, "see it: beliefbase show {id}").format(id=entry.id.hex())
