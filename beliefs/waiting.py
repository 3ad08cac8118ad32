"""Replacements that wait: for what, and when they are looked at again.

A resolution or the replacement of an active belief waits until its replacer, or what replaced that in turn, is fit.
Who may be waited for is marked (``Life.watched``), so that a belief that rises need not search below itself in vain.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from beliefbase.beliefs import conclusions, contradictions
from beliefbase.beliefs.edges import EFFECTIVE, MERGE, RESOLUTION, SUPERSESSION, WAITING, Replacement
from beliefbase.beliefs.rules import FOREVER

if TYPE_CHECKING:
    from beliefbase.beliefs.life import Life
    from beliefbase.beliefs.world import World

_SUPERSESSIONS: Final = 1
_RESOLUTIONS: Final = 2
_WAITING_AS: Final = {SUPERSESSION: _SUPERSESSIONS, RESOLUTION: _RESOLUTIONS}
"""Kind of a replacement that waits to its bit in ``Life.watched``; a merge has none. The bit says that one may wait
for the belief by way of another that the belief has replaced, and then everything above has it too; the bit ``_OWN``
places higher that one waits that names the belief itself."""
_OWN: Final = 2


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
    heard |= heard << _OWN
    if not life.watched & heard:
        return
    life.watched &= ~heard  # what still waits after it was looked at sets it again
    stack = [life]
    while stack:
        for edge in stack.pop().by or ():
            if edge.state is EFFECTIVE:
                target = edge.target
                if target.watched & heard:
                    target.watched &= ~heard
                    stack.append(target)
            elif edge.state is WAITING and edge.kind != MERGE and (active or edge.kind != SUPERSESSION):
                enqueue(world, edge)


# -- whether one can act ----------------------------------------------------------------------------------------------


def ready(world: World, edge: Replacement) -> bool:
    """Whether a waiting replacement can act: its replacer, or what replaced that, is fit to end its target."""
    target, replacer = edge.target, edge.replacer
    if replacer is None:
        return False
    if edge.kind == MERGE:
        survivor = replacer.canon()
        return survivor.alive(world.now) and (not target.mature or active(world, survivor))
    if world.settled and edge.event in world.settled:
        edge.deferred = edge.deferred or edge.event in world.deferred
        return world.settled[edge.event]
    if world.waits and world.waits.get(edge.event, 0) > world.now:
        return False
    if edge.kind == SUPERSESSION and (replacer.ever or not target.mature or _known(world, world.ever, replacer)):
        return True
    if edge.event in world.unfit:
        return False
    undone = tuple(contradictions.overruled(edge)) if edge.contradiction is not None else ()
    lifted = [old.event for old in undone]
    for life in successors(replacer, undone):
        fit = active(world, life, lifted) if target.mature else life.alive(world.now, lifted)
        if fit and life is not target:
            edge.deferred = edge.deferred or life is not replacer
            return True
        if edge.kind == SUPERSESSION and _known(world, world.fit, life):
            edge.deferred = True
            return True
    return False


def known_fit(world: World, life: Life) -> bool:
    """Whether it is known that a belief, or what replaced it in turn, is active now."""
    return _known(world, world.fit, life)


def _known(world: World, since: Mapping[bytes, int], life: Life) -> bool:
    return bool(since) and since.get(life.id, FOREVER) <= world.now


def active(world: World, life: Life, but: Collection[bytes] = ()) -> bool:
    """Whether a belief is active now, or would be but for endings by these events."""
    return life.mature and life.alive(world.now, but) and (life.inputs is None or conclusions.holds(world, life, but))


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


def watch(world: World, edge: Replacement) -> None:
    """Have a replacement looked at again when its replacer, or what replaced that, rises or is replaced.

    A merge waits for its survivor alone, which announces itself.
    """
    edge.deferred = True
    source = edge.replacer
    if edge.event in world.settled:
        world.unready.setdefault(edge.event, []).append(edge)
        if source is not None:
            world.schedule(source.canon())
    elif source is not None and edge.kind != MERGE:
        bit = _WAITING_AS[edge.kind]
        source.watched |= bit << _OWN
        undone = tuple(contradictions.overruled(edge))
        for over in (source.on or {}).values():
            if over.state is EFFECTIVE and over.replacer is not None and over not in undone:
                _mark(over.replacer, bit)
        world.schedule(source.canon())


def release(world: World, trigger: bytes) -> None:
    """Let act what is known to act with this event."""
    for event in world.until[trigger]:
        world.settled[event] = True
        for edge in world.unready.pop(event, ()):
            enqueue(world, edge)


def pass_on(target: Life, replacer: Life) -> None:
    """A belief has been replaced: whatever may wait for it may wait for the other now."""
    _mark(replacer, (target.watched | target.watched >> _OWN) & (_SUPERSESSIONS | _RESOLUTIONS))


def _mark(start: Life, bits: int) -> None:
    stack = [start] if bits & ~start.watched else []
    start.watched |= bits
    while stack:
        life = stack.pop()
        life.tied = True
        if not life.on:
            continue
        for edge in life.on.values():
            above = edge.replacer
            if edge.state is EFFECTIVE and above is not None and bits & ~above.watched:
                above.watched |= bits
                stack.append(above)
