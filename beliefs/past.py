"""The past: what is known of a log before a batch came, so that it need not be folded again.

Most supersessions act where they are written, and nothing that happens later changes that; a fold made a remark about
the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, Protocol

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Need, Task, presupposed
from beliefbase.beliefs.paths import Edge
from beliefbase.beliefs.reasons import Note, Reason
from beliefbase.beliefs.rules import FOREVER


class Outcome(NamedTuple):
    """What becomes of a supersession."""

    acts: bool | bytes
    """It acts where it is written (True), waits for good, or acts with this event."""
    void: bool = False
    """Where it would act, it is void."""
    undone: bytes | None = None
    """The event with which it is out of force again."""


_TRIGGERS: Final = frozenset(
    {"belief.affirmed", "belief.demoted", "belief.extracted", "belief.promoted", "belief.superseded"}
)
"""Types of which it is plain when they act: at their own stamp or that of the belief that they revise."""


class Past(Protocol):
    """What a fold of the log without a batch said."""

    def remarks(self) -> Iterable[tuple[str, Note]]:
        """All remarks about supersessions and resolutions, each with the type of its event."""

    def active(self, beliefs: Collection[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        """The stretches ``[since, until)`` in which beliefs (by their own ids) were active, in order."""

    def concluded(self) -> bool:
        """Whether there are any conclusions."""


class Outcomes:
    """What became of supersessions.

    ``past`` is None where it isn't known; ``new`` are the events of a batch, and all others are stamped up to the
    ``horizon``.
    """

    def __init__(self, past: Past | None, new: Collection[bytes], horizon: int) -> None:
        self.past = past
        self._horizon = horizon
        self._new = new
        self.resolutions = past is None
        """Whether resolutions may wait, or may have."""
        self._remarks: dict[bytes, list[Note]] = {}
        for kind, note in past.remarks() if past is not None else ():
            self._remarks.setdefault(note.event, []).append(note)
            self.resolutions = self.resolutions or kind != "belief.superseded"

    def of(self, fact: Fact) -> Outcome | None:
        """What becomes of a supersession, if nothing that it depends on changes; None where that isn't known."""
        if self.past is None or fact.type != "belief.superseded" or fact.id in self._new:
            return None
        remarks = sorted(self._remarks.get(fact.id, ()), key=lambda note: note.reason)
        undone = None
        if remarks and remarks[-1].reason is Reason.REPLACEMENT_UNDONE:
            undone = remarks.pop().about
        match [note.reason for note in remarks]:
            case []:
                return Outcome(True, undone=undone)
            case [Reason.CYCLE]:
                return Outcome(True, void=True)
            case [Reason.REPLACEMENT_WAITS]:
                return Outcome(False)
            case [Reason.REPLACEMENT_DEFERRED]:
                return Outcome(remarks[0].about or False, undone=undone)  # False: undone before it could act
            case [Reason.CYCLE, Reason.REPLACEMENT_DEFERRED] if remarks[1].about is not None:
                return Outcome(remarks[1].about, void=True)
        return None

    def decided(self, fact: Fact, target: bytes) -> Task[int | None]:
        """The stamp at which a supersession of an entity acts, or is void; None where it waits or that isn't known."""
        outcome = self.of(fact)
        if outcome is None or outcome.acts is False:
            return None
        if outcome.acts is True:
            named = yield Need(None, (fact.payload["superseded_id"], target))
            return max(fact.hlc, *(copy.hlc for copy in named))
        trigger = yield Need(None, (outcome.acts,))
        if not trigger or trigger[0].type not in _TRIGGERS:
            return None
        return (yield from _acts(trigger[0]))

    def in_force(self, edges: Iterable[Edge], since: int, changed: Collection[bytes]) -> Task[list[Edge]]:
        """Those edges that may be in force at a stamp or later; of those that end ``changed`` entities all may."""
        found = []
        for edge in edges:
            outcome = self.of(edge.fact)
            if outcome is not None and edge.target not in changed:
                if outcome.acts is False or outcome.void:
                    continue
                if outcome.undone is not None:
                    over = yield Need(None, (outcome.undone,))
                    if over and (since > self._horizon or (yield from _acts(over[0])) < since):
                        continue
            found.append(edge)
        return found


def _acts(fact: Fact) -> Task[int]:
    """The stamp at which a fact acts: the largest of its own and of those of what it presupposes, in turn."""
    acts, pending = 0, {fact.id}
    while pending:
        found = yield Need(None, tuple(sorted(pending)))
        acts = max(acts, *(known.hlc for known in found), 0)
        pending = {key for known in found for key in presupposed(known)}
    return acts


UNKNOWN: Final = Outcomes(None, (), FOREVER)
