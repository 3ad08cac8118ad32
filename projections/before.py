"""What the tables said before they are brought up to date: most of it still holds, and need not be folded again."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from beliefbase.beliefs.reasons import Note, Reason
from beliefbase.projections.columns import keys_of, texts
from beliefbase.projections.work import WorkDatabase


class TablesBefore:
    """Implements :class:`beliefbase.beliefs.past.Past`."""

    def __init__(self, work: WorkDatabase) -> None:
        self._work = work

    def remarks(self, event: bytes) -> list[Note]:
        """All remarks about a supersession."""
        found = self._remarks.get(event.hex(), ())
        return [Note(event, Reason(reason), None if about is None else bytes.fromhex(about)) for reason, about in found]

    @cached_property
    def _remarks(self) -> dict[str, list[tuple[str, str | None]]]:
        found: dict[str, list[tuple[str, str | None]]] = {}
        known = "SELECT event_id, reason, about_id FROM anomaly_facts WHERE type = 'belief.superseded'"
        for event, reason, about in self._work.rows(known):
            found.setdefault(event, []).append((reason, about))
        return found

    def resolutions(self) -> bool:
        """Whether there are remarks about resolutions."""
        return bool(self._work.rows("SELECT 1 FROM anomaly_facts WHERE type = 'contradiction.resolved' LIMIT 1"))

    def active(self, beliefs: Collection[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        """The stretches in which beliefs were active, in order."""
        ordered = sorted(beliefs)
        stretches: dict[bytes, list[tuple[int, int]]] = {belief: [] for belief in ordered}
        batch = {"key": keys_of(ordered), "id": texts([belief.hex() for belief in ordered])}
        with self._work.registered("asked", batch):
            rows = self._work.rows(
                "SELECT belief_id, since_hlc, until_hlc FROM belief_intervals"
                " WHERE row_key IN (SELECT key FROM asked) AND belief_id IN (SELECT id FROM asked)"
                " AND status = 'active' ORDER BY belief_id, since_hlc"
            )
        for belief, since, until in rows:
            stretches[bytes.fromhex(belief)].append((since, until))
        return stretches

    def reshaped(self) -> set[bytes] | None:
        """The beliefs that merges and reclassifications name; None where beliefs have copies."""
        if self._work.rows("SELECT 1 FROM copies WHERE type = 'belief.extracted' LIMIT 1"):
            return None
        kinds = "('belief.merged', 'belief.reclassified')"
        rows = self._work.rows(f"SELECT belief_id, other_id FROM revision_facts WHERE type IN {kinds}")
        return {bytes.fromhex(belief) for row in rows for belief in row if belief is not None}

    def concluded(self) -> bool:
        """Whether there are any conclusions."""
        return self._concluded

    @cached_property
    def _concluded(self) -> bool:
        return bool(self._work.rows("SELECT 1 FROM conclusion_facts LIMIT 1"))
