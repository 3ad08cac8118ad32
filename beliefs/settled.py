"""Settled: supersessions of which a fold is told what becomes of them, so that it need not know whom they wait for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple


class Settled(NamedTuple):
    """What is known of supersessions beforehand; an event stands in one of two maps."""

    acts: Mapping[bytes, bool]
    """Events to whether they act where they are written, or wait for good."""
    until: Mapping[bytes, bytes]
    """Events that wait at first to those with which they act."""
    void: Collection[bytes]
    """Those among the others that are void where they would act."""
    ticks: Collection[bytes]
    """Events that only tell when something acts: what they do themselves is of no matter."""


NOTHING: Final = Settled({}, {}, (), ())
