"""Paths along replacements: which beliefs lie between one and another, whatever became of the edges.

An edge leads from a belief to what would replace it: superseder, survivor, winner. A merge is walked both ways,
since what replaces a duplicate replaces its survivor as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
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
    """One fact that would replace ``target`` by ``by``."""

    fact: Fact
    target: bytes
    by: bytes


Passing = Callable[[list[Edge]], Task[list[Edge]]]
"""Chooses the edges along which one may walk."""


def every(edges: list[Edge]) -> Task[list[Edge]]:
    """All of them."""
    yield from ()
    return edges


def edges_from(lookups: Lookups, entities: Iterable[bytes]) -> Task[list[Edge]]:
    """The edges that lead away from these entities, each's in the order of their facts.

    Both ends are entities; an edge to what isn't stored is left out.
    """
    found = yield from lookups.shared(_away, entities)
    return [edge for edges in found for edge in edges]


def edges_into(lookups: Lookups, entities: Iterable[bytes]) -> Task[list[Edge]]:
    """The edges that lead to these entities, as :func:`edges_from` has them."""
    found = yield from lookups.shared(_towards, entities)
    return [edge for edges in found for edge in edges]


def resolution_edges(lookups: Lookups, raised: Iterable[Fact]) -> Task[list[Edge]]:
    """Loser to winner, ids as their contradiction has them, for every resolution of these that names a winner."""
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


def _away(lookups: Lookups, entity: bytes) -> Task[list[Edge]]:
    faces = yield from _faces(lookups, entity)
    edges = yield from _edges(lookups, (yield Need(Role.STATE, tuple(sorted(faces)))))
    return (yield from _with_entities(lookups, [edge for edge in edges if edge.target in faces]))


def _towards(lookups: Lookups, entity: bytes) -> Task[list[Edge]]:
    faces = yield from _faces(lookups, entity)
    keys = tuple(sorted(faces))
    found = {fact.id: fact for fact in (yield Need(Role.STATE, keys))}
    found.update((fact.id, fact) for fact in (yield Need(Role.LINK, keys)))
    edges = yield from _edges(lookups, found.values())
    return (yield from _with_entities(lookups, [edge for edge in edges if edge.by in faces]))


def _faces(lookups: Lookups, entity: bytes) -> Task[set[bytes]]:
    copies = yield from lookups.entity(entity)
    return {copy.id for copy in copies}


def _edges(lookups: Lookups, facts: Iterable[Fact]) -> Task[list[Edge]]:
    """The edges that facts are, ids as the facts have them."""
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


def _with_entities(lookups: Lookups, edges: list[Edge]) -> Task[list[Edge]]:
    ends = {end for edge in edges for end in (edge.target, edge.by)}
    groups = yield from lookups.entities(sorted(ends))
    entity = {end: copies[0].id for end, copies in groups.items()}
    known = [edge for edge in edges if edge.target in entity and edge.by in entity]
    return [
        Edge(edge.fact, entity[edge.target], entity[edge.by])
        for edge in sorted(known, key=lambda edge: (stamp(edge.fact), edge.target))
    ]


def between(lookups: Lookups, start: bytes, goal: bytes, passing: Passing) -> Task[list[bytes]]:
    """The entities on any path of passing edges from one to another, both included; empty where there is none.

    Searches from both ends and stops as soon as one of them has nothing left to walk.
    """
    ahead: dict[bytes, set[bytes]] = defaultdict(set)
    forward = _Side(lookups, (start,), passing, forward=True)
    backward = _Side(lookups, (goal,), passing, forward=False)
    rounds = 0
    while forward.frontier and backward.frontier:
        rounds += 1
        side = backward if rounds % (_FORWARD_ROUNDS + 1) == 0 else forward
        for edge in (yield from side.step()):
            ahead[edge.target].add(edge.by)
    found = reached(start, ahead)
    return sorted(found & reached(goal, turned(ahead))) if goal in found else []


class Around(NamedTuple):
    """What lies on the two sides of a replacement: all of one of them; the other one is None."""

    above: set[bytes] | None
    """The replacers and what would replace these, in turn."""
    below: set[bytes] | None
    """What is replaced and what that would replace, in turn."""


def around(lookups: Lookups, belief: bytes, replacers: Collection[bytes], passing: Passing) -> Task[Around]:
    """Walk up from what replaces an entity and down from it along passing edges, until one way is at its end."""
    forward = _Side(lookups, replacers, passing, forward=True)
    backward = _Side(lookups, (belief,), passing, forward=False)
    while forward.frontier and backward.frontier:
        yield from forward.step()
        if forward.frontier:
            yield from backward.step()
    return Around(None, backward.seen) if forward.frontier else Around(forward.seen, None)


class _Side:
    """One end of a search: what it has seen, and where it stands."""

    def __init__(self, lookups: Lookups, origins: Collection[bytes], passing: Passing, *, forward: bool) -> None:
        self.frontier = sorted(origins)
        self.seen = set(origins)
        self._lookups = lookups
        self._passing = passing
        self._forward = forward

    def step(self) -> Task[list[Edge]]:
        """Walk one edge further; returns the edges walked."""
        edges = yield from (edges_from if self._forward else edges_into)(self._lookups, self.frontier)
        walked = yield from self._passing(edges)
        self.frontier = []
        for edge in walked:
            far = edge.by if self._forward else edge.target
            if far not in self.seen:
                self.seen.add(far)
                self.frontier.append(far)
        return walked


def turned(steps: Mapping[bytes, Iterable[bytes]]) -> dict[bytes, set[bytes]]:
    """The same steps walked backwards."""
    back: dict[bytes, set[bytes]] = defaultdict(set)
    for node, following in steps.items():
        for far in following:
            back[far].add(node)
    return back


def reached(origin: bytes, steps: Mapping[bytes, set[bytes]]) -> set[bytes]:
    """The origin and all that steps lead to from there."""
    found, pending = {origin}, [origin]
    while pending:
        for following in steps.get(pending.pop(), ()):
            if following not in found:
                found.add(following)
                pending.append(following)
    return found
