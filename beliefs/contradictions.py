"""Contradictions: two sides, open or resolved; the last resolution that acts stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from beliefbase.beliefs import forks, replacements
from beliefbase.beliefs.edges import EFFECTIVE, RESOLUTION, WAITING, Replacement
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.reasons import Note, Reason

if TYPE_CHECKING:
    from beliefbase.beliefs.facts import Fact
    from beliefbase.beliefs.world import World


class Contradiction:
    """What a ``contradiction.raised`` says about two beliefs, or a belief and an utterance."""

    __slots__ = ("bites", "edges", "id", "left", "open", "outcomes", "right")

    def __init__(self, event: bytes, left: Life | None, right: Life | None) -> None:
        self.id = event
        self.left = left
        """None where the id names neither a belief nor an utterance."""
        self.right = right
        self.open = True
        self.bites = False
        """Whether it makes its sides contested: open, both live, not the same belief."""
        self.edges: list[Replacement] = []
        """Replacements of a loser by a winner, from its resolutions."""
        self.outcomes: dict[bytes, str] = {}
        """Outcome of each resolution that has acted."""

    @property
    def sides(self) -> tuple[Life | None, Life | None]:
        """Left and right."""
        return self.left, self.right


def raise_between(world: World, fact: Fact) -> None:
    """Open a contradiction."""
    sides = [_side(world, fact.payload[side]) for side in ("left", "right")]
    contradiction = Contradiction(fact.id, *sides)
    world.contradictions[fact.id] = contradiction
    for side, life in zip(("left", "right"), sides, strict=True):
        if life is None:
            world.notes.append(Note(fact.id, Reason.NOT_A_BELIEF, fact.payload[side]))
            continue
        if life.disputes is None:
            life.disputes = []
        life.disputes.append(contradiction)
        world.schedule(life.canon())
    if sides[0] is not None and sides[0] is sides[1]:
        world.notes.append(Note(fact.id, Reason.SELF_CONTRADICTION, sides[0].id))
    judge(world, contradiction)


def _side(world: World, named: bytes) -> Life | None:
    """A belief, or an utterance as a life that is active for ever."""
    utterance = world.entity.get(named, named)
    life = world.known.get(named) or world.utterances.get(utterance)
    if life is None and utterance in world.said:
        life = world.utterances[utterance] = Life(world.said[utterance], world.now, world.profile)
        life.mature = life.live = life.active = life.ever = True
    return life


def judge(world: World, contradiction: Contradiction) -> None:
    """Count a contradiction among what contests its sides, or no longer."""
    left, right = contradiction.sides
    bites = False
    if contradiction.open and left is not None and right is not None:
        one, other = left.canon(), right.canon()
        bites = one is not other and one.alive(world.now) and other.alive(world.now)
    if bites != contradiction.bites:
        contradiction.bites = bites
        for life in contradiction.sides:
            if life is not None:
                replacements.weigh(world, life, 1 if bites else -1)


def set_open(world: World, contradiction: Contradiction, is_open: bool) -> None:
    """Open or close a contradiction."""
    contradiction.open = is_open
    judge(world, contradiction)


def resolve(world: World, fact: Fact, contradiction: Contradiction) -> None:
    """Let a resolution act: what holds stands, what doesn't ends once the winner is fit to take its place."""
    outcome = fact.payload["outcome"]
    sides = [life.canon() if life is not None else None for life in contradiction.sides]
    set_open(world, contradiction, False)
    contradiction.outcomes[fact.id] = outcome
    for edge in contradiction.edges:
        if edge.state is WAITING:
            replacements.withdraw(world, edge)
    if sides[0] is sides[1]:
        return
    for life, other, loses_by in ((sides[0], sides[1], "right"), (sides[1], sides[0], "left")):
        if life is None or life.id not in world.lives:
            continue
        loses = outcome in ("neither", loses_by)
        forks.fate(world, life, fact.id, "life", "contradicted" if loses else "holds")
        if outcome == "neither":
            replacements.end(world, life, fact.id, RESOLUTION)
            life.falsify(fact.id, world.now)
        elif loses:
            if other is not None:
                world.change(life)
                replacements.propose(world, fact.id, RESOLUTION, life, other.id, contradiction)
        else:
            nothing_ends = outcome == "both_hold" or other is None or other.id not in world.lives
            _relieve(world, contradiction, life, nothing_ends)


def _relieve(world: World, contradiction: Contradiction, winner: Life, nothing_ends: bool) -> None:
    """Undo endings of a side that holds now: by an earlier ``neither``, or by any where no other side ends now.

    What an earlier resolution for the other side had ended is otherwise undone where this one ends that.
    """
    for event in [event for event in winner.ends if event in contradiction.outcomes]:
        if nothing_ends or contradiction.outcomes[event] == "neither":
            edge = (winner.on or {}).get(event)
            if edge is not None:
                replacements.withdraw(world, edge)
            replacements.undo(world, winner, event)


def overruled(edge: Replacement) -> Iterator[Replacement]:
    """Effective replacements by other resolutions of the same contradiction, of another loser: it undoes them."""
    for old in edge.contradiction.edges if edge.contradiction is not None else ():
        if old is not edge and old.state is EFFECTIVE and old.target is not edge.target:
            yield old
