"""Paths along replacements: which beliefs lie between one and another, whatever became of the edges.

An edge leads from a belief to what would replace it: superseder, survivor, winner. A merge is walked both ways,
since what replaces a duplicate replaces its survivor as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.events.catalog import Role

_FORWARD_ROUNDS: Final = 2
"""Rounds forward for each one backward: a belief is rarely replaced twice, while one may replace very many."""

Stamp = tuple[int, bytes, int, bytes]
"""A place in the total order of events: hlc, writer, seq, id."""


def stamp(fact: Fact) -> Stamp:
    """Where a fact stands in the order; it acts there or later, never before."""
    return fact[:4]


class Edge(NamedTuple):
    """One fact that would replace ``target`` by ``by``, ids as the fact has them."""

    fact: Fact
    target: bytes
    by: bytes


def resolution_edges(lookups: Lookups, raised: Iterable[Fact]) -> Task[list[Edge]]:
    """Loser to winner, for every resolution of these contradictions that names a winner."""
    copies = yield from lookups.entities([fact.id for fact in raised])
    by_face = {copy.id: group for group in copies.values() for copy in group}
    resolutions = yield Need(Role.STATE, tuple(by_face))
    edges = []
    for fact in resolutions:
        if fact.type == "contradiction.resolved" and fact.payload["outcome"] in ("left", "right"):
            sides = by_face[fact.payload["contradiction_id"]][0].payload
            holds = fact.payload["outcome"]
            edges.append(Edge(fact, sides["right" if holds == "left" else "left"], sides[holds]))
    return edges


def edges_from(lookups: Lookups, ids: Iterable[bytes]) -> Task[list[Edge]]:
    """The edges that lead away from any of these ids, in the order of their facts."""
    at = set(ids)
    found = yield Need(Role.STATE, tuple(sorted(at)))
    edges = yield from _edges(lookups, found)
    return sorted((edge for edge in edges if edge.target in at), key=_in_order)


def edges_into(lookups: Lookups, ids: Iterable[bytes]) -> Task[list[Edge]]:
    """The edges that lead to any of these ids, in the order of their facts."""
    at = set(ids)
    keys = tuple(sorted(at))
    found = {fact.id: fact for fact in (yield Need(Role.STATE, keys))}
    found.update((fact.id, fact) for fact in (yield Need(Role.LINK, keys)))
    edges = yield from _edges(lookups, found.values())
    return sorted((edge for edge in edges if edge.by in at), key=_in_order)


def _in_order(edge: Edge) -> tuple[Stamp, bytes]:
    return stamp(edge.fact), edge.target


def _edges(lookups: Lookups, facts: Iterable[Fact]) -> Task[list[Edge]]:
    edges, raised = [], []
    for fact in facts:
        payload = fact.payload
        if fact.type == "belief.superseded":
            edges.append(Edge(fact, payload["superseded_id"], payload["superseding_id"]))
        elif fact.type == "belief.merged":
            edges.append(Edge(fact, payload["duplicate_id"], payload["surviving_id"]))
            edges.append(Edge(fact, payload["surviving_id"], payload["duplicate_id"]))
        elif fact.type == "contradiction.raised":
            raised.append(fact)
    if raised:
        edges += yield from resolution_edges(lookups, raised)
    return edges


def between(
    lookups: Lookups, start: bytes, goal: bytes, *, until: Stamp | None = None, without: bytes | None = None
) -> Task[list[bytes]]:
    """The entities on any path from ``start`` to ``goal``, both included; empty where there is none.

    Searches from both ends and stops as soon as one of them has nothing left to walk. Edges stamped after ``until``
    are left out, and so are those of the fact ``without``.
    """
    ahead: dict[bytes, set[bytes]] = defaultdict(set)
    forward = _Side(lookups, start, forward=True)
    backward = _Side(lookups, goal, forward=False)
    rounds = 0
    while forward.frontier and backward.frontier:
        rounds += 1
        side = backward if rounds % (_FORWARD_ROUNDS + 1) == 0 else forward
        for replaced, replacing in (yield from side.step(until, without)):
            ahead[replaced].add(replacing)
    behind: dict[bytes, set[bytes]] = defaultdict(set)
    for node, nexts in ahead.items():
        for following in nexts:
            behind[following].add(node)
    found = reached(start, ahead)
    return sorted(found & reached(goal, behind)) if goal in found else []


class _Side:
    """One end of a search: what it has seen, and where it stands."""

    def __init__(self, lookups: Lookups, origin: bytes, *, forward: bool) -> None:
        self.frontier = [origin]
        self._seen = {origin}
        self._lookups = lookups
        self._forward = forward

    def step(self, until: Stamp | None, without: bytes | None) -> Task[list[tuple[bytes, bytes]]]:
        """Walk one edge further; returns the (replaced, replacing) entities of the edges walked."""
        copies = yield from self._lookups.entities(self.frontier)
        near = {copy.id: group[0].id for group in copies.values() for copy in group}
        edges = yield from (edges_from if self._forward else edges_into)(self._lookups, near)
        ends = [
            (edge.target, edge.by) if self._forward else (edge.by, edge.target)
            for edge in edges
            if edge.fact.id != without and (until is None or stamp(edge.fact) <= until)
        ]
        groups = yield from self._lookups.entities([far for _, far in ends])
        self.frontier = []
        pairs = []
        for near_id, far_id in ends:
            if far_id not in groups:
                continue
            far = groups[far_id][0].id
            pairs.append((near[near_id], far) if self._forward else (far, near[near_id]))
            if far not in self._seen:
                self._seen.add(far)
                self.frontier.append(far)
        return pairs


def reached(origin: bytes, steps: Mapping[bytes, set[bytes]]) -> set[bytes]:
    """The origin and all that steps lead to from there."""
    found, pending = {origin}, [origin]
    while pending:
        for following in steps.get(pending.pop(), ()):
            if following not in found:
                found.add(following)
                pending.append(following)
    return found
