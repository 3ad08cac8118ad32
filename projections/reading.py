"""Stored events as the rules and the projections read them: by type, or dropped with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, cast

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog import CATALOG, Catalog, Unreadable
from beliefbase.events.catalog.bulk import BulkReader
from beliefbase.events.codec import unpack_all_trusted
from beliefbase.events.envelope import Event, Skeleton, decode_all
from beliefbase.events.ids import ids_of
from beliefbase.events.log import EventLog, Scanned
from beliefbase.projections.base import Dropped
from beliefbase.projections.batch import Batch, Row, Signature

_WRITER, _HLC, _TYPE = (itemgetter(Skeleton._fields.index(name)) for name in ("writer", "hlc", "type"))


class Page(NamedTuple):
    """Events, read."""

    ids: Sequence[bytes]
    rows: Sequence[Row]
    """Of all events, in their order."""
    batches: list[Batch]
    """The usable ones, by type."""
    dropped: list[Dropped]

    @property
    def newest(self) -> int:
        """The largest stamp."""
        return int(max(map(_HLC, self.rows)))


class Reader:
    """Reads events of one log; knows which agent stands behind each writer."""

    def __init__(self, log: EventLog, catalog: Catalog = CATALOG) -> None:
        self._log = log
        self._bulk = BulkReader(catalog)
        self._signatures: dict[bytes, Signature] = {}

    def read(self, events: Sequence[Event], *, without: Collection[bytes] = ()) -> Page:
        """Events as projections see them, words included where an event brings them; ``without`` leaves some out."""
        # Not event.skeleton: every event is decoded once here, and keeping that would cost as much again.
        rows = decode_all([event.raw for event in events])
        return self._page([event.id for event in events], rows, [event.body for event in events], without)

    def scanned(self, events: Sequence[Scanned]) -> Page:
        """:meth:`read` of events as a scan of the log gives them."""
        raws = [raw for _, raw, _ in events]
        return self._page(ids_of(raws), decode_all(raws), [body for _, _, body in events], ())

    def facts(self, events: Iterable[Event]) -> list[Fact]:
        """The usable ones as facts."""
        return [fact for batch in self.read(list(events)).batches for fact in batch.facts()]

    def _page(
        self,
        ids: Sequence[bytes],
        rows: Sequence[Row],
        bodies: Sequence[bytes | None],
        without: Collection[bytes],
    ) -> Page:
        self._meet(set(map(_WRITER, rows)))
        places: dict[str, list[int]] = {}
        for place, type_name in enumerate(map(_TYPE, rows)):
            if not without or ids[place] not in without:
                places.setdefault(type_name, []).append(place)
        batches, dropped = [], list[Dropped]()
        for type_name, chosen in places.items():
            batches.append(self._batch(type_name, chosen, ids, rows, bodies, dropped))
        return Page(ids, rows, [batch for batch in batches if len(batch)], dropped)

    def _batch(
        self,
        type_name: str,
        places: Sequence[int],
        ids: Sequence[bytes],
        rows: Sequence[Row],
        bodies: Sequence[bytes | None],
        dropped: list[Dropped],
    ) -> Batch:
        chosen = [rows[place] for place in places]
        payloads = self._bulk.read(type_name, list(zip(*chosen, strict=True)))
        if Unreadable in set(map(type, payloads)):
            usable = []
            for place, payload in zip(places, payloads, strict=True):
                if isinstance(payload, Unreadable):
                    skeleton = Skeleton._make(rows[place])
                    dropped.append(Dropped(ids[place], skeleton, payload.reason, payload.detail))
                else:
                    usable.append(place)
            places = usable
            chosen = [rows[place] for place in places]
            payloads = [payload for payload in payloads if not isinstance(payload, Unreadable)]
        return Batch(
            type_name,
            [ids[place] for place in places],
            chosen,
            cast("Sequence[Mapping[str, Any]]", payloads),
            _words([bodies[place] for place in places]),
            self._signatures,
        )

    def _meet(self, writers: set[bytes]) -> None:
        unknown = writers - self._signatures.keys()
        if unknown:
            named = self._log.agents(unknown)
            for writer in unknown:
                agent = named.get(writer, writer)
                self._signatures[writer] = Signature(writer.hex(), agent.hex(), agent)


def _words(bodies: Sequence[bytes | None]) -> list[Any]:
    """The maps of bodies; None where there is none."""
    here = [body for body in bodies if body is not None]
    words = (body[1] for body in unpack_all_trusted(here))
    return list(words) if len(here) == len(bodies) else [None if body is None else next(words) for body in bodies]
