"""Who writes, and what was said."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from beliefbase.events import limits
from beliefbase.events.catalog.base import Certificate, Count, EventModel, Hashed, HashOnly, Name, Slug, Text, Words

WriterKind = Literal["human", "agent", "tool", "importer"]
WriterRole = Literal["owner", "member"]


class WriterJoined(EventModel):
    """A writer (one open handle of one process) says who it is; its first event."""

    TYPE: ClassVar[str] = "writer.joined"

    agent: Annotated[Name, Hashed]
    """Name of the agent or person that writes."""
    kind: WriterKind = "agent"
    """What writes: a person, a model's agent, a tool, or an importer of others' records."""
    role: WriterRole = "member"
    """What it may do: only an owner erases."""
    max_drift: Count = 60_000
    """Milliseconds that a foreign stamp may be ahead of the wall before it is parked."""
    model: Slug | None = None
    """The language model behind the agent."""
    certificate: Certificate | None = None
    """The writer's public key, the agent's, and the agent's signature of the writer's: its heads are signed."""


class WriterClosed(EventModel):
    """A writer says that it will write no more."""

    TYPE: ClassVar[str] = "writer.closed"

    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class UtteranceRecorded(EventModel):
    """Somebody said something; the words are kept as they were and never rewritten."""

    TYPE: ClassVar[str] = "utterance.recorded"

    speaker: Annotated[Name, Hashed]
    """Who said it."""
    verbatim: Annotated[Text, Words]
    """The words as they were said."""
    conversation: Annotated[Name | None, Hashed] = None
    """Which conversation it belongs to."""
    turn: Count | None = None
    """Place in the conversation, from 1."""
    channel: Annotated[Name | None, Words] = None
    """Where it was said: chat, voice, mail …"""
    topic: Annotated[Text | None, Words] = None
    """What the talk was about."""
    entities: Annotated[tuple[Name, ...], Field(max_length=limits.LIST_ITEMS), Words] = ()
    """Names of what is mentioned."""


class SubjectErased(EventModel):
    """The words of a person are to be erased, here and in every store that this event reaches."""

    TYPE: ClassVar[str] = "subject.erased"

    subject: Annotated[Name, HashOnly]
    """Whose words; only the hash of the name is stored."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""
