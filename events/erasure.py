"""Which words an erasure covers (DESIGN 3): its subject's from before it, and all that was made from them.

Covered are the words of every event that lists the subject and stands before the erasure, and, whatever its stamp, of
every event that names a covered event, directly or through others. To name is to refer to it in any role but a basis,
which says only what an author had read. A copy of a covered event (same type and source_ref) holds the same text, so
it is covered as well. Of several erasures that cover an event the earliest counts.

This is a rule on the set of stored events. Here it is as it is read, computed from nothing; a log keeps its outcome
up to date as events arrive (``beliefbase.events.covering``), and both are one in every test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, Protocol

from beliefbase.events.catalog import CATALOG, Role, Unreadable
from beliefbase.events.envelope import Event, Skeleton

ERASED: Final = "subject.erased"
EXTRACTED: Final = "belief.extracted"
NAMING: Final = (Role.STATE, Role.LINK, Role.SHOWN, Role.CITED, Role.INPUT)
"""The roles in which an event names what its words may be made from."""


class By(NamedTuple):
    """An erasure, as that which covers an event; the earliest is the least."""

    hlc: int
    id: bytes


class Erasure(NamedTuple):
    """A usable ``subject.erased``."""

    by: By
    subject: bytes
    place: tuple[int, bytes, int, bytes]
    """Where it stands in the order of all events."""

    def covers(self, event: Event) -> bool:
        """Whether an event holds words of the subject from before the erasure."""
        return self.subject in event.skeleton.subjects and place_of(event) < self.place


class Names(Protocol):
    """What the search for followers asks of a log."""

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Event]:
        """Events that name any of these keys in any of these roles."""


class Named(Names, Protocol):
    """What the search for covered events asks of a log."""

    def of_types(self, types: Collection[str]) -> list[Event]:
        """All events of these types."""


def erasure_of(event: Event) -> Erasure | None:
    """The erasure that an event is; None for any other, and for one that this release can't read."""
    skeleton = event.skeleton
    if skeleton.type != ERASED:
        return None
    payload = CATALOG.read(skeleton)
    if isinstance(payload, Unreadable):
        return None
    return Erasure(By(skeleton.hlc, event.id), payload["subject"], place_of(event))


def place_of(event: Event) -> tuple[int, bytes, int, bytes]:
    """Where an event stands in the order of all events."""
    skeleton = event.skeleton
    return skeleton.hlc, skeleton.writer, skeleton.seq, event.id


def coverage(log: Named) -> dict[bytes, By]:
    """The ids of all covered events, each with the erasure that covers it; costs by what the erasures reach."""
    found: dict[bytes, By] = {}
    erasures = [one for event in log.of_types([ERASED]) if (one := erasure_of(event)) is not None]
    for erasure in sorted(erasures):
        reached = [event for event in log.naming([erasure.subject], [Role.CITED]) if erasure.covers(event)]
        while new := [event for event in reached if event.id not in found]:
            found.update((event.id, erasure.by) for event in new)
            reached = followers(log, new)
    return found


def followers(log: Names, events: Iterable[Event]) -> list[Event]:
    """The events whose words are covered if those of these are: what names one of them, and their copies."""
    ids = [event.id for event in events]
    refs = {(event.skeleton.type, event.skeleton.source_ref) for event in events if event.skeleton.source_ref}
    names = {ref for _, ref in refs if ref is not None}
    copies = [event for event in log.naming(names, [Role.SELF]) if _identity(event.skeleton) in refs] if names else []
    return [*log.naming({*ids, *names}, NAMING), *copies]


def reach(log: Names, subject: bytes) -> list[Event]:
    """The events that an erasure of a subject would cover, stamped after everything that is stored."""
    found: dict[bytes, Event] = {}
    reached = [event for event in log.naming([subject], [Role.CITED]) if subject in event.skeleton.subjects]
    while new := [event for event in reached if event.id not in found]:
        found.update((event.id, event) for event in new)
        reached = followers(log, new)
    return list(found.values())


def covered(log: Named) -> frozenset[bytes]:
    """The ids of all stored events whose words an erasure covers, now or, stamped ahead of the wall, later."""
    return frozenset(coverage(log))


def erased_beliefs(log: Named) -> dict[bytes, tuple[int, bytes]]:
    """The beliefs whose words an erasure covers, as the fold takes them: id to the erasure's stamp and id."""
    by = coverage(log)
    if not by:
        return {}
    return {event.id: (by[event.id].hlc, by[event.id].id) for event in log.of_types([EXTRACTED]) if event.id in by}


def _identity(skeleton: Skeleton) -> tuple[str, bytes | None]:
    return skeleton.type, skeleton.source_ref
