"""The authority of a conclusion: how much its inputs carry, in per mille and integers only (ADR 0011)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

SUPPORT: Final[Mapping[str, int]] = MappingProxyType(
    {"same_context": 1000, "adjacent_context": 920, "cross_context": 850}
)
"""What a supporting input keeps of its confidence, per mille, by the context it comes from."""

UNKNOWN_CONTEXT: Final = "cross_context"
BONUS_PARTS: Final = 4
"""Support closes at most one part in this many of what is missing to 1000."""


class Input(NamedTuple):
    """An input of a conclusion as it stands at some moment."""

    essential: bool
    confidence: int
    """Per mille."""
    live: bool
    applicability: str | None = None
    """same_context, adjacent_context or cross_context; anything else reads as the last."""


def weight(item: Input) -> int:
    """What one input carries, per mille: essential ones never decay, and nothing that isn't live carries anything."""
    if not item.live:
        return 0
    if item.essential:
        return item.confidence
    return item.confidence * SUPPORT.get(item.applicability or UNKNOWN_CONTEXT, SUPPORT[UNKNOWN_CONTEXT]) // 1000


def authority(inputs: Iterable[Input]) -> int:
    """The authority of a conclusion, per mille.

    It is as strong as its weakest essential input, and the strongest supporting one closes up to a quarter of what is
    missing. Without essential inputs it is the strongest support. 0 where an essential input isn't live.
    """
    told = list(inputs)
    essential = [weight(item) for item in told if item.essential]
    support = max((weight(item) for item in told if not item.essential), default=0)
    if not essential:
        return support
    weakest = min(essential)
    if weakest == 0:
        return 0
    return weakest + (1000 - weakest) * support // (1000 * BONUS_PARTS)
