"""A log as the rules ask it: facts in a dict, with counts of what was asked and given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import named
from beliefbase.events.catalog import Role


class DictSource:
    """Implements ``beliefbase.beliefs.lookups.Source``."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self.facts: dict[bytes, Fact] = {}
        self.calls = 0
        """How often it was asked."""
        self.given = 0
        """How many facts its answers held."""
        self._index: dict[tuple[int, bytes], dict[bytes, Fact]] = defaultdict(dict)
        self.add(facts)

    def add(self, facts: Iterable[Fact]) -> None:
        """Facts arrive, in any order."""
        for fact in facts:
            self.facts[fact.id] = fact
            self._index[Role.SELF, fact.id][fact.id] = fact
            for role, key in named(fact):
                self._index[role, key][fact.id] = fact

    def by_id(self, ids: Collection[bytes]) -> list[Fact]:
        return self._answer({i: self.facts[i] for i in ids if i in self.facts})

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Fact]:
        return self._answer(
            {i: f for role in roles for key in keys for i, f in self._index.get((role, key), {}).items()}
        )

    def everywhere(self) -> list[Fact]:
        return [fact for fact in self.facts.values() if fact.type in ("profile.activated", "policy.defined")]

    def _answer(self, found: dict[bytes, Fact]) -> list[Fact]:
        self.calls += 1
        self.given += len(found)
        return list(found.values())
