"""Pieces of sentences: who, when, how long, which belief."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from beliefbase.writing import clock_text

QUOTED: Final = 90
"""Characters of a statement in the middle of a sentence."""
_LATE_MS: Final = 1000
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def quoted(text: str | None) -> str:
    """A text as one line in quotation marks; said so where it is not here."""
    if text is None:
        return "(words not here)"
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= QUOTED else f'"{line[: QUOTED - 1]}…"'


def belief(told: Mapping[str, Any]) -> str:
    """A belief: its words and id."""
    if told.get("status") is None and told.get("statement") is None:
        return f"{told['belief']} (not known here)"
    return f"{quoted(told.get('statement'))} ({told['belief']})"


def by_whom(told: Mapping[str, Any]) -> str:
    """Who wrote an event, and when: "by planner at 2026-03-02 09:00:00 (recorded 3 d late)"."""
    if "agent" not in told:
        return f"by {told['event']} (not stored here)"
    return f"by {told['agent']} at {clock_text(told['at_ms'])}{late(told['recorded_late_ms'])}"


def late(milliseconds: int) -> str:
    """How late an event was recorded, where that is worth saying."""
    if milliseconds < _LATE_MS:
        return ""
    unit, name = next((unit, name) for unit, name in _UNITS if milliseconds >= unit)
    return f" (recorded {milliseconds // unit} {name} late)"


def because(told: Mapping[str, Any]) -> str:
    """The author's reason, where there is one."""
    if told.get("reason"):
        return f", because {quoted(told['reason'])}"
    return ", reason erased or not here" if told.get("erased") else ""


def days(count: int) -> str:
    """A number of days."""
    return f"{count} day" if abs(count) == 1 else f"{count} days"


def per_mille(value: int | None) -> str:
    """A confidence."""
    return "-" if value is None else f"{value} ‰"
