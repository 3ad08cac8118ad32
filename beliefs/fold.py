"""The fold: facts in, lives out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from functools import cached_property

from beliefbase.beliefs import conclusions, half_lives, replacements, waiting
from beliefbase.beliefs.acts import ACTS, copied
from beliefbase.beliefs.collector import paused
from beliefbase.beliefs.edges import WAITING, Replacement
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.forks import Forks
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.order import ActingOrder
from beliefbase.beliefs.policies import Policy
from beliefbase.beliefs.reasons import Note, Reason
from beliefbase.beliefs.rules import DEFAULT, FOREVER, Profile, Rules
from beliefbase.beliefs.settled import NOTHING, Settled
from beliefbase.beliefs.world import World
from beliefbase.events.ids import ID_BYTES

Erased = Mapping[bytes, tuple[int, bytes]]
"""Belief id to the stamp of the erasure and the event that erased it."""


class Fold:
    """What a set of facts says about every belief."""

    def __init__(self, world: World, order: ActingOrder) -> None:
        self.lives: dict[bytes, Life] = world.lives
        """Beliefs by id."""
        self.acted: dict[bytes, int] = order.acted
        """Stamp at which each event acts, of those that do."""
        self.entity: dict[bytes, bytes] = order.entity
        """Copy to the earliest event with its type and source_ref."""
        self.waiting: dict[bytes, bytes | None] = {event: missing for event, (_, missing) in order.waiting.items()}
        """Events that don't act, to what they wait for (None: a question, which never acts)."""
        self.waiting |= dict.fromkeys(order.questions)
        self.void: dict[bytes, Note] = world.void
        """Events that acted without any effect."""
        self.policies: Mapping[str, Policy] = world.policies
        """Policies at the end by ``name@version``, the built-in ones included."""
        self.profile: Profile = world.profile
        """The profile in force at the end."""
        self._world = world
        self._order = order

    def of(self, event: bytes) -> Life | None:
        """The life of a belief, by any of its ids."""
        return self._world.known.get(event)

    def lacking(self, conclusion: Life) -> list[bytes]:
        """The essential inputs, as named, for want of which a conclusion is a candidate at the end."""
        return conclusions.lacking(self._world, conclusion)

    def dissolve(self) -> None:
        """Take apart what refers to one another, which frees its memory at once; nothing of it can be read any more.

        Python's collector of cycles would need half as long as the fold.
        """
        for lives in (self.lives, self._world.utterances):
            for life in lives.values():
                life.let_go()
        for contradiction in self._world.contradictions.values():
            contradiction.edges.clear()

    @cached_property
    def pending(self) -> dict[bytes, list[Life]]:
        """Replacements that wait for their replacer to be fit, by event, with the beliefs they would end."""
        found: dict[bytes, list[Life]] = {}
        for edge in self._edges:
            if edge.state is WAITING:
                found.setdefault(edge.event, []).append(edge.target)
        return found

    @cached_property
    def _edges(self) -> list[Replacement]:
        """Replacements of which not all is said by the event that they come from."""
        return [
            edge
            for life in self.lives.values()
            if life.on
            for edge in life.on.values()
            if edge.deferred or edge.undone is not None
        ]

    @cached_property
    def notes(self) -> list[Note]:
        """Every remark, sorted: what is void, what waits and for what, and what to know."""
        notes = [*self.void.values(), *self._world.notes]
        notes += [Note(event, Reason.QUESTION, None) for event in self._order.questions]
        notes += [Note(event, Reason.MISSING, missing) for event, (_, missing) in self._order.waiting.items()]
        notes += [
            Note(event, Reason.REPLACEMENT_WAITS, life.id) for event, lives in self.pending.items() for life in lives
        ]
        notes += [
            Note(edge.event, Reason.REPLACEMENT_DEFERRED, edge.trigger)
            for edge in self._edges
            if edge.deferred and edge.state is not WAITING
        ]
        notes += [
            Note(edge.event, Reason.REPLACEMENT_UNDONE, edge.undone) for edge in self._edges if edge.undone is not None
        ]
        notes += [Note(life.id, Reason.UNKNOWN_POLICY, None) for life in self._world.lacking_policy()]
        return sorted(set(notes), key=lambda note: (note.event, note.reason, note.about or b""))


def fold(
    facts: Iterable[Fact],
    rules: Rules = DEFAULT,
    *,
    erased: Erased | None = None,
    until: int = FOREVER - 1,
    settled: Settled = NOTHING,
) -> Fold:
    """Fold facts into lives; neither their order nor their repetition matters.

    ``erased`` names beliefs whose words are erased, by any of their ids. The result is exact for every belief whose
    dependencies are among the facts, but for what only supersessions depend on that are ``settled``. The state that
    lives are left in is that at the stamp ``until``; facts stamped later are left out, which changes nothing up to
    there.
    """
    with paused():
        known = [*facts, *_erasures(erased or {})]
        order = ActingOrder(known if until >= FOREVER - 1 else [fact for fact in known if fact.hlc <= until])
        world = World(rules, order.entity, settled)
        _run(world, order)
        _pass_time(world, until)
        world.now = until
        for life in world.lives.values():
            if life.stale_at <= until:
                life.pass_bounds(until)
        forks = Forks(world, order)
        for life in world.forkable:
            life.forks = forks
        return Fold(world, order)


def _run(world: World, order: ActingOrder) -> None:
    """Let everything act, in order."""
    entity, bounds, touched, queue = order.entity, world.bounds, world.touched, world.queue
    until, ticks = world.until, world.ticks
    now = 0
    for fact in order:
        hlc, event, kind = fact[0], fact[3], fact[4]
        if hlc > now:
            now = hlc
            if bounds and bounds[0][0] <= now:
                _pass_time(world, now)
            world.now = now
        if entity and event in entity:
            copied(world, fact, entity[event])
        elif (act := ACTS.get(kind)) is not None and not (ticks and event in ticks):
            act(world, fact)
        if until and event in until:
            waiting.release(world, event)
        if touched or queue:
            # The id of an erasure has the belief's behind it.
            _settle(world, event if len(event) == ID_BYTES else event[:ID_BYTES])


def _erasures(erased: Erased) -> list[Fact]:
    return [
        Fact(hlc, b"", 0, event + belief, "belief.erased", {"belief_id": belief, "event": event}, (), None, b"")
        for belief, (hlc, event) in erased.items()
    ]


def _settle(world: World, by: bytes | None) -> None:
    """Let everything follow that follows from the present event, then write the rows that changed."""
    dirty, now, touched = world.dirty, world.now, world.touched
    while dirty or world.queue or world.aging:
        if world.aging:
            half_lives.update(world)
        while dirty:
            life = dirty.pop()
            if life.expired is None and life.expires_at <= now:
                life.expired = now
                conclusions.look_again(world, life)
            live = life.expired is None and not life.ends
            active = live and life.mature and (life.inputs is None or conclusions.holds(world, life))
            if live is not life.live or active is not life.active:
                _changed(world, life, live, active)
            elif life.falsifiers and life.watched and life.alive(now, life.falsifiers):
                waiting.wake(world, life, False)  # a resolution may wait for what only earlier ones had ended
        if world.queue:
            replacements.act_on_first_ready(world, by)
    for life in touched:
        life.touched = False
        life.write(now, by)
    touched.clear()


def _changed(world: World, life: Life, live: bool, active: bool) -> None:
    """A belief rose or fell: tell whoever depends on it."""
    rising = live > life.live or active > life.active
    life.live, life.active = live, active
    if active:
        life.ever = True
    if life.absorbed:
        for member in life.family():
            replacements.announce(world, member, rising=rising)
    elif life.tied:
        replacements.announce(world, life, rising=rising)


def _pass_time(world: World, to: int) -> None:
    """Let every expiry up to a stamp come that others have to learn of."""
    while world.bounds and world.bounds[0][0] <= to:
        bound, _, life = heapq.heappop(world.bounds)
        if life.announced == bound:
            life.announced = None
        if life.expires_at != bound:
            world.push(life)
            continue
        if not (life.live or life.feeds):
            continue
        world.now = bound
        world.change(life)
        conclusions.look_again(world, life)
        _settle(world, None)
