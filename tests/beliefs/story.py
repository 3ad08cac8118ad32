"""Builds the facts of a story in the words of the rules: who did what on which day."""

from __future__ import annotations

import hashlib
from typing import Any

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.rules import DAY_MS


def hashed(name: str) -> bytes:
    """An id, or the hash of a name."""
    return hashlib.sha256(name.encode()).digest()[:16]


def day(number: float) -> int:
    """The stamp at which a day begins."""
    return round(number * DAY_MS) << 16


class Story:
    """Facts under short names; ``on`` a day, ``by`` an agent (each with one writer), ``seen`` gives the basis."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []

    def tell(
        self, name: str, type_: str, *, on: float, by: str = "ann", seen: tuple[str, ...] = (), **payload: Any
    ) -> str:
        """One more event."""
        fields = {key: value for key, value in payload.items() if value is not None}
        ref = fields.pop("ref", None)
        self.facts.append(
            Fact(
                day(on),
                hashed(f"writer {by}"),
                len(self.facts) + 1,
                hashed(name),
                type_,
                fields,
                tuple(map(hashed, seen)),
                hashed(ref) if ref else None,
                hashed(f"agent {by}"),
            )
        )
        return name

    def extract(self, name: str, *, on: float, strong: bool = True, act: str = "direct_assertion", **more: Any) -> str:
        """A belief; a strong one passes the entry gate if its speech act may."""
        more = {"kind": "fact", "evidence": (), "confidence": 900, "session": hashed("first"), **more}
        if strong:
            more.setdefault("assertion_class", "durable_fact")
        return self.tell(name, "belief.extracted", on=on, speech_act=act, **more)

    def affirm(
        self, name: str, belief: str, *, on: float, how: str = "confirmation", session: str = "s", **more: Any
    ) -> str:
        return self.tell(
            name, "belief.affirmed", on=on, belief_id=hashed(belief), how=how, session=hashed(session), **more
        )

    def supersede(self, name: str, old: str, new: str, *, on: float, **more: Any) -> str:
        ids = {"superseded_id": hashed(old), "superseding_id": hashed(new)}
        return self.tell(name, "belief.superseded", on=on, cause="update", **ids, **more)

    def merge(self, name: str, duplicate: str, survivor: str, *, on: float, **more: Any) -> str:
        ids = {"duplicate_id": hashed(duplicate), "surviving_id": hashed(survivor)}
        return self.tell(name, "belief.merged", on=on, **ids, **more)

    def act(self, name: str, verb: str, belief: str, *, on: float, **more: Any) -> str:
        """An event that names one belief: promoted, demoted, retracted, reclassified."""
        return self.tell(name, f"belief.{verb}", on=on, belief_id=hashed(belief), **more)

    def reinstate(self, name: str, belief: str, *undoes: str, on: float, **more: Any) -> str:
        undone = tuple(map(hashed, undoes))
        return self.tell(name, "belief.reinstated", on=on, belief_id=hashed(belief), undoes=undone, **more)

    def contradict(self, name: str, left: str, right: str, *, on: float, **more: Any) -> str:
        return self.tell(name, "contradiction.raised", on=on, left=hashed(left), right=hashed(right), **more)

    def resolve(self, name: str, contradiction: str, outcome: str, *, on: float, **more: Any) -> str:
        named = hashed(contradiction)
        return self.tell(name, "contradiction.resolved", on=on, contradiction_id=named, outcome=outcome, **more)

    def derive(self, name: str, belief: str, *, on: float, **inputs: str) -> str:
        """``derive("d", "C", on=3, A="essential", B="supporting")``."""
        items = tuple({"belief_id": hashed(item), "role": role} for item, role in inputs.items())
        return self.tell(name, "conclusion.derived", on=on, belief_id=hashed(belief), inputs=items)

    def folded(self) -> Fold:
        return fold(self.facts)

    def life(self, belief: str) -> Life:
        return self.folded().lives[hashed(belief)]

    def at(self, belief: str, number: float) -> Interval:
        """How a belief stands when a day begins."""
        row = self.life(belief).at(day(number))
        assert row is not None
        return row

    def status(self, belief: str, number: float) -> str:
        return self.at(belief, number).status
