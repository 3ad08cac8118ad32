"""Evidence in the speaker's own words: what a belief or revision cites, found by event id or by source_ref hash."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from beliefbase.events.catalog import Role
from beliefbase.events.hlc import ms_of
from beliefbase.inspector.desk import Desk, Entry


class Evidence:
    """Looks up many citations in one go."""

    def __init__(self, desk: Desk, cited: Collection[bytes]) -> None:
        self._desk = desk
        self._found: dict[bytes, Entry] = {}
        for entry in desk.naming(set(cited), (Role.SELF,)):  # in order: of copies the earliest speaks
            for name in (entry.id, entry.skeleton.source_ref):
                if name is not None:
                    self._found.setdefault(name, entry)
        desk.meet(self._found.values())

    def of(self, cited: bytes) -> dict[str, Any]:
        """One citation, JSON-ready; ``dangling`` where nothing here has that name."""
        entry = self._found.get(cited)
        if entry is None:
            return {"cited": cited.hex(), "dangling": True}
        told: dict[str, Any] = {
            "cited": cited.hex(),
            "dangling": False,
            "event": entry.id.hex(),
            "type": entry.type,
            "by_source_ref": cited != entry.id,
            "at_ms": ms_of(entry.skeleton.hlc),
            "recorded_late_ms": entry.skeleton.recorded,
            "erased": entry.erased,
        }
        if entry.type == "utterance.recorded":
            return told | {
                "speaker": entry.name("speaker"),
                "verbatim": entry.text("verbatim"),
                "topic": entry.text("topic"),
                "conversation": entry.name("conversation"),
                "turn": entry.payload.get("turn"),
                "channel": entry.text("channel"),
                "recorded_by": self._desk.who(entry),
            }
        return told | {"statement": entry.text("statement"), "recorded_by": self._desk.who(entry)}


def passages(entry: Entry, evidence: list[dict[str, Any]]) -> None:
    """Put the passages that an extraction's spans mark beside the evidence they stand in."""
    for span in entry.payload.get("spans", ()):
        place = span["evidence"]
        verbatim = evidence[place].get("verbatim") if place < len(evidence) else None
        if verbatim is not None:
            evidence[place].setdefault("passages", []).append(verbatim[span["start"] : span["end"]])
