"""Replacements (supersessions, merges, resolutions with a winner): what they do, and when they are void or undone."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from beliefbase.beliefs import conclusions, contradictions, half_lives, topology, waiting
from beliefbase.beliefs.edges import EFFECTIVE, MERGE, SUPERSESSION, UNDONE, VOID, WAITING, Replacement
from beliefbase.beliefs.intervals import STATUSES
from beliefbase.beliefs.reasons import Reason
from beliefbase.beliefs.rules import ENDINGS

if TYPE_CHECKING:
    from beliefbase.beliefs.contradictions import Contradiction
    from beliefbase.beliefs.life import Life
    from beliefbase.beliefs.world import World

PRECEDENCE: Final = tuple(ENDINGS.index(status) if status in ENDINGS else len(ENDINGS) for status in STATUSES)
"""Code of a status to its precedence."""


def propose(
    world: World, event: bytes, kind: int, target: Life, named: bytes, contradiction: Contradiction | None = None
) -> None:
    """Put up a replacement; it acts as soon as it can, which may be at once."""
    world.edges += 1
    edge = Replacement(world.edges, event, kind, target, named, contradiction)
    target.tied = True
    if target.on is None:
        target.on = {}
    target.on[event] = edge
    if contradiction is not None:
        contradiction.edges.append(edge)
    replacer = world.known.get(named) or world.utterances.get(named)
    if replacer is None:
        edge.deferred = True
        world.awaited.setdefault(named, []).append(edge)
        mark(world, edge)
        return
    _attach(world, edge, replacer)
    if world.dirty or world.queue or world.aging:
        waiting.enqueue(world, edge)
    elif waiting.ready(world, edge):
        _act(world, edge, event)
    else:
        waiting.watch(world, edge)
        mark(world, edge)


def met(world: World, name: bytes, life: Life) -> None:
    """A belief has become known under a name: replacements by it are looked at again."""
    for edge in world.awaited.pop(name, ()):
        _attach(world, edge, life)
        if edge.state is WAITING:
            mark(world, edge)
            waiting.enqueue(world, edge)


def _attach(world: World, edge: Replacement, replacer: Life) -> None:
    edge.replacer = replacer
    if replacer.inputs is not None:
        world.change(replacer)
    replacer.tied = True
    if replacer.by is None:
        replacer.by = []
    replacer.by.append(edge)
    if edge.state is WAITING:
        replacer.waits += 1


def act_on_first_ready(world: World, by: bytes | None) -> bool:
    """Let the first replacement that can act do so, with the event ``by``; False if none can."""
    queue = world.queue
    while queue:
        edge = heapq.heappop(queue)[1]
        edge.queued = False
        if edge.state is not WAITING:
            continue
        if waiting.ready(world, edge):
            _act(world, edge, by)
            return True
        waiting.watch(world, edge)
        mark(world, edge)
    return False


# -- what it does ---------------------------------------------------------------------------------------------------


def _act(world: World, edge: Replacement, by: bytes | None) -> None:
    """Put a replacement in force, unless it would close a cycle among those in force."""
    target, replacer = edge.target, edge.replacer
    assert replacer is not None  # noqa: S101  only edges whose replacer is known become ready
    edge.trigger = by
    if edge.event in world.refused:
        _refuse(world, edge)
        return
    earlier = tuple(contradictions.overruled(edge)) if edge.contradiction is not None else ()
    for old in earlier:
        old.state = UNDONE
    if not topology.admit(target, replacer):
        for old in earlier:
            old.state = EFFECTIVE
        _refuse(world, edge)
        return
    for old in earlier:
        old.over = world.now
        _release(world, old)
        undo(world, old.target, old.event)
    world.change(target)
    edge.state = EFFECTIVE
    edge.began = world.now
    replacer.waits -= 1
    world.effects += 1
    edge.effect = world.effects
    if edge.bites:
        mark(world, edge)
    kind, survivor = edge.kind, target.into
    target.end((world.now, PRECEDENCE[kind], edge.event, kind))
    while survivor is not None:
        if survivor.on is None or edge.event not in survivor.on:
            propose(world, edge.event, kind, survivor, edge.named, edge.contradiction)
        survivor = survivor.into
    if kind == SUPERSESSION:
        if replacer.inherits:
            _age_corrector(world, target, replacer)
    elif kind == MERGE:
        _relink(world, target)
        _hand_over_affirmation(world, target)
    else:
        target.falsify(edge.event, world.now)
    if target.watched:
        waiting.pass_on(target, replacer)
        waiting.wake_target(world, target)
        if not target.active:
            _spread(world, target, replacer)
    if target.feeds:
        conclusions.look_again(world, target)


def _refuse(world: World, edge: Replacement) -> None:
    edge.state = VOID
    edge.over = world.now
    if edge.replacer is not None:
        edge.replacer.waits -= 1
    world.refuse(edge.event, Reason.CYCLE, edge.target.id)
    mark(world, edge)
    if edge.contradiction is not None:
        contradictions.set_open(world, edge.contradiction, True)


def _age_corrector(world: World, target: Life, replacer: Life) -> None:
    """A correction takes the half-life of what it corrects; of several the shortest."""
    if replacer.half_life.reason == "correction":
        taken, new = replacer.half_life.days, target.half_life.days
        if new is None or (taken is not None and new >= taken):
            return
    world.aging[replacer] = None


def _hand_over_affirmation(world: World, duplicate: Life) -> None:
    """The survivor keeps the later of the two last affirmations."""
    survivor = duplicate.canon()
    world.touch(survivor)
    if duplicate.anchor > survivor.anchor and survivor.expired is None and not survivor.expires_at <= world.now:
        world.change(survivor)
        survivor.anchor = duplicate.anchor
        survivor.base = max(survivor.base, survivor.anchor)
        world.place_bounds(survivor)


def _spread(world: World, target: Life, replacer: Life) -> None:
    """What waits for the target may act if something that replaced it is fit.

    Had the target been active until now, it would have acted before.
    """
    some = False
    for life in waiting.successors(replacer):
        if waiting.active(world, life) or waiting.known_fit(world, life):
            waiting.wake(world, target, True)
            return
        some = some or life.alive(world.now, life.falsifiers or ())
    if some:
        waiting.wake(world, target, False)


def end(world: World, target: Life, event: bytes, status: int) -> None:
    """Put an ending in force."""
    world.change(target)
    target.end((world.now, PRECEDENCE[status], event, status))
    conclusions.look_again(world, target)


def undo(world: World, target: Life, event: bytes) -> None:
    """Take an ending out of force, which counts as an affirmation."""
    world.change(target)
    target.lift(event, world.now)
    world.refresh(target)
    conclusions.look_again(world, target)


def withdraw(world: World, edge: Replacement) -> None:
    """Take a replacement out for good, in force or waiting."""
    was = edge.state
    edge.state = UNDONE
    edge.over = world.now
    if was is EFFECTIVE:
        _release(world, edge)
        return
    if edge.replacer is not None:
        edge.replacer.waits -= 1
    mark(world, edge)


def _release(world: World, edge: Replacement) -> None:
    """Let go of what hung on a replacement that was in force."""
    target, replacer = edge.target, edge.replacer
    if edge.kind == MERGE:
        _relink(world, target)
    elif edge.kind == SUPERSESSION and replacer is not None and replacer.inherits:
        half_lives.miss(world, replacer, target)
    conclusions.look_again(world, target)


# -- merges ---------------------------------------------------------------------------------------------------------


def _relink(world: World, duplicate: Life) -> None:
    """Find the survivor of a belief anew: that of the first merge in force."""
    merges = [edge for edge in (duplicate.on or {}).values() if edge.kind == MERGE and edge.state is EFFECTIVE]
    first = min(merges, key=lambda edge: edge.effect, default=None)
    survivor = None if first is None else first.replacer
    if survivor is duplicate.into:
        return
    before = duplicate.canon()
    if duplicate.into is not None and duplicate.into.absorbed is not None:
        duplicate.into.absorbed.remove(duplicate)
        _weigh(duplicate.into, -duplicate.challenges)
    duplicate.into = survivor
    if duplicate.into_log is None:
        duplicate.into_log = []
    duplicate.into_log.append((world.now, survivor))
    if survivor is not None:
        if survivor.absorbed is None:
            survivor.absorbed = []
        survivor.absorbed.append(duplicate)
        _weigh(survivor, duplicate.challenges)
    after = duplicate.canon()
    for life in (before, after):
        world.touch(life)
        world.schedule(life)
    for life in duplicate.family():
        life.tied = True
        announce(world, life, rising=True)


def _weigh(life: Life | None, by: int) -> None:
    while life is not None and by:
        life.challenges += by
        life = life.into


# -- contested ------------------------------------------------------------------------------------------------------


def mark(world: World, edge: Replacement) -> None:
    """Count a replacement among what contests its target, or no longer."""
    bites = (
        edge.state is WAITING
        and edge.kind != MERGE
        and (edge.replacer is None or edge.replacer.canon().alive(world.now))
    )
    if bites != edge.bites:
        edge.bites = bites
        weigh(world, edge.target, 1 if bites else -1)


def weigh(world: World, life: Life, by: int) -> None:
    """Add to what contests a belief and those that it is merged into."""
    _weigh(life, by)
    world.touch(life.canon())


def announce(world: World, life: Life, *, rising: bool) -> None:
    """The belief that stands for this one rose or fell: flags and waiting replacements that depend on it follow."""
    if life.waits and life.by:
        for edge in life.by:
            if edge.state is WAITING:
                mark(world, edge)
                if rising:
                    waiting.enqueue(world, edge)
    if life.disputes:
        for contradiction in life.disputes:
            contradictions.judge(world, contradiction)
    if life.feeds:
        conclusions.look_again(world, life)
    if rising:
        waiting.wake(world, life, life.canon().active)
