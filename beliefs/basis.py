"""What it takes to say whether two revisions of a belief are concurrent, and who ends that: a walk through basis."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING

Outcome = tuple[str, tuple[object, ...]]
"""Class (life or class) and what a revision does; equal only where two can't differ in it."""


class Decisive(NamedTuple):
    """The facts that decide a belief's forks."""

    facts: list[Fact]
    """Everything on a path through basis between its revisions, and to those that may end a fork."""
    deciders: list[Fact]
    """Revisions with two concurrent ones among their ancestors: whether they are void decides."""
    concurrent: list[Fact]
    """The belief's revisions that are not known to be ordered against each other."""


def outcome(revision: Fact) -> Outcome:
    """What a fate-changing revision does, as far as can be told from the fact alone."""
    payload = revision.payload
    match revision.type:
        case "belief.superseded":
            return "life", (revision.type, payload["superseding_id"])
        case "belief.merged":
            return "life", (revision.type, payload["surviving_id"])
        case "belief.reclassified":
            return "class", tuple(sorted((name, value) for name, value in payload.items() if name != "belief_id"))
        case "contradiction.resolved":
            return "life", (revision.type, payload["contradiction_id"], payload["outcome"])
        case "memory.revalidated":
            return "life", (revision.type, payload["outcome"])
        case _:
            return "life", (revision.type,)


class Graph:
    """Revisions and what their authors had read, as far as it was looked up; copies are one node."""

    def __init__(self, lookups: Lookups) -> None:
        self.nodes: dict[bytes, list[Fact]] = {}
        """Entity id to its copies."""
        self.entity: dict[bytes, bytes] = {}
        """Id of any copy to that of its entity."""
        self._lookups = lookups

    def load(self, ids: Iterable[bytes]) -> Task[list[bytes]]:
        """Add nodes by the id of any copy; returns the new ones."""
        groups = yield from self._lookups.entities([i for i in ids if i not in self.entity])
        new = []
        for copies in groups.values():
            if copies[0].id not in self.nodes:
                self.nodes[copies[0].id] = copies
                self.entity.update((copy.id, copies[0].id) for copy in copies)
                new.append(copies[0].id)
        return new

    def read_by(self, nodes: Iterable[bytes]) -> Task[list[bytes]]:
        """Load what these nodes had read; returns the new ones."""
        return (yield from self.load({i: None for node in nodes for copy in self.nodes[node] for i in copy.basis}))

    def citing(self, nodes: Iterable[bytes]) -> Task[list[bytes]]:
        """Load what had read these nodes; returns all of it, loaded before or not."""
        found = yield Need(Role.BASIS, tuple(copy.id for node in nodes for copy in self.nodes[node]))
        yield from self.load([fact.id for fact in found])
        return sorted({self.entity[fact.id] for fact in found})

    def parents(self, node: bytes, until: int | None = None) -> Iterator[bytes]:
        """The loaded nodes that a node had read; with ``until``, by copies stamped (hlc) no later than that."""
        for copy in self.nodes[node]:
            if until is None or copy.hlc <= until:
                for i in copy.basis:
                    if i in self.entity and (until is None or self._lookups.facts[i].hlc <= until):
                        yield self.entity[i]

    def ancestors(self, node: bytes, until: int | None = None) -> set[bytes]:
        """The node and its loaded ancestors; with ``until``, along paths stamped (hlc) no later than that."""
        found, pending = {node}, [node]
        while pending:
            for parent in self.parents(pending.pop(), until):
                if parent not in found:
                    found.add(parent)
                    pending.append(parent)
        return found


def decisive(lookups: Lookups, revisions: Collection[Fact]) -> Task[Decisive]:
    """Find what decides the forks among the fate-changing revisions of one belief.

    Looks up and down at once, and stops where every pair of different outcomes is ordered by a path that was
    complete when the later one was stamped, or where nothing more cites them.
    """
    graph = Graph(lookups)
    yield from graph.load([revision.id for revision in revisions])
    own = {graph.entity[revision.id]: outcome(revision) for revision in revisions}
    upward = list(own)
    downward: list[bytes] | None = None
    followed: set[bytes] = set()
    while unordered := _unordered(graph, own):
        if downward is None:
            downward = sorted(unordered)
        elif not downward:
            break
        upward = yield from graph.read_by(upward)
        followed.update(downward)
        downward = [node for node in (yield from graph.citing(downward)) if node not in followed]
    return _decisive(graph, own, unordered)


class _Unordered(NamedTuple):
    """The revisions of another outcome against which one is not known to be ordered."""

    alike: set[bytes]
    """All revisions of its class."""
    same: set[bytes]
    """Those with its own outcome."""
    ordered: set[bytes]

    def exist(self) -> bool:
        """Whether there are any."""
        return len(self.alike) - len(self.same) > len((self.ordered & self.alike) - self.same)

    def meet(self, nodes: Iterable[bytes]) -> bool:
        """Whether some of them are among these."""
        return any(node in self.alike and node not in self.same and node not in self.ordered for node in nodes)


def _unordered(graph: Graph, own: Mapping[bytes, Outcome]) -> dict[bytes, _Unordered]:
    """Each revision that is not known to be ordered against others of another outcome, to these."""
    if len(set(own.values())) < 2:
        return {}
    others: dict[str, dict[Outcome, set[bytes]]] = {}
    for node, what in own.items():
        others.setdefault(what[0], {}).setdefault(what, set()).add(node)
    ordered: dict[bytes, set[bytes]] = {node: set() for node in own}
    for node in own:
        for above in graph.ancestors(node, graph.nodes[node][0].hlc) & own.keys():
            ordered[node].add(above)
            ordered[above].add(node)
    found: dict[bytes, _Unordered] = {}
    for outcomes in others.values():
        alike = set().union(*outcomes.values())
        for same in outcomes.values():
            each = {node: _Unordered(alike, same, ordered[node]) for node in same}
            found.update((node, unordered) for node, unordered in each.items() if unordered.exist())
    return found


def _decisive(graph: Graph, own: Collection[bytes], unordered: Mapping[bytes, _Unordered]) -> Decisive:
    above = {node: graph.ancestors(node) for node in own}
    deciders = []
    if unordered:
        for node, copies in graph.nodes.items():
            if copies[0].type in FATE_CHANGING:
                seen = graph.ancestors(node)
                mine = seen & unordered.keys()
                if len(mine) > 1 and any(unordered[one].meet(mine) for one in mine):
                    above[node] = seen
                    deciders.append(copies[0])
    between = {node for seen in above.values() for node in seen if not graph.ancestors(node).isdisjoint(own)}
    facts = sorted(copy for node in between for copy in graph.nodes[node])
    return Decisive(facts, sorted(deciders), [graph.nodes[node][0] for node in sorted(unordered)])
