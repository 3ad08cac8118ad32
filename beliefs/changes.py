"""Changes: how far one life differs from what it was, in what other lives and flags can read of it."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from beliefbase.beliefs.intervals import STATUS_BITS
from beliefbase.beliefs.life import Life


class Change(NamedTuple):
    """What of a life others have to be told."""

    since: int | None
    """The first stamp from which it is candidate, active or ended otherwise, or may be where it matters to those that
    wait for it; None where it nowhere is."""
    linked: bool
    """It is replaced, merged or made a conclusion otherwise than before."""
    by: frozenset[bytes] = frozenset()
    """The beliefs by which it is replaced otherwise than before."""
    aged: bool = True
    """It has another half-life than before at some time."""


def change(old: Life | None, new: Life | None, start: int) -> Change | None:
    """Compare a life with what it was before anything stamped ``start`` or later; None if there is nothing to read."""
    if old is None or new is None:
        only = old or new
        return None if only is None else Change(max(start, only.born), linked=True, by=_replacers(only, None))
    if _standing(old) != _standing(new):
        linked = _links(old) != _links(new)
        return Change(
            start, linked, _replacers(old, new) if linked else frozenset(), _half_lives(old) != _half_lives(new)
        )
    if _ageing(old) != _ageing(new):
        return Change(_since(old, new), linked=False, aged=_half_lives(old) != _half_lives(new))
    return None


def is_other(one: Life, other: Life) -> bool:
    """Whether others can read anything of a life that differs in another one."""
    return _standing(one) != _standing(other) or _ageing(one) != _ageing(other)


def _standing(life: Life) -> tuple[object, ...]:
    return (
        life.id,
        life.faces,
        life.born,
        life.ends,
        life.falsified,
        life.promotions,
        life.mature,
        life.promoted,
        life.ever,
        life.attributes,
        life.classes,
        _links(life),
    )


def _links(life: Life) -> tuple[object, ...]:
    return (
        life.inputs,
        [(at, survivor.id if survivor is not None else None) for at, survivor in life.into_log or ()],
        _edges(life),
    )


def _replacers(one: Life, other: Life | None) -> frozenset[bytes]:
    was, now = _edges(one), {} if other is None else _edges(other)
    differing = {event for event in was.keys() | now.keys() if was.get(event) != now.get(event)}
    found = (side[event][-1] for side in (was, now) for event in differing & side.keys())
    return frozenset(replacer for replacer in found if replacer is not None)


def _edges(life: Life) -> dict[bytes, tuple[int, bytes, int | None, int | None, bytes | None]]:
    """Event to how it replaces a belief, and by which one at last."""
    return {
        event: (edge.kind, edge.named, edge.began, edge.over, None if edge.replacer is None else edge.replacer.id)
        for event, edge in (life.on or {}).items()
    }


def _half_lives(life: Life) -> tuple[object, ...]:
    return life.half_life, life.aged


def _ageing(life: Life) -> tuple[object, ...]:
    return life.line, life.affirmed, life.anchor, life.base, life.half_life, life.aged, life.inherits, life.policy


def _since(old: Life, new: Life) -> int | None:
    for was, now in zip_longest(_statuses(old), _statuses(new)):
        if was != now:
            return min(row[0] for row in (was, now) if row is not None)
    return None


def _statuses(life: Life) -> list[tuple[int, int]]:
    """Stamps from which the status is another, with its code."""
    found: list[tuple[int, int]] = []
    for since, code in zip(life.line[0::4], life.line[1::4], strict=True):
        status = code & STATUS_BITS  # type: ignore[operator]
        if not found or found[-1][1] != status:
            found.append((since, status))  # type: ignore[arg-type]
    return found
