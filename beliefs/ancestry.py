"""Ancestry through ``basis``: which revisions a deciding revision had seen, its own author's and their authors'."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.rules import FOREVER

DECIDING: Final = frozenset(
    {
        "belief.superseded",
        "belief.merged",
        "belief.retracted",
        "belief.reinstated",
        "belief.reclassified",
        "condition.met",
        "contradiction.resolved",
        "memory.revalidated",
    }
)
"""Types of revisions that change a belief's fate, and so can end a fork."""


class Cover(NamedTuple):
    """From ``since`` to ``until`` a deciding revision has these events among its ancestors, itself included."""

    since: int
    until: int
    mask: int
    """The bits of the events that were asked about."""


Steps = list[tuple[int, int]]
"""From which stamp on an event has which of the events asked about among its ancestors, itself included."""


class Ancestry:
    """The graph of bases over a set of facts; copies of one entity are one node."""

    def __init__(
        self,
        facts: Sequence[Fact],
        acted: Mapping[bytes, int],
        entity: Mapping[bytes, bytes],
        voided_at: Mapping[bytes, int],
    ) -> None:
        self._acted = acted
        self._entity = entity
        self._voided_at = voided_at
        self._bases: dict[bytes, tuple[bytes, ...]] = {}
        self._citing: dict[bytes, list[Fact]] = defaultdict(list)
        self._faces: dict[bytes, list[Fact]] = defaultdict(list)
        self._types: dict[bytes, str] = {}
        copied = set(entity.values())
        for fact in facts:
            if fact.basis:
                self._types[entity.get(fact.id, fact.id)] = fact.type
                self._bases[fact.id] = fact.basis
                for seen in fact.basis:
                    self._citing[seen].append(fact)
            if fact.id in entity or fact.id in copied:
                self._faces[entity.get(fact.id, fact.id)].append(fact)

    def in_sequence(self, events: Sequence[bytes]) -> bool:
        """Whether each of these events has the one before it in its own basis."""
        for before, after in pairwise(events):
            if before != after and before not in self._bases.get(after, ()):
                return False
        return True

    def covers(self, bits: Mapping[bytes, int]) -> list[Cover]:
        """When deciding revisions have two or more of these events among their ancestors."""
        if not self._citing:
            return []
        steps = self._in_order(bits)
        if steps is None:
            steps = self._by_search(bits)
        covers = []
        for node, known in steps.items():
            if known[-1][1] & (known[-1][1] - 1) and (span := self._deciding(node)) is not None:
                covers += [Cover(max(span[0], stamp), span[1], mask) for stamp, mask in known if mask & (mask - 1)]
        return [cover for cover in covers if cover.since < cover.until]

    def _node(self, event: bytes) -> bytes:
        return self._entity.get(event, event)

    def _cited_by(self, node: bytes) -> Iterator[tuple[int, Fact]]:
        """The facts that cite an entity, each with the stamp from which the face that it cites is there."""
        faces = self._faces.get(node)
        if faces is None:
            for fact in self._citing.get(node, ()):
                yield 0, fact
        else:
            for face in faces:
                for fact in self._citing.get(face.id, ()):
                    yield face.hlc, fact

    def _deciding(self, node: bytes) -> tuple[int, int] | None:
        """From when to when a revision decides; None for an event that doesn't."""
        if self._types.get(node) not in DECIDING or node not in self._acted:
            return None
        return self._acted[node], self._voided_at.get(node, FOREVER)

    def _in_order(self, bits: Mapping[bytes, int]) -> dict[bytes, Steps] | None:
        """What every descendant sees, parents first; None where copies close a circle."""
        children: dict[bytes, list[tuple[bytes, int]]] = {}
        parents: dict[bytes, int] = dict.fromkeys(bits, 0)
        stack = list(bits)
        while stack:
            node = stack.pop()
            if node in children:
                continue
            children[node] = [(self._node(fact.id), max(since, fact.hlc)) for since, fact in self._cited_by(node)]
            for child, _ in children[node]:
                parents[child] = parents.get(child, 0) + 1
                stack.append(child)
        seen: dict[bytes, Steps] = {node: [(0, bit)] for node, bit in bits.items()}
        ready = [node for node, count in parents.items() if not count]
        done = 0
        while ready:
            node = ready.pop()
            done += 1
            seen[node] = _cumulative(seen[node])
            for child, visible in children[node]:
                seen.setdefault(child, []).extend((max(stamp, visible), mask) for stamp, mask in seen[node])
                parents[child] -= 1
                if not parents[child]:
                    ready.append(child)
        return seen if done == len(parents) else None

    def _by_search(self, bits: Mapping[bytes, int]) -> dict[bytes, Steps]:
        """The same by a search from each event, in general."""
        seen: dict[bytes, Steps] = defaultdict(list)
        for event, bit in bits.items():
            for node, stamp in self._descendants(event).items():
                seen[node].append((stamp, bit))
        return {node: _cumulative(steps) for node, steps in seen.items()}

    def _descendants(self, event: bytes) -> dict[bytes, int]:
        """What descends from an event, with the stamp from which a path of known events leads there."""
        found: dict[bytes, int] = {}
        heap = [(0, event)]
        while heap:
            stamp, node = heapq.heappop(heap)
            if node in found:
                continue
            found[node] = stamp
            for since, fact in self._cited_by(node):
                heapq.heappush(heap, (max(stamp, since, fact.hlc), self._node(fact.id)))
        return found


def _cumulative(steps: Steps) -> Steps:
    """Steps in order of time, each with all masks up to it."""
    if len(steps) == 1:
        return steps
    found: Steps = []
    total = 0
    for stamp, mask in sorted(steps):
        if mask & ~total:
            total |= mask
            if found and found[-1][0] == stamp:
                found.pop()
            found.append((stamp, total))
    return found
