"""The log's index against its events, for audits: what events name, the tips of beliefs, and the stamps (ADR 0008).

Everything the index holds follows from the events. One pass over them asks for each row that an event gives; where
none is missing, and the index has as many rows as the events give, it is equal to what they give. Memory goes by a
page of events. Of stamps only those that are missing and the largest are looked at: another one below it is passed
by a clock that starts anew, and does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from beliefbase.events import index, tips
from beliefbase.events.catalog.registry import FATE_CHANGING
from beliefbase.events.envelope import Event
from beliefbase.events.hlc import MAX_HLC
from beliefbase.events.log import Misindexed, Stored
from beliefbase.events.tables import Tables

_PAGE: Final = 1000
_LISTED: Final = 1000
"""Rows too many that are told."""


def misindexed(tables: Tables, progress: Callable[[int], None]) -> Iterator[Misindexed]:
    """Every difference; of rows that no event gives at most a thousand."""
    rows = of_tips = read = newest = 0
    whole = True
    for page in tables.pages(0, limit=_PAGE, words=False):
        given = {row: stored.event for stored in page for row in index.rows(stored.position, stored.event)}
        rows += len(given)
        stamps = {stored.event.skeleton.hlc: stored.event for stored in page}
        newest = max(newest, *stamps)
        revisions = {event.id: event for _, event in page if event.skeleton.type in FATE_CHANGING}
        standing = tips.standing(tables, list(revisions.values()))
        of_tips += len(standing)
        kept = {
            (key, event_id)
            for key, ids in tables.tips({key for key, _ in standing}).items()
            for event_id in ids
            if event_id in revisions
        }
        missing = [(_lacks(row), given[row]) for row in tables.index.lacks(given.keys())]
        missing += [("the log's index lacks its stamp", stamps[hlc]) for hlc in tables.index.lacks_stamps(stamps)]
        missing += [(_untipped(key), revisions[event_id]) for key, event_id in sorted(standing - kept)]
        for what, event in missing:
            whole = False
            yield Misindexed(what, event)
        read += len(page)
        progress(read)
    if tables.max_stamp(MAX_HLC) > newest:
        yield Misindexed("the log's index has a stamp that is later than every event's", None)
    counted_rows, counted_tips = tables.index.counts()
    if counted_rows != rows or not whole:
        whole = False
        yield from islice(_surplus_rows(tables), _LISTED)
    if counted_tips != of_tips and whole:  # they are found by way of the rows
        yield from islice(_surplus_tips(tables), _LISTED)


def _surplus_rows(tables: Tables) -> Iterator[Misindexed]:
    """Rows that no event gives; looks at every row."""
    coming = tables.index.rows()
    while chunk := list(islice(coming, _PAGE)):
        events = {stored.position: stored for stored in tables.by_position(sorted({row[2] for row in chunk}))}
        given = {row for stored in events.values() for row in index.rows(*stored)}
        for key, role, position in chunk:
            if (key, role, position) not in given:
                stored = events.get(position)
                what = f"the log's index says that it names {_prefix(key)}… in role {role}, and it doesn't"
                yield Misindexed(
                    what if stored else f"the log's index has a row for position {position}, where no event is",
                    stored.event if stored else None,
                )


def _surplus_tips(tables: Tables) -> Iterator[Misindexed]:
    """Tips that are none; looks at every tip."""
    coming = tables.index.tips()
    while chunk := list(islice(coming, _PAGE)):
        events = {event.id: event for event in _by_id(tables, [event_id for _, event_id in chunk])}
        revisions = [event for event in events.values() if event.skeleton.type in FATE_CHANGING]
        standing = tips.standing(tables, revisions)
        for key, event_id in chunk:
            if (key, event_id) not in standing:
                what = f"the log's index takes it for a latest revision of {key.hex()}, and it is none"
                yield Misindexed(what, events.get(event_id))


def _by_id(tables: Tables, ids: Sequence[bytes]) -> list[Event]:
    found: list[Stored] = tables.naming(ids, {0})
    wanted = set(ids)
    return [stored.event for stored in found if stored.event.id in wanted]


def _lacks(row: tuple[int, int, int]) -> str:
    key, role, _ = row
    return f"the log's index lacks that it names {_prefix(key)}… in role {role}"


def _untipped(key: bytes) -> str:
    return f"the log's index doesn't have it as a latest revision of {key.hex()}"


def _prefix(key: int) -> str:
    return key.to_bytes(8, "big", signed=True).hex()
