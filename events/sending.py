"""What a peer lacks, given its frontier."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from beliefbase.events.envelope import Event
from beliefbase.events.frontier import Branch, held
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.log import Head, Stored
from beliefbase.events.tables import Tables


def lacking(
    tables: Tables, frontier: Iterable[Head], buckets: Collection[int] | None = None, *, limit: int
) -> Iterator[list[Event]]:
    """Pages of the events that a holder of ``frontier`` lacks, as far as this log can tell.

    A head that this log has proves that the peer holds all that leads to it. One that it doesn't have proves nothing:
    of such a writer's events all are given that no other head proves. With ``buckets`` only writers in there count.
    """
    theirs = set(frontier)
    writers = sorted({head.writer for head in tables.heads(buckets) if head not in theirs})
    events = _events(tables, writers, theirs)
    while page := list(islice(events, limit)):
        yield page


def _events(tables: Tables, writers: Sequence[bytes], theirs: Collection[Head]) -> Iterator[Event]:
    claimed: dict[bytes, list[Head]] = {writer: [] for writer in writers}
    for head in theirs:
        if head.writer in claimed:
            claimed[head.writer].append(head)
    for writer, branches in tables.branches(writers).items():
        places = [place for head in claimed[writer] for place in _places(tables, branches, head)]
        reach = held(branches, places)
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
