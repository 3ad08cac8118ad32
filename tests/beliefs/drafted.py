"""Logs told in the events' own fields: everything goes through the catalogue, so that defaults are the real ones."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.rules import DAY_MS
from beliefbase.events.catalog import CATALOG
from beliefbase.events.ids import name_hash


def stamp(day: float, counter: int = 0) -> int:
    """The stamp at a point of time in days."""
    return round(day * DAY_MS) << 16 | counter


class Log:
    """Appends drafts; every method returns the id of its event. ``on`` is a day, ``by`` an agent with one writer."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []

    def tell(self, type_: str, *, on: float, by: str = "ann", seen: Sequence[bytes] = (), **fields: Any) -> bytes:
        """Append any event; ``seen`` are the revisions that its author had read."""
        draft = CATALOG.draft(type_, {**fields, "basis": tuple(seen)})
        number = len(self.facts) + 1
        event = hashlib.sha256(f"{number} {type_}".encode()).digest()[:16]
        self.facts.append(
            Fact(
                stamp(on),
                name_hash(f"writer of {by}"),
                number,
                event,
                type_,
                draft.payload,
                draft.basis or (),
                draft.source_ref,
                name_hash(by),
            )
        )
        return event

    def extract(self, *, on: float, **fields: Any) -> bytes:
        """A belief with only what the catalogue requires, and what is given."""
        return self.tell("belief.extracted", on=on, **{"statement": "It is so.", "kind": "fact", **fields})

    def durable(self, *, on: float, **fields: Any) -> bytes:
        """A belief that enters as active: a durable fact, stated clearly enough."""
        return self.extract(on=on, **{"assertion_class": "durable_fact", "confidence": 900, **fields})

    def supersede(self, old: bytes, new: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("belief.superseded", on=on, superseded_id=old, superseding_id=new, **more)

    def merge(self, duplicate: bytes, survivor: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("belief.merged", on=on, duplicate_id=duplicate, surviving_id=survivor, **more)

    def affirm(self, belief: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("belief.affirmed", on=on, belief_id=belief, **more)

    def promote(self, belief: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("belief.promoted", on=on, belief_id=belief, **more)

    def retract(self, belief: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("belief.retracted", on=on, belief_id=belief, **more)

    def reinstate(self, belief: bytes, *undoes: bytes, on: float, **more: Any) -> bytes:
        return self.tell("belief.reinstated", on=on, belief_id=belief, undoes=undoes, **more)

    def reclassify(self, belief: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("belief.reclassified", on=on, belief_id=belief, **more)

    def contradict(self, left: bytes, right: bytes, *, on: float, **more: Any) -> bytes:
        return self.tell("contradiction.raised", on=on, left=left, right=right, **more)

    def resolve(self, contradiction: bytes, outcome: str, *, on: float, **more: Any) -> bytes:
        return self.tell("contradiction.resolved", on=on, contradiction_id=contradiction, outcome=outcome, **more)

    def met(self, *, on: float, **more: Any) -> bytes:
        return self.tell("condition.met", on=on, **more)

    # -- reading ----------------------------------------------------------------------------------------------------

    @property
    def fold(self) -> Fold:
        return fold(self.facts)

    def at(self, belief: bytes, day: float) -> Any:
        """The interval that holds the beginning of a day."""
        return self.fold.lives[belief].at(stamp(day))

    def status(self, belief: bytes, day: float) -> str:
        return str(self.at(belief, day).status)

    def notes(self) -> set[tuple[bytes, str]]:
        """Which events are remarked on, and why."""
        return {(note.event, str(note.reason)) for note in self.fold.notes}

    def in_all_orders(self) -> Iterator[Fold]:
        """The fold of every arrival order, once for each."""
        for arrived in itertools.permutations(self.facts):
            yield fold(arrived)


def rows(folded: Fold) -> dict[bytes, object]:
    """Everything that a fold says of its beliefs, for comparisons."""
    return {
        belief: (life.faces, life.intervals, life.ever, life.endings, life.half_life, life.affirmed, life.promotions)
        for belief, life in folded.lives.items()
    }
