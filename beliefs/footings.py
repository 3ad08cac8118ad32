"""Footings: what is known of a replacement, so that neither what replaces nor what lies above it need be folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from enum import Enum
from typing import Final, NamedTuple

from beliefbase.beliefs.fitness import Fitness
from beliefbase.beliefs.lookups import Lookups, Task
from beliefbase.beliefs.outpaced import outpaced
from beliefbase.beliefs.past import Known
from beliefbase.beliefs.paths import Edge, between
from beliefbase.beliefs.rules import FOREVER

_MOST: Final = 500
"""After so many searches in vain there are no more."""


class User(NamedTuple):
    """Who leans on a footing."""

    belief: bytes
    """The belief that would be replaced, or that corrects others."""
    again: Callable[[], Task[None]]
    """Finds out without the footing, or with another one."""


class Lost(NamedTuple):
    """A footing that is gone."""

    changed: int
    """The stamp from which on things may be otherwise."""
    user: User


class _Kind(Enum):
    EVER = "a belief has been active"
    FIT = "a belief is fit"
    VOID = "an event is void"
    ENDED = "a belief is replaced"
    UNFIT = "an event waits for good"
    AGED = "a correction has taken a half-life"


_Footing = tuple[_Kind, bytes]
"""What is known, and of which belief or event."""


class Footings:
    """What is known of replacements, as long as what that leans on doesn't change."""

    def __init__(self, lookups: Lookups, known: Known) -> None:
        self._lookups = lookups
        self._outcomes = known.outcomes
        self._fitness = Fitness(lookups, known)
        self._since = known.since
        self._until = known.newest
        self._reshaped = known.reshaped
        self._known: dict[_Footing, int] = {}
        """To the stamp from which on."""
        self._leans: dict[_Footing, dict[bytes, int]] = {}
        """To what it leans on, each up to a stamp."""
        self._users: dict[_Footing, list[User]] = defaultdict(list)
        self._unfit: dict[bytes, int] = {}
        """Beliefs that were not found to be fit, to the latest stamp for which that was asked."""

    @property
    def ever(self) -> dict[bytes, int]:
        """Beliefs to a stamp before which they became active."""
        return self._those(_Kind.EVER)

    @property
    def fit(self) -> dict[bytes, int]:
        """Beliefs to the stamp from which on they, or what replaced them in turn, are active."""
        return self._those(_Kind.FIT)

    @property
    def unfit(self) -> set[bytes]:
        """Supersessions that wait for good for what replaces to be fit."""
        return set(self._those(_Kind.UNFIT))

    @property
    def void(self) -> set[bytes]:
        """Supersessions that would close a cycle, whenever they could act."""
        return set(self._those(_Kind.VOID))

    def is_ready(self, belief: bytes, at: int, user: User) -> Task[bool]:
        """Whether a belief is known to have been active before a stamp, or to be fit at it."""
        stretches = self._outcomes.active((belief,), self._lookups.facts.values())[belief]
        became = min((since for since, _ in stretches), default=FOREVER)
        if became < min(at, self._since(belief)):
            self._note((_Kind.EVER, belief), became + 1, {belief: became}, user)
            return True
        return became != at and (yield from self.is_fit(belief, at, user))

    def is_fit(self, belief: bytes, since: int, user: User) -> Task[bool]:
        """Whether a belief is known to be fit from a stamp on."""
        footing = (_Kind.FIT, belief)
        leans: dict[bytes, int] | None
        if self._known.get(footing, since + 1) <= since:
            since, leans = self._known[footing], self._leans[footing]
        elif since <= self._unfit.get(belief, -1) or len(self._unfit) > _MOST:
            return False
        else:
            leans = yield from self._fitness.always(belief, since, self._until)
        if leans is None:
            self._unfit[belief] = max(since, self._unfit.get(belief, -1))
            return False
        self._note(footing, since, leans, user)
        return True

    def is_unfit(self, edge: Edge, since: int, user: User) -> Task[bool]:
        """Whether what a replacement waits for from a stamp on is known not to be fit then or later."""
        leans = yield from self._fitness.ended(edge.by, since, self._until)
        if leans is None:
            return False
        self._note((_Kind.UNFIT, edge.fact.id), since, leans, user)
        return True

    def closes(self, edge: Edge, since: int, user: User) -> Task[bool]:
        """Whether a replacement is known to close a cycle from a stamp on."""
        leans: dict[bytes, int] = {}

        def firm(edges: list[Edge]) -> Task[list[Edge]]:
            found = yield from self._fitness.firm(edges, since)
            for other, decided in found:
                leans[other.target] = max(decided, leans.get(other.target, 0))
            return [other for other, _ in found]

        if not (yield from between(self._lookups, edge.by, edge.target, firm)):
            return False
        self._note((_Kind.VOID, edge.fact.id), since, leans, user)
        return True

    def replaced(self, belief: bytes, user: User) -> Task[int | None]:
        """A stamp from which on a belief is known to be replaced for good."""
        firm = yield from self._fitness.above((belief,), FOREVER)
        if not firm:
            return None
        until = min(decided for _, decided in firm)
        self._note((_Kind.ENDED, belief), until, {belief: until}, user)
        return until

    def outpaced(self, edges: Collection[Edge], user: User) -> Task[set[bytes]]:
        """Those of the user's own replacements of others of which it is known that it takes no half-life by them."""
        if self._reshaped is None:
            return set()
        firm = yield from self._fitness.firm(edges, FOREVER)
        found = yield from outpaced(self._lookups, edges, firm, self._reshaped)
        if found.events:
            self._note((_Kind.AGED, user.belief), 0, found.leans, user)
        return found.events

    def lost(self) -> list[Lost]:
        """Take away what isn't known any more, because something that it leans on may have changed."""
        found = []
        for footing, leans in list(self._leans.items()):
            changed = [since for node, until in leans.items() if (since := self._since(node)) <= until]
            if changed:
                del self._known[footing], self._leans[footing]
                found += [Lost(min(changed), user) for user in self._users.pop(footing)]
        return found

    def _note(self, footing: _Footing, since: int, leans: dict[bytes, int], user: User) -> None:
        if since <= self._known.get(footing, since):  # side by side others may have found it from another stamp on
            self._known[footing], self._leans[footing] = since, leans
        self._users[footing].append(user)

    def _those(self, kind: _Kind) -> dict[bytes, int]:
        return {of: since for (known, of), since in self._known.items() if known is kind}
