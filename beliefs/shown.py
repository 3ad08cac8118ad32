"""Sessions in which beliefs were shown: recurrences in these don't count, so injections may decide who is promoted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.paths import reached
from beliefbase.beliefs.rules import may_promote, passes_entry

_UNSTEADY: Final = frozenset({"belief.demoted", "belief.reclassified"})

Living = Mapping[bytes, tuple[list[Fact], list[Fact]]]
"""Entities to their copies and the facts that act on them."""


def counting(living: Living) -> Iterator[bytes]:
    """The ids of beliefs that recurrences may promote."""
    for members in _families(living):
        facts = [fact for entity in members for fact in living[entity][1]]
        recurrences = sum(f.type == "belief.affirmed" and f.payload["how"] == "recurrence" for f in facts)
        steady = all(passes_entry(living[entity][0][0].payload) for entity in members) and not any(
            fact.type in _UNSTEADY for fact in facts
        )
        if may_promote(recurrences) and not steady:
            for entity in members:
                yield from (copy.id for copy in living[entity][0])


def _families(living: Living) -> list[list[bytes]]:
    """Entities that merges connect, each set in order."""
    entity = {copy.id: belief for belief, (copies, _) in living.items() for copy in copies}
    near: dict[bytes, set[bytes]] = defaultdict(set)
    for _, acting in living.values():
        for fact in acting:
            if fact.type == "belief.merged":
                ends = [entity[i] for i in (fact.payload["duplicate_id"], fact.payload["surviving_id"]) if i in entity]
                for end in ends:
                    near[end].update(ends)
    families, seen = [], set()
    for belief in sorted(living):
        if belief not in seen:
            members = reached(belief, near)
            seen |= members
            families.append(sorted(members))
    return families
