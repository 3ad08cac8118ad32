"""The facts that the rules read, cut into sets that can be folded apart: a rebuild needs no more at once.

Two facts belong together if one names the other, or both name the same thing: a belief, a condition's key, a
contradiction, a source_ref, a revision that an author had read. Profiles and policies belong to every set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Self

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Source, named
from beliefbase.beliefs.rules import may_promote, passes_entry
from beliefbase.events.catalog import Role
from beliefbase.events.log import EventLog
from beliefbase.projections.reading import Reader

CHUNK: Final = 20_000
"""About so many facts are folded together."""
EVERYWHERE: Final = frozenset({"policy.defined", "profile.activated"})
"""Types of facts that every fold needs."""
RULED: Final = frozenset(
    {
        "belief.extracted",
        "belief.affirmed",
        "belief.promoted",
        "belief.demoted",
        "belief.reclassified",
        "belief.superseded",
        "belief.merged",
        "belief.retracted",
        "belief.reinstated",
        "condition.met",
        "contradiction.raised",
        "contradiction.resolved",
        "conclusion.derived",
        "memory.requires_revalidation_prompt",
        "memory.revalidated",
    }
)
"""Types of facts that are folded; utterances and injections that matter are looked up."""
KEPT: Final = EVERYWHERE | RULED
_SHOWING: Final = "memory.injected"
_PAGE: Final = 20_000
_UNSETTLING: Final = frozenset({"belief.demoted", "belief.reclassified"})


class Partition:
    """Collects facts while a log is read, and gives them back in sets to fold."""

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._everywhere: list[Fact] = []
        self._parent: dict[bytes, bytes] = {}
        self._injections: dict[bytes, list[Fact]] = {}
        """By a belief that they show."""

    @classmethod
    def of(
        cls, log: EventLog, reader: Reader, progress: Callable[[str, int], None] = lambda _what, _done: None
    ) -> Self:
        """The facts of a whole log; ``progress`` is told how many of them were read."""
        partition, read = cls(), 0
        for stored in log.scan_types(KEPT, limit=_PAGE):
            for batch in reader.scanned(stored).batches:
                partition.add(batch.facts())
            read += len(stored)
            progress("reading", read)
        shown = _shown(partition._facts)
        if shown:
            for stored in log.scan_types({_SHOWING}, limit=_PAGE):
                for batch in reader.scanned(stored).batches:
                    partition._show(batch.facts(), shown)
        return partition

    def add(self, facts: Sequence[Fact]) -> None:
        """Keep facts of one of the types ``KEPT``."""
        if facts and facts[0].type in EVERYWHERE:
            self._everywhere += facts
            return
        self._facts += facts
        for fact in facts:
            for _, key in named(fact):
                self._join(fact.id, key)

    def sets(self, source: Source) -> Iterator[tuple[list[Fact], list[Fact]]]:
        """Sets of facts, each fact in one of them, and what else is needed to fold the beliefs of that set."""
        everywhere, context = self._everywhere, list[Fact]()
        for facts in self._chunks():
            yield facts + everywhere, [*context, *_sides(source, facts), *self._showing(facts)]
            everywhere, context = [], self._everywhere
        if everywhere:
            yield everywhere, []

    def _show(self, injections: Sequence[Fact], shown: set[bytes]) -> None:
        for fact in injections:
            for belief in {card["belief_id"] for card in fact.payload["cards"]} & shown:
                self._injections.setdefault(belief, []).append(fact)

    def _showing(self, facts: list[Fact]) -> Iterable[Fact]:
        """The injections that decide which recurrences count (DESIGN 5, entry), where they may decide anything."""
        injections = self._injections
        found = [injections[belief] for belief in _shown(facts) if belief in injections] if injections else []
        return {fact.id: fact for facts in found for fact in facts}.values()

    def _chunks(self) -> Iterator[list[Fact]]:
        parent, find = self._parent, self._find
        together: dict[bytes, list[Fact]] = {}
        chunk: list[Fact] = []
        facts, self._facts = self._facts, []
        facts.reverse()
        while facts:
            fact = facts.pop()
            if fact.id in parent:
                together.setdefault(find(fact.id), []).append(fact)
                continue
            chunk.append(fact)
            if len(chunk) >= CHUNK:
                yield chunk
                chunk = []
        parent.clear()
        while together:
            chunk += together.popitem()[1]
            if len(chunk) >= CHUNK:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def _find(self, key: bytes) -> bytes:
        parent = self._parent
        above = parent.setdefault(key, key)
        while above != key:
            over = parent[above]
            parent[key] = over
            key, above = over, parent[over]
        return key

    def _join(self, left: bytes, right: bytes) -> None:
        self._parent[self._find(left)] = self._find(right)


def _sides(source: Source, facts: list[Fact]) -> list[Fact]:
    """The utterances that take part in contradictions, with their copies."""
    sides = {fact.payload[side] for fact in facts if fact.type == "contradiction.raised" for side in ("left", "right")}
    if not sides:
        return []
    found = [fact for fact in source.by_id(sides) if fact.type == "utterance.recorded"]
    names = {fact.ref for fact in found if fact.ref is not None}
    copies = source.naming(names, (Role.SELF,)) if names else []
    known = {fact.id: fact for fact in (*found, *copies) if fact.type == "utterance.recorded"}
    return list(known.values())


def _shown(facts: list[Fact]) -> set[bytes]:
    """The beliefs for which it may matter in which sessions they were shown."""
    recurrences = Counter(
        fact.payload["belief_id"]
        for fact in facts
        if fact.type == "belief.affirmed" and fact.payload.get("how") == "recurrence"
    )
    if not recurrences:
        return set()
    shown = {belief for belief, count in recurrences.items() if may_promote(count)}
    shown -= _steady(facts, shown)
    named_alike = Counter(fact.ref for fact in facts if fact.type == "belief.extracted" and fact.ref is not None)
    for fact in facts:  # what counts for a duplicate or a copy counts for others as well
        if fact.type == "belief.merged":
            shown.update((fact.payload["duplicate_id"], fact.payload["surviving_id"]))
        elif fact.type == "belief.extracted" and fact.ref is not None and named_alike[fact.ref] > 1:
            shown.add(fact.id)
    return shown


def _steady(facts: list[Fact], among: set[bytes]) -> set[bytes]:
    """Those of these beliefs that are active from birth, whatever recurs."""
    unsteady = {fact.payload["belief_id"] for fact in facts if fact.type in _UNSETTLING}
    born = (fact for fact in facts if fact.type == "belief.extracted" and fact.id in among)
    return {fact.id for fact in born if passes_entry(fact.payload)} - unsteady
