"""Lines on the wire: one JSON object an event, with ``$ref`` for the id of an earlier line."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.errors import BeliefbaseError, InvalidEvent
from beliefbase.events.ids import ID_BYTES
from beliefbase.writing import milliseconds, moment

PLACEHOLDER: Final = bytes(ID_BYTES)
"""Stands for the id of an earlier line while lines are only checked."""
LINE_BYTES: Final = 4 << 20
"""Longest line that is read: the largest body, escaped, fits several times."""


class Line(NamedTuple):
    """A line that was parsed and checked."""

    number: int
    type: str
    agent: str
    ref: str | None
    at: int | None
    fields: Mapping[str, Any]
    checked: Draft | None
    """The event; None where ``$refs`` still have to be looked up."""
    file: str | None = None
    """Its file, where there are several."""


class BadLine(InvalidEvent):
    """A line that can't be stored; ``data`` has line (from 1), field and reason."""

    code = "bad_line"

    def of_file(self, name: str) -> BadLine:
        """The same error, saying in which file."""
        return BadLine(f"{name}: {self}", hint=self.hint, file=name, **self.data)


def unmarked(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a file, without the byte order mark that may stand before the first."""
    rest = iter(lines)
    for first in rest:
        yield first.removeprefix(BOM_UTF8)
        break
    yield from rest


def parse(number: int, raw: bytes, refs: Mapping[str, bytes], *, importer: bool) -> Line:
    """Read and check one line; ``refs`` are those of earlier lines, with their ids or placeholders.

    Raises:
        BadLine: names the line, the field and the reason.
    """
    value = _object(number, raw)
    type_name, agent, ref, at = (value.pop(name, None) for name in ("type", "agent", "ref", "at"))
    if not isinstance(type_name, str):
        raise _bad(number, "type", "the event's type is missing")
    if not isinstance(agent, str) or not 0 < len(agent) <= limits.NAME_CHARACTERS:
        raise _bad(number, "agent", f"who writes is missing: a name of at most {limits.NAME_CHARACTERS} characters")
    if ref is not None and (not isinstance(ref, str) or not ref):
        raise _bad(number, "ref", "a ref is a text")
    if ref in refs:
        raise _bad(number, "ref", f"{ref!r} is the ref of an earlier line")
    line = Line(number, type_name, agent, ref, _time(number, at, importer), value, None)
    checked, final = _checked(line, refs)
    return line._replace(checked=checked) if final else line


def draft(line: Line, ids: Mapping[str, bytes]) -> Draft:
    """The checked event of a line, its ``$refs`` replaced by ids.

    Raises:
        BadLine: names the line, the field and the reason.
    """
    return line.checked if line.checked is not None else _checked(line, ids)[0]


def resolved(type_name: str, fields: Mapping[str, Any], ids: Mapping[str, bytes]) -> Mapping[str, Any]:
    """The fields with ``$ref`` replaced by ids, in the fields that hold ids; the very same where there is no ref.

    Raises:
        InvalidEvent: names a field whose ref stands in no earlier line.
    """
    found: dict[str, Any] = {}
    for name, inner in CATALOG.id_fields(type_name):
        value = found.get(name, fields.get(name))
        changed = _replaced(name, inner, value, ids)
        if changed is not value:
            found[name] = changed
    return {**fields, **found} if found else fields


def _replaced(name: str, inner: str | None, value: Any, ids: Mapping[str, bytes]) -> Any:
    if isinstance(value, list | tuple):
        items = [_replaced(name, inner, item, ids) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict) and inner is not None:
        key = value.get(inner)
        found = _replaced(f"{name}.{inner}", None, key, ids) if isinstance(key, str) else key
        return value if found is key else {**value, inner: found}
    if inner is not None or not isinstance(value, str) or not value.startswith("$"):
        return value
    found = ids.get(value[1:])
    if found is None:
        raise InvalidEvent(f"{value[:80]!r} is not the ref of an earlier line", field=name)
    return found


def _checked(line: Line, ids: Mapping[str, bytes]) -> tuple[Draft, bool]:
    """The event, and whether that holds whatever the ids are."""
    if line.type == "writer.joined":
        raise _bad(line.number, "type", "a writer joins by writing; say --kind and --model of this run instead")
    try:
        fields = resolved(line.type, line.fields, ids)
        return CATALOG.draft(line.type, fields), fields is line.fields
    except BeliefbaseError as error:
        raise fault(line.number, error) from None


def fault(number: int, error: BeliefbaseError, field: str = "(event)") -> BadLine:
    """What is wrong with a line; ``field`` is where, unless the error says it."""
    if isinstance(error, BadLine):
        return error
    bad = _bad(number, str(error.data.get("field", field)), str(error), error.hint)
    bad.data |= {name: error.data[name] for name in ("limit",) if name in error.data}
    return bad


def _object(number: int, raw: bytes) -> dict[str, Any]:
    if len(raw) > LINE_BYTES:
        raise _bad(number, "(line)", f"longer than {LINE_BYTES} bytes", "record long texts as several utterances")
    try:
        text = raw.decode()
        value = json.loads(text, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise _bad(number, "(line)", f"not UTF-8 at byte {error.start + 1}") from None
    except UnicodeEncodeError:
        raise _bad(number, "(line)", "text with a lone surrogate") from None
    except (ValueError, RecursionError) as error:
        raise _bad(number, "(line)", f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _bad(number, "(line)", "not a JSON object")
    return value


def _time(number: int, at: Any, importer: bool) -> int | None:
    if at is None:
        return None
    if not importer:
        raise _bad(number, "at", "only an importer may say when something happened", "add --importer")
    if isinstance(at, bool) or not isinstance(at, int | str):
        raise _bad(number, "at", "a time is RFC 3339 text or milliseconds")
    try:
        return moment(at) if isinstance(at, str) else milliseconds(at)
    except BeliefbaseError as error:
        raise _bad(number, "at", str(error), error.hint) from None


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
