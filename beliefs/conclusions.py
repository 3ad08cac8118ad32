"""Conclusions: they stand on inputs; while an essential one isn't live, a conclusion is a candidate."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from beliefbase.beliefs import waiting

if TYPE_CHECKING:
    from beliefbase.beliefs.life import Life
    from beliefbase.beliefs.world import World


def derive(world: World, conclusion: Life, inputs: list[bytes]) -> None:
    """Make a belief stand on these essential inputs, beside those it already has."""
    world.change(conclusion)
    conclusion.inputs = [*(conclusion.inputs or ()), *inputs]


def holds(world: World, conclusion: Life, but: Collection[bytes] = ()) -> bool:
    """Whether every essential input is live, but for endings by some events; the conclusion is told of changes."""
    return not lacking(world, conclusion, but)


def lacking(world: World, conclusion: Life, but: Collection[bytes] = ()) -> list[bytes]:
    """The essential inputs, as named, that aren't live."""
    return [named for named in conclusion.inputs or () if not _holds(world, conclusion, named, but)]


def _holds(world: World, conclusion: Life, named: bytes, but: Collection[bytes]) -> bool:
    life = world.known.get(named)
    if life is None:
        world.awaited_inputs.setdefault(named, {})[conclusion] = None
        return False
    for link in life.chain():
        _feed(link, conclusion)
    life = life.canon()
    world.schedule(life)
    return life.alive(world.now, but) or _replaced_only_by(world, life, conclusion, but)


def _replaced_only_by(world: World, life: Life, conclusion: Life, but: Collection[bytes]) -> bool:
    """Whether all that ended an input, except some events, is its replacement by the conclusion itself, if in turn."""
    if life.expired is not None or life.expires_at <= world.now or not conclusion.by:
        return False
    for event in [event for event in life.ends if event not in but]:
        edge = (life.on or {}).get(event)
        if edge is None or edge.replacer is None:
            return False
        found = False
        for above in waiting.successors(edge.replacer):
            _feed(above, conclusion)
            found = found or above is conclusion
        if not found:
            return False
    return True


def _feed(life: Life, conclusion: Life) -> None:
    life.tied = True
    if life.feeds is None:
        life.feeds = {}
    life.feeds[conclusion] = None


def look_again(world: World, life: Life) -> None:
    """Something about an input, or about what replaced it, has changed."""
    for conclusion in life.feeds or ():
        world.change(conclusion)


def met(world: World, name: bytes) -> None:
    """A belief has become known under a name: conclusions from it are looked at again."""
    for conclusion in world.awaited_inputs.pop(name, ()):
        world.change(conclusion)
