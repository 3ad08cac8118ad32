"""An order in which replacements in force lead upwards, kept while they come: it finds the one that closes a cycle.

The method is that of Pearce and Kelly (2006): only the stretch of the order between the two ends of a new edge is
looked at, and nothing where the edge leads upwards already. Edges taken away never disturb the order.
"""

from __future__ import annotations

from beliefbase.beliefs.edges import EFFECTIVE
from beliefbase.beliefs.life import Life


def admit(target: Life, replacer: Life) -> bool:
    """Make room for an edge from target to replacer; False, with nothing changed, if it would close a cycle."""
    if target.rank < replacer.rank:
        return True
    if target is replacer:
        return False
    above = _above(replacer, target)
    if above is None:
        return False
    below = _below(target, replacer.rank)
    moved = sorted(below, key=_rank) + sorted(above, key=_rank)
    for life, rank in zip(moved, sorted(life.rank for life in moved), strict=True):
        life.rank = rank
    return True


def _rank(life: Life) -> int:
    return life.rank


def _above(start: Life, target: Life) -> set[Life] | None:
    """What replaced ``start``, as far up as ``target``; None if that is among it."""
    found, stack = {start}, [start]
    while stack:
        for edge in (stack.pop().on or {}).values():
            if edge.state is EFFECTIVE and (life := edge.replacer) is not None and life not in found:
                if life is target:
                    return None
                if life.rank < target.rank:
                    found.add(life)
                    stack.append(life)
    return found


def _below(start: Life, floor: int) -> set[Life]:
    """What ``start`` replaced, as far down as ``floor``."""
    found, stack = {start}, [start]
    while stack:
        for edge in stack.pop().by or ():
            if edge.state is EFFECTIVE and (life := edge.target) not in found and life.rank > floor:
                found.add(life)
                stack.append(life)
    return found
