"""The life of a belief: extracted, affirmed, revised, ended, reinstated."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, model_validator

from beliefbase.events import limits
from beliefbase.events.catalog.base import (
    Cited,
    Count,
    EventModel,
    Hashed,
    Id,
    Ids,
    Link,
    Model,
    Name,
    PerMille,
    Slug,
    State,
    Text,
    Undone,
    Words,
)

Kind = Literal[
    "rule", "fact", "decision", "rationale", "preference", "note", "progress", "domain_concept", "goal", "work_product"
]
NodeKind = Literal["belief", "conclusion", "domain_concept", "goal", "work_product"]
SpeechAct = Literal[
    "direct_assertion",
    "observation",
    "aspiration",
    "hypothetical",
    "casual_characterization",
    "preference_statement",
    "directive",
    "question",
    "negation",
    "uncertain_assertion",
    "humor_or_irony",
    "correction",
]
Voice = Literal["self", "authority", "other", "agent", "system"]
AssertionType = Literal["direct_quote", "synthesized_rule", "applied_argument", "procedural_rule", "factual_claim"]
Excerpt = Annotated[str, StringConstraints(max_length=limits.EXCERPT_CHARACTERS)]


class Span(Model):
    """Where in a cited utterance the evidence stands."""

    evidence: Count
    """Position in the list of evidence, from 0."""
    start: Count
    """First character of the verbatim, from 0."""
    end: Count
    """The character after the last."""


class BeliefExtracted(EventModel):
    """A belief was read out of utterances. Its id is the id of this event."""

    TYPE: ClassVar[str] = "belief.extracted"
    OBSERVE_ONLY: ClassVar[frozenset[str]] = frozenset(
        {"obsolete_when", "kind_misfit", "kind_misfit_reason", "supersedes_note", "tags", "raw_reply"}
    )

    statement: Annotated[Text, Words]
    """What is believed, as a sentence."""
    evidence: Annotated[Ids, Cited] = ()
    """Utterances, by event id or by source_ref hash."""
    kind: Kind
    """What kind of memory it is."""
    node_kind: NodeKind | None = None
    """What the memory is made of; concepts, goals and work products ignore the speech act."""
    speech_act: SpeechAct | None = None
    """Absent reads direct_assertion."""
    speech_act_confidence: PerMille | None = None
    """Absent reads 1000."""
    voice: Voice | None = None
    """Whose voice speaks in it."""
    assertion_type: AssertionType | None = None
    """What kind of text it rests on."""
    assertion_class: Slug | None = None
    """``durable_fact`` may enter as active at once; any other, or none, is a candidate."""
    confidence: PerMille | None = None
    """Absent reads 0."""
    policy: Slug | None = None
    """A lifecycle policy, ``name`` or ``name@version``; absent: the half-life of the speech act or kind."""
    condition_key: Annotated[Name | None, Hashed] = None
    """The condition that ends it under ``conditional_expiry``."""
    session: Annotated[Name | None, Hashed] = None
    """The session in which it was extracted; counts for recurrence."""
    extractor: Slug | None = None
    """What extracted it, ``name@version``."""
    spans: Annotated[tuple[Span, ...], Field(max_length=limits.LIST_ITEMS)] = ()
    """Where in the evidence it stands."""
    subject: Annotated[Text | None, Words] = None
    """Whom or what it is about."""
    predicate: Annotated[Text | None, Words] = None
    """What is said of the subject."""
    topic: Annotated[Text | None, Words] = None
    """What the talk was about."""
    excerpts: Annotated[tuple[Excerpt, ...], Field(max_length=limits.LIST_ITEMS), Words] = ()
    """The pieces of evidence it rests on, up to 500 characters each."""
    obsolete_when: Annotated[Text | None, Words] = None
    """When it would stop being true, as the extractor put it."""
    kind_misfit: bool | None = None
    """Whether no kind fitted well."""
    kind_misfit_reason: Annotated[Text | None, Words] = None
    """Why not."""
    supersedes_note: Annotated[Text | None, Words] = None
    """What it seemed to replace, where no id could be named."""
    tags: Annotated[tuple[Name, ...], Field(max_length=limits.LIST_ITEMS), Words] = ()
    """Free labels."""
    raw_reply: Annotated[Text | None, Words] = None
    """The model's reply as it came."""
    malformed: Annotated[tuple[Slug, ...], Field(max_length=limits.LIST_ITEMS)] = ()
    """Observe-only fields that came malformed and are absent for that reason."""


class BeliefAffirmed(EventModel):
    """A belief was said or found again; restarts its half-life."""

    TYPE: ClassVar[str] = "belief.affirmed"

    belief_id: Annotated[Id, State]
    """The belief."""
    how: Literal["confirmation", "recurrence", "review"] = "confirmation"
    """A person confirmed it, it was found again, or a review kept it."""
    session: Annotated[Name | None, Hashed] = None
    """The session of the recurrence."""
    evidence: Annotated[Ids, Cited] = ()
    """What was said this time."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefPromoted(EventModel):
    """A candidate becomes active by decision."""

    TYPE: ClassVar[str] = "belief.promoted"

    belief_id: Annotated[Id, State]
    """The belief."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefDemoted(EventModel):
    """An active belief becomes a candidate again; the count of its recurrences starts anew."""

    TYPE: ClassVar[str] = "belief.demoted"

    belief_id: Annotated[Id, State]
    """The belief."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefReclassified(EventModel):
    """What was recorded of how a belief was meant is corrected; only the named fields change."""

    TYPE: ClassVar[str] = "belief.reclassified"

    belief_id: Annotated[Id, State]
    """The belief."""
    kind: Kind | None = None
    """The corrected value."""
    node_kind: NodeKind | None = None
    """The corrected value."""
    speech_act: SpeechAct | None = None
    """The corrected value."""
    speech_act_confidence: PerMille | None = None
    """The corrected value."""
    voice: Voice | None = None
    """The corrected value."""
    assertion_type: AssertionType | None = None
    """The corrected value."""
    assertion_class: Slug | None = None
    """The corrected value."""
    confidence: PerMille | None = None
    """The corrected value."""
    policy: Slug | None = None
    """The corrected value."""
    condition_key: Annotated[Name | None, Hashed] = None
    """The corrected value."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefSuperseded(EventModel):
    """One belief takes another's place; a revision of both."""

    TYPE: ClassVar[str] = "belief.superseded"

    superseded_id: Annotated[Id, State]
    """The belief that ends."""
    superseding_id: Annotated[Id, Link]
    """The belief that takes its place."""
    cause: Literal["update", "correction", "refinement"] = "update"
    """Things changed, it had been wrong, or it is said more precisely."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefMerged(EventModel):
    """Two beliefs are the same; revisions of the duplicate count for the survivor from then on."""

    TYPE: ClassVar[str] = "belief.merged"

    duplicate_id: Annotated[Id, State]
    """The belief that ends as duplicate."""
    surviving_id: Annotated[Id, State]
    """The belief that goes on for both."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefRetracted(EventModel):
    """A belief ends without a successor."""

    TYPE: ClassVar[str] = "belief.retracted"

    belief_id: Annotated[Id, State]
    """The belief."""
    cause: Literal["wrong", "withdrawn", "asked"] = "withdrawn"
    """It was never true, its author took it back, or somebody asked for it to go."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class BeliefReinstated(EventModel):
    """Endings of a belief are undone; those that aren't named stay in force."""

    TYPE: ClassVar[str] = "belief.reinstated"

    belief_id: Annotated[Id, State]
    """The belief."""
    undoes: Annotated[Ids, Field(min_length=1), Undone]
    """Ids of the ending events that no longer count."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""


class ConditionMet(EventModel):
    """What should make a belief obsolete came true: for one belief, or for all that stand under a key."""

    TYPE: ClassVar[str] = "condition.met"

    belief_id: Annotated[Id | None, State] = None
    """The belief whose condition came true."""
    condition_key: Annotated[Name | None, Hashed] = None
    """Or the key: ends all beliefs that stand under it at that moment."""
    evidence: Annotated[Ids, Cited] = ()
    """What showed it."""
    reason: Annotated[Text | None, Words] = None
    """Why, in words."""

    @model_validator(mode="after")
    def _one_of_two(self) -> ConditionMet:
        if (self.belief_id is None) == (self.condition_key is None):
            raise ValueError("name either belief_id or condition_key")
        return self
