"""Which events somebody means by a writer or a source: for what-if replays and for inquiries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.catalog.registry import Unreadable
from beliefbase.events.envelope import Event
from beliefbase.events.errors import UnknownId
from beliefbase.events.ids import ID_BYTES, name_hash
from beliefbase.events.log import EventLog

LEAST_DIGITS: Final = 8
"""Digits of an id that are enough to name a writer."""


def writers_of(log: EventLog, name: str) -> frozenset[bytes]:
    """The writers that a name means: those of an agent, or one by its id or that one's first digits.

    Raises:
        UnknownId: there is none.
    """
    writers = {head.writer for head in log.frontier()}
    found = {writer for writer, agent in log.agents(writers).items() if agent == name_hash(name)}
    if len(name) >= LEAST_DIGITS:
        found |= {writer for writer in writers if writer.hex().startswith(name)}
    if not found:
        raise UnknownId(f"no writer of this log is called {name!r}", hint="`beliefbase log` prints agents and writers")
    return frozenset(found)


def source_hash(name: str) -> bytes:
    """What stands in skeletons for the name of a person, agent, conversation, session or source_ref."""
    if len(name) == 2 * ID_BYTES and set(name) <= set("0123456789abcdef"):
        return bytes.fromhex(name)
    return name_hash(name)


def of_source(log: EventLog, name: str) -> Iterator[Event]:
    """Every event that was said by, in, or under a name: one pass over the log."""
    wanted = source_hash(name)
    writers = {
        writer for writer, agent in log.agents({head.writer for head in log.frontier()}).items() if agent == wanted
    }
    for page in log.read(words=False):
        for _, event in page:
            if event.skeleton.writer in writers or (wanted in event.raw and _names(event, wanted)):
                yield event


def resting_on(log: EventLog, gone: Iterable[Event]) -> list[Event]:
    """The extractions whose evidence is all among these events: without them nobody would have made them."""
    keys: set[bytes] = set()
    refs: set[bytes] = set()
    ids: set[bytes] = set()
    for event in gone:
        ids.add(event.id)
        if event.skeleton.type == "utterance.recorded":
            keys.add(event.id)
            refs.update(() if event.skeleton.source_ref is None else (event.skeleton.source_ref,))
    kept = (
        {event.skeleton.source_ref for event in log.naming(refs, [Role.SELF]) if event.id not in ids} if refs else set()
    )
    keys |= refs - kept
    found = log.naming(keys, [Role.CITED]) if keys else []
    return [event for event in found if (evidence := _evidence(event)) and evidence <= keys]


def _evidence(event: Event) -> set[bytes]:
    payload = CATALOG.read(event.skeleton) if event.skeleton.type == "belief.extracted" else None
    return set() if payload is None or isinstance(payload, Unreadable) else set(payload.get("evidence", ()))


def _names(event: Event, wanted: bytes) -> bool:
    skeleton = event.skeleton
    return skeleton.source_ref == wanted or wanted in skeleton.payload.values()
