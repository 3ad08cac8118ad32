"""Outpaced: what a correction replaces without ever taking its half-life, since it took the same one before."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.beliefs.paths import Edge
from beliefbase.beliefs.rules import outline
from beliefbase.events.catalog import Role


class Outpaced(NamedTuple):
    """Replacements by a correction that make no difference to its half-life."""

    events: set[bytes]
    leans: dict[bytes, int]
    """What those before them replace, each to the stamp up to which it must not change."""


def outpaced(
    lookups: Lookups, edges: Collection[Edge], firm: Collection[tuple[Edge, int]], reshaped: Collection[bytes]
) -> Task[Outpaced]:
    """Those among one correction's replacements.

    ``firm`` are those with the stamp from which on they are in force for good; ``reshaped`` all beliefs that merges
    and reclassifications name.
    """
    found = Outpaced(set(), {})
    alike = yield from _alike(lookups, {edge.target for edge in edges} - set(reshaped))
    first: dict[tuple[object, ...], tuple[int, bytes]] = {}
    for edge, decided in firm:
        if edge.target in alike:
            kind = alike[edge.target]
            first[kind] = min((decided, edge.target), first.get(kind, (decided, edge.target)))
    for edge in edges:
        known = first.get(alike[edge.target]) if edge.target in alike else None
        if known is not None and known[0] < edge.fact.hlc:
            found.events.add(edge.fact.id)
            found.leans[known[1]] = known[0]
    return found


def _alike(lookups: Lookups, beliefs: Collection[bytes]) -> Task[dict[bytes, tuple[object, ...]]]:
    """Those of some beliefs that always age in one way, to what that depends on."""
    if any(fact.type == "profile.activated" for fact in lookups.everywhere()):
        return {}
    groups = yield from lookups.entities(sorted(beliefs))
    lone = {key: copies[0] for key, copies in groups.items() if len(copies) == 1 and "policy" not in copies[0].payload}
    corrections = [key for key, fact in lone.items() if fact.payload.get("speech_act") == "correction"]
    naming = yield Need(Role.LINK, tuple(corrections))
    correcting = {fact.payload["superseding_id"] for fact in naming if fact.type == "belief.superseded"}
    return {key: outline(fact.payload) for key, fact in lone.items() if key not in correcting}
