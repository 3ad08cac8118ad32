"""How writers stamp: how far behind they are, how late they record, and how far ahead of their own clocks they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from beliefbase.events.catalog import CATALOG, Unreadable
from beliefbase.events.log import EventLog


class Habits(NamedTuple):
    """What the stamps of one writer say."""

    events: int
    last_ms: int
    """Its newest stamp."""
    late_ms: int
    """By how much at most it recorded later than it stamped."""
    skew_ms: int
    """By how much at most it stamped ahead of its own wall clock."""

    def after(self, ms: int, recorded: int) -> Habits:
        """These habits with one more event, its stamp and its ``recorded`` in milliseconds."""
        late, skew = max(self.late_ms, recorded), max(self.skew_ms, -recorded)
        return Habits(self.events + 1, max(self.last_ms, ms), late, skew)


NEW: Final = Habits(0, 0, 0, 0)


def agents_of(log: EventLog, writers: Mapping[bytes, Habits], now: int) -> list[dict[str, Any]]:
    """The habits of writers by agent, the agent that wrote last first; JSON-ready."""
    names = names_of(log, writers)
    grouped: dict[tuple[str, str], list[Habits]] = {}
    for writer, habits in writers.items():
        grouped.setdefault(names.get(writer, (writer.hex(), "unknown")), []).append(habits)
    told = [
        {
            "agent": name,
            "kind": kind,
            "writers": len(many),
            "events": sum(habits.events for habits in many),
            "lag_ms": now - max(habits.last_ms for habits in many),
            "late_ms": max(habits.late_ms for habits in many),
            "skew_ms": max(habits.skew_ms for habits in many),
        }
        for (name, kind), many in grouped.items()
    ]
    return sorted(told, key=lambda one: (one["lag_ms"], one["agent"], one["kind"]))


def names_of(log: EventLog, writers: Iterable[bytes]) -> dict[bytes, tuple[str, str]]:
    """For writers that joined in a way that this release reads: the agent's name, and its kind."""
    found: dict[bytes, tuple[str, str]] = {}
    for event in log.firsts(list(writers)):
        payload = CATALOG.read(event.skeleton)
        if event.skeleton.type == "writer.joined" and not isinstance(payload, Unreadable):
            name = event.words.get("agent")
            shown = name if isinstance(name, str) else payload["agent"].hex()
            found[event.skeleton.writer] = (shown, payload.get("kind", "agent"))
    return found
