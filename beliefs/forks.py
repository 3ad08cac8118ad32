"""Forks: concurrent revisions that give one belief different fates, until somebody who saw both decides.

Two revisions are concurrent if neither is an ancestor of the other through ``basis``. Every deciding revision, the
two themselves included, covers what is among its ancestors; a belief is forked while two different fates in force
are covered by none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from beliefbase.beliefs.ancestry import Ancestry, Cover
from beliefbase.beliefs.rules import FOREVER

if TYPE_CHECKING:
    from beliefbase.beliefs.life import Life
    from beliefbase.beliefs.order import ActingOrder
    from beliefbase.beliefs.world import World


class Fate:
    """What one revision makes of one belief."""

    __slots__ = ("axis", "event", "named", "since", "until", "what")

    def __init__(self, since: int, event: bytes, axis: str, what: str, named: bytes | None) -> None:
        self.since = since
        self.until = FOREVER
        self.event = event
        self.axis = axis
        """``life`` or ``class``; only fates of one axis differ."""
        self.what = what
        self.named = named
        """The successor or survivor, as named."""


def fate(world: World, life: Life, event: bytes, axis: str, what: str, named: bytes | None = None) -> None:
    """Record a fate from now on."""
    if life.fates is None:
        life.fates = {}
    elif len(life.fates) == 1:
        world.forkable.append(life)
    life.fates[event] = Fate(world.now, event, axis, what, named)


def forget(world: World, life: Life, events: Collection[bytes]) -> None:
    """End the fates that these events gave a belief: they are undone."""
    for event in events:
        known = (life.fates or {}).get(event)
        if known is not None and known.until == FOREVER:
            known.until = world.now


class Forks:
    """Finds when beliefs are forked, once everything has acted."""

    def __init__(self, world: World, order: ActingOrder) -> None:
        self.world = world
        self.acted = order.acted
        self.entity = order.entity
        self._order = order
        self._ancestry: Ancestry | None = None

    @property
    def ancestry(self) -> Ancestry:
        """The graph of bases; made when first asked for."""
        if self._ancestry is None:
            self._ancestry = Ancestry(self._order.facts, self.acted, self.entity, self.world.voided_at)
        return self._ancestry

    def of(self, life: Life) -> list[tuple[int, bool]]:
        """Stamps at which a belief becomes forked (True) and stops being so, in order."""
        fates = self._fates(life)
        for axis in ("life", "class"):
            events = [known.event for known in fates if known.axis == axis]
            if self.ancestry.in_sequence(events):
                fates = [known for known in fates if known.axis != axis]
        return _Sweep(self, fates).run() if fates else []

    def rivals(self, life: Life) -> list[Fate]:
        """The fates that fork a belief at the end; empty if it isn't forked then."""
        return _Sweep(self, self._fates(life)).rivals()

    def _fates(self, life: Life) -> list[Fate]:
        """Those that were in force for a time."""
        return [known for known in (life.fates or {}).values() if known.since < self.until(known)]

    def until(self, known: Fate) -> int:
        """Stamp at which a fate is undone or turns out void."""
        return min(known.until, self.world.voided_at.get(known.event, FOREVER))

    def value(self, known: Fate, at: int) -> tuple[str, bytes | None]:
        """A fate as it compares with others at a stamp: successors count as what they are merged into."""
        named = known.named
        if named is None or self.acted.get(named, FOREVER) > at:
            return known.what, named
        life = self.world.known.get(named)
        if life is None:
            return known.what, self.entity.get(named, named)
        while (survivor := _into(life, at)) is not None:
            life = survivor
        return known.what, life.id

    def value_changes(self, known: Fate) -> set[int]:
        """Stamps at which the value of a fate may change."""
        if known.named is None:
            return set()
        stamps = {self.acted[known.named]} if known.named in self.entity and known.named in self.acted else set()
        first = self.world.known.get(known.named)
        stack, found = ([first], {first}) if first is not None else ([], set())
        while stack:
            for at, survivor in stack.pop().into_log or ():
                stamps.add(at)
                if survivor is not None and survivor not in found:
                    found.add(survivor)
                    stack.append(survivor)
        return stamps


def _into(life: Life, at: int) -> Life | None:
    """What a belief is merged into at a stamp."""
    log = life.into_log
    place = bisect_right(log, at, key=lambda entry: entry[0]) if log else 0
    return log[place - 1][1] if log and place else None


class _Sweep:
    """Walks through the stamps at which anything about a belief's fates changes."""

    def __init__(self, forks: Forks, fates: Sequence[Fate]) -> None:
        self._forks = forks
        self._fates = fates
        self._bits: dict[bytes, int] = {}
        for known in fates:
            self._bits.setdefault(known.event, 1 << len(self._bits))
        self._covers: list[Cover] = []
        self._alive: dict[Fate, tuple[str, bytes | None]] = {}
        self._groups: dict[tuple[str, str, bytes | None], int] = defaultdict(int)
        self._witness: tuple[Fate, Fate] | None = None
        """Two fates that fork now."""
        self._lost = False
        """Whether pairs that were looked at before may fork now."""

    def run(self) -> list[tuple[int, bool]]:
        """The changes, in order."""
        begins: dict[int, list[Fate]] = defaultdict(list)
        ends: dict[int, list[Fate]] = defaultdict(list)
        revalued: set[int] = set()
        for known in self._fates:
            begins[known.since].append(known)
            ends[self._forks.until(known)].append(known)
            revalued |= self._forks.value_changes(known)
        covered: dict[int, list[Cover]] = defaultdict(list)
        uncovered: dict[int, list[Cover]] = defaultdict(list)
        for cover in self._forks.ancestry.covers(self._bits):
            covered[cover.since].append(cover)
            uncovered[cover.until].append(cover)
        changes: list[tuple[int, bool]] = []
        for now in sorted(begins.keys() | ends.keys() | revalued | covered.keys() | uncovered.keys()):
            if now == FOREVER:
                break
            fresh = list(begins[now]) if now in begins else []
            again = self._take_away(ends.get(now, ()), uncovered.get(now, ()))
            for known in fresh:
                self._alive[known] = ("", None)
            self._value(self._alive if now in revalued else fresh, now, anew=now in revalued)
            self._lost = again or now in revalued
            self._cover(covered.get(now, ()))
            forked = self._forked(fresh)
            if forked != bool(changes and changes[-1][1]):
                changes.append((now, forked))
        return changes

    def rivals(self) -> list[Fate]:
        """The fates that differ from a concurrent one at the end."""
        self.run()
        return [known for known in self._alive if self._rival(known) is not None]

    def _take_away(self, fates: Collection[Fate], covers: Collection[Cover]) -> bool:
        """Drop what ends; True if pairs may be uncovered that were not."""
        for known in fates:
            value = self._alive.pop(known, None)
            if value is not None:
                self._groups[(known.axis, *value)] &= ~self._bits[known.event]
        if covers:
            gone = set(map(id, covers))
            self._covers = [cover for cover in self._covers if id(cover) not in gone]
        return bool(covers)

    def _value(self, fates: Collection[Fate], now: int, *, anew: bool) -> None:
        if anew:
            self._groups.clear()
        for known in fates:
            value = self._alive[known] = self._forks.value(known, now)
            self._groups[(known.axis, *value)] |= self._bits[known.event]

    def _cover(self, covers: Collection[Cover]) -> None:
        """Take up covers; one that another holds as long is not needed."""
        for cover in covers:
            mask, until = cover.mask, cover.until
            self._covers = [old for old in self._covers if old.mask & ~mask or old.until > until]
            self._covers.append(cover)
            if self._witness is not None:
                pair = self._bits[self._witness[0].event] | self._bits[self._witness[1].event]
                if mask & pair == pair:
                    self._witness, self._lost = None, True

    def _forked(self, candidates: Sequence[Fate]) -> bool:
        """Whether two different fates are covered by no revision; only pairs with a candidate are new."""
        if self._witness is not None:
            one, other = self._witness
            if one in self._alive and other in self._alive and self._alive[one] != self._alive[other]:
                return True
            self._witness, self._lost = None, True
        for known in list(self._alive) if self._lost else candidates:
            rival = self._rival(known)
            if rival is not None:
                self._witness = known, rival
                break
        self._lost = False
        return self._witness is not None

    def _rival(self, known: Fate) -> Fate | None:
        """A fate that forks with this one."""
        if known not in self._alive:
            return None
        bit = self._bits[known.event]
        seen = bit
        for cover in self._covers:
            if cover.mask & bit:
                seen |= cover.mask
        value = (known.axis, *self._alive[known])
        if not any(group & ~seen for key, group in self._groups.items() if key[0] == known.axis and key != value):
            return None
        for other in self._alive:
            if other.axis == known.axis and not self._bits[other.event] & seen and self._alive[other] != value[1:]:
                return other
        return None
