"""A model as the catalogue uses it: what is asked of it for every event is looked up once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from beliefbase.events.catalog.base import EventModel, Role, Shape, place
from beliefbase.events.ids import ID_BYTES, name_hash

_STATE: Final = int(Role.STATE)
_KEYED: Final[Mapping[str, tuple[str, bool]]] = {
    "condition.met": ("condition_key", True),
    "belief.extracted": ("condition_key", False),
    "belief.reclassified": ("condition_key", False),
    "policy.defined": ("policy", True),
    "profile.activated": ("profile", True),
    "subject.erased": ("subject", True),
}
"""Types that have a key: its field, and whether they act through it (and so touch it) or only stand under it."""
_ONE_OF: Final[Mapping[str, frozenset[str]]] = {"condition.met": frozenset({"belief_id", "condition_key"})}


Stored = tuple[bool, bool, bool, bool]
"""How a field of the wire is stored: required, in the payload, there only as a hash, in the words."""


Reference = tuple[bytes, int, bool]
"""An id that a payload names: in which role, and whether the event touches it."""


class Reader(NamedTuple):
    """A type's current version, and its fields by what they are used for."""

    model: type[EventModel]
    validate: Callable[[Mapping[str, Any]], Any]
    """Makes an instance of the model of fields on the wire, as pydantic does; raises ValidationError."""
    observed: frozenset[str]
    """Fields that no rule reads."""
    version: int
    shapes: Mapping[str, Shape]
    required: frozenset[str]
    named: tuple[tuple[str, str | None, int, bool], ...]
    """Where ids stand, (field, None) or (list of maps, field inside), each with its role and whether it is touched."""
    places: Mapping[str, Stored]
    """Where each field is stored that goes into the payload or the words."""
    defaulted: frozenset[str]
    """Fields that are stored even where they aren't given."""
    key: str | None
    """The field with the key that events of this type act through, or stand under."""
    touches_key: bool
    touching: bool
    """Whether such an event can touch anything."""
    one_of: frozenset[str]
    """Fields of which exactly one is there."""


def reader_of(model: type[EventModel]) -> Reader:
    """The reader of a model."""
    shapes = model.shapes()
    key, touches_key = _KEYED.get(model.TYPE, (None, False))
    return Reader(
        model=model,
        validate=model.__pydantic_validator__.validate_python,
        observed=model.OBSERVE_ONLY,
        version=model.VERSION,
        shapes=shapes,
        required=frozenset(name for name, shape in shapes.items() if shape.required),
        named=tuple((name, inner, *named) for name, shape in shapes.items() for inner, named in shape.named),
        places={
            name: (field.is_required(), mark is None or mark.hashed, mark is not None, mark is not None and mark.words)
            for name, field in model.model_fields.items()
            if name not in {"basis", "subjects"}
            for mark in (place(field.metadata),)
        },
        defaulted=frozenset(
            name
            for name, field in model.model_fields.items()
            if not field.is_required() and field.default not in {None, ()}
        ),
        key=key,
        touches_key=touches_key,
        touching=touches_key or any(named.touch for shape in shapes.values() for _, named in shape.named),
        one_of=_ONE_OF.get(model.TYPE, frozenset()),
    )


def named(reader: Reader, payload: Mapping[str, Any]) -> list[Reference]:
    """The ids in a payload, which nobody needs to have checked, each with how it is named."""
    found: list[Reference] = []
    for field, inner, role, touch in reader.named:
        value = payload.get(field)
        if value is None:
            continue
        for item in value if isinstance(value, tuple) else (value,):
            key = item.get(inner) if inner is not None and isinstance(item, dict) else item
            if isinstance(key, bytes) and len(key) == ID_BYTES:
                found.append((key, role, touch))
    return found


def touches(reader: Reader, payload: Mapping[str, Any], ids: Iterable[Reference]) -> tuple[bytes, ...]:
    """What an event with this payload and these :func:`named` ids touches."""
    if not reader.touching:
        return ()
    touched = {key for key, _, touch in ids if touch}
    if reader.touches_key:
        touched.update(key_of(payload.get(reader.key or "")))
    return tuple(sorted(touched)) if len(touched) > 1 else tuple(touched)


def names_of(reader: Reader, payload: Mapping[str, Any], ids: Iterable[Reference]) -> tuple[tuple[bytes, int], ...]:
    """What a payload names with its :func:`named` ids and its key, each with the role: rows of the log's index."""
    names = [(key, role) for key, role, _ in ids]
    if reader.key is not None and reader.key in payload:
        names += [(key, _STATE) for key in key_of(payload.get(reader.key))]
    return tuple(names)


def key_of(value: object) -> tuple[bytes, ...]:
    """The index key of a condition, policy, profile or subject; empty for what is none."""
    if isinstance(value, bytes):
        return (value,) if len(value) == ID_BYTES else ()
    return (name_hash(value),) if isinstance(value, str) and value.isascii() else ()
