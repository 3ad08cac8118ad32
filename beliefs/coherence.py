"""What in a belief's class doesn't fit together: a warning for people, read by no rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beliefbase.beliefs.rules import ENTRY_CLASS

OFFHAND = "casual_characterization"


def incoherence(attributes: Mapping[str, Any]) -> str | None:
    """A warning where an offhand remark is called a durable fact; None where the class is coherent."""
    if attributes.get("speech_act") == OFFHAND and attributes.get("assertion_class") == ENTRY_CLASS:
        return f"{OFFHAND} with {ENTRY_CLASS}: an offhand remark is no durable fact; reclassify one of the two"
    return None
