"""For tests of the catalogue: fields of every event type as they are written on the wire, made from the models."""

import types
from functools import cache
from typing import Annotated, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from beliefbase.events.catalog import CATALOG
from beliefbase.events.catalog.base import SLUG, place

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


def constraints(annotation, metadata):
    """(bare annotation, everything said about it) of a field."""
    marks = list(metadata)
    while get_origin(annotation) in (Annotated, Union, types.UnionType):
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            marks += more
        else:
            annotation = next(argument for argument in get_args(annotation) if argument is not type(None))
    flat = []
    for mark in marks:
        flat += mark.metadata if isinstance(mark, FieldInfo) else [mark]
    return annotation, flat


def bound(marks, name, default):
    return next((getattr(mark, name) for mark in marks if getattr(mark, name, None) is not None), default)


def values(annotation, metadata=()):
    """A strategy for the values of a field on the wire."""
    annotation, marks = constraints(annotation, metadata)
    origin = get_origin(annotation)
    if origin is Literal:
        return st.sampled_from(get_args(annotation))
    if origin is tuple:
        least = bound(marks, "min_length", 0)
        return st.lists(values(get_args(annotation)[0]), min_size=least, max_size=4)
    if origin is dict:
        key, value = get_args(annotation)
        return st.dictionaries(values(key), values(value), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return fields_of(annotation)
    if annotation is bytes:
        size = bound(marks, "size", 16)
        ids = st.binary(min_size=size, max_size=size)
        return ids | ids.map(bytes.hex)
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.integers(bound(marks, "ge", -(2**63)), bound(marks, "le", 2**63 - 1))
    assert annotation is str, annotation
    if any(getattr(mark, "pattern", None) for mark in marks):
        return st.from_regex(SLUG, fullmatch=True).filter(lambda text: len(text) <= 64)
    return TEXTS.filter(bool) if bound(marks, "min_length", 0) else TEXTS


def fields_of(model):
    """A strategy for all fields of a model: the required ones always, the others sometimes."""
    required, optional = {}, {}
    for name, field in model.model_fields.items():
        (required if field.is_required() else optional)[name] = values(field.annotation, field.metadata)
    return st.fixed_dictionaries(required, optional=optional)


@cache
def drafts_of(name):
    """A strategy for the fields of an event type that may be appended."""
    found = fields_of(CATALOG.models[name])
    if name == "condition.met":
        found = found.map(lambda fields: one_of_two(fields, "belief_id", "condition_key"))
    if name == "belief.extracted":
        found = found.filter(lambda fields: fields.get("speech_act") != "question")
    return found


def one_of_two(fields, first, second):
    if first in fields:
        return {name: value for name, value in fields.items() if name != second}
    return {second: "the key", **fields}


def text_fields(model):
    """Every text that a person may have written: (field, whether it is a list of texts, where it is stored)."""
    for name, listed, slug, where in strings(model):
        if not slug:
            yield name, listed, where


def slug_fields(model):
    """The fields that hold identifiers of software or configuration."""
    return [name for name, _, slug, _ in strings(model) if slug]


def strings(model):
    """(field, whether it is a list, whether of slugs, where it is stored) of every field that holds text."""
    for name, field in model.model_fields.items():
        annotation, marks = constraints(field.annotation, field.metadata)
        listed = get_origin(annotation) is tuple
        inner, inner_marks = constraints(get_args(annotation)[0], ()) if listed else (annotation, marks)
        if inner is str:
            slug = any(getattr(mark, "pattern", None) for mark in [*marks, *inner_marks])
            yield name, listed, slug, place(field.metadata)
