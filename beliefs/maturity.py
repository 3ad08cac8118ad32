"""Maturity: what the facts that act on a belief can do to it, told without folding them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.rules import may_promote, passes_entry

ENDING: Final = frozenset({"belief.retracted", "belief.reinstated", "belief.superseded", "condition.met"})
"""Types that leave the maturity of a belief as it is, on which alone it depends when replacements of it act."""
MATURING: Final = frozenset({"belief.affirmed", "belief.promoted", "memory.revalidated"})
"""Types by which a belief can't become less mature."""
DEMOTING: Final = frozenset({"belief.demoted", "belief.reclassified"})


def never_mature(copies: list[Fact], acting: list[Fact]) -> bool:
    """Whether nothing in the log can make an active belief of this one, nor of a survivor of it."""
    recurrences = 0
    for fact in acting:
        if fact.type == "belief.affirmed" and fact.payload["how"] == "recurrence":
            recurrences += 1
        elif fact.type in MATURING | DEMOTING or fact.type == "belief.merged":
            return False
    return not may_promote(recurrences) and not passes_entry(copies[0].payload)


def may_mature_otherwise(
    copies: Collection[Fact], acting: Iterable[Fact], since: int, types: Collection[str] = MATURING | DEMOTING
) -> bool:
    """Whether something of a type acts on a belief at or after a stamp, and may be without effect if that has ended."""
    late = any(copy.hlc >= since for copy in copies)
    return any(
        fact.type in types and (late or fact.hlc >= since or fact.type == "memory.revalidated") for fact in acting
    )
