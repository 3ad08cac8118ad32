"""What can be wrong with an id that somebody asks about, or with what they want to do to a belief."""

from __future__ import annotations

from beliefbase.events.errors import BeliefbaseError


class NotABelief(BeliefbaseError):
    """The id names something, but no belief; the hint says what to ask instead."""

    code = "not_a_belief"
    exit_code = 2


class NothingToDo(BeliefbaseError):
    """The event would be void: the belief has ended, or there is nothing to undo; the hint says what to do instead."""

    code = "nothing_to_do"
    exit_code = 2
