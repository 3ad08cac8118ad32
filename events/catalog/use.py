"""What agents were shown, and what became of it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from beliefbase.events import limits
from beliefbase.events.catalog.base import (
    Cited,
    Count,
    EventModel,
    Hashed,
    Id,
    Ids,
    Model,
    Name,
    PerMille,
    Shown,
    Slug,
    State,
    Text,
    Words,
)
from beliefbase.events.catalog.verdicts import Applicability

Tag = Literal[
    "enforce",
    "follow",
    "cite_as_rule",
    "apply",
    "cite_as_reference",
    "consider",
    "reference",
    "recall",
    "low_confidence",
]


class Card(Model):
    """One belief as it was shown."""

    belief_id: Annotated[Id, Shown]
    """The belief shown."""
    tag: Tag | None = None
    """How it was to be used."""
    applicability: Applicability | None = None
    """How near its context is to the current one."""
    force: PerMille | None = None
    """How much weight it was given."""
    rank: Count | None = None
    """Its place on the list, from 1."""


class MemoryInjected(EventModel):
    """Beliefs were put before an agent."""

    TYPE: ClassVar[str] = "memory.injected"

    cards: Annotated[tuple[Card, ...], Field(max_length=limits.LIST_ITEMS)]
    """What was shown, up to 256 beliefs."""
    conversation: Annotated[Name | None, Hashed] = None
    """Where."""
    session: Annotated[Name | None, Hashed] = None
    """The session; a recurrence there counts no more for the beliefs shown."""
    turn: Count | None = None
    """Place in the conversation."""
    renderer: Slug | None = None
    """What rendered it, ``name@version``."""
    query: Annotated[Text | None, Words] = None
    """What was asked for."""
    context: Annotated[Text | None, Words] = None
    """The context that the beliefs were shown in."""
    rendered: Annotated[Text | None, Words] = None
    """The text as the agent saw it."""


class MemoryUsed(EventModel):
    """What an agent did with a belief that it was shown."""

    TYPE: ClassVar[str] = "memory.used"

    injection_id: Annotated[Id, Cited]
    """The injection that showed it."""
    belief_id: Annotated[Id, Shown]
    """The belief."""
    outcome: Literal["used", "ignored", "corrected"]
    """What became of it."""
    evidence: Annotated[Ids, Cited] = ()
    """What shows that."""


class LiveContradictionDetected(EventModel):
    """What is said now contradicts a belief."""

    TYPE: ClassVar[str] = "memory.live_contradiction_detected"

    belief_id: Annotated[Id, Shown]
    """The belief."""
    utterance_id: Annotated[Id, Cited]
    """What was said now."""
    judgement: Annotated[Id | None, Cited] = None
    """The judgement that found it."""


class RevalidationAsked(EventModel):
    """Somebody is asked whether a load-bearing belief still holds."""

    TYPE: ClassVar[str] = "memory.requires_revalidation_prompt"

    belief_id: Annotated[Id, Shown]
    """The belief."""
    cause: Literal["stale", "contradicted"]
    """Why it is asked."""
    injection_id: Annotated[Id | None, Cited] = None
    """The injection that it was part of."""


class MemoryRevalidated(EventModel):
    """The answer: confirmed affirms the belief, rejected retracts it as withdrawn, changed does nothing by itself."""

    TYPE: ClassVar[str] = "memory.revalidated"

    belief_id: Annotated[Id, State]
    """The belief."""
    outcome: Literal["confirmed", "rejected", "changed"]
    """The answer."""
    prompt_id: Annotated[Id | None, Cited] = None
    """The prompt that is answered."""
    session: Annotated[Name | None, Hashed] = None
    """The session of the answer."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""
