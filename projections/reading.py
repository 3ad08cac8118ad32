"""Stored events as the rules and the projections read them: facts, or the reason why they can't be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog import CATALOG, Catalog, Unreadable
from beliefbase.events.envelope import Event, Skeleton
from beliefbase.events.log import EventLog
from beliefbase.projections.base import Dropped, Read


class Reader:
    """Reads events of one log; knows which agent stands behind each writer."""

    def __init__(self, log: EventLog, catalog: Catalog = CATALOG) -> None:
        self._log = log
        self._catalog = catalog
        self._agents: dict[bytes, bytes] = {}

    def read(self, events: Iterable[Event]) -> Iterator[Read | Dropped]:
        """Each event as a projection sees it, words included where the event brings them."""
        for event, skeleton, payload in self._payloads(events):
            if isinstance(payload, Unreadable):
                yield _dropped(event, skeleton, payload)
            else:
                yield Read(self._fact(event, skeleton, payload), skeleton.recorded, event.words)

    def facts(self, events: Iterable[Event]) -> list[Fact]:
        """The usable ones as facts."""
        return [
            self._fact(event, skeleton, payload)
            for event, skeleton, payload in self._payloads(events)
            if not isinstance(payload, Unreadable)
        ]

    def _payloads(self, events: Iterable[Event]) -> Iterator[tuple[Event, Skeleton, Any]]:
        decoded = [(event, event.skeleton) for event in events]
        self._meet({skeleton.writer for _, skeleton in decoded})
        read = self._catalog.read
        for event, skeleton in decoded:
            yield event, skeleton, read(skeleton)

    def _meet(self, writers: set[bytes]) -> None:
        unknown = writers - self._agents.keys()
        if unknown:
            named = self._log.agents(unknown)
            self._agents.update((writer, named.get(writer, writer)) for writer in unknown)

    def _fact(self, event: Event, skeleton: Skeleton, payload: Any) -> Fact:
        return Fact(
            skeleton.hlc,
            skeleton.writer,
            skeleton.seq,
            event.id,
            skeleton.type,
            payload,
            skeleton.basis_ids,
            skeleton.source_ref,
            self._agents[skeleton.writer],
        )


def _dropped(event: Event, skeleton: Skeleton, why: Unreadable) -> Dropped:
    return Dropped(
        event.id, skeleton.writer, skeleton.seq, skeleton.hlc, skeleton.type, why.reason, why.detail
    )
