"""Which injections decide whether a recurrence counts: in a session in which a belief was shown it does not (DESIGN 5).

Most injections of a log show beliefs that recur in other sessions or never, and nothing follows from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Self

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.rules import may_promote, passes_entry
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Same, loadable

_UNSETTLING: Final = frozenset({"belief.demoted", "belief.reclassified"})


class Recurrences(NamedTuple):
    """The recurrences among the facts of a set, where enough of them may promote a belief."""

    beliefs: set[bytes]
    """The beliefs for which it may matter in which sessions they were shown, by any of their ids."""
    places: set[tuple[str, str]]
    """Beliefs and sessions, as they are shown, in which one recurred."""
    sessions: set[str]
    """Sessions in which a belief recurred that has copies or duplicates: being shown counts for all of these."""

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> Self:
        """Those among the facts of a set."""
        recurring = [fact for fact in facts if fact.type == "belief.affirmed" and fact.payload["how"] == "recurrence"]
        counts = Counter(fact.payload["belief_id"] for fact in recurring)
        single = {belief for belief, count in counts.items() if may_promote(count)}
        single -= _steady(facts, single)
        several = _several(facts) if recurring else set()
        places = {
            (fact.payload["belief_id"], fact.payload["session"])
            for fact in recurring
            if fact.payload.get("session") is not None
        }
        return cls(
            single | several,
            {(belief.hex(), session.hex()) for belief, session in places if belief in single},
            {session.hex() for belief, session in places if belief in several},
        )

    def told(self, injections: Batch) -> list[bool]:
        """Which of these injections show a belief in a session in which it recurred, or may stand for one that did."""
        sessions, cards = injections.hexes("session"), injections.items("cards")
        beliefs = cards.hexes("belief_id")
        if isinstance(sessions, Same) or isinstance(beliefs, Same):  # there are none
            return [False] * len(injections)
        shown_in = loadable("VARCHAR", sessions).tolist()
        found = [session in self.sessions for session in shown_in]
        for owner, belief in zip(cards.owner.tolist(), loadable("VARCHAR", beliefs).tolist(), strict=True):
            if (belief, shown_in[owner]) in self.places:
                found[owner] = True
        return found


def _steady(facts: Iterable[Fact], among: set[bytes]) -> set[bytes]:
    """Those of these beliefs that are active from birth, whatever recurs."""
    unsteady = {fact.payload["belief_id"] for fact in facts if fact.type in _UNSETTLING}
    born = (fact for fact in facts if fact.type == "belief.extracted" and fact.id in among)
    return {fact.id for fact in born if passes_entry(fact.payload)} - unsteady


def _several(facts: Iterable[Fact]) -> set[bytes]:
    """The beliefs that have copies or are merged, by all their ids: what counts for one may count for others."""
    found = set[bytes]()
    alike: dict[bytes, list[bytes]] = {}
    for fact in facts:
        if fact.type == "belief.merged":
            found.update((fact.payload["duplicate_id"], fact.payload["surviving_id"]))
        elif fact.type == "belief.extracted" and fact.ref is not None:
            alike.setdefault(fact.ref, []).append(fact.id)
    return found.union(*(copies for copies in alike.values() if len(copies) > 1))
