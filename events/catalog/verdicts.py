"""Judgements, contradictions, conclusions and questions."""

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
    Input,
    Model,
    Name,
    PerMille,
    Slug,
    State,
    Text,
    Words,
)

Applicability = Literal["same_context", "adjacent_context", "cross_context", "unknown"]
Relation = Literal["contradicts", "supersedes", "refines", "duplicates", "compatible", "unrelated"]


class Verdict(Model):
    """What a judge said of one pair."""

    other: Annotated[Id, Cited]
    """The belief or utterance it was compared with."""
    relation: Relation
    """What the judge said of the pair."""
    confidence: PerMille | None = None
    """How sure the judge was."""
    lexical_rank: Count | None = None
    """Rank in the lexical lane of the recall that proposed the pair, from 1."""
    vector_rank: Count | None = None
    """Rank in the vector lane, from 1."""


class JudgementRecorded(EventModel):
    """A judge's verdicts on one belief or utterance against others, every "no" included."""

    TYPE: ClassVar[str] = "judgement.recorded"

    about: Annotated[Id, Cited]
    """The belief or utterance that was judged."""
    judge: Slug
    """``name@version`` of a rule, model or person."""
    judge_kind: Literal["rule", "model", "person"] | None = None
    """What the judge is."""
    verdicts: Annotated[tuple[Verdict, ...], Field(min_length=1, max_length=limits.LIST_ITEMS)]
    """One verdict for each pair, up to 256."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""
    raw_reply: Annotated[Text | None, Words] = None
    """The model's reply as it came."""


class ContradictionRaised(EventModel):
    """Two beliefs, or a belief and an utterance, can't both hold."""

    TYPE: ClassVar[str] = "contradiction.raised"

    left: Annotated[Id, State]
    """One side."""
    right: Annotated[Id, State]
    """The other side."""
    judgement: Annotated[Id | None, Cited] = None
    """The judgement that found it."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class ContradictionResolved(EventModel):
    """What holds of a contradiction's two sides; the other ends as contradicted."""

    TYPE: ClassVar[str] = "contradiction.resolved"

    contradiction_id: Annotated[Id, State]
    """The contradiction."""
    outcome: Literal["left", "right", "both_hold", "neither"]
    """What holds."""
    judgement: Annotated[Id | None, Cited] = None
    """The judgement it rests on."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class ConclusionInput(Model):
    """One belief that a conclusion rests on."""

    belief_id: Annotated[Id, Input]
    """The belief that is rested on."""
    role: Literal["essential", "supporting"]
    """Whether the conclusion falls with it, or is only made stronger by it."""
    applicability: Applicability | None = None
    """Absent reads unknown, which counts as cross_context."""


class ConclusionDerived(EventModel):
    """A belief is a conclusion from others."""

    TYPE: ClassVar[str] = "conclusion.derived"

    belief_id: Annotated[Id, State]
    """The conclusion, a belief of its own."""
    inputs: Annotated[tuple[ConclusionInput, ...], Field(min_length=1, max_length=limits.LIST_ITEMS)]
    """What it rests on."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class QuestionRaised(EventModel):
    """A question; never a memory, it goes to the curiosity queue."""

    TYPE: ClassVar[str] = "question.raised"

    question: Annotated[Text, Words]
    """The question in words."""
    session: Annotated[Name | None, Hashed] = None
    """The session in which it came up."""
    evidence: Annotated[Ids, Cited] = ()
    """Where it was asked."""
    topic: Annotated[Text | None, Words] = None
    """What the talk was about."""


class QuestionAnswered(EventModel):
    """A question has an answer: an utterance, a belief, or words."""

    TYPE: ClassVar[str] = "question.answered"

    question_id: Annotated[Id, Cited]
    """The question."""
    answer_id: Annotated[Id | None, Cited] = None
    """The utterance or belief that answers it."""
    answer: Annotated[Text | None, Words] = None
    """The answer in words."""
