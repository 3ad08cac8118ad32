"""Large logs in the order of their stamps: what one belief's slice costs must not grow with them."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from beliefbase.beliefs.facts import Fact

WRITER = bytes(16)


class Log:
    """Appends facts one second apart; revisions cite the latest ones of the beliefs that they name."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self._latest: dict[bytes, bytes] = {}

    @property
    def newest(self) -> int:
        """The largest stamp."""
        return self.facts[-1].hlc

    def put(self, name: str, at: int | None = None, basis: tuple[bytes, ...] = (), **payload: Any) -> bytes:
        """Append a fact, or with ``at`` (seconds) one that comes late; returns its id."""
        number = len(self.facts) + 1
        stamp = (number if at is None else at) * 1000 << 16 | (at is not None)
        event = number.to_bytes(16, "big")
        self.facts.append(Fact(stamp, WRITER, number, event, name, payload, basis, None, WRITER))
        return event

    def belief(self, *, active: bool = True, **fields: Any) -> bytes:
        """Extract a belief that enters as active, or as a candidate."""
        maturity = "durable_fact" if active else "passing"
        return self.put("belief.extracted", kind="fact", assertion_class=maturity, confidence=900, **fields)

    def supersede(self, old: bytes, new: bytes, at: int | None = None) -> bytes:
        """Replace a belief by another."""
        basis = tuple(self._latest[belief] for belief in (old, new) if belief in self._latest)
        event = self.put("belief.superseded", at, basis, superseded_id=old, superseding_id=new, cause="update")
        self._latest[old] = self._latest[new] = event
        return event

    def affirm(self, belief: bytes, how: str = "confirmation") -> bytes:
        """Say it again."""
        return self.put("belief.affirmed", belief_id=belief, how=how)


class Tangle:
    """A log as an agent's memory grows: chains, a belief that replaces many, one that many replace, and whims.

    Between its random events lie ties that lookups may take a shortcut by, much longer than those of small random logs.
    """

    def __init__(self, seed: int, beliefs: int) -> None:
        self._random = random.Random(seed)
        self._log = Log()
        self._beliefs: list[bytes] = []
        self._endings: list[tuple[bytes, bytes]] = []
        for _ in range(beliefs):
            self._extract()
        ties = self._ties(beliefs // 6)
        while ties:
            old, new = ties.pop()
            self._supersede(old, new)
            if self._random.random() < 0.5:
                self.whim()

    @property
    def facts(self) -> list[Fact]:
        """All facts so far."""
        return self._log.facts

    def whim(self, *, late: bool = False) -> None:
        """One more random event."""
        at = self._random.randrange(1, len(self.facts)) if late else None
        belief = self._random.choice(self._beliefs)
        match self._random.choices(
            ("supersede", "extract", "affirm", "retract", "reinstate", "promote", "demote", "reclassify", "merge"),
            (30, 15, 12, 8, 12, 6, 4, 2, 0.2),
        )[0]:
            case "supersede":
                self._supersede(belief, self._random.choice(self._beliefs), at)
            case "extract":
                self._extract(at)
            case "affirm":
                how = self._random.choice(("confirmation", "recurrence", "recurrence"))
                session = {"session": bytes([self._random.randrange(4)] * 16)} if how == "recurrence" else {}
                self._log.put("belief.affirmed", at, belief_id=belief, how=how, **session)
            case "retract":
                event = self._log.put("belief.retracted", at, belief_id=belief, cause="wrong")
                self._endings.append((event, belief))
            case "reinstate" if self._endings:
                event, ended = self._random.choice(self._endings)
                self._log.put("belief.reinstated", at, belief_id=ended, undoes=(event,))
            case "reclassify":
                act = self._random.choice(("correction", "directive", "humor_or_irony"))
                self._log.put("belief.reclassified", at, belief_id=belief, speech_act=act)
            case "merge":
                other = self._random.choice(self._beliefs)
                self._log.put("belief.merged", at, duplicate_id=belief, surviving_id=other)
            case "promote" | "demote" as rise:
                self._log.put(f"belief.{rise}d", at, belief_id=belief)

    def _extract(self, at: int | None = None) -> None:
        acts = ("correction", "directive", "observation", "hypothetical") if self._beliefs else ("correction",)
        act = self._random.choice(acts)
        maturity = self._random.choice(("durable_fact", "passing"))
        more = {"kind": self._random.choice(("fact", "note", "progress")), "assertion_class": maturity}
        self._beliefs.append(self._log.put("belief.extracted", at, confidence=900, speech_act=act, **more))

    def _supersede(self, old: bytes, new: bytes, at: int | None = None) -> None:
        self._endings.append((self._log.supersede(old, new, at), old))

    def _ties(self, size: int) -> list[tuple[bytes, bytes]]:
        known = self._beliefs
        some = [self._random.sample(known, size) for _ in range(3)]
        ties = [(old, known[0]) for old in some[0]] + [(known[1], new) for new in some[1]] + list(pairwise(some[2]))
        ties += [tuple(self._random.sample(known, 2)) for _ in range(2 * size)]
        self._random.shuffle(ties)
        return ties
