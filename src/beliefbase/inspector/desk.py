"""Looking things up in a log for people: events with their words, and the names of who wrote them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from beliefbase.events.catalog import CATALOG, Unreadable
from beliefbase.events.envelope import Event
from beliefbase.events.hlc import ms_of
from beliefbase.events.log import EventLog
from beliefbase.projections.reading import Reader
from beliefbase.projections.source import LogSource


class Entry:
    """One stored event as the inspector reads it."""

    __slots__ = ("erased", "id", "payload", "skeleton", "unreadable", "words")

    def __init__(self, event: Event) -> None:
        self.id = event.id
        self.skeleton = event.skeleton
        read = CATALOG.read(self.skeleton)
        self.unreadable = read if isinstance(read, Unreadable) else None
        """Why this release can't use it."""
        self.payload: Mapping[str, Any] = {} if isinstance(read, Unreadable) else read
        self.words = event.words
        """Empty where there are none or they were erased; anyone may have written them."""
        self.erased = event.wants_words
        """Whether its words are not here: erased, or not yet received."""

    @property
    def order(self) -> tuple[int, bytes, int, bytes]:
        """The total order of events."""
        return self.skeleton.hlc, self.skeleton.writer, self.skeleton.seq, self.id

    @property
    def type(self) -> str:
        """Name of the type."""
        return self.skeleton.type

    def text(self, name: str) -> str | None:
        """A text of the words; None where there is none."""
        value = self.words.get(name)
        return value if isinstance(value, str) else None

    def name(self, field: str) -> str | None:
        """A name of which the payload holds the hash: from the words, otherwise the hash."""
        text = self.text(field)
        if text is not None:
            return text
        value = self.payload.get(field)
        return value.hex() if isinstance(value, bytes) else None


class Desk:
    """Look-ups in one log; writers' names are looked up once."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.source = LogSource(log, Reader(log))
        """The log as the fold asks it."""
        self.erased = log.erased()
        """The beliefs whose words an erasure covers."""
        self._agents: dict[bytes, tuple[str, str | None]] = {}

    def get(self, event_id: bytes) -> Entry | None:
        """One event by its id."""
        event = self.log.get(event_id)
        return None if event is None else Entry(event)

    def by_id(self, ids: Collection[bytes]) -> dict[bytes, Entry]:
        """The stored ones of these ids."""
        return {event.id: Entry(event) for event in self.log.by_id(ids, words=True)} if ids else {}

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Entry]:
        """Events that name any of these keys in any of these roles, in order; those that can't be read left out."""
        if not keys:
            return []
        found = (Entry(event) for event in self.log.naming(keys, roles, words=True))
        return in_order(entry for entry in found if entry.unreadable is None)

    def of_types(self, *types: str) -> list[Entry]:
        """All events of these types, in order; those that can't be read left out."""
        found = (Entry(event) for event in self.log.of_types(types, words=True))
        return in_order(entry for entry in found if entry.unreadable is None)

    def meet(self, entries: Iterable[Entry]) -> None:
        """Look up in one go who wrote these events, before :meth:`who` is asked for each."""
        missing = {entry.skeleton.writer for entry in entries} - self._agents.keys()
        if not missing:
            return
        firsts = in_order(Entry(event) for event in self.log.firsts(missing))
        for first in reversed(firsts):
            if first.type == "writer.joined" and first.unreadable is None:
                name = first.name("agent") or first.skeleton.writer.hex()
                self._agents[first.skeleton.writer] = (name, first.payload.get("kind"))
        for writer in missing - self._agents.keys():
            self._agents[writer] = (writer.hex(), None)

    def who(self, entry: Entry) -> str:
        """Name of the agent or person that wrote an event; a hash where the name isn't known."""
        self.meet((entry,))
        return self._agents[entry.skeleton.writer][0]

    def told(self, entry: Entry) -> dict[str, Any]:
        """Who wrote an event, when, and why: the part that is the same for every event."""
        skeleton = entry.skeleton
        self.meet((entry,))
        agent, kind = self._agents[skeleton.writer]
        return {
            "event": entry.id.hex(),
            "type": entry.type,
            "agent": agent,
            "agent_kind": kind,
            "writer": skeleton.writer.hex(),
            "at_ms": ms_of(skeleton.hlc),
            "hlc": skeleton.hlc,
            "recorded_late_ms": skeleton.recorded,
            "reason": entry.text("reason"),
            "erased": entry.erased,
        }


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Events in their total order."""
    return sorted(entries, key=lambda entry: entry.order)
