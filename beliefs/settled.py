"""Settled: supersessions of which a fold is told what becomes of them, so that it need not know whom they wait for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple


class Settled(NamedTuple):
    """What is known of supersessions beforehand; an event stands in one of the first two maps at most."""

    acts: Mapping[bytes, bool]
    """Events to whether they act where they are written, or wait for good."""
    until: Mapping[bytes, bytes]
    """Events that wait at first to those with which they act."""
    void: AbstractSet[bytes]
    """Those that are void where they would act."""
    ticks: Collection[bytes]
    """Events that only tell when something acts: what they do themselves is of no matter."""
    waits: Mapping[bytes, int]
    """Events of which it isn't known what becomes of them, but that they wait until a stamp."""
    ever: Mapping[bytes, int]
    """Beliefs to a stamp before which they became active."""
    fit: Mapping[bytes, int]
    """Beliefs to the stamp from which on they, or what replaced them in turn, are active; nothing supersedes that."""
    unfit: AbstractSet[bytes]
    """Events that wait for good for what replaces to be fit."""


NOTHING: Final = Settled({}, {}, frozenset(), (), {}, {}, {}, frozenset())
