"""What a person has read before deciding: the basis of the decision, and whether it would do anything."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from beliefbase.beliefs.edges import WAITING
from beliefbase.beliefs.intervals import STATUSES
from beliefbase.beliefs.life import Life
from beliefbase.events.errors import UnknownId
from beliefbase.inspector.case import Case
from beliefbase.inspector.desk import Desk
from beliefbase.inspector.errors import NotABelief, NothingToDo
from beliefbase.inspector.revisions import Revisions

ERASED = "erased"


class Reading:
    """A belief as somebody reads it now, about to revise it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.notes: list[str] = []
        """What the author should know although the event is stored."""

    @cached_property
    def basis(self) -> list[bytes]:
        """The latest fate-changing revisions of the belief, and of the survivor that stands for it."""
        own = Revisions(self.case).basis
        survivors = {event for life in self.case.life.chain()[1:] for event in life.fates or ()}
        return sorted({*own, *(event for event in survivors if event in self.case.fold.acted)})

    def check_affirm(self) -> None:
        """Refuse to affirm a belief that has ended.

        Raises:
            NothingToDo: it or, for a duplicate, its survivor as well has an ending in force.
        """
        if all(life.ends for life in self.case.life.chain()):
            raise self._ended("affirming it would have no effect")
        self._note_survivor()

    def check_live(self) -> None:
        """Refuse to promote or demote a belief that isn't live.

        Raises:
            NothingToDo: it has ended or expired.
        """
        now = self.case.until
        if not any(life.alive(now) for life in self.case.life.chain()):
            if any(not life.ends for life in self.case.life.chain()):
                raise NothingToDo(
                    f"{self._id} has expired: promoting or demoting it would have no effect",
                    hint=f"affirm it first: beliefbase affirm {self._id}",
                    belief=self._id,
                )
            raise self._ended("promoting or demoting it would have no effect")
        self._note_survivor()

    def check_retract(self) -> None:
        """Note that a belief had ended before; its first ending keeps naming the status."""
        if self.case.life.ends:
            self.notes.append("it had ended before; the new ending is kept beside those in force")
        self._note_survivor()

    def endings(self, named: Iterable[bytes]) -> list[bytes]:
        """The endings to undo: those named, or all in force.

        Raises:
            NothingToDo: there are none that can be undone, or one named is neither in force nor waiting.
        """
        life, wanted = self.case.life, list(named)
        in_force = [event for _, _, event, code in life.endings if STATUSES[code] != ERASED]
        waiting = [edge.event for edge in (life.on or {}).values() if edge.state is WAITING]
        entity = self.case.fold.entity
        for event in wanted:
            if entity.get(event, event) not in {*in_force, *waiting}:
                listed = ", ".join(key.hex() for key in (*in_force, *waiting)) or "none"
                raise NothingToDo(
                    f"{event.hex()} is no ending of {self._id} that is in force or waits",
                    hint=f"these are: {listed}",
                    belief=self._id,
                )
        if not wanted and not in_force:
            raise self._nothing_to_undo(life)
        if len(in_force) < len(life.ends):
            self.notes.append("its words are erased, and nothing undoes that")
        return wanted or in_force

    def _nothing_to_undo(self, life: Life) -> NothingToDo:
        if life.ends:
            return NothingToDo(
                f"{self._id} is erased", hint="nothing undoes an erasure; extract it anew", belief=self._id
            )
        if not life.alive(self.case.until):
            return NothingToDo(
                f"{self._id} has expired; no event ended it",
                hint=f"affirm it, which lifts the expiry: beliefbase affirm {self._id}",
                belief=self._id,
            )
        waits = [edge.event.hex() for edge in (life.on or {}).values() if edge.state is WAITING]
        hint = f"a replacement waits; name it: --undoes {waits[0]}" if waits else f"it is {self.case.standing.status}"
        return NothingToDo(f"{self._id} has no ending in force", hint=hint, belief=self._id)

    def _ended(self, what: str) -> NothingToDo:
        row, life = self.case.standing, self.case.life
        successors = [edge.replacer for edge in (life.on or {}).values() if edge.event in life.ends]
        hint = f"bring it back first: beliefbase reinstate {self._id}"
        if row.status == ERASED:
            hint = "nothing undoes an erasure; extract it anew"
        elif successors and successors[0] is not None:
            hint += f"; or decide about what replaced it: {successors[0].canon().id.hex()}"
        return NothingToDo(f"{self._id} has ended as {row.status}: {what}", hint=hint, belief=self._id)

    def _note_survivor(self) -> None:
        survivor = self.case.life.canon()
        if survivor is not self.case.life:
            self.notes.append(f"it is a duplicate; this counts for {survivor.id.hex()}, which stands for it")

    @property
    def _id(self) -> str:
        return self.case.id.hex()


class Dispute:
    """A contradiction as somebody reads it now, about to resolve it.

    Raises:
        UnknownId: nothing has this id.
        NotABelief: something has, but no contradiction.
    """

    def __init__(self, desk: Desk, contradiction: bytes, now_ms: int) -> None:
        entry = desk.get(contradiction)
        shown = contradiction.hex()
        if entry is None:
            raise UnknownId(
                f"nothing in this store has the id {shown}", hint="beliefbase log --type contradiction.raised"
            )
        if entry.type != "contradiction.raised" or entry.unreadable is not None:
            raise NotABelief(
                f"{shown} is no contradiction: its type is {entry.type}", hint=_contradictions_of(desk, contradiction)
            )
        self.id = contradiction
        self.beliefs: list[bytes] = []
        """Its sides that are beliefs."""
        found: set[bytes] = set()
        for side in (entry.payload["left"], entry.payload["right"]):
            try:
                case = Case(desk, side, now_ms, now=True)
            except (UnknownId, NotABelief):
                continue
            self.beliefs.append(side)
            found.update(Reading(case).basis)
        self.basis = sorted(found)
        """The latest revisions of its sides, earlier resolutions among them."""


def _contradictions_of(desk: Desk, belief: bytes) -> str:
    from beliefbase.events.catalog import Role

    raised = [entry.id.hex() for entry in desk.naming((belief,), (Role.STATE,)) if entry.type == "contradiction.raised"]
    if raised:
        return f"its contradictions are: {', '.join(raised)}"
    return "contradictions: beliefbase log --type contradiction.raised"
