"""Ancestry through ``basis``: which revisions a deciding revision had seen, its own author's and their authors'."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
        copied = set(entity.values())
        for fact in facts:
            if fact.basis:
                self._bases[fact.id] = fact.basis
                for seen in fact.basis:
                    self._citing[seen].append(fact)
            if fact.id in entity or fact.id in copied:
                self._faces[entity.get(fact.id, fact.id)].append(fact)

    def in_sequence(self, events: Sequence[bytes]) -> bool:
        """Whether each of these events has the one before it in its own basis."""
        for before, after in zip(events, events[1:], strict=False):
            if before != after and before not in self._bases.get(after, ()):
                return False
        return True

    def covers(self, bits: Mapping[bytes, int]) -> list[Cover]:
        """When deciding revisions have two or more of these events among their ancestors."""
        found = self._plain(bits)
        return [cover for cover in (self._late(bits) if found is None else found) if cover.since < cover.until]

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

    def _deciding(self, fact: Fact) -> tuple[int, int] | None:
        """From when to when a revision decides; None for an event that doesn't."""
        node = self._node(fact.id)
        if fact.type not in DECIDING or node not in self._acted:
            return None
        return self._acted[node], self._voided_at.get(node, FOREVER)

    def _plain(self, bits: Mapping[bytes, int]) -> list[Cover] | None:
        """The covers where everything cites only what is stamped before it; None where that isn't so."""
        reached: dict[bytes, Fact] = {}
        stack = list(bits)
        while stack:
            node = stack.pop()
            if self._node(node) in self._faces:
                return None
            for fact in self._citing.get(node, ()):
                if fact.id not in reached:
                    reached[fact.id] = fact
                    stack.append(fact.id)
        masks = {event: bit for event, bit in bits.items() if event not in reached}
        covers = []
        for fact in sorted(reached.values()):
            mask = bits.get(fact.id, 0)
            for seen in fact.basis:
                if seen in masks:
                    mask |= masks[seen]
                elif seen in reached:
                    return None
            masks[fact.id] = mask
            if mask & (mask - 1) and (span := self._deciding(fact)) is not None:
                covers.append(Cover(*span, mask))
        return covers

    def _late(self, bits: Mapping[bytes, int]) -> list[Cover]:
        """The covers in general: an event counts from its own stamp on, and so does every path through it."""
        seen_from: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
        deciding: dict[bytes, tuple[int, int]] = {}
        for event, bit in bits.items():
            for node, (stamp, fact) in self._descendants(event).items():
                seen_from[node].append((stamp, bit))
                if fact is not None and (span := self._deciding(fact)) is not None:
                    deciding[node] = span
        covers = []
        for node, (since, until) in deciding.items():
            mask = bits.get(node, 0)
            for stamp, bit in sorted(seen_from[node]):
                mask |= bit
                covers.append(Cover(max(since, stamp), until, mask))
        return covers

    def _descendants(self, event: bytes) -> dict[bytes, tuple[int, Fact | None]]:
        """What descends from an event, with the stamp from which a path of known events leads there."""
        found: dict[bytes, tuple[int, Fact | None]] = {}
        heap: list[tuple[int, bytes, Fact | None]] = [(0, event, None)]
        while heap:
            stamp, node, by = heapq.heappop(heap)
            if node in found:
                continue
            found[node] = stamp, by
            for since, fact in self._cited_by(node):
                citing = self._node(fact.id)
                if citing not in found:
                    heapq.heappush(heap, (max(stamp, since, fact.hlc), citing, fact))
        return found
