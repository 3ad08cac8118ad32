"""The attributes of a belief: what its extraction says of it, a reclassification corrects, and an absent one reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

CLASS: Final = (
    "kind",
    "node_kind",
    "speech_act",
    "speech_act_confidence",
    "voice",
    "assertion_type",
    "assertion_class",
    "confidence",
    "policy",
)
"""What a belief counts as, in the order in which it is told."""
CORRECTABLE: Final = (*CLASS, "condition_key")
"""What a reclassification changes (DESIGN 4): the fields that it names, and no others."""
UNSAID: Final[Mapping[str, Any]] = MappingProxyType(
    {"speech_act": "direct_assertion", "speech_act_confidence": 1000, "confidence": 0}
)
"""What absent attributes read (DESIGN 4); those that are not here read nothing."""
ACT: Final = str(UNSAID["speech_act"])
CERTAINTY: Final = int(UNSAID["speech_act_confidence"])
CONFIDENCE: Final = int(UNSAID["confidence"])


def act_of(attributes: Mapping[str, Any]) -> str:
    """The speech act, as stated."""
    return str(attributes.get("speech_act", ACT))


def certainty_of(attributes: Mapping[str, Any]) -> int:
    """Confidence in the speech act, per mille."""
    return int(attributes.get("speech_act_confidence", CERTAINTY))


def confidence_of(attributes: Mapping[str, Any]) -> int:
    """Confidence of the extraction, per mille."""
    return int(attributes.get("confidence", CONFIDENCE))
