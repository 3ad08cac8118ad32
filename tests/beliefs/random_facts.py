"""Random logs of facts: many revisions of few beliefs, in and out of order, with copies, gaps and forks."""

from __future__ import annotations

import random
from typing import Any

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.rules import Rules

RULES = Rules(
    day_ms=1,
    half_lives={"directive": 12, "preference_statement": 9, "observation": 6, "hypothetical": 3, "humor_or_irony": 2},
    kinds={"rule": 15, "fact": 12, "decision": 8, "rationale": 8, "preference": 6, "note": 4, "progress": 2},
)
"""Half-lives of a few stamps, so that beliefs grow stale and expire between events."""

_STRONG_ACTS = ("direct_assertion", "directive", "correction", "correction", "preference_statement")
_WEAK_ACTS = ("hypothetical", "observation", "humor_or_irony", "correction", "direct_assertion")
_REVISIONS = (
    *("superseded",) * 8, *("merged",) * 2, *("retracted",) * 2, *("reinstated",) * 4, *("affirmed",) * 4,
    *("promoted",) * 3, "demoted", *("reclassified",) * 2, "met", "met_key", *("raise",) * 2, *("resolved",) * 3,
    "derived", "injected", "revalidated", "copy", "copy", "asked", "extracted", "extracted",
)  # fmt: skip


def key(number: int) -> bytes:
    """An id, or the hash of a name."""
    return number.to_bytes(16, "big")


class Draws:
    """Draws one log."""

    def __init__(self, seed: int, *, beliefs: int = 8, events: int = 30, rule_changes: bool = False) -> None:
        self.r = random.Random(seed)
        self.facts: list[Fact] = []
        self._ids = self.r.sample(range(1, 1000), events + 40)
        self._beliefs: list[bytes] = []
        self._revisions: dict[bytes, list[bytes]] = {}
        self._endings: list[tuple[bytes, bytes]] = []
        self._contradictions: list[tuple[bytes, bytes, bytes]] = []
        self._order = self.r.choice((0.0, 0.1, 0.4, 1.0))
        self._clock = 0
        for _ in range(self.r.randint(2, beliefs)):
            self._extract()
        types = _REVISIONS + (("profile", "policy") if rule_changes else ())
        while len(self.facts) < events:
            getattr(self, "_" + self.r.choice(types))()
        for _ in range(self.r.choice((0, 0, 1, 2))):
            self.facts.pop(self.r.randrange(len(self.facts)))

    def _put(
        self, name: str, payload: dict[str, Any], about: tuple[bytes, ...] = (), ref: bytes | None = None
    ) -> bytes:
        r = self.r
        self._clock += r.choice((0, 0, 1, 1, 2, 3))
        at = r.randrange(40) if r.random() < self._order else self._clock
        event = key(self._ids.pop())
        known = [i for belief in about for i in self._revisions.get(belief, ())[-2:]]
        how = r.random()
        if how < 0.5:
            basis = tuple(known)
        elif how < 0.8:
            basis = tuple(r.sample([fact.id for fact in self.facts], min(len(self.facts), r.choice((0, 1, 2)))))
        else:
            basis = ()
        stamp = at << 16 | r.choice((0, 0, 1))
        agent = key(r.randrange(3))
        self.facts.append(Fact(stamp, agent, len(self.facts) + 1, event, name, payload, basis, ref, agent))
        for belief in about:
            self._revisions.setdefault(belief, []).append(event)
        return event

    def _pick(self) -> bytes:
        return self.r.choice(self._beliefs) if self.r.random() < 0.97 else key(2000)

    def _two(self) -> tuple[bytes, bytes]:
        return self._pick(), self._pick()

    def _extract(self, ref: bytes | None = None) -> None:
        r = self.r
        strong = r.random() < 0.55
        payload: dict[str, Any] = {
            "kind": r.choice(tuple(RULES.kinds)),
            "speech_act": r.choice(_STRONG_ACTS if strong else _WEAK_ACTS),
            "speech_act_confidence": 900,
            "confidence": 900 if strong else 500,
            "assertion_class": "durable_fact" if strong else "passing",
            "session": key(r.randrange(3)),
        }
        if r.random() < 0.25:
            payload["policy"] = r.choice(("conditional_expiry", "amendable_persistent", "fast_decay_status", "own@1"))
            payload["condition_key"] = key(3000 + r.randrange(2))
        ref = ref or r.choice((None, None, key(4000 + len(self.facts))))
        self._beliefs.append(self._put("belief.extracted", payload, (), ref))

    def _extracted(self) -> None:
        self._extract()

    def _superseded(self) -> None:
        a, b = self._two()
        ref = self.r.choice((None, None, None, key(5000 + self.r.randrange(2))))
        event = self._put(
            "belief.superseded", {"superseded_id": a, "superseding_id": b, "cause": "update"}, (a, b), ref
        )
        self._endings.append((event, a))

    def _merged(self) -> None:
        a, b = self._two()
        self._endings.append((self._put("belief.merged", {"duplicate_id": a, "surviving_id": b}, (a, b)), a))

    def _retracted(self) -> None:
        a = self._pick()
        self._endings.append((self._put("belief.retracted", {"belief_id": a, "cause": "wrong"}, (a,)), a))

    def _reinstated(self) -> None:
        if self._endings:
            event, belief = self.r.choice(self._endings)
            others = tuple(e for e, b in self._endings if b == belief and e != event and self.r.random() < 0.5)
            self._put("belief.reinstated", {"belief_id": belief, "undoes": (event, *others)}, (belief,))

    def _affirmed(self) -> None:
        a, how = self._pick(), self.r.choice(("recurrence", "recurrence", "confirmation", "review"))
        self._put("belief.affirmed", {"belief_id": a, "how": how, "session": key(self.r.randrange(4))})

    def _promoted(self) -> None:
        self._put("belief.promoted", {"belief_id": self._pick()})

    def _demoted(self) -> None:
        self._put("belief.demoted", {"belief_id": self._pick()})

    def _reclassified(self) -> None:
        a = self._pick()
        change = self.r.choice(
            (
                {"speech_act": "humor_or_irony"},
                {"speech_act": "correction"},
                {"speech_act": "directive", "confidence": 900, "assertion_class": "durable_fact"},
                {"policy": "amendable_persistent"},
                {"policy": "conditional_expiry", "condition_key": key(3000)},
                {"kind": "progress", "speech_act": "direct_assertion"},
            )
        )
        self._put("belief.reclassified", {"belief_id": a, **change}, (a,))

    def _met(self) -> None:
        a = self._pick()
        self._endings.append((self._put("condition.met", {"belief_id": a}, (a,)), a))

    def _met_key(self) -> None:
        event = self._put("condition.met", {"condition_key": key(3000 + self.r.randrange(2))})
        self._endings.append((event, self._pick()))

    def _raise(self) -> None:
        a, b = self._two()
        if self.r.random() < 0.15:
            b = self._put("utterance.recorded", {"speaker": key(1)})
        self._contradictions.append((self._put("contradiction.raised", {"left": a, "right": b}), a, b))

    def _resolved(self) -> None:
        if self._contradictions:
            event, a, b = self.r.choice(self._contradictions)
            outcome = self.r.choice(("left", "right", "left", "right", "both_hold", "neither"))
            payload = {"contradiction_id": event, "outcome": outcome}
            self._endings.append((self._put("contradiction.resolved", payload, (a, b)), self.r.choice((a, b))))

    def _derived(self) -> None:
        roles = ("essential", "essential", "supporting")
        inputs = tuple({"belief_id": self._pick(), "role": self.r.choice(roles)} for _ in range(self.r.randint(1, 3)))
        self._put("conclusion.derived", {"belief_id": self._pick(), "inputs": inputs})

    def _injected(self) -> None:
        cards = tuple({"belief_id": self._pick()} for _ in range(2))
        self._put("memory.injected", {"cards": cards, "session": key(self.r.randrange(4))})

    def _asked(self) -> None:
        a, outcome = self._pick(), self.r.choice(("confirmed", "rejected", "changed"))
        prompt = self._put("memory.requires_revalidation_prompt", {"belief_id": a, "cause": "stale"})
        self._put("memory.revalidated", {"belief_id": a, "outcome": outcome, "prompt_id": prompt}, (a,))

    def _revalidated(self) -> None:
        self._put("memory.revalidated", {"belief_id": self._pick(), "outcome": "confirmed"})

    def _copy(self) -> None:
        old = self.r.choice([fact for fact in self.facts if fact.ref is not None] or self.facts)
        if old.type == "belief.extracted":
            self._extract(old.ref)
        elif old.ref is not None:
            self._put(old.type, dict(old.payload), (), old.ref)

    def _profile(self) -> None:
        lives = {self.r.choice(tuple(RULES.half_lives)): self.r.randint(1, 9)}
        self._put("profile.activated", {"profile": "p@1", "half_lives": lives})

    def _policy(self) -> None:
        self._put("policy.defined", {"policy": "own@1", "base": "half_life", "half_life_days": self.r.randint(1, 9)})
