"""The closed registry of event types: checks what is appended, reads what is stored, says what it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from beliefbase.events.catalog import beliefs, people, settings, use, verdicts
from beliefbase.events.catalog.base import EventModel, Model, Named, Place, Role, Shape, place
from beliefbase.events.envelope import FORMAT, Skeleton
from beliefbase.events.errors import InvalidEvent
from beliefbase.events.ids import name_hash

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


class Draft(NamedTuple):
    """An event that was checked and waits for its writer, stamp and place in a stream."""

    type: str
    version: int
    payload: dict[str, Any]
    words: dict[str, Any]
    touches: tuple[bytes, ...]
    cites: tuple[bytes, ...]
    """Every id whose words this event's words may be made from: the default subjects come from there."""
    basis: tuple[bytes, ...] | None
    source_ref: bytes | None
    subjects: tuple[bytes, ...] | None
    notes: tuple[str, ...]
    """What was left out because it was malformed and only observed."""


class Unreadable(NamedTuple):
    """Why an event that is stored can't be used by this release."""

    reason: str
    """unknown_format, unknown_type, unknown_version, unknown_field, invalid_payload, touches_mismatch, question."""
    detail: str


class _Reader(NamedTuple):
    version: int
    shapes: Mapping[str, Shape]
    required: frozenset[str]
    named: tuple[tuple[str, str | None, Named], ...]
    places: tuple[tuple[str, bool, Place | None], ...]
    """(field, required, mark) of everything but basis and subjects, in key order, so that maps come out canonical."""


class Catalog:
    """Event types by name; each has one current model, and upcasters from its older versions."""

    def __init__(
        self, models: Iterable[type[EventModel]], upcasters: Mapping[tuple[str, int], Upcaster] | None = None
    ) -> None:
        self.models: dict[str, type[EventModel]] = {model.TYPE: model for model in models}
        self._upcasters = dict(upcasters or {})
        self._readers = {name: _reader(model) for name, model in self.models.items()}

    def draft(self, type_name: str, fields: Mapping[str, Any]) -> Draft:
        """Check the fields of a new event, as they are written on the wire (ids as hex or bytes).

        Raises:
            InvalidEvent: names the field and the reason.
        """
        model = self.models.get(type_name)
        if model is None:
            raise InvalidEvent(
                f"there is no event type {type_name[:80]!r}", hint="docs/events.md lists the types", field="type"
            )
        fields, malformed = _leave_out_malformed(model, fields)
        try:
            event = model.model_validate(fields)
        except ValidationError as error:
            raise _explained(type_name, error) from None
        draft = _split(self._readers[type_name], event, malformed)
        if type_name == "belief.extracted" and draft.payload.get("speech_act") == "question":
            raise InvalidEvent(
                "a question is never a memory", hint="append it as question.raised", field="speech_act", type=type_name
            )
        return draft

    def read(self, skeleton: Skeleton) -> Mapping[str, Any] | Unreadable:
        """The payload of a stored event in its current version, or why it can't be used; never raises."""
        if skeleton.format != FORMAT:
            return Unreadable("unknown_format", str(skeleton.format))
        reader = self._readers.get(skeleton.type)
        if reader is None:
            return Unreadable("unknown_type", skeleton.type)
        payload = skeleton.payload
        if skeleton.version != reader.version:
            upcast = self._upcast(skeleton.type, skeleton.version, reader.version, payload)
            if upcast is None:
                return Unreadable("unknown_version", f"{skeleton.type}/{skeleton.version}")
            payload = upcast
        shapes = reader.shapes
        for name, value in payload.items():
            shape = shapes.get(name)
            if shape is None:
                return Unreadable("unknown_field", name[:200])
            if not shape.check(value):
                return Unreadable("invalid_payload", name)
        if not reader.required <= payload.keys():
            return Unreadable("invalid_payload", min(reader.required - payload.keys()))
        if skeleton.type == "condition.met" and ("belief_id" in payload) == ("condition_key" in payload):
            return Unreadable("invalid_payload", "condition_key")
        if skeleton.touches != _touches(skeleton.type, payload, reader):
            return Unreadable("touches_mismatch", "")
        if payload.get("speech_act") == "question" and skeleton.type == "belief.extracted":
            return Unreadable("question", "")
        return payload

    def id_fields(self, type_name: str) -> tuple[tuple[str, str | None], ...]:
        """Where a type's fields hold ids: (field, None), or (list of maps, field inside); empty for unknown types."""
        reader = self._readers.get(type_name)
        return () if reader is None else (("basis", None), *((field, inner) for field, inner, _ in reader.named))

    def references(self, skeleton: Skeleton, event_id: bytes) -> set[tuple[bytes, int]]:
        """What an event names, in which role: the rows of the log's index (ADR 0008); never raises."""
        found = {(event_id, int(Role.SELF))}
        if skeleton.source_ref is not None:
            found.add((skeleton.source_ref, int(Role.SELF)))
        for key in skeleton.basis_ids:
            found.add((key, int(Role.BASIS)))
        for key in skeleton.subjects:
            found.add((key, int(Role.CITED)))
        reader = self._readers.get(skeleton.type)
        if reader is None or skeleton.version != reader.version:
            found.update((key, int(Role.STATE)) for key in skeleton.touches)
            return found
        for role, key in _named(skeleton.payload, reader):
            found.add((key, int(role.role)))
        if skeleton.type in _KEYED:
            found.update((key, int(Role.STATE)) for key in _key_of(skeleton.type, skeleton.payload))
        return found

    def _upcast(self, name: str, version: int, to: int, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
        while version < to:
            upcaster = self._upcasters.get((name, version))
            if upcaster is None:
                return None
            payload = upcaster(payload)
            version += 1
        return payload if version == to else None


_KEYED: Final[dict[str, str]] = {
    "condition.met": "condition_key",
    "belief.extracted": "condition_key",
    "belief.reclassified": "condition_key",
    "policy.defined": "policy",
    "profile.activated": "profile",
    "subject.erased": "subject",
}
"""Types that act through, or stand under, a key; it is touched by all but those that only stand under it."""
_STANDS_UNDER: Final = frozenset({"belief.extracted", "belief.reclassified"})


def _key_of(name: str, payload: Mapping[str, Any]) -> tuple[bytes, ...]:
    value = payload.get(_KEYED[name])
    if isinstance(value, bytes):
        return (value,) if len(value) == 16 else ()
    return (name_hash(value),) if isinstance(value, str) and value.isascii() else ()


def _named(payload: Mapping[str, Any], reader: _Reader) -> Iterable[tuple[Named, bytes]]:
    for field, inner, named in reader.named:
        value = payload.get(field)
        items = value if isinstance(value, tuple) else (value,)
        for item in items:
            key = item.get(inner) if inner is not None and isinstance(item, dict) else item
            if isinstance(key, bytes) and len(key) == 16:
                yield named, key


def _touches(name: str, payload: Mapping[str, Any], reader: _Reader) -> tuple[bytes, ...]:
    touched = {key for named, key in _named(payload, reader) if named.touch}
    if name in _KEYED and name not in _STANDS_UNDER:
        touched.update(_key_of(name, payload))
    return tuple(sorted(touched))


def _reader(model: type[EventModel]) -> _Reader:
    shapes = model.shapes()
    return _Reader(
        version=model.VERSION,
        shapes=shapes,
        required=frozenset(name for name, shape in shapes.items() if shape.required),
        named=tuple((name, inner, named) for name, shape in shapes.items() for inner, named in shape.named),
        places=tuple(
            (name, field.is_required(), place(field.metadata))
            for name, field in sorted(model.model_fields.items())
            if name not in {"basis", "subjects"}
        ),
    )


def _split(reader: _Reader, event: EventModel, malformed: tuple[str, ...]) -> Draft:
    payload: dict[str, Any] = {}
    words: dict[str, Any] = {}
    values = event.__dict__
    for name, required, mark in reader.places:
        value = values[name]
        if value is None or (value == () and not required):
            continue
        plain = value if isinstance(value, str | bytes | int) else _plain(value)
        if mark is None:
            payload[name] = plain
            continue
        if mark.words:
            words[name] = plain
        if mark.hashed:
            payload[name] = name_hash(str(plain))
    if malformed:
        payload["malformed"] = malformed
        payload = dict(sorted(payload.items()))
    cited = {key for named, key in _named(payload, reader) if named.role in {Role.CITED, Role.SHOWN}} if words else ()
    return Draft(
        type=event.TYPE,
        version=event.VERSION,
        payload=payload,
        words=words,
        touches=_touches(event.TYPE, payload, reader),
        cites=tuple(sorted(cited)),
        basis=None if event.basis is None else tuple(sorted(set(event.basis))),
        source_ref=None if event.source_ref is None else name_hash(event.source_ref),
        subjects=None if event.subjects is None else tuple(sorted({name_hash(name) for name in event.subjects})),
        notes=tuple(f"{name} was malformed and is left out" for name in malformed),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return dict(sorted(value.items()))
    if isinstance(value, Model):
        return {name: _plain(item) for name, item in sorted(value.__dict__.items()) if item is not None}
    return value


def _leave_out_malformed(
    model: type[EventModel], fields: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    observed = [name for name in fields if name in model.OBSERVE_ONLY]
    if not observed:
        return fields, ()
    validator = model.__pydantic_validator__
    kept = dict(fields)
    malformed = []
    for name in observed:
        try:
            validator.validate_assignment(model.model_construct(), name, fields[name])
        except ValidationError:
            del kept[name]
            malformed.append(name)
    return kept, tuple(sorted(malformed))


def _explained(type_name: str, error: ValidationError) -> InvalidEvent:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "(event)"
    hint = f"docs/events.md lists the fields of {type_name}"
    if first["type"] == "missing":
        message = f"{type_name}: {field} is missing"
    elif first["type"] == "extra_forbidden":
        message = f"{type_name} has no field {field}"
    else:
        message = f"{type_name}: {field}: {first['msg']}"
    if first["type"] in {"too_long", "string_too_long"}:
        hint = f"the limit is {first['ctx']['max_length']}; " + hint
    return InvalidEvent(message, hint=hint, field=field, type=type_name, reason=first["type"])


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
