"""Write docs/events.md from the event catalogue (make docs); a test checks that it is up to date."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import types
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG
from beliefbase.events.catalog.base import ENVELOPE, EventModel, Exactly, place
from beliefbase.events.catalog.registry import FATE_CHANGING, REVISIONS

TARGET = Path(__file__).with_name("events.md")

COLUMNS = ("| field | type | stored | meaning |", "|---|---|---|---|")
HEAD = """# Events

Generated from the catalogue by `make docs`; do not edit.

Every event is a skeleton (kept for ever, hash-chained) and, where it has text, words (erasable). The column *stored*
says where a field goes: in the skeleton, in the words, or as the hash of a name in the skeleton with the name in the
words. Ids are 32 hex digits, or `$ref` in a line for `append`. Confidences and forces are integers per mille.
A field without *required* may be absent.

## Every type takes

| field | type | stored | meaning |
|---|---|---|---|
"""


def main() -> None:
    """Write the page, or with ``--check`` fail where it differs."""
    page = render()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text(encoding="utf-8") == page else "docs/events.md is out of date: run make docs")
    TARGET.write_text(page, encoding="utf-8")


def render() -> str:
    """The whole page."""
    lines = [HEAD.rstrip("\n")]
    lines += _rows(EventModel, only=ENVELOPE)
    for name, model in CATALOG.models.items():
        lines += ["", f"## {name}", "", _sentence(model)]
        if name in REVISIONS:
            lines += ["", "A revision: carries `basis`." + (" Changes fate." if name in FATE_CHANGING else "")]
        lines += ["", f"Version {model.VERSION}.", "", *COLUMNS]
        lines += _rows(model)
        for inner in _inner(model):
            lines += ["", f"`{inner.__name__}`: {_sentence(inner)}", "", *COLUMNS]
            lines += _rows(inner)
    lines += ["", "## Limits", "", "| limit | value |", "|---|---|"]
    lines += [f"| {name} | {value:,} |" for name, value in vars(limits).items() if name.isupper()]
    return "\n".join(lines) + "\n"


def _rows(model: type[BaseModel], only: frozenset[str] | None = None) -> list[str]:
    texts = _docstrings(model)
    observed = getattr(model, "OBSERVE_ONLY", frozenset())
    rows = []
    for name, field in model.model_fields.items():
        if (name in ENVELOPE) != (only is not None):
            continue
        mark = place(field.metadata)
        if name == "basis":
            stored = "skeleton"
        elif name == "subjects":
            stored = "hashes in the skeleton"
        elif name == "source_ref":
            stored = "hash in the skeleton, name in the words"
        elif mark is None:
            stored = "skeleton"
        elif mark.hashed:
            stored = "hash in the skeleton" + (", name in the words" if mark.words else "")
        else:
            stored = "words"
        notes = [texts.get(name, "")]
        notes += ["Required."] if field.is_required() else []
        notes += [f"Default `{field.default}`."] if isinstance(field.default, str | int) else []
        notes += ["Observe-only: read by no rule."] if name in observed else []
        rows.append(f"| `{name}` | {_type(field.annotation)} | {stored} | {' '.join(note for note in notes if note)} |")
    return rows


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        base = arguments[0]
        size = next((mark.size for mark in arguments[1:] if isinstance(mark, Exactly)), None)
        if size is not None:
            return f"{size} bytes in hex"
        return "id" if base is bytes else _type(base)
    if origin in (types.UnionType, Union):
        return _type(next(argument for argument in arguments if argument is not type(None)))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return "map to days"
    if annotation is bytes:
        return "id"
    return {str: "text", int: "integer", bool: "true or false"}.get(annotation, f"`{annotation.__name__}`")


def _inner(model: type[BaseModel]) -> list[type[BaseModel]]:
    leaves = (leaf for field in model.model_fields.values() for leaf in _leaves(field.annotation))
    return [leaf for leaf in leaves if isinstance(leaf, type) and issubclass(leaf, BaseModel)]


def _leaves(annotation: Any) -> list[Any]:
    arguments = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    return [leaf for argument in arguments for leaf in _leaves(argument)] or [annotation]


def _sentence(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The texts below the fields of a class and its bases."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not issubclass(base, BaseModel) or base is BaseModel:
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0].body  # type: ignore[attr-defined]
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                texts[field.target.id] = " ".join(str(text.value.value).split())  # type: ignore[union-attr]
    return texts


if __name__ == "__main__":
    main()
