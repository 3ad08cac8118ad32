"""Stored events as the rules and the projections read them: by type, or dropped with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog import CATALOG, Catalog, Unreadable
from beliefbase.events.catalog.bulk import BulkReader
from beliefbase.events.catalog.lockstep import Heads, LockstepReader, Read
from beliefbase.events.codec import unpack_all_trusted
from beliefbase.events.envelope import Event, Skeleton, decode_all
from beliefbase.events.ids import HASH_BYTES, ID_BYTES, hashes_of
from beliefbase.events.lanes import Octets
from beliefbase.events.log import EventLog, Scanned
from beliefbase.projections.base import Dropped
from beliefbase.projections.batch import Batch, Signature
from beliefbase.projections.column_batch import ColumnBatch, Common
from beliefbase.projections.columns import distinct, keys_in, octets, texts
from beliefbase.projections.row_batch import Row, RowBatch
from beliefbase.projections.words import Words

_WRITER, _PREV, _HLC, _TYPE = (itemgetter(Skeleton._fields.index(name)) for name in ("writer", "prev", "hlc", "type"))
Batch_co = TypeVar("Batch_co", bound=Batch, covariant=True)


class Page(NamedTuple, Generic[Batch_co]):
    """Events, read."""

    raws: Sequence[bytes]
    """Skeletons, as they are stored."""
    ids: Octets
    prevs: Octets
    """Hashes of the events before them in their streams."""
    newest: int
    """The largest stamp."""
    batches: list[Batch_co]
    """The usable ones, by type; of a type there may be two batches."""
    dropped: list[Dropped]


class Reader:
    """Reads events of one log; knows which agent stands behind each writer."""

    def __init__(self, log: EventLog, catalog: Catalog = CATALOG) -> None:
        self._log = log
        self._bulk = BulkReader(catalog)
        self._lockstep = LockstepReader(catalog)
        self._signatures: dict[bytes, Signature] = {}

    def read(self, events: Sequence[Event], *, without: Collection[bytes] = ()) -> Page[RowBatch]:
        """Events as projections see them, words included where an event brings them; ``without`` leaves some out."""
        # Not event.skeleton: every event is decoded once here, and keeping that would cost as much again.
        raws = [event.raw for event in events]
        return self._page(raws, [event.id for event in events], [event.body for event in events], without)

    def side_by_side(self, events: Sequence[Scanned]) -> Page[Batch]:
        """:meth:`read` of events as a scan of the log gives them: twice as fast, where pages are large."""
        _, raws, bodies = zip(*events, strict=True)
        ids = octets(hashes_of(raws), HASH_BYTES)[:, :ID_BYTES]
        read = self._lockstep.read(raws)
        left = read.left.tolist()
        rest = self._page(
            [raws[place] for place in left],
            [ids[place].tobytes() for place in left],
            [bodies[place] for place in left],
            (),
        )
        prevs, newest = read.heads.prev, rest.newest
        prevs[read.left] = rest.prevs
        batches, common = list[Batch](rest.batches), self._common(ids, read)
        for group in read.groups:
            mine, common = common.cut(len(group.places))
            words = Words.read([bodies[place] for place in group.places.tolist()])
            batches.append(ColumnBatch(group.type, mine, group.refs, group.basis, group.payload, words))
            newest = max(newest, int(mine.stamps.max()))
        return Page(raws, ids, prevs, newest, batches, rest.dropped)

    def facts(self, events: Iterable[Event]) -> list[Fact]:
        """The usable ones as facts."""
        return [fact for batch in self.read(list(events)).batches for fact in batch.facts()]

    def _page(
        self,
        raws: Sequence[bytes],
        ids: Sequence[bytes],
        bodies: Sequence[bytes | None],
        without: Collection[bytes],
    ) -> Page[RowBatch]:
        rows = decode_all(raws)
        self._meet(set(map(_WRITER, rows)))
        places: dict[str, list[int]] = {}
        for place, type_name in enumerate(map(_TYPE, rows)):
            if not without or ids[place] not in without:
                places.setdefault(type_name, []).append(place)
        batches, dropped = [], list[Dropped]()
        for type_name, chosen in places.items():
            batches.append(self._batch(type_name, chosen, ids, rows, bodies, dropped))
        return Page(
            raws,
            octets(ids, ID_BYTES),
            octets(list(map(_PREV, rows)), HASH_BYTES),
            max(map(_HLC, rows), default=0),
            [batch for batch in batches if len(batch)],
            dropped,
        )

    def _batch(
        self,
        type_name: str,
        places: Sequence[int],
        ids: Sequence[bytes],
        rows: Sequence[Row],
        bodies: Sequence[bytes | None],
        dropped: list[Dropped],
    ) -> RowBatch:
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
        return RowBatch(
            type_name,
            [ids[place] for place in places],
            chosen,
            cast("Sequence[Mapping[str, Any]]", payloads),
            Words.of_maps(_maps([bodies[place] for place in places])),
            self._signatures,
        )

    def _common(self, ids: Octets, read: Read) -> Common:
        """What the events of all groups have, one group behind the other."""
        places = np.concatenate([np.zeros(0, np.int64), *(group.places for group in read.groups)])
        ids, heads = ids[places], Heads._make([column[places] for column in read.heads])
        numbers, writers = distinct(heads.writer)
        self._meet(set(writers))
        signatures = [self._signatures[writer] for writer in writers]
        return Common(
            keys_in(ids),
            ids,
            heads.hlc,
            heads.seq,
            heads.recorded,
            texts([signature.writer for signature in signatures])[numbers],
            texts([signature.agent for signature in signatures])[numbers],
            np.array(writers, dtype=object)[numbers],
            np.array([signature.agent_hash for signature in signatures], dtype=object)[numbers],
        )

    def _meet(self, writers: set[bytes]) -> None:
        unknown = writers - self._signatures.keys()
        if unknown:
            named = self._log.agents(unknown)
            for writer in unknown:
                agent = named.get(writer, writer)
                self._signatures[writer] = Signature(writer.hex(), agent.hex(), agent)


def _maps(bodies: Sequence[bytes | None]) -> list[Any]:
    """The maps of bodies; None where there is none."""
    here = [body for body in bodies if body is not None]
    words = (body[1] for body in unpack_all_trusted(here))
    return list(words) if len(here) == len(bodies) else [None if body is None else next(words) for body in bodies]
