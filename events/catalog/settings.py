"""Policies and profiles: what the rules were at a time is in the log as well."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from beliefbase.events.catalog.base import EventModel, Slug, Text, Words
from beliefbase.events.catalog.beliefs import Kind, SpeechAct

Days = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]


class PolicyDefined(EventModel):
    """A lifecycle policy gets a name and a version; the first definition of both counts, for ever."""

    TYPE: ClassVar[str] = "policy.defined"

    policy: Slug
    """``name@version``."""
    base: Slug
    """The built-in behaviour: half_life, conditional_expiry, amendable_persistent, fast_decay_status."""
    half_life_days: Days | None = None
    """With base half_life: days to stale; twice that to expired."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class ProfileActivated(EventModel):
    """From here on a domain profile is in force; the last activation in the order counts."""

    TYPE: ClassVar[str] = "profile.activated"

    profile: Slug
    """``name@version``."""
    half_lives: Annotated[dict[SpeechAct, Days] | None, Field(max_length=12)] = None
    """Days by speech act, where they differ from the default profile."""
    kinds: Annotated[dict[Kind, Days] | None, Field(max_length=10)] = None
    """Days by kind, where they differ from the default profile."""
    newer_wins: bool | None = None
    """Whether a raised contradiction is resolved for the newer side by an event of its own."""
    fail_closed: bool | None = None
    """Whether a speech act of confidence below 600 ages as stated where that is faster than a direct assertion."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""
