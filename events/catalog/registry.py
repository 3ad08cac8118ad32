"""The closed registry of event types: checks what is appended, reads what is stored, says what it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from beliefbase.events.catalog import beliefs, people, settings, use, verdicts
from beliefbase.events.catalog.base import EventModel, Role
from beliefbase.events.catalog.drafting import Draft, draft
from beliefbase.events.catalog.reader import Reader, named, names_of, reader_of, touches
from beliefbase.events.envelope import FORMAT, Skeleton
from beliefbase.events.errors import InvalidEvent

Upcaster = Callable[[Mapping[str, Any]], Mapping[str, Any]]

FATE_CHANGING: Final = frozenset(
    {
        "belief.superseded",
        "belief.merged",
        "belief.retracted",
        "belief.reinstated",
        "belief.reclassified",
        "condition.met",
        "contradiction.resolved",
        "memory.revalidated",
    }
)
"""Revisions that may change a belief's fate: what a basis names (DESIGN 5, concurrent revision)."""
REVISIONS: Final = FATE_CHANGING | {
    "belief.affirmed",
    "belief.promoted",
    "belief.demoted",
    "contradiction.raised",
    "conclusion.derived",
}
"""Events that carry a basis."""


class Unreadable(NamedTuple):
    """Why an event that is stored can't be used by this release."""

    reason: str
    """unknown_format, unknown_type, unknown_version, unknown_field, invalid_payload, touches_mismatch, question."""
    detail: str


class Catalog:
    """Event types by name; each has one current model, and upcasters from its older versions."""

    def __init__(
        self, models: Iterable[type[EventModel]], upcasters: Mapping[tuple[str, int], Upcaster] | None = None
    ) -> None:
        self.models: dict[str, type[EventModel]] = {model.TYPE: model for model in models}
        self._upcasters = dict(upcasters or {})
        self.readers = {name: reader_of(model) for name, model in self.models.items()}
        """What each model is used for, looked up once."""

    def draft(self, type_name: str, fields: Mapping[str, Any]) -> Draft:
        """Check the fields of a new event, as they are written on the wire (ids as hex or bytes).

        Raises:
            InvalidEvent: names the field and the reason.
        """
        reader = self.readers.get(type_name)
        if reader is None:
            raise InvalidEvent(
                f"there is no event type {type_name[:80]!r}", hint="docs/events.md lists the types", field="type"
            )
        checked = draft(reader, fields)
        if type_name == "belief.extracted" and checked.payload.get("speech_act") == "question":
            raise InvalidEvent(
                "a question is never a memory", hint="append it as question.raised", field="speech_act", type=type_name
            )
        return checked

    def read(self, skeleton: Skeleton) -> Mapping[str, Any] | Unreadable:
        """The payload of a stored event in its current version, or why it can't be used; never raises."""
        if skeleton.format != FORMAT:
            return Unreadable("unknown_format", str(skeleton.format))
        reader = self.readers.get(skeleton.type)
        if reader is None:
            return Unreadable("unknown_type", skeleton.type)
        payload = self._current(skeleton, reader)
        if isinstance(payload, Unreadable):
            return payload
        shapes = reader.shapes
        for name, value in payload.items():
            shape = shapes.get(name)
            if shape is None:
                return Unreadable("unknown_field", name[:200])
            if not shape.check(value):
                return Unreadable("invalid_payload", name)
        if not reader.required <= payload.keys():
            return Unreadable("invalid_payload", min(reader.required - payload.keys()))
        if reader.one_of and len(reader.one_of & payload.keys()) != 1:
            return Unreadable("invalid_payload", min(reader.one_of))
        if skeleton.touches != touches(reader, payload, named(reader, payload)):
            return Unreadable("touches_mismatch", "")
        if payload.get("speech_act") == "question" and skeleton.type == "belief.extracted":
            return Unreadable("question", "")
        return payload

    def id_fields(self, type_name: str) -> tuple[tuple[str, str | None], ...]:
        """Where a type's fields hold ids: (field, None), or (list of maps, field inside); empty for unknown types."""
        reader = self.readers.get(type_name)
        return () if reader is None else (("basis", None), *((field, inner) for field, inner, *_ in reader.named))

    def references(self, skeleton: Skeleton, event_id: bytes) -> set[tuple[bytes, int]]:
        """What an event names, in which role: the rows of the log's index (ADR 0008); never raises."""
        return set(self.mentions(skeleton, event_id))

    def mentions(
        self, skeleton: Skeleton, event_id: bytes, names: Iterable[tuple[bytes, int]] | None = None
    ) -> list[tuple[bytes, int]]:
        """The :meth:`references` of an event, some of them perhaps twice.

        ``names`` is what its payload names (``Draft.names``), where that is known already.
        """
        found = [(event_id, _SELF), *(self._names(skeleton) if names is None else names)]
        if skeleton.source_ref is not None:
            found.append((skeleton.source_ref, _SELF))
        if skeleton.basis:
            found += [(key, _BASIS) for key in skeleton.basis_ids]
        for key in skeleton.subjects:
            found.append((key, _CITED))
        return found

    def _names(self, skeleton: Skeleton) -> tuple[tuple[bytes, int], ...]:
        reader = self.readers.get(skeleton.type)
        payload = Unreadable("unknown_type", "") if reader is None else self._current(skeleton, reader)
        if reader is None or isinstance(payload, Unreadable):
            return tuple((key, _STATE) for key in skeleton.touches)
        return names_of(reader, payload, named(reader, payload))

    def _current(self, skeleton: Skeleton, reader: Reader) -> Mapping[str, Any] | Unreadable:
        """The payload in the reader's version, not checked yet."""
        payload = skeleton.payload
        if skeleton.version == reader.version:
            return payload
        told = f"{skeleton.type}/{skeleton.version}"
        if skeleton.version > reader.version:
            return Unreadable("unknown_version", told)
        for version in range(skeleton.version, reader.version):
            upcaster = self._upcasters.get((skeleton.type, version))
            if upcaster is None:
                return Unreadable("unknown_version", told)
            try:
                payload = upcaster(payload)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                return Unreadable("invalid_payload", told)
        return payload


_SELF, _STATE, _BASIS, _CITED = (int(role) for role in (Role.SELF, Role.STATE, Role.BASIS, Role.CITED))
CATALOG: Final = Catalog(
    [
        people.WriterJoined,
        people.WriterClosed,
        people.UtteranceRecorded,
        beliefs.BeliefExtracted,
        beliefs.BeliefAffirmed,
        beliefs.BeliefPromoted,
        beliefs.BeliefDemoted,
        beliefs.BeliefReclassified,
        beliefs.BeliefSuperseded,
        beliefs.BeliefMerged,
        beliefs.BeliefRetracted,
        beliefs.BeliefReinstated,
        beliefs.ConditionMet,
        verdicts.JudgementRecorded,
        verdicts.ContradictionRaised,
        verdicts.ContradictionResolved,
        use.MemoryInjected,
        use.MemoryUsed,
        use.LiveContradictionDetected,
        use.RevalidationAsked,
        use.MemoryRevalidated,
        verdicts.QuestionRaised,
        verdicts.QuestionAnswered,
        verdicts.ConclusionDerived,
        settings.PolicyDefined,
        settings.ProfileActivated,
        people.SubjectErased,
    ]
)
