"""Half-lives that depend on other beliefs: a correction ages like what it corrects."""

from __future__ import annotations

from collections.abc import Iterator

from beliefbase.beliefs.edges import EFFECTIVE, SUPERSESSION
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.rules import HalfLife
from beliefbase.beliefs.world import World


def update(world: World) -> None:
    """Bring the half-lives up to date that changes so far may have altered, along chains of corrections.

    A half-life that changes because of another belief counts from here; after a reclassification it counts from the
    last affirmation.
    """
    new: dict[Life, HalfLife] = {}
    todo = list(world.aging)
    world.aging.clear()
    while todo:
        life = todo.pop()
        half_life = _half_life(world, life, new)
        if half_life != new.get(life, life.half_life):
            new[life] = half_life
            todo += _correctors(life)
    for life, half_life in new.items():
        if half_life.days != life.half_life.days:
            world.change(life)
            life.base = life.anchor if life.reclassified_at == world.now else world.now
            world.age(life, half_life)
            life.aged = [*(life.aged or ()), (world.now, half_life.days)]
        else:
            life.half_life = half_life


def _half_life(world: World, life: Life, new: dict[Life, HalfLife]) -> HalfLife:
    if life.by and life.inherits:
        taken = [
            new.get(edge.target, edge.target.half_life).days
            for edge in life.by
            if edge.kind == SUPERSESSION and edge.state is EFFECTIVE
        ]
        if taken:
            return HalfLife(min((days for days in taken if days is not None), default=None), "correction")
    return world.character(life).half_life


def _correctors(life: Life) -> Iterator[Life]:
    """The corrections that take this belief's half-life."""
    for edge in (life.on or {}).values():
        if (
            edge.kind == SUPERSESSION
            and edge.state is EFFECTIVE
            and edge.replacer is not None
            and edge.replacer.inherits
        ):
            yield edge.replacer
