"""Why a fact has no effect, or not yet: the closed set of reasons that a fold gives."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """A reason of a note. The first group will never act, the second waits, the third says what to know."""

    QUESTION = "question"
    NOT_A_BELIEF = "not_a_belief"
    NOT_A_CONTRADICTION = "not_a_contradiction"
    AFFIRMS_ENDED = "affirms_ended"
    PROMOTES_ENDED = "promotes_ended"
    UNDOES_NOTHING = "undoes_nothing"
    CYCLE = "cycle"
    POLICY_REDEFINED = "policy_redefined"

    MISSING = "missing"
    REPLACEMENT_WAITS = "replacement_waits"

    UNKNOWN_POLICY = "unknown_policy"
    SELF_CONTRADICTION = "self_contradiction"
    REPLACEMENT_DEFERRED = "replacement_deferred"
    REPLACEMENT_UNDONE = "replacement_undone"


VOID = frozenset(
    {
        Reason.QUESTION,
        Reason.NOT_A_BELIEF,
        Reason.NOT_A_CONTRADICTION,
        Reason.AFFIRMS_ENDED,
        Reason.PROMOTES_ENDED,
        Reason.UNDOES_NOTHING,
        Reason.CYCLE,
        Reason.POLICY_REDEFINED,
    }
)
"""Reasons of events that have no effect whatever comes later."""
TOOK_EFFECT = frozenset({Reason.REPLACEMENT_DEFERRED, Reason.REPLACEMENT_UNDONE})
"""Reasons that say when an event took effect, or ceased to have one."""


class Note(NamedTuple):
    """One remark of a fold."""

    event: bytes
    """Id of the event that has no effect, waits, or is remarkable."""
    reason: Reason
    about: bytes | None
    """What it names: the missing id, the belief, or the target that the replacement waits to end."""
