"""Keeps up to date what a log's erasures cover, and drops the words that one of them covers at the log's doors.

The rule is that of ``beliefbase.events.erasure``, on the events that are stored. An erasure stamped ahead of the wall
is pending: what it covers is known at once (a rule on events), and words go when the wall gets there. One that was
appended here is carried out at once, even where a peer's clock has drawn its stamp ahead: its author means now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.envelope import Event
from beliefbase.events.erasure import NAMING, By, Erasure, erasure_of, followers
from beliefbase.events.hlc import ms_of
from beliefbase.events.log import Stored
from beliefbase.events.tables import Tables

_NAMING = frozenset(int(role) for role in NAMING)
_Name = bytes | tuple[str, bytes | None]


class Covering:
    """What the erasures of a log cover, inside one transaction.

    Args:
        tables: The tables of the log.
        wall: Now, in milliseconds: later erasures stay pending.
    """

    def __init__(self, tables: Tables, wall: int) -> None:
        self._tables = tables
        self._wall = wall
        self._positions: dict[bytes, int] = {}
        self.erased = 0
        """Bodies that were here and were deleted."""

    def carry_out(self) -> None:
        """Delete the words of pending erasures that the wall has reached."""
        erasures = self._tables.erasures
        for by in erasures.pending():
            if ms_of(by.hlc) <= self._wall:
                self._tables.alone()
                erasures.settle(by)
                self._delete(erasures.covered_by(by))
                self.clean_aside(())

    def take_in(self, arrived: Sequence[Stored], *, local: bool) -> set[int]:
        """Work out what an arrival, which is indexed already, changes; returns whose words are not to be stored."""
        erasures = self._tables.erasures
        new = [erasure for one in arrived if (erasure := erasure_of(one.event)) is not None]
        for erasure in new:
            erasures.note(erasure)
            if local:
                self._wall = max(self._wall, ms_of(erasure.by.hlc))
        released = set[int]()
        # One that was carried out ahead of the wall takes those before it along: the earliest that covers an event
        # must not be pending where a later one was carried out.
        until = max(self._wall, ms_of(erasures.settled_until()))
        for by in erasures.pending():
            if ms_of(by.hlc) <= until:
                self._tables.alone()
                erasures.settle(by)
                released.update(erasures.covered_by(by))
        changed = self._spread(self._reached(arrived, new))
        own = {one.position for one in arrived}
        due = self._due(changed)
        if changed.keys() - own:
            erasures.reword()
        self._delete((due | released) - own)
        if new or changed:
            self.clean_aside(())
        return due & own

    def clean_aside(self, waiting: Sequence[Event]) -> set[bytes]:
        """Delete covered words that are kept aside; returns the covered ones of those that are about to be, by hash."""
        todo = {event.hash: event for event in (*self._tables.aside(), *waiting)}
        reached = self._due_events(list(todo.values()))
        found: set[bytes] = set()
        while reached:
            found |= reached
            names = {name for digest in reached for name in _names(todo[digest])}
            copies = {_copied(todo[digest]) for digest in reached}
            rest = (event for digest, event in todo.items() if digest not in found)
            reached = {e.hash for e in rest if names & _named(e) or (e.skeleton.source_ref and _copied(e) in copies)}
        self.erased += self._tables.erasures.delete_aside(found)
        return found.intersection(event.hash for event in waiting)

    def refuses(self, position: int) -> bool:
        """Whether words of this stored event must not come in any more."""
        return bool(self._due(self._tables.erasures.coverage([position])))

    # ------------------------------------------------------------------ what is covered

    def _reached(self, arrived: Sequence[Stored], new: Collection[Erasure]) -> dict[By, list[Event]]:
        """Events that erasures cover directly, or by what was covered before this arrival."""
        reached: dict[By, list[Event]] = {}
        for erasure in new:
            found = self.naming([erasure.subject], [Role.CITED])
            reached.setdefault(erasure.by, []).extend(event for event in found if erasure.covers(event))
        self._positions.update((one.event.id, one.position) for one in arrived)
        for event, by in self._direct([one.event for one in arrived]):
            reached.setdefault(by, []).append(event)
        return reached

    def _direct(self, events: Sequence[Event]) -> list[tuple[Event, By]]:
        """Of events those that an erasure of their subjects covers, or a covered event that they name or copy."""
        subjects = {subject for event in events for subject in event.skeleton.subjects}
        by_subject: dict[bytes, list[Erasure]] = {}
        for erasure in self._tables.erasures.of_subjects(subjects):
            by_subject.setdefault(erasure.subject, []).append(erasure)
        names = {event.id: _named(event) for event in events}
        wanted = set().union(*names.values(), (event.skeleton.source_ref or b"" for event in events)) - {b""}
        called = self._called(wanted)
        found = []
        for event in events:
            by = [e.by for subject in event.skeleton.subjects for e in by_subject.get(subject, ()) if e.covers(event)]
            by += [called[name] for name in names[event.id] if name in called]
            copied = (event.skeleton.type, event.skeleton.source_ref)
            by += [called[copied]] if copied[1] is not None and copied in called else []
            if by:
                found.append((event, min(by)))
        return found

    def _called(self, names: Collection[bytes]) -> dict[_Name, By]:
        """What covers the events that are called like this: by id, by source_ref, by type and source_ref."""
        positions = self._tables.erasures.called(names) if names else {}
        found: dict[_Name, By] = {}
        for stored in self._tables.by_position(sorted(positions)):
            by = positions[stored.position]
            called: tuple[_Name, ...] = (*_names(stored.event), _copied(stored.event))
            for name in called:
                found[name] = min(by, found.get(name, by))
        return found

    def _spread(self, reached: dict[By, list[Event]]) -> dict[int, By]:
        """Cover what is reached and all that follows; returns what is covered otherwise than before."""
        changed: dict[int, By] = {}
        if reached:
            self._tables.alone()
        for by in sorted(reached):
            wave = reached[by]
            while wave:
                places = {self._positions[event.id]: event for event in wave}
                known = self._tables.erasures.coverage(places.keys()) | changed
                new = {place: event for place, event in places.items() if place not in known or by < known[place]}
                changed.update(dict.fromkeys(new, by))
                wave = followers(self, new.values()) if new else []
        self._tables.erasures.cover(changed)
        return changed

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Event]:
        """Events that name any of these keys in any of these roles; keeps where they are stored."""
        found = self._tables.naming(keys, roles)
        self._positions.update((stored.event.id, stored.position) for stored in found)
        return [stored.event for stored in found]

    # ------------------------------------------------------------------ whose words go

    def _due(self, covered: dict[int, By]) -> set[int]:
        pending = set(self._tables.erasures.pending())
        return {position for position, by in covered.items() if by not in pending}

    def _due_events(self, events: Sequence[Event]) -> set[bytes]:
        pending = set(self._tables.erasures.pending())
        return {event.hash for event, by in self._direct(events) if by not in pending}

    def _delete(self, positions: Collection[int]) -> None:
        erasures = self._tables.erasures
        deleted = erasures.delete(positions)
        if deleted:
            erasures.reword()
            self.erased += deleted


def _names(event: Event) -> tuple[bytes, ...]:
    """What others call an event."""
    ref = event.skeleton.source_ref
    return (event.id,) if ref is None else (event.id, ref)


def _copied(event: Event) -> tuple[str, bytes | None]:
    """What an event has in common with its copies, where it has a source_ref."""
    return event.skeleton.type, event.skeleton.source_ref


def _named(event: Event) -> set[bytes]:
    """What an event names."""
    return {key for key, role in CATALOG.references(event.skeleton, event.id) if role in _NAMING}
