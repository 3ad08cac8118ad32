"""The log's index: which rows an event gives it, and which beliefs an event revises (ADR 0008).

The index has 8-byte keys. Two names with the same first 8 bytes share a key; whoever reads filters by the full name.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from beliefbase.events.catalog import CATALOG, Unreadable
from beliefbase.events.catalog.registry import FATE_CHANGING
from beliefbase.events.envelope import FORMAT, Event, Skeleton

INDEX_VERSION: Final = 2
"""Goes up whenever an event gives other rows than before: a log that has another version is indexed anew."""
_KEY: Final = struct.Struct(">q").unpack_from
_NAMES_FROM: Final = 55
"""Where names can begin in a skeleton: behind the start of ``prev``, which is the id of the event before."""
RAISED: Final = "contradiction.raised"
RESOLVED: Final = "contradiction.resolved"


def topic(skeleton: Skeleton) -> str:
    """Name and version of the type; of a format that this release doesn't know, ``?`` and the format."""
    return f"{skeleton.type}/{skeleton.version}" if skeleton.format == FORMAT else f"?/{skeleton.format}"


def key_of(name: bytes) -> int:
    """Index key of an id or hash of a name: its first 8 bytes as a signed integer."""
    return int.from_bytes(name[:8], "big", signed=True)


def rows(position: int, event: Event) -> list[tuple[int, int, int]]:
    """The index rows (key, role, position) of an event, some of them perhaps twice."""
    mentions = CATALOG.mentions(event.skeleton, event.id, event.names)
    return [(_KEY(name)[0], role, position) for name, role in mentions]


def named_at(
    names: Collection[bytes], links: Callable[[Collection[int]], Iterable[tuple[int, int]]]
) -> dict[int, list[bytes]]:
    """The names of some that are named at each position, by the index rows (key, position) that some keys have."""
    by_key: dict[int, list[bytes]] = {}
    for name in names:
        by_key.setdefault(key_of(name), []).append(name)
    found: dict[int, list[bytes]] = {}
    for key, position in links(by_key) if by_key else ():
        found.setdefault(position, []).extend(by_key[key])
    return found


def names(event: Event, candidates: Iterable[bytes]) -> bool:
    """Whether an event that was found by index key names one of these names in full.

    A name stands in the skeleton as its 16 bytes, except for the event's own id. An event that names a name in
    another role than was asked for, and another name with the same 8 bytes in that one, gets through: it takes
    2^64 tries to make, and whoever folds events looks at the fields.
    """
    return any(name == event.id or event.raw.find(name, _NAMES_FROM) >= 0 for name in candidates)


def sides(contradiction: Skeleton) -> tuple[bytes, bytes] | None:
    """Left and right of a raised contradiction; None where this release can't read it."""
    payload = CATALOG.read(contradiction) if contradiction.type == RAISED else Unreadable("", "")
    return None if isinstance(payload, Unreadable) else (payload["left"], payload["right"])


def revised(skeleton: Skeleton, contradictions: Mapping[bytes, tuple[bytes, bytes]]) -> frozenset[bytes]:
    """What a fate-changing event revises, given the sides of the contradictions that are known; else nothing."""
    if skeleton.type not in FATE_CHANGING:
        return frozenset()
    touched = frozenset(skeleton.touches)
    if skeleton.type == RESOLVED:
        return touched.union(*(contradictions.get(key, ()) for key in touched))
    return touched
