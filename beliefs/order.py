"""The acting order: each event acts at its own stamp, or directly after the last thing that it presupposes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from beliefbase.beliefs.facts import Fact

PRESUPPOSED: Final[Mapping[str, tuple[str, ...]]] = {
    "belief.affirmed": ("belief_id",),
    "belief.promoted": ("belief_id",),
    "belief.demoted": ("belief_id",),
    "belief.reclassified": ("belief_id",),
    "belief.superseded": ("superseded_id",),
    "belief.merged": ("duplicate_id",),
    "belief.retracted": ("belief_id",),
    "belief.reinstated": ("belief_id",),
    "belief.erased": ("belief_id",),
    "condition.met": ("belief_id",),
    "contradiction.raised": ("left", "right"),
    "contradiction.resolved": ("contradiction_id",),
    "conclusion.derived": ("belief_id",),
    "memory.used": ("injection_id",),
    "memory.revalidated": ("belief_id", "prompt_id"),
}
"""Fields that name what an event of a type presupposes. A reinstatement also presupposes the endings it undoes."""

_ONE_FIELD: Final = {
    kind: fields[0]
    for kind, fields in PRESUPPOSED.items()
    if len(fields) == 1 and kind not in ("belief.reinstated", "condition.met")
}
"""Types that presuppose exactly one id, which is always there."""


class ActingOrder:
    """Iterates over facts in the order in which they act; none acts before its own stamp, or the one before it.

    A fact acts once everything that it presupposes has acted: at its own stamp, or directly after the last of them;
    several directly after one in their own order, each followed by its own. A fact whose turn never comes waits.
    A later fact of one type and source_ref is a copy of the earliest: it is another name of that entity from where it
    acts, and what names it presupposes both.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = sorted(facts)
        self.acted: dict[bytes, int] = {}
        """Event id to the stamp at which it acts, of all that have acted so far."""
        self.entity: dict[bytes, bytes] = {}
        """Copy to the earliest event of its entity."""
        self.waiting: dict[bytes, tuple[Fact, bytes]] = {}
        """Event id to the fact and what it waits for; complete after the iteration."""
        self.questions: dict[bytes, Fact] = {}
        """Extractions of questions: no beliefs, they never act."""
        self._first: dict[tuple[str, bytes], bytes] = {}

    def __iter__(self) -> Iterator[Fact]:
        """Yield each fact when it acts: at the largest stamp of those so far, its own included."""
        acted, entity, first = self.acted, self.entity, self._first
        blocked: dict[bytes, list[Fact]] = {}
        last = b""
        for fact in self.facts:
            event, kind = fact[3], fact[4]
            if event == last:
                continue
            last = event
            if fact[7] is not None:
                earliest = first.setdefault((kind, fact[7]), event)
                if earliest != event:
                    entity[event] = earliest
            field = _ONE_FIELD.get(kind)
            if field is not None:
                missing = None if not entity and fact[5][field] in acted else self._missing(fact)
            elif kind == "belief.extracted":
                if fact[5].get("speech_act") == "question":
                    self.questions[event] = fact
                    continue
                missing = None
            else:
                missing = self._missing(fact) if kind in PRESUPPOSED else None
            if missing is not None:
                blocked.setdefault(missing, []).append(fact)
                continue
            acted[event] = fact[0]
            yield fact
            if blocked and event in blocked:
                yield from self._followers(event, fact[0], blocked)
        self.waiting = {fact.id: (fact, missing) for missing, facts in blocked.items() for fact in facts}

    def _followers(self, event: bytes, stamp: int, blocked: dict[bytes, list[Fact]]) -> Iterator[Fact]:
        """What acts directly after an event, each followed by its own."""
        stack = [self._released(event, blocked)]
        while stack:
            if not stack[-1]:
                stack.pop()
                continue
            fact = stack[-1].pop()
            self.acted[fact.id] = stamp
            yield fact
            if fact.id in blocked:
                stack.append(self._released(fact.id, blocked))

    def _released(self, event: bytes, blocked: dict[bytes, list[Fact]]) -> list[Fact]:
        """What waited for an event and for nothing else, last first; the others wait on."""
        released = []
        for fact in sorted(blocked.pop(event), reverse=True):
            missing = self._missing(fact)
            if missing is None:
                released.append(fact)
            else:
                blocked.setdefault(missing, []).append(fact)
        return released

    def _missing(self, fact: Fact) -> bytes | None:
        """The first presupposed id that hasn't acted, if any."""
        for field in PRESUPPOSED.get(fact.type, ()):
            named: bytes | None = fact.payload.get(field)
            if named is not None and (missing := self._unacted(named)) is not None:
                return missing
        if fact.type == "belief.reinstated":
            for undone in fact.payload["undoes"]:
                if (missing := self._unacted(undone)) is not None:
                    return missing
        return None

    def _unacted(self, named: bytes) -> bytes | None:
        """The named id, or the earliest of its entity, if it hasn't acted."""
        if named not in self.acted:
            return named
        first = self.entity.get(named)
        return first if first is not None and first not in self.acted else None
