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
    todo = list(world.aging.items())
    world.aging.clear()
    while todo:
        life, changed = todo.pop()
        before = new.get(life, life.half_life)
        half_life = _half_life(world, life, new, _least(before, changed))
        if half_life != before:
            new[life] = half_life
            todo += [(corrector, half_life.days) for corrector in _correctors(life, new, before, half_life)]
    for life, half_life in new.items():
        if half_life.days != life.half_life.days:
            world.change(life)
            life.base = life.anchor if life.reclassified_at == world.now else world.now
            world.age(life, half_life)
            life.aged = [*(life.aged or ()), (world.now, half_life.days)]
        else:
            life.half_life = half_life


def miss(world: World, corrector: Life, former: Life) -> None:
    """Note that a correction corrects something no more, if that may be where it has its half-life from."""
    if not _shorter(corrector.half_life, former.half_life):
        world.aging.setdefault(corrector, corrector.half_life.days)


def _shorter(taken: HalfLife, *others: HalfLife) -> bool:
    """Whether a correction has taken a half-life that is shorter than these, and so that of another belief."""
    days = taken.days
    if taken.reason != "correction" or days is None:
        return False
    return all(other.days is None or days < other.days for other in others)


def _least(taken: HalfLife, changed: int | None) -> int | None:
    """The days below which a correction can't come, if what one belief gives it has changed to so many at least."""
    if taken.reason != "correction" or taken.days is None or changed is None:
        return None
    return min(taken.days, changed)


def _half_life(world: World, life: Life, new: dict[Life, HalfLife], least: int | None) -> HalfLife:
    """The half-life that a life has or takes; where it takes the ``least`` that there can be, no more is looked at."""
    if not (life.by and life.inherits):
        return world.character(life).half_life
    taken, shortest = False, None
    for edge in life.by:
        if edge.kind == SUPERSESSION and edge.state is EFFECTIVE:
            taken = True
            days = new.get(edge.target, edge.target.half_life).days
            if days is not None and (shortest is None or days < shortest):
                shortest = days
                if days == least:
                    break
    return HalfLife(shortest, "correction") if taken else world.character(life).half_life


def _correctors(life: Life, new: dict[Life, HalfLife], before: HalfLife, after: HalfLife) -> Iterator[Life]:
    """The corrections that may take another half-life once this belief's changes."""
    for edge in (life.on or {}).values():
        corrector = edge.replacer
        if (
            edge.kind == SUPERSESSION
            and edge.state is EFFECTIVE
            and corrector is not None
            and corrector.inherits
            and not _shorter(new.get(corrector, corrector.half_life), before, after)
        ):
            yield corrector
