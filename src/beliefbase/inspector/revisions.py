"""What was done to a belief: the events that act on it, and which of them its next author has read."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING, REVISIONS
from beliefbase.inspector.case import Case
from beliefbase.inspector.desk import Entry, in_order


class Revisions:
    """The events that revise one belief under any of its ids, up to the moment of the case, in order."""

    def __init__(self, case: Case) -> None:
        self._case = case
        desk, faces, until = case.desk, case.faces, case.until
        own = desk.naming(faces, (Role.STATE, Role.LINK))
        self.contradictions: list[Entry] = [e for e in own if e.type == "contradiction.raised" and _up_to(e, until)]
        """Contradictions that it takes part in."""
        raised = [entry.id for entry in self.contradictions]
        self.resolutions: list[Entry] = [
            e for e in desk.naming(raised, (Role.STATE,)) if e.type == "contradiction.resolved" and _up_to(e, until)
        ]
        acted = desk.by_id(self._acted() - {entry.id for entry in (*own, *self.resolutions)})
        found = {entry.id: entry for entry in (*own, *self.resolutions, *acted.values())}
        self.all: list[Entry] = in_order(
            entry for entry in found.values() if entry.type in REVISIONS and _up_to(entry, until)
        )
        """Everything that acts on it, and the supersessions by it."""

    def _acted(self) -> set[bytes]:
        """Events that reached it otherwise: by a condition's key, or by the name of a duplicate of it."""
        life = self._case.life
        events = set(life.fates or ()) | set(life.ends) | set(life.on or ())
        events |= {event for _, event, _ in life.promotions or ()}
        return {event for event in events if len(event) == len(life.id)}

    @property
    def basis(self) -> list[bytes]:
        """The latest revisions that change its fate: what the author of the next one has read."""
        return latest(self.all)


def latest(revisions: Iterable[Entry]) -> list[bytes]:
    """Of the fate-changing ones those that no other had read, sorted."""
    changing = [entry for entry in revisions if entry.type in FATE_CHANGING]
    read: Collection[bytes] = {key for entry in changing for key in entry.skeleton.basis_ids}
    return sorted({entry.id for entry in changing} - set(read))


def _up_to(entry: Entry, until: int) -> bool:
    return entry.skeleton.hlc <= until
