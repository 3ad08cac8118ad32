"""Canonical msgpack: for every value exactly one encoding, and a reader that accepts no other.

Skeletons and bodies are hashed as bytes and compared between machines, so two stores that mean the same must write
the same bytes. The format is msgpack with every choice taken away:

- nil, true and false, integers from -2**63 to 2**64 - 1, UTF-8 text, bytes, arrays, and maps with text keys;
- integers and headers as short as they can be; map keys in UTF-8 byte order, none twice;
- no floats (and so no NaN and no -0.0), no extension types (and so no timestamps), no lone surrogates;
- at most ``MAX_DEPTH`` containers inside one another and ``MAX_ITEMS`` items in one of them.

Text is never normalised: NFC and NFD spellings of a word are two values. ``True`` and ``1`` are two values.
Only the exact Python types are written: a ``StrEnum`` or a named tuple is refused rather than silently flattened.

HAZARD: msgpack readers reserve room for as many array items as a header claims, at every level, before the items
arrive. A few kilobytes of nested headers that each claim the whole length ask for gigabytes; ``MAX_ITEMS`` is what
keeps that to 32 MiB, so it must be given to the reader and not only be checked afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NoReturn

import msgpack

from beliefbase.events.errors import InvalidEvent, LimitExceeded, NotCanonical

MAX_DEPTH = 16
"""How many lists and maps may stand inside one another, the outermost included."""

MAX_ITEMS = 4096
"""The most items in one list and entries in one map."""

MAX_MAPS = 65_536
"""The most maps in one encoded value that is read: a map takes up to eighty times the memory of its bytes."""

_ROOM = 1024
"""Bytes that the encoder begins with; it takes more where it needs them. Its own choice is a quarter of a MiB."""

_SCALARS = frozenset({type(None), bool, int, str, bytes})
_CONTAINERS = frozenset({dict, list, tuple})
_TEXT = frozenset({str})


def pack(value: object) -> bytes:
    """Encode ``value`` as canonical msgpack.

    Raises InvalidEvent, naming the path, for anything that has no canonical form, and LimitExceeded for nesting
    deeper than MAX_DEPTH or lists and maps longer than MAX_ITEMS.
    """
    if not _is_ordered(value):
        value = _ordered(value, (), MAX_DEPTH)
    try:
        packed: bytes = msgpack.packb(value)
    except (OverflowError, UnicodeEncodeError):
        _ordered(value, (), MAX_DEPTH)
        raise
    return packed


def pack_ordered(value: object) -> bytes:
    """Encode a value that is known to be of plain types, in bounds and with its maps in key order.

    Several times faster than ``pack``, because nothing of that is checked: another value may get an encoding that
    ``unpack`` refuses.
    """
    packed: bytes = msgpack.Packer(buf_size=_ROOM).pack(value)  # what packb does, with less room and no options
    return packed


def unpack(raw: bytes, *, max_bytes: int) -> Any:
    """Decode ``raw``, which anyone may have written; arrays come back as tuples.

    Raises LimitExceeded if ``raw`` is longer than ``max_bytes``, and NotCanonical, with the reason, for everything
    that ``pack`` would not have written.
    """
    if len(raw) > max_bytes:
        raise LimitExceeded(
            f"{len(raw)} bytes where at most {max_bytes} are allowed", limit="max_bytes", size=len(raw), most=max_bytes
        )
    try:
        value = msgpack.unpackb(
            raw,
            use_list=False,
            strict_map_key=True,
            ext_hook=_refuse_ext,
            max_array_len=min(MAX_ITEMS, len(raw)),  # the other lengths are bounded by len(raw) unasked
            max_ext_len=0,
            object_hook=_MapCount().add if len(raw) > MAX_MAPS else None,
        )
        if _is_ordered(value) and msgpack.packb(value) == raw:
            return value
    except NotCanonical:
        raise
    except ValueError as error:  # msgpack's own exceptions and UnicodeDecodeError are ValueErrors
        raise _not_canonical(str(error) or type(error).__name__) from error
    raise _explained(raw, value)


def unpack_trusted(raw: bytes) -> Any:
    """Decode bytes that ``unpack`` accepted before they were stored; arrays come back as tuples.

    Several times faster, because nothing is checked but the syntax: other bytes may yield a wrong value, use any
    amount of memory or raise ValueError. Extension types are refused all the same.
    """
    return _UNPACK_TRUSTED(raw)


def unpack_all_trusted(raws: Iterable[bytes]) -> list[Any]:
    """:func:`unpack_trusted` of each, for half of what that costs."""
    return list(map(_UNPACK_TRUSTED, raws))


class _MapCount:
    """Stops the reader of a long input at the MAX_MAPS-th map."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, entries: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        if self._count > MAX_MAPS:
            raise _not_canonical(f"more than {MAX_MAPS} maps")
        return entries


def _is_ordered(value: object) -> bool:
    """Whether ``value`` is of plain types, in bounds and has its maps in key order; built for speed, so no reasons.

    The range of integers and the surrogates of text are left to the encoder, which checks them as it goes.
    """
    level: list[Any] = [value]
    for room in range(MAX_DEPTH, -1, -1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is bytes or kind is str or kind is int:
                continue
            if kind in _CONTAINERS:
                if room == 0 or len(item) > MAX_ITEMS:
                    return False
                if kind is dict:
                    keys = list(item)
                    # Python orders text by code point, and UTF-8 keeps that order.
                    if not _TEXT.issuperset(map(type, keys)) or keys != sorted(keys):
                        return False
                    below += item.values()
                else:
                    below += item
            elif kind not in _SCALARS:
                return False
        if not below:
            return True
        level = below
    return False


def _ordered(value: Any, path: tuple[str | int, ...], room: int) -> Any:
    """``value`` with every map in key order; raises InvalidEvent at the first thing without a canonical form."""
    kind = type(value)
    if kind in _CONTAINERS:
        if room == 0:
            _refuse(path, f"nested deeper than {MAX_DEPTH} levels", limit="depth", most=MAX_DEPTH)
        if len(value) > MAX_ITEMS:
            _refuse(path, f"{len(value)} items, at most {MAX_ITEMS} are allowed", limit="items", most=MAX_ITEMS)
    if kind is dict:
        for key in value:
            if type(key) is not str:
                _refuse(path, f"a map key is {type(key).__name__}, only text is allowed")
            _check_text(key, path)
        return {key: _ordered(value[key], (*path, key), room - 1) for key in sorted(value)}
    if kind is list or kind is tuple:
        return tuple(_ordered(item, (*path, index), room - 1) for index, item in enumerate(value))
    if kind is str:
        _check_text(value, path)
    elif kind is int:
        if not -(2**63) <= value < 2**64:
            _refuse(path, "an integer outside -2**63 … 2**64 - 1")
    elif kind not in _SCALARS:
        _refuse(path, f"{kind.__name__} has no canonical form")
    return value


def _check_text(text: str, path: tuple[str | int, ...]) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        _refuse(path, "text with a lone surrogate")


def _refuse(path: tuple[str | int, ...], reason: str, **limit: Any) -> NoReturn:
    where = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{ascii(step)[1:-1]}" for step in path)
    kind = LimitExceeded if limit else InvalidEvent
    hint = "change the value at that path"
    raise kind(f"can't encode {where}: {reason}", hint=hint, path=where, reason=reason, **limit)


def _refuse_ext(code: int, _data: bytes) -> NoReturn:
    raise _not_canonical(f"extension type {code}")


_UNPACK_TRUSTED = partial(msgpack.unpackb, use_list=False, ext_hook=_refuse_ext, max_ext_len=0)


def _explained(raw: bytes, value: Any) -> NotCanonical:
    """Why ``raw``, which decodes to ``value``, is not its canonical encoding."""
    try:
        canonical = pack(value)
    except InvalidEvent as error:
        return _not_canonical(str(error.data["reason"]), path=error.data["path"])
    if len(canonical) == len(raw):
        return _not_canonical("map keys are not in order")
    return _not_canonical("a number or header is longer than it must be, or a map key stands twice")


def _not_canonical(reason: str, **data: Any) -> NotCanonical:
    return NotCanonical(
        f"not canonical msgpack: {reason}",
        hint="these bytes were not written by this format; fetch the event again from a peer",
        reason=reason,
        **data,
    )
