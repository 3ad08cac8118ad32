"""Whom a belief was shown to, and what became of it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from beliefbase.events.catalog import Role
from beliefbase.inspector.case import Case
from beliefbase.inspector.desk import Entry


def shown(case: Case) -> dict[str, Any]:
    """Injections with their outcomes, live contradictions and revalidations of a belief, JSON-ready and in order."""
    desk, faces = case.desk, set(case.faces)
    entries = [entry for entry in desk.naming(faces, (Role.SHOWN,)) if entry.skeleton.hlc <= case.until]
    answers = [entry for entry in desk.naming(faces, (Role.STATE,)) if entry.type == "memory.revalidated"]
    desk.meet(entries)
    uses: dict[bytes, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.type == "memory.used":
            uses[entry.payload["injection_id"]].append(entry)
    injections = [
        _injection(case, entry, card, uses.pop(entry.id, []) if first else [])
        for entry in entries
        if entry.type == "memory.injected"
        for first, card in _cards(entry, faces)
    ]
    return {
        "injections": injections,
        "uses_of_unknown_injections": [_use(case, entry) for late in uses.values() for entry in late],
        "live_contradictions": [
            {
                **desk.told(entry),
                "utterance": entry.payload["utterance_id"].hex(),
                "judgement": _hex(entry.payload.get("judgement")),
            }
            for entry in entries
            if entry.type == "memory.live_contradiction_detected"
        ],
        "revalidation_prompts": [
            {
                **desk.told(entry),
                "cause": entry.payload["cause"],
                "answers": [
                    {**desk.told(answer), "outcome": answer.payload["outcome"]}
                    for answer in answers
                    if answer.payload.get("prompt_id") == entry.id and answer.skeleton.hlc <= case.until
                ],
            }
            for entry in entries
            if entry.type == "memory.requires_revalidation_prompt"
        ],
    }


def _cards(entry: Entry, faces: set[bytes]) -> list[tuple[bool, dict[str, Any]]]:
    cards = [card for card in entry.payload["cards"] if card["belief_id"] in faces]
    return [(place == 0, card) for place, card in enumerate(cards)]


def _injection(case: Case, entry: Entry, card: dict[str, Any], uses: list[Entry]) -> dict[str, Any]:
    return {
        **case.desk.told(entry),
        "session": entry.name("session"),
        "conversation": entry.name("conversation"),
        "turn": entry.payload.get("turn"),
        "query": entry.text("query"),
        "tag": card.get("tag"),
        "applicability": card.get("applicability"),
        "force": card.get("force"),
        "rank": card.get("rank"),
        "renderer": entry.payload.get("renderer"),
        "outcomes": [_use(case, use) for use in uses],
    }


def _use(case: Case, entry: Entry) -> dict[str, Any]:
    return {
        **case.desk.told(entry),
        "injection": entry.payload["injection_id"].hex(),
        "outcome": entry.payload["outcome"],
        "evidence": [cited.hex() for cited in entry.payload.get("evidence", ())],
    }


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
