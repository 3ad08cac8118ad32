"""Lines on the wire: one JSON object an event, with ``$ref`` for the id of an earlier line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.errors import BeliefbaseError, InvalidEvent
from beliefbase.events.ids import ID_BYTES
from beliefbase.writing import moment

PLACEHOLDER = bytes(ID_BYTES)


class Line(NamedTuple):
    """A line that was parsed and checked; its ``$refs`` are not looked up yet."""

    number: int
    type: str
    agent: str
    ref: str | None
    at: int | None
    fields: Mapping[str, Any]


class BadLine(InvalidEvent):
    """A line that can't be stored; ``data`` has line (from 1), field and reason."""

    code = "bad_line"


def parse(number: int, text: str, refs: Iterable[str], *, importer: bool) -> Line:
    """Read and check one line; ``refs`` are those of earlier lines.

    Raises:
        BadLine: names the line, the field and the reason.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _bad(number, "(line)", f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _bad(number, "(line)", "not a JSON object")
    type_name, agent, ref, at = (value.pop(name, None) for name in ("type", "agent", "ref", "at"))
    if not isinstance(type_name, str):
        raise _bad(number, "type", "the event's type is missing")
    if not isinstance(agent, str) or not agent:
        raise _bad(number, "agent", "who writes is missing: the agent's name")
    if ref is not None and (not isinstance(ref, str) or not ref):
        raise _bad(number, "ref", "a ref is a text")
    known = refs if isinstance(refs, set | dict) else set(refs)
    if ref in known:
        raise _bad(number, "ref", f"{ref!r} is the ref of an earlier line")
    line = Line(number, type_name, agent, ref, _time(number, at, importer), value)
    draft(line, dict.fromkeys(known, PLACEHOLDER))
    return line


def draft(line: Line, ids: Mapping[str, bytes]) -> Draft:
    """The checked event of a line, its ``$refs`` replaced by ids.

    Raises:
        BadLine: names the line, the field and the reason.
    """
    if line.type == "writer.joined":
        raise _bad(line.number, "type", "a writer joins by writing; say --kind and --model of this run instead")
    try:
        return CATALOG.draft(line.type, resolved(line.type, line.fields, ids))
    except BeliefbaseError as error:
        raise _bad(line.number, str(error.data.get("field", "(event)")), str(error), error.hint) from None


def resolved(type_name: str, fields: Mapping[str, Any], ids: Mapping[str, bytes]) -> dict[str, Any]:
    """The fields with ``$ref`` replaced by ids, in the fields that hold ids.

    Raises:
        InvalidEvent: names a field whose ref stands in no earlier line.
    """
    found = dict(fields)
    for name, inner in CATALOG.id_fields(type_name):
        value = found.get(name)
        if inner is None:
            if isinstance(value, list):
                found[name] = [_id(name, item, ids) for item in value]
            elif value is not None:
                found[name] = _id(name, value, ids)
        elif isinstance(value, list):
            found[name] = [
                {**item, inner: _id(f"{name}.{inner}", item[inner], ids)}
                if isinstance(item, dict) and inner in item
                else item
                for item in value
            ]
    return found


def _id(field: str, value: Any, ids: Mapping[str, bytes]) -> Any:
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    found = ids.get(value[1:])
    if found is None:
        raise InvalidEvent(f"{value[:80]!r} is not the ref of an earlier line", field=field)
    return found


def _time(number: int, at: Any, importer: bool) -> int | None:
    if at is None:
        return None
    if not importer:
        raise _bad(number, "at", "only an importer may say when something happened", "add --importer")
    if isinstance(at, bool) or not isinstance(at, int | str):
        raise _bad(number, "at", "a time is RFC 3339 text or milliseconds")
    try:
        value = moment(at) if isinstance(at, str) else at
    except BeliefbaseError as error:
        raise _bad(number, "at", str(error), error.hint) from None
    if not 0 <= value < 1 << 47:
        raise _bad(number, "at", "a time is from 1970 to 6429")
    return value


def _bad(number: int, field: str, reason: str, hint: str = "") -> BadLine:
    return BadLine(
        f"line {number}: {field}: {reason}",
        hint=hint or "docs/events.md lists types and fields; --keep-going stores the other lines",
        line=number,
        field=field,
        reason=reason,
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a value of JSON")
