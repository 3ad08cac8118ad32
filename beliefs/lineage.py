"""Lineage: whose forks may change when a revision arrives, or begins or ceases to decide.

A revision ends the forks between any two of its ancestors. What it adds lies between its parents: a pair that is
among the ancestors of one parent that decides is settled there already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from beliefbase.beliefs.arrivals import standing_under
from beliefbase.beliefs.basis import Graph
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Lookups, Need, Task
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING

InForce = Callable[[Collection[Fact]], Collection[bytes]]
"""The ids of those among revisions that act at their own stamp and are not void."""


def fork_relatives(
    lookups: Lookups, batch: Collection[Fact], turned: Collection[bytes], in_force: InForce
) -> set[bytes]:
    """The beliefs (by any id) whose forks may change.

    ``batch`` has just arrived; ``turned`` are the fate-changing revisions that are new, act otherwise than before,
    or are void and were not, or the other way round.
    """
    lineage = _Lineage(lookups, in_force)
    nodes = lookups.run(lineage.of_cited(batch))
    for roots, passed in lineage.roots(turned):
        nodes |= passed
        if len(roots) > 1:
            nodes |= lookups.run(lineage.apart(roots))
    return lookups.run(lineage.beliefs(nodes))


class _Lineage:
    def __init__(self, lookups: Lookups, in_force: InForce) -> None:
        self._lookups = lookups
        self._graph = Graph(lookups)
        self._in_force = in_force
        self._settles: dict[bytes, bool] = {}
        """For nodes: whether they act at their own stamp and are not void."""

    def of_cited(self, batch: Collection[Fact]) -> Task[set[bytes]]:
        """All ancestors of whatever had cited the batch before it came, through it or not."""
        new = {fact.id for fact in batch}
        nodes = yield from self._graph.load(sorted(new))
        faces = {copy.id for node in nodes for copy in self._graph.nodes[node]}
        citing = [fact.id for fact in (yield Need(Role.BASIS, tuple(faces))) if fact.id not in new]
        frontier = yield from self._graph.load(citing)
        if not citing:
            return set()
        below = {self._graph.entity[i] for i in citing}
        while frontier:
            found = yield from self._graph.citing(frontier)
            frontier = [node for node in found if node not in below and node not in nodes]
            below.update(frontier)
        frontier = sorted(self._graph.nodes)
        while frontier:
            frontier = yield from self._graph.read_by(frontier)
        return {node for start in below for node in self._graph.ancestors(start)}

    def roots(self, turned: Collection[bytes]) -> Iterable[tuple[list[bytes], set[bytes]]]:
        """For each revision: the nearest ancestors that settle what lies above them, and those passed on the way."""
        self._lookups.run(self._graph.load(sorted(turned)))
        nodes = sorted({self._graph.entity[i] for i in turned if i in self._graph.entity})
        roots: dict[bytes, set[bytes]] = {node: set() for node in nodes}
        passed: dict[bytes, set[bytes]] = {node: set() for node in nodes}
        frontiers = {node: [node] for node in nodes}
        while frontiers:
            self._lookups.run(self._graph.read_by({child for frontier in frontiers.values() for child in frontier}))
            parents = {
                node: {p for child in frontier for p in self._graph.parents(child)} - passed[node] - roots[node]
                for node, frontier in frontiers.items()
            }
            self._judge(set().union(*parents.values()))
            frontiers = {}
            for node, many in parents.items():
                stamp = self._graph.nodes[node][0].hlc
                settling = {p for p in many if self._settles[p] and self._graph.nodes[p][0].hlc <= stamp}
                roots[node] |= settling
                passed[node] |= many - settling
                if many - settling:
                    frontiers[node] = sorted(many - settling)
        return [(sorted(roots[node]), passed[node]) for node in nodes]

    def _judge(self, nodes: Collection[bytes]) -> None:
        unknown = [node for node in sorted(nodes) if node not in self._settles]
        revisions = [self._graph.nodes[node][0] for node in unknown if self._graph.nodes[node][0].type in FATE_CHANGING]
        in_force = set(self._in_force(revisions)) if revisions else set()
        self._settles.update((node, node in in_force) for node in unknown)

    def apart(self, roots: list[bytes]) -> Task[set[bytes]]:
        """Ancestors of some roots but not of all, where two of one belief may lie on different sides.

        Walks up from every root at once, until all but one have nothing left of their own.
        """
        everybody = (1 << len(roots)) - 1
        sides: dict[bytes, int] = defaultdict(int)
        expanded: set[bytes] = set()

        def mark(node: bytes, mask: int) -> None:
            pending = [(node, mask)]
            while pending:
                at, bits = pending.pop()
                if bits & ~sides[at]:
                    sides[at] |= bits
                    if at in expanded:
                        pending += [(parent, sides[at]) for parent in self._graph.parents(at)]

        for place, root in enumerate(roots):
            mark(root, 1 << place)
        while True:
            frontier = [node for node, mask in sides.items() if node not in expanded and mask != everybody]
            still = 0
            for node in frontier:
                still |= sides[node]
            if still & (still - 1) == 0:
                break
            yield from self._graph.read_by(frontier)
            expanded.update(frontier)
            for node in frontier:
                for parent in self._graph.parents(node):
                    mark(parent, sides[node])
        largest = still or max((1 << place for place in range(len(roots))), key=lambda bit: _on(sides, bit))
        return {node for node, mask in sides.items() if mask != everybody and mask & ~largest}

    def beliefs(self, nodes: Collection[bytes]) -> Task[set[bytes]]:
        """The beliefs that revisions give a fate."""
        found: set[bytes] = set()
        for node in sorted(nodes):
            for copy in self._graph.nodes[node]:
                if copy.type in FATE_CHANGING:
                    self._lookups.spawn(self._named(copy, found))
        yield from ()
        return found

    def _named(self, revision: Fact, found: set[bytes]) -> Task[None]:
        payload = revision.payload
        for field in ("belief_id", "superseded_id", "duplicate_id"):
            if field in payload:
                found.add(payload[field])
        if "condition_key" in payload and revision.type == "condition.met":
            found.update((yield from standing_under(payload["condition_key"])))
        if revision.type == "contradiction.resolved":
            for raised in (yield from self._lookups.entity(payload["contradiction_id"])):
                if raised.type == "contradiction.raised":
                    found.update((raised.payload["left"], raised.payload["right"]))


def _on(sides: dict[bytes, int], bit: int) -> int:
    return sum(1 for mask in sides.values() if mask & bit)
