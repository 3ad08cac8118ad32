"""From the fields of a new event to what will be stored of it: checked, split into payload and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from beliefbase.events import limits
from beliefbase.events.catalog.base import EventModel, Model, Role
from beliefbase.events.catalog.reader import Reader, named, names_of, touches
from beliefbase.events.envelope import encode_body
from beliefbase.events.errors import InvalidEvent, LimitExceeded
from beliefbase.events.ids import name_hash

_PLAIN: Final = frozenset({str, bytes, int, bool})
_SOURCES_OF_WORDS: Final = frozenset({int(Role.CITED), int(Role.SHOWN)})
_MOST_CHARACTERS: Final = limits.VERBATIM_BYTES // 4
"""A text of so many characters is within the limit whatever they are."""


class Draft(NamedTuple):
    """An event that was checked and waits for its writer, stamp and place in a stream."""

    type: str
    version: int
    payload: dict[str, Any]
    """What goes into the skeleton, its maps in key order."""
    words: dict[str, Any]
    body: bytes | None
    """The words as they are stored; None where there are none."""
    touches: tuple[bytes, ...]
    cites: tuple[bytes, ...]
    """Every id whose words this event's words may be made from: the default subjects come from there."""
    basis: tuple[bytes, ...] | None
    source_ref: bytes | None
    subjects: tuple[bytes, ...] | None
    notes: tuple[str, ...]
    """What was left out because it was malformed and only observed."""
    names: tuple[tuple[bytes, int], ...] | None = None
    """What the payload names, each with its role, for the log's index; None: to be read from the payload."""


def draft(reader: Reader, fields: Mapping[str, Any]) -> Draft:
    """Check the fields of a new event, as they are written on the wire (ids as hex or bytes).

    Raises:
        InvalidEvent: names the field and the reason; LimitExceeded also the limit.
    """
    malformed: tuple[str, ...] = ()
    if reader.observed and not reader.observed.isdisjoint(fields):
        fields, malformed = _leave_out_malformed(reader, fields)
    try:
        event = reader.validate(fields)
    except ValidationError as error:
        raise _explained(reader.model.TYPE, error) from None
    return _split(reader, event, malformed)


def _split(reader: Reader, event: EventModel, malformed: tuple[str, ...]) -> Draft:
    payload: dict[str, Any] = {}
    words: dict[str, Any] = {}
    # A model's attributes are looked up here as seldom as can be: they are several times slower than other objects'.
    type_name, values, given = event.TYPE, event.__dict__, event.__pydantic_fields_set__
    places = reader.places
    for name in sorted(given | reader.defaulted if reader.defaulted else given):  # maps in key order are canonical
        value = values[name]
        if value is None or name not in places:
            continue
        required, in_payload, hashed, in_words = places[name]
        if not value and value == () and not required:
            continue
        plain = value if type(value) in _PLAIN else _plain(value)
        if in_payload:
            payload[name] = name_hash(plain) if hashed else plain
        if in_words:
            words[name] = plain
            if type(plain) is str and len(plain) > _MOST_CHARACTERS:
                _check_bytes(type_name, name, plain)
    if malformed:
        payload["malformed"] = malformed
        payload = dict(sorted(payload.items()))
    ids = named(reader, payload) if reader.named else []
    basis, source_ref, subjects = values["basis"], values["source_ref"], values["subjects"]
    return Draft(
        type_name,
        reader.version,
        payload,
        words,
        encode_body(words) if words else None,
        touches(reader, payload, ids),
        tuple({key: None for key, role, _ in ids if role in _SOURCES_OF_WORDS}) if words and ids else (),
        None if basis is None else tuple(sorted(set(basis))),
        None if source_ref is None else name_hash(source_ref),
        None if subjects is None else tuple(sorted({name_hash(name) for name in subjects})),
        tuple([f"{name} was malformed and is left out" for name in malformed]) if malformed else (),
        names_of(reader, payload, ids),
    )


def _check_bytes(type_name: str, field: str, text: str) -> None:
    size = len(text.encode())
    if size > limits.VERBATIM_BYTES:
        raise LimitExceeded(
            f"{type_name}: {field} has {size} bytes; the limit VERBATIM_BYTES is {limits.VERBATIM_BYTES}",
            hint="record long texts as several utterances",
            limit="VERBATIM_BYTES",
            field=field,
            type=type_name,
        )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return value if not value or type(value[0]) in _PLAIN else tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return dict(sorted(value.items()))
    if isinstance(value, Model):
        return {name: _plain(item) for name, item in sorted(value.__dict__.items()) if item is not None}
    return value


def _leave_out_malformed(reader: Reader, fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    observed = sorted(reader.observed.intersection(fields))
    malformed = tuple([name for name in observed if not _is_well_formed(reader.model, name, fields[name])])
    return ({name: fields[name] for name in fields if name not in malformed} if malformed else fields), malformed


def _is_well_formed(model: type[EventModel], name: str, value: object) -> bool:
    try:
        model.__pydantic_validator__.validate_assignment(model.model_construct(), name, value)
    except ValidationError:
        return False
    return not isinstance(value, str) or len(value.encode()) <= limits.VERBATIM_BYTES


_LIMITS: Final[Mapping[tuple[str, int], str]] = {
    ("too_long", limits.LIST_ITEMS): "LIST_ITEMS",
    ("string_too_long", limits.NAME_CHARACTERS): "NAME_CHARACTERS",
    ("string_too_long", limits.EXCERPT_CHARACTERS): "EXCERPT_CHARACTERS",
    ("string_too_long", limits.SLUG_CHARACTERS): "SLUG_CHARACTERS",
    ("string_too_long", limits.VERBATIM_BYTES): "VERBATIM_BYTES",
}
"""Which limit an error of pydantic's is about."""


def _explained(type_name: str, error: ValidationError) -> InvalidEvent:
    first = error.errors(include_url=False, include_input=False)[0]
    reason = first["type"]
    field = ".".join(str(part) for part in first["loc"]) or "(event)"
    data = {"hint": f"docs/events.md lists the fields of {type_name}", "field": field, "type": type_name}
    limit = _LIMITS.get((reason, first.get("ctx", {}).get("max_length", 0)))
    if limit is not None:
        most = getattr(limits, limit)
        return LimitExceeded(f"{type_name}: {field} is too long; the limit {limit} is {most}", **data, limit=limit)
    if reason == "missing":
        message = f"{type_name}: {field} is missing"
    elif reason == "extra_forbidden":
        message = f"{type_name} has no field {field}"
    else:
        message = f"{type_name}: {field}: {first['msg'].removeprefix('Value error, ')}"
    return InvalidEvent(message, **data, reason=reason)
