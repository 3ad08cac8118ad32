"""The past: what is known of a log before a batch came, so that it need not be folded again.

Most supersessions act where they are written, and nothing that happens later changes that; a fold made a remark about
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
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
    {
        "belief.affirmed",
        "belief.demoted",
        "belief.extracted",
        "belief.promoted",
        "belief.reinstated",
        "belief.superseded",
    }
)
"""Types of which it is plain when they act: at their own stamp or that of what they name."""


class Past(Protocol):
    """What a fold of the log without a batch said."""

    def remarks(self, event: bytes) -> Collection[Note]:
        """All remarks about a supersession."""

    def resolutions(self) -> bool:
        """Whether there are remarks about resolutions."""

    def active(self, beliefs: Collection[bytes]) -> dict[bytes, list[tuple[int, int]]]:
        """The stretches ``[since, until)`` in which beliefs (by their own ids) were active, in order."""

    def concluded(self) -> bool:
        """Whether there are any conclusions."""

    def reshaped(self) -> Collection[bytes] | None:
        """The beliefs that merges and reclassifications name; None where copies make that unclear."""


class Outcomes:
    """What became of supersessions.

    ``past`` is None where it isn't known; ``new`` are the events of a batch, and all others are stamped up to the
    ``horizon``.
    """

    def __init__(self, past: Past | None, new: Collection[bytes], horizon: int) -> None:
        self.past = past
        self._horizon = horizon
        self._new = new
        self.resolutions = past is None or past.resolutions()
        """Whether resolutions may wait, or may have."""
        self._active: dict[bytes, list[tuple[int, int]]] = {}

    def of(self, fact: Fact) -> Outcome | None:
        """What becomes of a supersession, if nothing that it depends on changes; None where that isn't known."""
        if self.past is None or fact.type != "belief.superseded" or fact.id in self._new:
            return None
        remarks = sorted(self.past.remarks(fact.id), key=lambda note: note.reason)
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
            case [Reason.REPLACEMENT_DEFERRED] if remarks[0].about is None:
                return Outcome(False, undone=undone)  # undone before it could act
            case _ if self.resolutions:  # one that acts with the same event may go first, or not
                return None
            case [Reason.REPLACEMENT_DEFERRED]:
                return Outcome(remarks[0].about or False, undone=undone)
            case [Reason.CYCLE, Reason.REPLACEMENT_DEFERRED] if remarks[1].about is not None:
                return Outcome(remarks[1].about, void=True)
        return None

    def active(self, beliefs: Collection[bytes], likely: Iterable[Fact]) -> dict[bytes, list[tuple[int, int]]]:
        """The stretches in which beliefs were active, as far as the past is known.

        A question costs more than what it is about, so each is about all facts that are ``likely`` beliefs as well.
        """
        if self.past is not None and not self._active.keys() >= set(beliefs):
            asked = {*beliefs, *(fact.id for fact in likely if fact.type == "belief.extracted")}
            self._active |= self.past.active(asked - self._active.keys())
        return {belief: self._active.get(belief, []) for belief in beliefs}

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
        undone = yield Need(None, trigger[0].payload.get("undoes", ()))
        if any(ending.ref is not None for ending in undone):  # with an earlier copy it would wait for that as well
            return None
        return (yield from self.acts(trigger))

    def over(self, undone: bytes) -> Task[int]:
        """The stamp at which a reinstatement acts."""
        found = yield Need(None, (undone,))
        return (yield from self.acts(found)) if found else FOREVER

    def acts(self, facts: Iterable[Fact]) -> Task[int]:
        """The stamp at which the last of some facts acts that wait for no life.

        Each does at the largest of its own stamp and of those of what it presupposes, in turn.
        """
        acts, pending = 0, {fact.id for fact in facts}
        while pending:
            found = yield Need(None, tuple(sorted(pending)))
            acts = max(acts, *(known.hlc for known in found), 0)
            pending = {key for known in found for key in presupposed(known)}
        return acts

    def in_force(self, edges: Iterable[Edge], since: int, changed: Collection[bytes]) -> Task[list[Edge]]:
        """Those edges that may be in force at a stamp or later; of those that end ``changed`` entities all may."""
        found = []
        for edge in edges:
            outcome = self.of(edge.fact)
            if outcome is not None and edge.target not in changed:
                if outcome.acts is False or outcome.void:
                    continue
                if outcome.undone is not None and (
                    since > self._horizon or (yield from self.over(outcome.undone)) < since
                ):
                    continue
            found.append(edge)
        return found


class Known(NamedTuple):
    """What is known of a log beforehand."""

    outcomes: Outcomes = Outcomes(None, (), FOREVER)
    since: Callable[[bytes], int] = lambda _belief: FOREVER
    """A belief's own id to the stamp from which on it may live otherwise than before the batch."""
    newest: int = FOREVER
    """Nothing acts later."""
    reshaped: Collection[bytes] | None = None
    """The beliefs that merges and reclassifications name with the batch, if that is plain."""


UNKNOWN: Final = Known()
