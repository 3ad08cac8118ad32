"""What would be believed if: without a writer or a source, under other policies, or with nothing after a moment.

Nothing is written. The difference comes of two folds of the same facts; the digests of two rebuilds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.life import Life
from beliefbase.events.envelope import Event
from beliefbase.events.errors import UnknownId
from beliefbase.events.hlc import MAX_COUNTER, MAX_HLC, stamp
from beliefbase.events.log import EventLog
from beliefbase.projections.names import HASHED_FIELDS
from beliefbase.projections.partition import Plan, Sets
from beliefbase.projections.reading import Reader
from beliefbase.replay.alternative import Alternative
from beliefbase.replay.differences import clock
from beliefbase.replay.integrity import Progress
from beliefbase.replay.rebuild import replayed
from beliefbase.replay.selection import select
from beliefbase.replay.suspects import of_source, resting_on, writers_of


class Change(NamedTuple):
    """What is different from what happened."""

    without_writers: Sequence[str] = ()
    """Names of agents, or ids of writers."""
    without_sources: Sequence[str] = ()
    """Names of persons, agents, conversations, sessions or source_refs."""
    other: Alternative = Alternative()
    """Other policies."""
    until_ms: int | None = None
    """Nothing stamped after this."""

    @property
    def told(self) -> list[str]:
        """For people."""
        told = [f"without writer {name}" for name in self.without_writers]
        told += [f"without source {name}" for name in self.without_sources]
        told += self.other.told
        return told + ([] if self.until_ms is None else [f"with nothing after {clock(self.until_ms)}"])


class Difference(NamedTuple):
    """A belief that would stand otherwise."""

    belief_id: str
    before: Interval | None
    after: Interval | None
    """None where it wouldn't be there."""


class WhatIf:
    """A log, and what would be different.

    Extractions that rest on nothing but left-out utterances go with them.

    Raises:
        UnknownId: there is no such writer or source.
    """

    def __init__(self, log: EventLog, change: Change, *, progress: Progress = lambda _what, _done: None) -> None:
        self._log = log
        self._change = change
        self._progress = progress
        self._last = MAX_HLC if change.until_ms is None else stamp(change.until_ms, MAX_COUNTER)
        self._left_out = _left_out(log, change)
        self._changed = select(log, self._keeps, change.other.events)

    def _keeps(self, event: Event) -> bool:
        skeleton = event.skeleton
        if event.id in self._left_out or skeleton.hlc > self._last:
            return False
        return not (self._change.other.replaces_profiles and skeleton.type == "profile.activated")

    def _kept(self, facts: Sequence[Fact]) -> list[Fact]:
        left_out, last = self._left_out, self._last
        return self._change.other.apply([fact for fact in facts if fact.hlc <= last and fact.id not in left_out])

    def digests(self, folder: Path, *, as_of_ms: int) -> tuple[str, str | None]:
        """The digest over all read models as they are, and as they would be.

        The latter is None where policies are assigned: read models are made from events, and none says so.
        """
        with replayed(self._log, folder, as_of_ms=as_of_ms, progress=self._progress) as fresh:
            digest = fresh.digest()
        if self._change.other.assigned:
            return digest, None
        with replayed(self._changed, folder, as_of_ms=as_of_ms, progress=self._progress) as fresh:
            return digest, fresh.digest()

    def differences(self, *, as_of_ms: int) -> list[Difference]:
        """The beliefs whose status or flags at a moment would be others, by id.

        Raises:
            StoreUnavailable: the log can't be read.
        """
        until = stamp(as_of_ms, MAX_COUNTER)
        by_erasure, would_erase = self._log.erased(), self._changed.erased()
        found: list[Difference] = []
        folded = 0
        reader = Reader(self._log)
        for facts, context in Sets(self._log, reader, Plan.of(self._log, reader)):
            both = facts + context
            before = _folded(both, by_erasure, until)
            after = _folded(self._kept(both), would_erase, until)
            for life in before.lives.values():
                old, new = life.at(until), _at(after, life, until)
                if _standing(old) != _standing(new):
                    found.append(Difference(life.id.hex(), old, new))
            folded += len(before.lives)
            self._progress("folding", folded)
        return sorted(found, key=lambda one: one.belief_id)


def _left_out(log: EventLog, change: Change) -> frozenset[bytes]:
    """Ids of the events that are left out, whatever their stamps."""
    writers = frozenset[bytes]().union(*(writers_of(log, name) for name in change.without_writers))
    gone = {event.id: event for name in change.without_sources for event in _of_source(log, name)}
    if writers:
        for page in log.read(words=False):
            gone.update((event.id, event) for _, event in page if event.skeleton.writer in writers)
    return frozenset(gone).union(event.id for event in resting_on(log, gone.values()))


def _of_source(log: EventLog, name: str) -> list[Event]:
    found = list(of_source(log, name))
    if not found:
        close = " or ".join(map(repr, _like(log, name)))
        raise UnknownId(
            f"no source of this log is called {name!r}" + (f"; is it {close}?" if close else ""),
            hint="give a person, agent, conversation, session or source_ref, spelt as in the log (capitals count)",
        )
    return found


def _like(log: EventLog, name: str) -> list[str]:
    """Names in the log's words that look like one: a pass over the log, for who misspelt."""
    names: dict[str, str] = {}
    for page in log.read():
        for _, event in page:
            told = (event.words.get(field) for field in HASHED_FIELDS.get(event.skeleton.type, ()))
            names.update((one.casefold(), one) for one in told if isinstance(one, str))
    return [names[match] for match in get_close_matches(name.casefold(), names, n=3, cutoff=0.75)]


def _folded(facts: list[Fact], erased: Mapping[bytes, tuple[int, bytes]], until: int) -> Fold:
    return fold(facts, erased={fact.id: erased[fact.id] for fact in facts if fact.id in erased}, until=until)


def _at(other: Fold, life: Life, hlc: int) -> Interval | None:
    """How a belief stands in another fold, in which it may be known by fewer of its ids."""
    there = next((found for face in life.faces if (found := other.of(face)) is not None), None)
    return None if there is None else there.at(hlc)


def _standing(interval: Interval | None) -> tuple[str, bool, bool, bool] | None:
    return None if interval is None else (interval.status, interval.stale, interval.contested, interval.forked)


def standing_text(interval: Interval | None) -> str | None:
    """Status and flags, for people; None for a belief that isn't there."""
    if interval is None:
        return None
    flags = [name for name in ("stale", "contested", "forked") if getattr(interval, name)]
    return f"{interval.status} ({', '.join(flags)})" if flags else interval.status
