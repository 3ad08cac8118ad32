"""Which injections decide whether a recurrence counts: in a session in which a belief was shown it does not (DESIGN 5).

Most injections of a log show beliefs that recur in other sessions or never, and nothing follows from them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.rules import may_promote, passes_entry
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.lanes import token_of

_UNSETTLING: Final = ("belief.demoted", "belief.reclassified")
_SESSION: Final = token_of("session") + bytes([0xC4, ID_BYTES])
"""What stands before a session in a skeleton, of which there is one encoding."""


class Recurrences(NamedTuple):
    """The recurrences among the facts of a set, where enough of them may promote a belief."""

    sessions: Mapping[bytes, Collection[bytes]]
    """The beliefs for which it may matter in which sessions they were shown, by any of their ids, and these sessions:
    those in which it recurred, or, where it has copies or duplicates, any belief that has."""

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Self:
        """Those among the facts of a set."""
        of_type: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            of_type[fact[4]].append(fact)
        affirmed = of_type["belief.affirmed"]
        recurring = [fact.payload for fact in affirmed if fact.payload["how"] == "recurrence"]
        if not recurring:
            return cls({})
        several = _several(of_type)
        single = {
            belief for belief, count in Counter(of["belief_id"] for of in recurring).items() if may_promote(count)
        }
        single -= several
        single -= _steady(of_type, single)
        found: dict[bytes, set[bytes]] = {belief: set() for belief in single}
        of_several = set[bytes]()
        for recurrence in recurring:
            belief, session = recurrence["belief_id"], recurrence.get("session")
            if session is not None and belief in found:
                found[belief].add(session)
            elif session is not None and belief in several:
                of_several.add(session)
        return cls(found | dict.fromkeys(several, of_several))

    def may_count(self, beliefs: Iterable[bytes], skeleton: bytes) -> bool:
        """Whether an injection that shows these beliefs may be one that counts; to read all of them would cost more."""
        name = skeleton.rfind(_SESSION)
        if name != skeleton.find(_SESSION):
            return True  # one of them stands in something that only looks like it
        start = name + len(_SESSION)
        session = skeleton[start : start + ID_BYTES]
        return name >= 0 and any(session in self.sessions[belief] for belief in beliefs)

    def counts(self, injection: Fact) -> bool:
        """Whether an injection shows a belief in a session in which it recurred, or may stand for one that did."""
        session = injection.payload.get("session")
        return any(session in self.sessions.get(card["belief_id"], ()) for card in injection.payload["cards"])


def _steady(of_type: Mapping[str, Sequence[Fact]], among: Collection[bytes]) -> set[bytes]:
    """Those of these beliefs that are active from birth, whatever recurs."""
    unsteady = {fact.payload["belief_id"] for name in _UNSETTLING for fact in of_type[name]}
    born = (fact for fact in of_type["belief.extracted"] if fact[3] in among)
    return {fact.id for fact in born if passes_entry(fact.payload)} - unsteady


def _several(of_type: Mapping[str, Sequence[Fact]]) -> set[bytes]:
    """The beliefs that have copies or are merged, by all their ids: what counts for one may count for others."""
    found = set[bytes]()
    for fact in of_type["belief.merged"]:
        found.update((fact.payload["duplicate_id"], fact.payload["surviving_id"]))
    alike: dict[bytes, list[bytes]] = {}
    for fact in of_type["belief.extracted"]:
        if fact[7] is not None:
            alike.setdefault(fact[7], []).append(fact.id)
    return found.union(*(copies for copies in alike.values() if len(copies) > 1))
