"""The specification of a log, on plain sets of events: what is stored, what waits, the frontier, tips, erasures.

Everything here is computed from nothing, by the shortest way, and shares no rule with the product.
"""

from beliefbase.events.catalog import CATALOG, Unreadable
from beliefbase.events.catalog.registry import FATE_CHANGING
from beliefbase.events.frontier import frontier_root
from beliefbase.events.log import Fork, Gap, Head

ERASED = "subject.erased"
RAISED, RESOLVED = "contradiction.raised", "contradiction.resolved"
START = bytes(32)


def place(event):
    """Where an event stands in the order of all events."""
    skeleton = event.skeleton
    return skeleton.hlc, skeleton.writer, skeleton.seq, event.id


def readable(event):
    """Whether this release can use an event."""
    return not isinstance(CATALOG.read(event.skeleton), Unreadable)


def stored_of(held, pool):
    """Of two collections of events all that have their whole chain there: what a union of them stores."""
    stored = {event.hash: event for event in held}
    rest = {event.hash: event for event in pool if event.hash not in stored}
    while True:
        placed = {
            hash: event
            for hash, event in rest.items()
            if (event.skeleton.seq == 1 and event.skeleton.prev == START) or _continues(event, stored)
        }
        if not placed:
            return stored
        stored |= placed
        rest = {hash: event for hash, event in rest.items() if hash not in placed}


def _continues(event, stored):
    before = stored.get(event.skeleton.prev)
    if before is None:
        return False
    return (before.skeleton.writer, before.skeleton.seq + 1) == (event.skeleton.writer, event.skeleton.seq)


def frontier_of(events):
    """Every event that none continues, sorted."""
    continued = {event.skeleton.prev for event in events}
    heads = (Head(event.skeleton.writer, event.skeleton.seq, event.hash) for event in events)
    return tuple(sorted(head for head in heads if head.hash not in continued))


def root_of(events):
    """The root over the frontier."""
    return frontier_root(frontier_of(events))


def forks_of(events):
    """Every (writer, seq) with more than one event."""
    found = {}
    for event in events:
        found.setdefault((event.skeleton.writer, event.skeleton.seq), []).append(event.id)
    return [Fork(*at, tuple(sorted(ids))) for at, ids in sorted(found.items()) if len(ids) > 1]


def gaps_of(aside):
    """Of what is kept aside that whose predecessor isn't there at all."""
    here = {event.hash for event in aside}
    waiting = [event for event in aside if event.skeleton.prev not in here]
    return sorted(Gap(event.skeleton.writer, event.skeleton.seq, event.skeleton.prev, event.id) for event in waiting)


def tips_of(events, keys=None):
    """Fate-changing revisions of each belief that no other revision of it has in its basis."""
    sides = {e.id: {e.skeleton.payload["left"], e.skeleton.payload["right"]} for e in events if is_raised(e)}
    found, passed = {}, {}
    for event in events:
        skeleton = event.skeleton
        if skeleton.type not in FATE_CHANGING:
            continue
        revised = set(skeleton.touches)
        if skeleton.type == RESOLVED:
            revised.update(*(sides.get(key, ()) for key in skeleton.touches))
        for key in revised if keys is None else revised & keys:
            found.setdefault(key, set()).add(event.id)
            passed.setdefault(key, set()).update(skeleton.basis_ids)
    left = {key: ids - passed[key] for key, ids in found.items()}
    return {key: ids for key, ids in left.items() if ids}


def is_raised(event):
    """Whether an event raises a contradiction, as far as this release can read."""
    return event.skeleton.type == RAISED and readable(event)


def erasures_of(events):
    """The erasures among these events, the earliest first; of one stamp the one with the least id."""
    found = [event for event in events if event.skeleton.type == ERASED and readable(event)]
    return sorted(found, key=lambda event: (event.skeleton.hlc, event.id))


def mentioned(event):
    """Every 16 bytes that stand in an event's payload, and what it touches; not its basis."""
    skeleton = event.skeleton
    found = set(skeleton.touches)
    if readable(event):
        _collect(skeleton.payload, found)
    return found


def _collect(value, found):
    if isinstance(value, bytes):
        found.add(value)
    elif isinstance(value, dict):
        for inner in value.values():
            _collect(inner, found)
    elif isinstance(value, tuple | list):
        for inner in value:
            _collect(inner, found)


class Coverage:
    """Which of some events each erasure among them covers."""

    def __init__(self, events, mentions):
        self._events = events
        self._mentions = mentions
        self.by = {erasure.id: self._reach(erasure) for erasure in erasures_of(events)}
        """Erasure to the ids of the events that it covers, the earliest erasure first."""

    def _reach(self, erasure):
        return self._spread(self._events, {e.id: e for e in self._events if _is_direct(erasure, e)})

    def _spread(self, events, covered):
        """Ids of the covered events and of all among some events that name or copy one, in turn."""
        while True:
            names = {event.skeleton.source_ref for event in covered.values()} | set(covered)
            refs = {(event.skeleton.type, event.skeleton.source_ref) for event in covered.values()}
            more = {
                e.id: e
                for e in events
                if e.id not in covered
                and (
                    not names.isdisjoint(self._mentions[e.id])
                    or (e.skeleton.source_ref is not None and (e.skeleton.type, e.skeleton.source_ref) in refs)
                )
            }
            if not more:
                return set(covered)
            covered |= more

    def beside(self, aside, erasures):
        """Of events that are kept aside those that these erasures cover, as far as that can be told already."""
        reached = self.any(erasures)
        covered = {event.id: event for event in self._events if event.id in reached}
        direct = [e for e in aside for one in self._events if one.id in erasures and _is_direct(one, e)]
        return self._spread(aside, covered | {event.id: event for event in direct}) - covered.keys()

    def any(self, erasures=None):
        """Ids covered by any of these erasures, or by any at all."""
        chosen = self.by if erasures is None else [one for one in self.by if one in erasures]
        return set().union(*(self.by[one] for one in chosen))

    def first(self):
        """For every covered id the earliest erasure that covers it."""
        found = {}
        for erasure, ids in self.by.items():
            for id_ in ids:
                found.setdefault(id_, erasure)
        return found


def _is_direct(erasure, event):
    return erasure.skeleton.payload["subject"] in event.skeleton.subjects and place(event) < place(erasure)
