"""What an event type is made of: fields, where each one is stored, and which ids it names.

A field of a model says where it goes: into the skeleton's payload as it is (the default), into the words
(:data:`Words`), or both, as a hash in the payload and as text in the words (:data:`Hashed`; :data:`HashOnly`
leaves the text out). An id field says in which role it names its target (:class:`Role`, :class:`Named`), which is
what the log's index is made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StringConstraints

from beliefbase.events import limits
from beliefbase.events.catalog.checks import (
    SLUG,
    Check,
    IsBytes,
    IsFlag,
    IsList,
    IsMap,
    IsSlug,
    IsTable,
    IsWhole,
    IsWord,
)
from beliefbase.events.errors import InvalidEvent
from beliefbase.events.ids import ID_BYTES, parse_id


class Role(IntEnum):
    """How an event names something: the second half of the log index's key (ADR 0008)."""

    SELF = 0
    """The event's own id, and its own source_ref."""
    STATE = 1
    """The thing whose life the event acts on."""
    LINK = 2
    """What takes part without being acted on: a superseder, the endings to undo."""
    BASIS = 3
    """A revision that the author had read."""
    SHOWN = 4
    """A belief that was shown or used."""
    CITED = 5
    """Evidence, judgements, subjects and all else."""
    INPUT = 6
    """A belief that a conclusion rests on."""


class Place(NamedTuple):
    """Marks a field that isn't simply part of the payload."""

    words: bool
    hashed: bool


class Named(NamedTuple):
    """Marks an id field: the role in which it names its target, and whether the event touches that."""

    role: int
    """One of :class:`Role`, as the plain number that the index holds."""
    touch: bool


Words: Final = Place(words=True, hashed=False)
Hashed: Final = Place(words=True, hashed=True)
HashOnly: Final = Place(words=False, hashed=True)
"""The name itself is stored nowhere."""
State: Final = Named(int(Role.STATE), touch=True)
Cited: Final = Named(int(Role.CITED), touch=False)
Link: Final = Named(int(Role.LINK), touch=True)
Undone: Final = Named(int(Role.LINK), touch=False)
Input: Final = Named(int(Role.INPUT), touch=True)
Shown: Final = Named(int(Role.SHOWN), touch=True)


def _id(value: object) -> bytes:
    if isinstance(value, bytes) and len(value) == ID_BYTES:
        return value
    if not isinstance(value, str):
        raise ValueError("an id is 16 bytes, or 32 hex digits")  # noqa: TRY004  what pydantic reports
    try:
        return parse_id(value)
    except InvalidEvent as error:
        raise ValueError(f"{error} ({error.hint})") from None


Id = Annotated[bytes, PlainValidator(_id)]
"""An event id: 16 bytes, or 32 hex digits on the wire."""


class Exactly(NamedTuple):
    """Marks a field of so many bytes that is no id."""

    size: int


def _certificate(value: object) -> bytes:
    if isinstance(value, str):
        value = bytes.fromhex(value)
    if not isinstance(value, bytes) or len(value) != CERTIFICATE_BYTES:
        raise ValueError(f"a certificate is {CERTIFICATE_BYTES} bytes")
    return value


CERTIFICATE_BYTES: Final = 32 + 32 + 64
Certificate = Annotated[bytes, PlainValidator(_certificate), Exactly(CERTIFICATE_BYTES)]
"""What an agent's key says of a writer's (``beliefbase.events.signing``)."""
Ids = Annotated[tuple[Id, ...], Field(max_length=limits.LIST_ITEMS)]
Text = Annotated[str, StringConstraints(max_length=limits.VERBATIM_BYTES)]
"""What somebody wrote; its bytes are counted where it is split off, because a constraint counts characters."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME_CHARACTERS)]
"""What a person wrote to name something: its hash stands in the skeleton."""
Slug = Annotated[str, StringConstraints(max_length=limits.SLUG_CHARACTERS, pattern=rf"^{SLUG.pattern}$")]
"""An identifier of software or configuration, ASCII."""
PerMille = Annotated[int, Field(ge=0, le=1000, strict=True)]
Count = Annotated[int, Field(ge=0, le=(1 << 53) - 1, strict=True)]


class Model(BaseModel):
    """A part of a payload."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class EventModel(Model):
    """Base of every event type; the subclass's docstring is its row in ``docs/events.md``."""

    TYPE: ClassVar[str]
    VERSION: ClassVar[int] = 1
    OBSERVE_ONLY: ClassVar[frozenset[str]] = frozenset()
    """Fields that no rule reads: a malformed one becomes absent and is noted, never an error."""

    source_ref: Annotated[Name | None, Words] = None
    """Names the item this event stands for (``importer:source:item``, ``key:agent:key``); one name, one entity."""
    basis: tuple[Id, ...] | None = None
    """Ids of the revisions that the author had read; what the store has where it is absent."""
    subjects: Annotated[tuple[Name, ...] | None, Field(max_length=limits.LIST_ITEMS)] = None
    """Everyone whose words, or text made from them, are in the body; by default the speakers of what it cites."""

    @classmethod
    def shapes(cls) -> Mapping[str, Shape]:
        """The fields of the payload, by name."""
        return _shapes(cls)


class Shape(NamedTuple):
    """One field of a stored payload: how to check it, and what it names."""

    required: bool
    check: Check
    named: tuple[tuple[str | None, Named], ...]
    """(None, …) for a field that is an id or a list of ids; (inner field, …) for ids inside a list of maps."""


ENVELOPE: Final = frozenset({"source_ref", "basis", "subjects"})
_CACHE: Final[dict[type[BaseModel], dict[str, Shape]]] = {}


def _shapes(model: type[BaseModel]) -> Mapping[str, Shape]:
    known = _CACHE.get(model)
    if known is None:
        known = _CACHE[model] = {
            name: Shape(
                required=field.is_required() or (field.default is not None and not isinstance(field.default, tuple)),
                check=_check(field.annotation, field.metadata),
                named=tuple(_names(field.annotation, field.metadata)),
            )
            for name, field in model.model_fields.items()
            if name not in ENVELOPE and place(field.metadata) != Words
        }
    return known


def place(metadata: list[Any]) -> Place | None:
    """Where a field with this metadata is stored besides the payload."""
    return next((mark for mark in metadata if isinstance(mark, Place)), None)


def _names(annotation: Any, metadata: list[Any]) -> Iterator[tuple[str | None, Named]]:
    mark = next((mark for mark in metadata if isinstance(mark, Named)), None)
    if mark:
        yield None, mark
    for inner in _inner_models(annotation):
        for name, field in inner.model_fields.items():
            for _, named in _names(field.annotation, field.metadata):
                yield name, named


def _inner_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        if argument is not Ellipsis:
            yield from _inner_models(argument)


def _check(annotation: Any, metadata: list[Any]) -> Check:
    """The shape of what is stored for a field with this annotation."""
    mark = place(metadata)
    if mark and mark.hashed:
        return IsBytes(ID_BYTES)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _check(arguments[0], list(arguments[1:]))
    if type(None) in arguments:  # absent is omitted, so a stored value is never None
        rest = [argument for argument in arguments if argument is not type(None)]
        return _check(rest[0], metadata)
    if origin is Literal:
        return IsWord(frozenset(arguments))
    if origin is tuple:
        return IsList(_check(arguments[0], []))
    if origin is dict:
        return IsTable(_check(arguments[0], []), _check(arguments[1], []))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _map_of(_shapes(annotation))
    if annotation is bytes:
        return IsBytes(next((mark.size for mark in metadata if isinstance(mark, Exactly)), ID_BYTES))
    if annotation is bool:
        return IsFlag()
    if annotation is int:
        return _whole(metadata)
    if annotation is str:
        return IsSlug()
    raise TypeError(f"no payload field can be {annotation!r}")  # a mistake in the catalogue, found by its tests


def _whole(metadata: list[Any]) -> IsWhole:
    flat = [mark for item in metadata for mark in getattr(item, "metadata", [item])]
    least = next((mark.ge for mark in flat if hasattr(mark, "ge")), -(1 << 63))
    most = next((mark.le for mark in flat if hasattr(mark, "le")), (1 << 63) - 1)
    return IsWhole(least, most)


def _map_of(shapes: Mapping[str, Shape]) -> IsMap:
    needed = frozenset(name for name, shape in shapes.items() if shape.required)
    return IsMap({name: shape.check for name, shape in shapes.items()}, needed)
