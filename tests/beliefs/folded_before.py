"""What is known of a log before a batch comes, out of a fold of it."""

from __future__ import annotations

from collections.abc import Collection

from beliefbase.beliefs.fold import Fold
from beliefbase.beliefs.reasons import Note


class FoldedBefore:
    """Implements ``beliefbase.beliefs.past.Past``."""

    def __init__(self, folded: Fold) -> None:
        self._folded = folded
        self._notes: dict[bytes, list[Note]] = {}
        for note in folded.notes:
            self._notes.setdefault(note.event, []).append(note)
        self.types = {fact.id: fact.type for fact in folded._order.facts}

    def remarks(self, event: bytes) -> list[Note]:
        return self._notes.get(event, [])

    def resolutions(self) -> bool:
        return any(self.types[note.event] == "contradiction.resolved" for note in self._folded.notes)

    def active(self, beliefs: Collection[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        lives = {belief: self._folded.lives.get(belief) for belief in beliefs}
        return {
            belief: [(row.since, row.until) for row in life.intervals if row.status == "active"] if life else []
            for belief, life in lives.items()
        }

    def reshaped(self) -> set[bytes] | None:
        facts = {fact.id: fact for fact in self._folded._order.facts}
        if any(facts[copy].type == "belief.extracted" for copy in self._folded.entity):
            return None
        payloads = [f.payload for f in facts.values() if f.type in ("belief.merged", "belief.reclassified")]
        ends = ("belief_id", "duplicate_id", "surviving_id")
        return {payload[end] for payload in payloads for end in ends if end in payload}

    def concluded(self) -> bool:
        return any(life.inputs is not None for life in self._folded.lives.values())
