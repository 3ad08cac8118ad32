"""What a store notes about erasures and wanted words against its events, for audits.

``erasures``, ``covered`` and ``wanted`` follow from the events and from which words are here, but for one thing: when
an erasure that is stamped ahead of the wall was carried out. So of ``pending`` only what contradicts the
words is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from beliefbase.events.erasure import ERASED, By, erasure_of
from beliefbase.events.log import Misindexed, Stored
from beliefbase.events.tables import Tables

_PAGE: Final = 1000
_T = TypeVar("_T")


def misnoted(tables: Tables, covered: Mapping[bytes, By]) -> Iterator[Misindexed]:
    """Every difference; ``covered`` is what the events give (:func:`beliefbase.events.erasure.coverage`)."""
    rows = {row[0]: row[1:] for row in tables.erasures.noted()}
    yield from _erasures(tables, rows)
    yield from _covered(tables, covered, {event_id for event_id, row in rows.items() if row[-1]})
    for page in _pages(tables.erasures.wanted()):
        found = _at(tables, page)
        for position in page:
            stored = found.get(position)
            if stored is None:
                yield Misindexed(f"the store wants words for position {position}, where no event is", None)
            elif not _lacks_words(stored, covered):
                yield Misindexed("the store wants its words, and it lacks none", stored.event)


def _erasures(tables: Tables, rows: Mapping[Any, tuple[Any, ...]]) -> Iterator[Misindexed]:
    """The erasures themselves."""
    left = dict(rows)
    for event in tables.of_type(ERASED, words=False):
        erasure = erasure_of(event)
        if erasure is not None:
            _, writer, seq, _ = erasure.place
            *noted, pending = left.pop(event.id, (None,))
            if noted != [erasure.subject, erasure.by.hlc, writer, seq] or pending not in (0, 1):
                yield Misindexed("what the store notes about this erasure is not what it says", event)
    for event_id in left:
        yield Misindexed(f"the store notes an erasure {_shown(event_id)}, which no event is", None)


def _covered(tables: Tables, covered: Mapping[bytes, By], pending: set[Any]) -> Iterator[Misindexed]:
    """What they cover, and that its words are gone."""
    seen = set[bytes]()
    for page in _pages(tables.erasures.all_covered()):
        found = _at(tables, [position for position, _ in page])
        for position, by in page:
            stored = found.get(position)
            if stored is None:
                yield Misindexed(f"the store notes an erasure of position {position}, where no event is", None)
                continue
            event = stored.event
            seen.add(event.id)
            if by != covered.get(event.id):
                yield Misindexed("what the store notes about its erasure is not what the events say", event)
            elif event.body is not None and by.id not in pending:
                yield Misindexed("its words are here, and an erasure that was carried out covers them", event)
    for ids in _pages(sorted(covered.keys() - seen)):
        for stored in tables.naming(ids, {0}):
            if stored.event.id in ids:
                yield Misindexed("the store doesn't note that an erasure covers it", stored.event)


def _lacks_words(stored: Stored, covered: Mapping[bytes, By]) -> bool:
    event = stored.event
    return event.body is None and event.skeleton.commitment is not None and event.id not in covered


def _at(tables: Tables, positions: list[int]) -> dict[int, Stored]:
    return {stored.position: stored for stored in tables.by_position(positions, words=True)}


def _pages(rows: Iterable[_T]) -> Iterator[list[_T]]:
    coming = iter(rows)
    while page := list(islice(coming, _PAGE)):
        yield page


def _shown(event_id: Any) -> str:
    return event_id.hex() if isinstance(event_id, bytes) else repr(event_id)[:80]
