"""What a peer lacks, given its frontier."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import attrgetter

from beliefbase.events.envelope import Event
from beliefbase.events.frontier import Branch, held
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.log import Head, Stored
from beliefbase.events.sqlite_tables import Tables


def lacking(tables: Tables, frontier: Iterable[Head], *, limit: int) -> Iterator[list[Event]]:
    """Pages of the events that a holder of ``frontier`` lacks, as far as this log can tell.

    A head that this log has proves that the peer holds all that leads to it. One that it doesn't have proves nothing:
    of such a writer's events all are given that no other head proves.
    """
    theirs: dict[bytes, set[Head]] = {}
    for head in frontier:
        theirs.setdefault(head.writer, set()).add(head)
    events = _events(tables, theirs)
    while page := list(islice(events, limit)):
        yield page


def _events(tables: Tables, theirs: Mapping[bytes, set[Head]]) -> Iterator[Event]:
    for writer, found in groupby(tables.all_branches(), key=attrgetter("writer")):
        branches = {branch.stream: branch for branch in found}
        heads = theirs.get(writer, set())
        if all(branch.head in heads for branch in branches.values()):
            continue
        reach = held(branches, [place for head in heads for place in _places(tables, branches, head)])
        runs = [
            tables.stream(branch.stream, after=reach.get(branch.stream, 0))
            for branch in branches.values()
            if reach.get(branch.stream, 0) < branch.seq
        ]
        for stored in heapq.merge(*runs, key=_seq):
            yield stored.event


def _places(tables: Tables, branches: Mapping[str, Branch], head: Head) -> Iterator[tuple[str, int]]:
    """Where this log has a peer's head, if it has it."""
    for branch in branches.values():
        if branch.head == head:
            yield branch.stream, head.seq
        elif branch.covers(head.seq):
            found = tables.at(branch.stream, head.seq)
            if found is not None and skeleton_hash(found.raw) == head.hash:
                yield branch.stream, head.seq


def _seq(stored: Stored) -> int:
    return stored.event.skeleton.seq
