"""The stored form of an event: a skeleton that lasts for ever, and words that can be erased.

A skeleton is the canonical msgpack of an array (DESIGN 1, ADR 0006). Its bytes are hashed as they are stored
and never encoded again to be hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from beliefbase.events import limits
from beliefbase.events.codec import pack, pack_ordered, unpack, unpack_all_trusted, unpack_trusted
from beliefbase.events.errors import LimitExceeded, NotCanonical
from beliefbase.events.ids import ID_BYTES, commitment, skeleton_hash

FORMAT: Final = 1
BODY_VERSION: Final = 1
SALT_BYTES: Final = 16
MAX_STAMP: Final = (1 << 63) - 1


class Skeleton(NamedTuple):
    """The immutable part of an event, in the order in which it is encoded."""

    format: int
    writer: bytes
    """Stream of the event: 16 random bytes, fresh for every open handle."""
    seq: int
    """1, 2, 3 … per writer."""
    prev: bytes
    """SHA-256 of the writer's previous skeleton, 32 bytes; zeros for the first."""
    hlc: int
    """Milliseconds since 1970 UTC << 16 | counter."""
    recorded: int
    """Wall milliseconds at append minus the stamp's: 0 for most, large for imports."""
    type: str
    version: int
    touches: tuple[bytes, ...]
    basis: tuple[bytes | bool, ...]
    source_ref: bytes | None
    payload: Mapping[str, Any]
    subjects: tuple[bytes, ...]
    commitment: bytes | None

    @property
    def basis_ids(self) -> tuple[bytes, ...]:
        """The basis without the mark that says that there were more."""
        basis = self.basis
        return basis[:-1] if basis and basis[-1] is True else basis  # type: ignore[return-value]

    def encode(self) -> bytes:
        """Canonical bytes.

        Raises:
            LimitExceeded: above 64 KiB.
        """
        raw = pack(tuple(self))
        if len(raw) > limits.SKELETON_BYTES:
            raise _too_large(self.type, len(raw))
        return raw


FOREIGN_PAYLOAD: Final[Mapping[str, Any]] = {}


def decode(raw: bytes) -> Skeleton:
    """Read a skeleton that this store has verified before; fast, and unsafe on foreign bytes.

    Of a format of a newer release only writer, seq, prev, hlc and commitment are known; type is empty.
    """
    fields = unpack_trusted(raw)
    return Skeleton._make(fields) if fields[0] == FORMAT else _foreign(fields)


def verify(raw: bytes) -> Skeleton:
    """Read a foreign skeleton and check all that no release may change (DESIGN 1, Merge).

    Raises:
        NotCanonical: if the bytes are not the one encoding of a skeleton.
        LimitExceeded: if it is larger than its format allows.
    """
    fields = unpack(raw, max_bytes=limits.FOREIGN_SKELETON_BYTES)
    if not isinstance(fields, tuple) or len(fields) < 6:
        raise NotCanonical("not a skeleton: it isn't an array of at least six positions")
    if not _is_int(fields[0], 1, 1 << 32):
        raise NotCanonical("not a skeleton: the format is not a positive integer")
    _check(_is_bytes(fields[1], ID_BYTES), "writer is not 16 bytes")
    _check(_is_int(fields[2], 1, 1 << 62), "seq is not a positive integer")
    _check(_is_bytes(fields[3], 32), "prev is not 32 bytes")
    _check(_is_int(fields[4], 0, MAX_STAMP), "hlc is not a stamp below 2^47 ms")
    _check(fields[-1] is None or _is_bytes(fields[-1], 32), "commitment is neither nil nor 32 bytes")
    if fields[0] != FORMAT:
        return _foreign(fields)
    if len(raw) > limits.SKELETON_BYTES:
        raise LimitExceeded(
            f"a skeleton of format {FORMAT} has {len(raw)} bytes; the limit SKELETON_BYTES is {limits.SKELETON_BYTES}",
            limit="SKELETON_BYTES",
        )
    _check(len(fields) == len(Skeleton._fields), "it doesn't have 14 positions")
    skeleton = Skeleton._make(fields)
    _check(_is_int(skeleton.recorded, -(1 << 62), 1 << 62), "recorded is not an integer")
    _check(isinstance(skeleton.type, str) and 0 < len(skeleton.type) <= limits.SLUG_CHARACTERS, "type is not a name")
    _check(_is_int(skeleton.version, 1, 1 << 32), "version is not a positive integer")
    _check(_are_ids(skeleton.touches), "touches is not a sorted list of ids")
    _check(isinstance(skeleton.basis, tuple) and _are_ids(skeleton.basis_ids), "basis is not a sorted list of ids")
    _check(len(skeleton.basis_ids) <= limits.BASIS_IDS, "basis has more than 64 ids")
    _check(skeleton.source_ref is None or _is_bytes(skeleton.source_ref, ID_BYTES), "source_ref is not 16 bytes")
    _check(isinstance(skeleton.payload, dict), "payload is not a map")
    _check(_are_ids(skeleton.subjects), "subjects is not a sorted list of hashes")
    return skeleton


def decode_all(raws: Iterable[bytes]) -> list[tuple[Any, ...]]:
    """:func:`decode` of each, as plain tuples in the order of the fields, for half of what that costs."""
    rows: list[tuple[Any, ...]] = unpack_all_trusted(raws)
    return [row if row[0] == FORMAT else _foreign(row) for row in rows]


class Event:
    """A skeleton as it is stored, its id, and its words where there are any."""

    __slots__ = ("__dict__", "body", "hash", "id", "names", "raw", "salt")

    def __init__(self, raw: bytes, salt: bytes | None = None, body: bytes | None = None) -> None:
        self.raw = raw
        self.salt = salt
        self.body = body
        self.hash = digest = skeleton_hash(raw)
        """SHA-256 of the skeleton: the ``prev`` of the event after it."""
        self.id = digest[:ID_BYTES]
        self.names: tuple[tuple[bytes, int], ...] | None = None
        """What the payload names, in which role, where the event was built here; else the catalogue reads it."""

    @staticmethod
    def build(
        skeleton: Skeleton,
        salt: bytes | None = None,
        body: bytes | None = None,
        names: tuple[tuple[bytes, int], ...] | None = None,
    ) -> Event:
        """A new event, from a skeleton whose payload comes from the catalogue: plain types, maps in key order.

        Raises:
            LimitExceeded: the skeleton is above 64 KiB.
        """
        raw = pack_ordered(skeleton)
        if len(raw) > limits.SKELETON_BYTES:
            raise _too_large(skeleton.type, len(raw))
        event = _Built(raw, salt, body)
        event.skeleton = skeleton
        event.names = names
        return event

    @cached_property
    def skeleton(self) -> Skeleton:
        """The decoded skeleton; only for bytes that were verified or built here."""
        return decode(self.raw)

    @cached_property
    def words(self) -> Mapping[str, Any]:
        """The map of the body; empty where there is none or it was erased."""
        if self.body is None:
            return {}
        words = unpack_trusted(self.body)[1]
        return words if isinstance(words, dict) else {}

    @property
    def wants_words(self) -> bool:
        """Whether the skeleton commits to words that are not here (erased, or not yet received)."""
        return self.body is None and self.skeleton.commitment is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and (self.raw, self.salt, self.body) == (other.raw, other.salt, other.body)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Event({self.id.hex()}, {self.skeleton.type or 'of a newer format'})"


class _Built(Event):
    """An event whose skeleton is at hand and is never decoded."""

    __slots__ = ("skeleton",)

    skeleton: Skeleton


def encode_body(words: Mapping[str, Any]) -> bytes:
    """Canonical bytes of the words of an event: plain types, in key order.

    Raises:
        LimitExceeded: above 256 KiB.
    """
    body = pack_ordered((BODY_VERSION, words))
    if len(body) > limits.BODY_BYTES:
        raise LimitExceeded(
            f"the words of this event have {len(body)} bytes; the limit BODY_BYTES is {limits.BODY_BYTES}",
            hint="record long texts as several utterances",
            limit="BODY_BYTES",
        )
    return body


def check_body(skeleton: Skeleton, salt: bytes, body: bytes) -> None:
    """Check foreign words against the skeleton that commits to them.

    Raises:
        NotCanonical: if they are not those words, or not canonical.
        LimitExceeded: above 256 KiB.
    """
    if len(body) > limits.BODY_BYTES:
        raise LimitExceeded(
            f"words of {len(body)} bytes; the limit BODY_BYTES is {limits.BODY_BYTES}", limit="BODY_BYTES"
        )
    _check(_is_bytes(salt, SALT_BYTES), "the salt is not 16 bytes")
    _check(skeleton.commitment == commitment(salt, body), "the words are not those that the skeleton commits to")
    fields = unpack(body, max_bytes=limits.BODY_BYTES)
    shaped = isinstance(fields, tuple) and len(fields) == 2 and isinstance(fields[1], dict)
    _check(shaped, "the body is not [version, map]")


def _too_large(type_name: str, size: int) -> LimitExceeded:
    return LimitExceeded(
        f"this {type_name}'s skeleton has {size} bytes; the limit SKELETON_BYTES is {limits.SKELETON_BYTES}",
        hint="split the event, or name fewer ids",
        limit="SKELETON_BYTES",
    )


def _foreign(fields: tuple[Any, ...]) -> Skeleton:
    known = (*fields[:5], 0, "", 1, (), (), None, FOREIGN_PAYLOAD, (), fields[-1])
    return Skeleton._make(known)


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise NotCanonical(f"not a skeleton with its words: {what}")


def _is_int(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_bytes(value: object, length: int) -> bool:
    return isinstance(value, bytes) and len(value) == length


def _are_ids(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and all(_is_bytes(item, ID_BYTES) for item in value)
        and all(value[i] < value[i + 1] for i in range(len(value) - 1))
    )
