"""Levels along which replacements in force never lead down, kept while they come: they tell which closes a cycle.

The method is the one for sparse graphs of Bender, Fineman, Gilbert and Tarjan (2016): a search back from the target
within its level, cut short after a fixed number of edges, and one forward from the replacer through lower levels,
which rise. Edges that are taken away never disturb the levels.
"""

from __future__ import annotations

from beliefbase.beliefs.edges import EFFECTIVE
from beliefbase.beliefs.life import Life

_BACKWARD = 64
"""Edges looked at in a search back; any number is right, this one is fast."""


def admit(target: Life, replacer: Life) -> bool:
    """Make room for an edge from target to replacer; False, with nothing changed, if it would close a cycle."""
    if target is replacer:
        return False
    if target.level < replacer.level:
        return True
    if not replacer.on:
        replacer.level = target.level
        return True
    below = _below(target, replacer)
    if below is None:
        return False
    complete, found = below
    if complete and target.level == replacer.level:
        return True
    return _raise(replacer, target.level if complete else target.level + 1, found if complete else {target})


def _below(start: Life, replacer: Life) -> tuple[bool, set[Life]] | None:
    """What ``start`` replaced within its level, and whether that is all of it; None if the replacer is among it."""
    found, stack = {start}, [start]
    left = _BACKWARD
    while stack:
        for edge in stack.pop().by or ():
            left -= 1
            if left < 0:
                return False, found
            life = edge.target
            if edge.state is EFFECTIVE and life.level == start.level and life not in found:
                if life is replacer:
                    return None
                found.add(life)
                stack.append(life)
    return True, found


def _raise(replacer: Life, level: int, below: set[Life]) -> bool:
    """Lift a belief and what replaced it to a level; False, with nothing changed, if that leads to ``below``."""
    raised, before = [replacer], [replacer.level]
    replacer.level = level
    for lifted in raised:  # grows meanwhile
        if not lifted.on:
            continue
        for edge in lifted.on.values():
            life = edge.replacer
            if edge.state is not EFFECTIVE or life is None:
                continue
            if life in below:
                for one, old in zip(raised, before, strict=True):
                    one.level = old
                return False
            if life.level < level:
                raised.append(life)
                before.append(life.level)
                life.level = level
    return True
