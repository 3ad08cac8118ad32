"""What a conclusion rests on, and how much that carries (ADR 0011)."""

from __future__ import annotations

from typing import NamedTuple

from beliefbase.beliefs.authority import Input, authority
from beliefbase.events.catalog import Role
from beliefbase.inspector.case import Case


class Ground(NamedTuple):
    """One input of a conclusion, as an event names it."""

    belief: bytes
    essential: bool
    applicability: str | None


def grounds(case: Case) -> list[Ground]:
    """The inputs of a belief that is a conclusion, up to the moment of the case; empty for any other."""
    found: dict[Ground, None] = {}
    if case.life.inputs is None:
        return []
    for entry in case.desk.naming(case.faces, (Role.STATE,)):
        if entry.type == "conclusion.derived" and case.fold.acted.get(entry.id, case.until + 1) <= case.until:
            for item in entry.payload["inputs"]:
                found[Ground(item["belief_id"], item["role"] == "essential", item.get("applicability"))] = None
    return list(found)


def carried(case: Case, inputs: list[Ground]) -> int:
    """The authority of a conclusion at the moment of a case that was widened to its inputs, per mille."""
    lacking = set(case.fold.lacking(case.life))
    told = []
    for item in inputs:
        life = case.fold.of(item.belief)
        row = life.at(case.until) if life is not None else None
        live = item.belief not in lacking if item.essential else row is not None and row.live
        confidence = life.attributes.get("confidence") or 0 if life is not None else 0
        told.append(Input(item.essential, confidence, live, item.applicability))
    return authority(told)
