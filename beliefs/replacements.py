"""Replacements (supersessions, merges, resolutions with a winner): when they wait, act, are void or undone."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

from beliefbase.beliefs import conclusions, contradictions, topology
from beliefbase.beliefs.edges import EFFECTIVE, MERGE, RESOLUTION, SUPERSESSION, UNDONE, VOID, WAITING, Replacement
from beliefbase.beliefs.intervals import STATUSES
from beliefbase.beliefs.reasons import Reason
from beliefbase.beliefs.rules import ENDINGS

if TYPE_CHECKING:
    from beliefbase.beliefs.contradictions import Contradiction
    from beliefbase.beliefs.life import Life
    from beliefbase.beliefs.world import World

PRECEDENCE: Final = tuple(ENDINGS.index(status) if status in ENDINGS else len(ENDINGS) for status in STATUSES)
"""Code of a status to its precedence."""
_SUPERSESSIONS: Final = 1
_RESOLUTIONS: Final = 2
_WAITING_AS: Final = {SUPERSESSION: _SUPERSESSIONS, RESOLUTION: _RESOLUTIONS}
"""Kind of a replacement that waits to its bit in ``Life.watched``; a merge has none."""


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
        world.awaited.setdefault(named, []).append(edge)
        mark(world, edge)
        return
    _attach(world, edge, replacer)
    if world.dirty or world.queue or world.aging:
        enqueue(world, edge)
    elif (kind == SUPERSESSION and (replacer.ever or not target.mature)) or _ready(world, edge):
        _act(world, edge)
    else:
        _watch(world, edge)
        mark(world, edge)


def met(world: World, name: bytes, life: Life) -> None:
    """A belief has become known under a name: replacements by it are looked at again."""
    for edge in world.awaited.pop(name, ()):
        _attach(world, edge, life)
        if edge.state is WAITING:
            mark(world, edge)
            enqueue(world, edge)


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


def enqueue(world: World, edge: Replacement) -> None:
    """Have a waiting replacement looked at before the present event is done."""
    if not edge.queued and edge.state is WAITING:
        edge.queued = True
        heapq.heappush(world.queue, (edge.seq, edge))


def wake_target(world: World, target: Life) -> None:
    """Look again at what waits to replace this belief: it needs less now."""
    for edge in (target.on or {}).values():
        enqueue(world, edge)


def wake(world: World, life: Life, active: bool) -> None:
    """Look again at what waits for this belief, or for what replaced it, to rise; ``active``: it is active now."""
    heard = _SUPERSESSIONS | _RESOLUTIONS if active else _RESOLUTIONS
    if not life.watched & heard:
        return
    waits = 0
    found, stack = {life}, [life]
    while stack:
        for edge in stack.pop().by or ():
            if edge.state is EFFECTIVE:
                if edge.target.watched & heard and edge.target not in found:
                    found.add(edge.target)
                    stack.append(edge.target)
            elif edge.state is WAITING and edge.kind != MERGE:
                waits |= _WAITING_AS[edge.kind]
                if active or edge.kind != SUPERSESSION:
                    enqueue(world, edge)
    gone = heard & ~waits
    if gone:
        for source in found:
            source.watched &= ~gone


# -- whether it acts ------------------------------------------------------------------------------------------------


def act_on_first_ready(world: World) -> bool:
    """Let the first replacement that can act do so; False if none can."""
    queue = world.queue
    while queue:
        edge = heapq.heappop(queue)[1]
        edge.queued = False
        if edge.state is not WAITING:
            continue
        if _ready(world, edge):
            _act(world, edge)
            return True
        _watch(world, edge)
        mark(world, edge)
    return False


def _ready(world: World, edge: Replacement) -> bool:
    """Whether a waiting replacement can act: its replacer, or what replaced that, is fit to end its target."""
    target, replacer = edge.target, edge.replacer
    if replacer is None:
        return False
    if edge.kind == MERGE:
        survivor = replacer.canon()
        return survivor.alive(world.now) and (not target.mature or active(world, survivor))
    if edge.kind == SUPERSESSION and (replacer.ever or not target.mature):
        return True
    fit = active if target.mature else _live
    undone = tuple(contradictions.overruled(edge)) if edge.contradiction is not None else ()
    lifted = [old.event for old in undone]
    return any(fit(world, life, lifted) for life in successors(replacer, undone) if life is not target)


def active(world: World, life: Life, but: Collection[bytes] = ()) -> bool:
    """Whether a belief is active now, or would be but for endings by these events."""
    return life.mature and _live(world, life, but) and (life.inputs is None or conclusions.holds(world, life, but))


def _live(world: World, life: Life, but: Collection[bytes] = ()) -> bool:
    return life.alive(world.now, but)


def successors(life: Life, without: Collection[Replacement] = ()) -> Iterator[Life]:
    """The belief and what replaced it, in turn, by replacements in force, except some."""
    yield life
    if not life.on:
        return
    found, stack = {life}, [life]
    while stack:
        for edge in (stack.pop().on or {}).values():
            above = edge.replacer
            if edge.state is EFFECTIVE and above is not None and above not in found and edge not in without:
                found.add(above)
                stack.append(above)
                yield above


def _watch(world: World, edge: Replacement) -> None:
    """Have a replacement looked at again when its replacer, or what replaced that, rises or is replaced.

    A merge waits for its survivor alone, which announces itself.
    """
    source = edge.replacer
    if source is not None and edge.kind != MERGE:
        _mark_watched(source, _WAITING_AS[edge.kind])
        world.schedule(source.canon())


def _mark_watched(start: Life, bits: int) -> None:
    stack = [start]
    while stack:
        life = stack.pop()
        if bits & ~life.watched:
            life.watched |= bits
            life.tied = True
            on = (life.on or {}).values()
            stack.extend(edge.replacer for edge in on if edge.state is EFFECTIVE and edge.replacer is not None)


# -- what it does ---------------------------------------------------------------------------------------------------


def _act(world: World, edge: Replacement) -> None:
    """Put a replacement in force, unless it would close a cycle among those in force."""
    target, replacer = edge.target, edge.replacer
    assert replacer is not None  # noqa: S101  only edges whose replacer is known become ready
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
        _mark_watched(replacer, target.watched)
        wake_target(world, target)
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
    for life in successors(replacer):
        if active(world, life):
            wake(world, target, True)
            return
        some = some or bool(life.falsifiers) or life.alive(world.now)
    if some:
        wake(world, target, False)


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
        world.aging[replacer] = None
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
                    enqueue(world, edge)
    if life.disputes:
        for contradiction in life.disputes:
            contradictions.judge(world, contradiction)
    if life.feeds:
        conclusions.look_again(world, life)
    if rising:
        wake(world, life, life.canon().active)
