"""The one input of the lifecycle rules: an event as the rules read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Fact(NamedTuple):
    """One event, reduced to what the rules may read.

    The first four fields are the total order of events (DESIGN 2), so facts sort as tuples.
    """

    hlc: int
    """Stamp of the event: milliseconds since 1970 UTC << 16 | counter."""
    writer: bytes
    """Stream of the event, 16 bytes."""
    seq: int
    """Position in the writer's stream, from 1."""
    id: bytes
    """Event id, 16 bytes."""
    type: str
    """Stable type name such as ``belief.extracted``."""
    payload: Mapping[str, Any]
    """The payload in its current version; ids are bytes, enumerations are strings."""
    basis: tuple[bytes, ...]
    """Ids of the revisions that the author had read."""
    ref: bytes | None
    """source_ref: events of one type with the same one are one entity."""
    agent: bytes
    """Hash of the writer's agent name, or the writer's id where it never said its name."""
