"""The tips of beliefs: their latest fate-changing revisions, what a new revision's basis names (DESIGN 5).

A fate-changing event is a tip of what it revises unless another that revises the same has it in its basis. That is a
rule on the set of stored events, so it is kept to in any order of arrival. A resolution revises its contradiction,
and the contradiction's sides once that is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from beliefbase.events import index
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING
from beliefbase.events.envelope import Event
from beliefbase.events.tables import Tables


def update(tables: Tables, events: Sequence[Event]) -> None:
    """Bring the tips up to date with events that were stored just now, index rows included."""
    revisions = [event for event in events if event.skeleton.type in FATE_CHANGING]
    raised = [event for event in events if event.skeleton.type == index.RAISED]
    if raised:
        new = {event.id for event in revisions}
        revisions += [
            found.event
            for found in tables.naming({event.id for event in raised}, {Role.STATE})
            if found.event.skeleton.type == index.RESOLVED and found.event.id not in new
        ]
    if not revisions:
        return
    added, removed = _standing(tables, revisions)
    tables.change_tips(added, removed)


def standing(tables: Tables, revisions: Sequence[Event]) -> set[tuple[bytes, bytes]]:
    """The tips (key, event id) that these stored fate-changing events are."""
    return _standing(tables, revisions)[0] if revisions else set()


def _standing(tables: Tables, revisions: Sequence[Event]) -> tuple[set[tuple[bytes, bytes]], set[tuple[bytes, bytes]]]:
    """The tips that these events are, and those that they end."""
    ids = {event.id for event in revisions}
    later = [found.event for found in tables.naming(ids, {Role.BASIS}) if found.event.skeleton.type in FATE_CHANGING]
    known = sides_of(tables, [*revisions, *later])
    passed = {
        (key, basis)
        for event in later
        for key in index.revised(event.skeleton, known)
        for basis in ids.intersection(event.skeleton.basis_ids)
    }
    added: set[tuple[bytes, bytes]] = set()
    removed: set[tuple[bytes, bytes]] = set()
    for event in revisions:
        for key in index.revised(event.skeleton, known):
            if (key, event.id) not in passed:
                added.add((key, event.id))
            removed.update((key, basis) for basis in event.skeleton.basis_ids)
    return added, removed


def sides_of(tables: Tables, events: Collection[Event]) -> dict[bytes, tuple[bytes, bytes]]:
    """The sides of the stored contradictions that these events resolve."""
    wanted = {key for event in events if event.skeleton.type == index.RESOLVED for key in event.skeleton.touches}
    known = {}
    if wanted:
        for found in tables.naming(wanted, {Role.SELF}):
            sides = index.sides(found.event.skeleton)
            if found.event.id in wanted and sides is not None:
                known[found.event.id] = sides
    return known
