"""Ids are hashes: of an event's skeleton, or of a person's, agent's or session's name."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from beliefbase.events.errors import InvalidEvent

ID_BYTES: Final = 16
HASH_BYTES: Final = 32
ZERO_HASH: Final = bytes(HASH_BYTES)
"""``prev`` of a writer's first event."""


def skeleton_hash(raw: bytes) -> bytes:
    """SHA-256 of a stored skeleton: the ``prev`` of the event after it, 32 bytes."""
    return hashlib.sha256(raw).digest()


def ids_of(raws: Iterable[bytes]) -> list[bytes]:
    """The ids of events with these skeletons."""
    return [hash_[:ID_BYTES] for hash_ in hashes_of(raws)]


def hashes_of(raws: Iterable[bytes]) -> list[bytes]:
    """:func:`skeleton_hash` of each."""
    sha256 = hashlib.sha256
    return [sha256(raw).digest() for raw in raws]


@lru_cache(maxsize=4096)
def name_hash(name: str) -> bytes:
    """Stand-in for a name in a skeleton: 16 bytes of SHA-256 over its NFC form in UTF-8."""
    return hashlib.sha256(unicodedata.normalize("NFC", name).encode()).digest()[:ID_BYTES]


def commitment(salt: bytes, body: bytes) -> bytes:
    """What a skeleton says of its words: SHA-256 of the 16-byte salt and the body."""
    return hashlib.sha256(salt + body).digest()


def parse_id(text: str) -> bytes:
    """Read an id in its one text form, 32 lower-case hex digits.

    Raises:
        InvalidEvent: for any other text.
    """
    if len(text) == 2 * ID_BYTES and set(text) <= set("0123456789abcdef"):
        return bytes.fromhex(text)
    raise InvalidEvent(f"not an id: {text[:80]!r}", hint="an id is 32 lower-case hex digits")
