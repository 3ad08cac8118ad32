"""Stored events as the rules and the projections read them: by type, or dropped with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog import CATALOG, Catalog, Unreadable
from beliefbase.events.catalog.bulk import BulkReader
from beliefbase.events.codec import unpack_trusted
from beliefbase.events.envelope import Event, Skeleton, decode
from beliefbase.events.log import EventLog
from beliefbase.projections.base import Dropped
from beliefbase.projections.batch import Batch, Signature


class Page(NamedTuple):
    """Events, read."""

    skeletons: Sequence[Skeleton]
    """Of all events, in their order."""
    batches: list[Batch]
    """The usable ones, by type."""
    dropped: list[Dropped]


class Reader:
    """Reads events of one log; knows which agent stands behind each writer."""

    def __init__(self, log: EventLog, catalog: Catalog = CATALOG) -> None:
        self._log = log
        self._bulk = BulkReader(catalog)
        self._signatures: dict[bytes, Signature] = {}

    def read(self, events: Sequence[Event], *, without: Collection[bytes] = ()) -> Page:
        """Events as projections see them, words included where an event brings them; ``without`` leaves some out."""
        # Not event.skeleton: every event is decoded once here, and keeping that would cost as much again.
        skeletons = [decode(event.raw) for event in events]
        self._meet({skeleton.writer for skeleton in skeletons})
        places: dict[str, list[int]] = {}
        for place, skeleton in enumerate(skeletons):
            if not without or events[place].id not in without:
                places.setdefault(skeleton.type, []).append(place)
        batches, dropped = [], list[Dropped]()
        for type_name, chosen in places.items():
            batches.append(self._batch(type_name, events, skeletons, chosen, dropped))
        return Page(skeletons, [batch for batch in batches if len(batch)], dropped)

    def facts(self, events: Iterable[Event]) -> list[Fact]:
        """The usable ones as facts."""
        return [fact for batch in self.read(list(events)).batches for fact in batch.facts()]

    def _batch(
        self,
        type_name: str,
        events: Sequence[Event],
        skeletons: Sequence[Skeleton],
        places: Sequence[int],
        dropped: list[Dropped],
    ) -> Batch:
        payloads = self._bulk.read(type_name, [skeletons[place] for place in places])
        if any(isinstance(payload, Unreadable) for payload in payloads):
            usable = []
            for place, payload in zip(places, payloads, strict=True):
                if isinstance(payload, Unreadable):
                    dropped.append(Dropped(events[place].id, skeletons[place], payload.reason, payload.detail))
                else:
                    usable.append(place)
            places = usable
        bodies = [events[place].body for place in places]
        return Batch(
            type_name,
            [events[place].id for place in places],
            [skeletons[place] for place in places],
            [payload for payload in payloads if not isinstance(payload, Unreadable)],
            [None if body is None else unpack_trusted(body)[1] for body in bodies],
            self._signatures,
        )

    def _meet(self, writers: set[bytes]) -> None:
        unknown = writers - self._signatures.keys()
        if unknown:
            named = self._log.agents(unknown)
            for writer in unknown:
                agent = named.get(writer, writer)
                self._signatures[writer] = Signature(writer.hex(), agent.hex(), agent)
