"""Stored events as the rules and the projections read them: facts, or the reason why they can't be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog import CATALOG, Catalog, Unreadable
from beliefbase.events.codec import unpack_trusted
from beliefbase.events.envelope import Event, Skeleton, decode
from beliefbase.events.log import EventLog
from beliefbase.projections.base import Dropped, Read, Signature

NO_WORDS: Final[Mapping[str, Any]] = {}


class Reader:
    """Reads events of one log; knows which agent stands behind each writer."""

    def __init__(self, log: EventLog, catalog: Catalog = CATALOG) -> None:
        self._log = log
        self._catalog = catalog
        self._signatures: dict[bytes, Signature] = {}

    def read(self, events: Sequence[Event]) -> list[Read | Dropped]:
        """Each event as a projection sees it, words included where the event brings them."""
        # Not event.skeleton and event.words: every event is decoded once here, and keeping that costs as much again.
        skeletons = [decode(event.raw) for event in events]
        self._meet({skeleton.writer for skeleton in skeletons})
        read, signatures = self._catalog.read, self._signatures
        found: list[Read | Dropped] = []
        for event, skeleton in zip(events, skeletons, strict=True):
            payload = read(skeleton)
            if isinstance(payload, Unreadable):
                found.append(_dropped(event, skeleton, payload))
                continue
            body = event.body
            words = NO_WORDS if body is None else unpack_trusted(body)[1]
            found.append(Read(event.id, skeleton, payload, words, signatures[skeleton.writer]))
        return found

    def facts(self, events: Iterable[Event]) -> list[Fact]:
        """The usable ones as facts."""
        return [event.fact() for event in self.read(list(events)) if isinstance(event, Read)]

    def _meet(self, writers: set[bytes]) -> None:
        unknown = writers - self._signatures.keys()
        if unknown:
            named = self._log.agents(unknown)
            for writer in unknown:
                agent = named.get(writer, writer)
                self._signatures[writer] = Signature(writer.hex(), agent.hex(), agent)


def _dropped(event: Event, skeleton: Skeleton, why: Unreadable) -> Dropped:
    return Dropped(event.id, skeleton, why.reason, why.detail)
