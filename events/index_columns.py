"""What events give the log's index, as columns: its rows, stamps, and what their tips follow from (ADR 0008).

It is what :func:`beliefbase.events.index.rows` and :mod:`beliefbase.events.tips` say of each event by itself.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from beliefbase.events import index
from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.catalog.lane_shapes import Lists, Values
from beliefbase.events.catalog.lockstep import Group, ids_in
from beliefbase.events.catalog.registry import FATE_CHANGING
from beliefbase.events.envelope import Event
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.filed_pages import Irregular
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.lanes import Array, Ints, Octets, laid_out

ROLE_FROM: Final = 33
"""Role and position share an integer of 36 bits."""
_PAIR: Final = 2 * ID_BYTES
_WRONG: Final = (ArithmeticError, AttributeError, BeliefbaseError, LookupError, TypeError, ValueError, struct.error)
"""What reading an event may raise whose author kept to no rule."""
_SELF, _STATE, _BASIS, _CITED = (int(role) for role in (Role.SELF, Role.STATE, Role.BASIS, Role.CITED))


_NONE: Final = {
    "refs": np.zeros((0, 2), np.int64),
    "stamps": np.zeros(0, np.int64),
    **dict.fromkeys(("revised", "passed", "resolved", "resolved_passed"), np.zeros((0, _PAIR), np.uint8)),
    "raised": np.zeros((0, _PAIR + ID_BYTES), np.uint8),
}


class Given(NamedTuple):
    """What events give the index; rows may be there twice."""

    refs: Ints
    """Key, and role and position in one integer."""
    stamps: Ints
    revised: Octets
    """What a fate-changing event touches, and the event: it is a tip of that unless another one passed it."""
    passed: Octets
    """What a fate-changing event touches, and an event that it has in its basis."""
    resolved: Octets
    """Of ``revised`` that of resolutions: they revise the sides of the contradiction as well."""
    resolved_passed: Octets
    """Likewise of ``passed``."""
    raised: Octets
    """Contradictions with both their sides."""


def given(
    groups: Iterable[Group], positions: Ints, ids: Octets, stamps: Ints, others: Sequence[tuple[int, Event]]
) -> Given:
    """What the events of a page give.

    Args:
        groups: Those that were read side by side.
        positions: Of all events of the page.
        ids: Likewise.
        stamps: Likewise.
        others: The other events with their positions.

    Raises:
        Irregular: one of the others is none that a log stores.
    """
    if (positions >> ROLE_FROM).any() or any(position >> ROLE_FROM for position, _ in others):
        raise Irregular
    parts: dict[str, list[Array]] = {name: [] for name in Given._fields}
    for group in groups:
        here = ids[group.places]
        parts["refs"] += _refs(group, positions[group.places], here)
        parts["stamps"].append(stamps[group.places])
        _revisions(group, here, parts)
    try:
        _by_themselves(others, parts)
    except _WRONG as error:
        raise Irregular from error
    return Given._make(np.concatenate([empty, *parts[name]]) for name, empty in _NONE.items())


def _refs(group: Group, positions: Ints, ids: Octets) -> Iterator[Ints]:
    """Rows of the index, role by role."""
    reader = CATALOG.readers[group.type]
    every = np.arange(len(ids), dtype=np.int64)
    named: list[tuple[int, Ints, Array]] = [(_SELF, every, ids)]
    for role, column in ((_SELF, group.refs), (_BASIS, group.basis), (_CITED, group.subjects)):
        named.append((role, *ids_in(column, "")))
    for field, inner, role, _ in reader.named:
        if field in group.payload:
            named.append((role, *ids_in(group.payload[field], inner or "")))
    if reader.key is not None and reader.key in group.payload:
        key = group.payload[reader.key]
        if isinstance(key, Lists) or key.array.shape[1:] != (ID_BYTES,):
            raise Irregular  # no such type: a name would have to be hashed
        named.append((_STATE, *ids_in(key, "")))
    for role, owner, names in named:
        if len(owner):
            rows = np.empty((len(owner), 2), np.int64)
            rows[:, 0] = names[:, :8].copy().view(">i8")[:, 0]
            rows[:, 1] = positions[owner] | role << ROLE_FROM
            yield rows


def _revisions(group: Group, ids: Octets, parts: dict[str, list[Array]]) -> None:
    """What follows for tips."""
    if group.type == index.RAISED:
        left, right = group.payload["left"], group.payload["right"]
        parts["raised"].append(np.hstack([ids, _ids(left), _ids(right)]))
    if group.type not in FATE_CHANGING:
        return
    touched, basis = group.touched, group.basis
    owner, keys = touched.owner, touched.items[""].array
    revised = np.hstack([keys, ids[owner]])
    first = np.cumsum(basis.lengths) - basis.lengths
    which, place = laid_out(basis.lengths[owner])
    passed = np.hstack([keys[which], basis.items[""].array[first[owner][which] + place]])
    parts["revised"].append(revised)
    parts["passed"].append(passed)
    if group.type == index.RESOLVED:
        parts["resolved"].append(revised)
        parts["resolved_passed"].append(passed)


def _ids(column: Values | Lists) -> Octets:
    if isinstance(column, Lists) or column.here is not None:
        raise Irregular
    return column.array


def _by_themselves(events: Sequence[tuple[int, Event]], parts: dict[str, list[Array]]) -> None:
    """What events give that were not read side by side."""
    named = [row for position, event in events for row in index.rows(position, event)]
    refs = [(key, position | role << ROLE_FROM) for key, role, position in named]
    parts["refs"].append(np.array(refs, np.int64).reshape(-1, 2))
    parts["stamps"].append(np.array([event.skeleton.hlc for _, event in events], np.int64))
    rows: dict[str, list[bytes]] = {name: [] for name in Given._fields[2:]}
    for _, event in events:
        skeleton = event.skeleton
        sides = index.sides(skeleton)
        if sides is not None:
            rows["raised"].append(event.id + sides[0] + sides[1])
        if skeleton.type in FATE_CHANGING:
            revised = [key + event.id for key in skeleton.touches]
            passed = [key + before for key in skeleton.touches for before in skeleton.basis_ids]
            rows["revised"] += revised
            rows["passed"] += passed
            if skeleton.type == index.RESOLVED:
                rows["resolved"] += revised
                rows["resolved_passed"] += passed
    for name, found in rows.items():
        parts[name].append(_octets(found, _PAIR + ID_BYTES if name == "raised" else _PAIR))


def _octets(rows: Sequence[Any], size: int) -> Octets:
    if set(map(len, rows)) - {size}:
        raise Irregular
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, size)
