"""Everything downstream of an event, a writer or a source: what an inquiry into poisoned memory asks for.

Downstream of an event is what cites it, shows it, is concluded from it or replaced by it, and so on from there. A
revision also reaches the beliefs whose life it acts on, and what was shown of or concluded from them afterwards.
What others did to a reached belief (retracted it, say) is listed, and reaches nothing further.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.catalog.registry import REVISIONS
from beliefbase.events.envelope import Event
from beliefbase.events.errors import UnknownId
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog
from beliefbase.replay.suspects import of_source, source_hash, writers_of

_ONWARD: Final = (Role.LINK, Role.SHOWN, Role.CITED, Role.INPUT)
_GROUPS: Final = {
    "belief.extracted": "beliefs",
    "conclusion.derived": "conclusions",
    "memory.injected": "injections",
    "memory.used": "uses",
    "judgement.recorded": "judgements",
}


def suspects(log: EventLog, name: str) -> list[Event]:
    """The events that an id, a writer or agent, or a source means.

    Raises:
        UnknownId: nothing in the log is called so.
    """
    if len(name) == 2 * ID_BYTES:
        event = log.get(source_hash(name))
        if event is not None:
            return [event]
    try:
        writers = writers_of(log, name)
    except UnknownId:
        found = list(of_source(log, name))
        if not found:
            raise UnknownId(
                f"no event, writer or source of this log is called {name!r}",
                hint="give an event's id, an agent, a writer's id, or the name of a person, conversation or source",
            ) from None
        return found
    return [event for page in log.read(words=False) for _, event in page if event.skeleton.writer in writers]


class Taint:
    """What is downstream of some events."""

    def __init__(self, log: EventLog, start: Iterable[Event]) -> None:
        self._log = log
        self.start = {event.id: event for event in start}
        self.reached: dict[bytes, tuple[Event, bytes]] = {}
        """By id: an event downstream, and the event through which it was reached."""
        self.revised: dict[bytes, tuple[int, bytes]] = {}
        """Beliefs, by id, whose life a reached revision acts on: from which stamp on, and which revision."""
        self.answers: list[Event] = []
        """What others did to what was reached."""
        self._spread(list(self.start.values()))

    def _spread(self, new: list[Event]) -> None:
        names: dict[bytes, tuple[int, bytes]] = {}
        while new:
            fresh: dict[bytes, tuple[int, bytes]] = {}
            for event in new:
                skeleton = event.skeleton
                fresh.update((key, (0, event.id)) for key in (event.id, skeleton.source_ref) if key is not None)
                if skeleton.type in REVISIONS:
                    for key, role in CATALOG.references(skeleton, event.id):
                        if role == Role.STATE and key not in names and key not in self.revised:
                            fresh.setdefault(key, (skeleton.hlc, event.id))
                            self.revised[key] = (skeleton.hlc, event.id)
            names.update(fresh)
            new = []
            for event in self._log.naming(fresh.keys(), _ONWARD) if fresh else ():
                through = self._through(event, fresh)
                if through is not None and event.id not in self.start and event.id not in self.reached:
                    self.reached[event.id] = (event, through)
                    new.append(event)
        known = self.start.keys() | self.reached.keys()
        found = self._log.naming(names.keys(), [Role.STATE]) if names else []
        self.answers = [event for event in found if event.id not in known]

    def _through(self, event: Event, names: dict[bytes, tuple[int, bytes]]) -> bytes | None:
        roles = {int(role) for role in _ONWARD}
        for key, role in sorted(CATALOG.references(event.skeleton, event.id)):
            since = names.get(key)
            if role in roles and since is not None and since[0] <= event.skeleton.hlc:
                return since[1]
        return None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, by kind, each in the order of events."""
        groups: dict[str, list[dict[str, Any]]] = {
            "beliefs": [], "conclusions": [], "injections": [], "uses": [], "judgements": [], "others": []
        }  # fmt: skip
        told = [(event, None) for event in self.start.values()]
        reached = [(event, through) for event, through in self.reached.values()]
        for event, through in sorted([*told, *reached], key=lambda pair: _order(pair[0])):
            if through is not None or event.skeleton.type in _GROUPS:
                groups[_GROUPS.get(event.skeleton.type, "others")].append(self._told(event, through))
        beliefs = self._log.by_id(self.revised.keys())
        known = self.start.keys() | self.reached.keys()
        revised = [event for event in beliefs if event.skeleton.type == "belief.extracted" and event.id not in known]
        return {
            "start": len(self.start),
            "reached": len(self.reached),
            **groups,
            "revised": [self._told(event, self.revised[event.id][1]) for event in sorted(revised, key=_order)],
            "answers": [self._told(event, None) for event in sorted(self.answers, key=_order)],
        }

    def _told(self, event: Event, through: bytes | None) -> dict[str, Any]:
        words = next(iter(self._log.by_id([event.id], words=True)), event).words
        text = words.get("statement") or words.get("verbatim")
        told = {
            "event": event.id.hex(),
            "type": event.skeleton.type,
            "writer": event.skeleton.writer.hex(),
            "hlc": event.skeleton.hlc,
            "through": None if through is None else through.hex(),
            "text": text if isinstance(text, str) else None,
        }
        return {name: value for name, value in told.items() if value is not None}


def _order(event: Event) -> tuple[int, bytes, int, bytes]:
    skeleton = event.skeleton
    return skeleton.hlc, skeleton.writer, skeleton.seq, event.id
