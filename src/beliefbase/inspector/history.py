"""The history of a belief: every interval of its life with its cause, and what had no effect on it."""

from __future__ import annotations

from typing import Any

from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.reasons import TOOK_EFFECT
from beliefbase.beliefs.rules import FOREVER
from beliefbase.events.hlc import ms_of, stamp
from beliefbase.inspector.case import COUNTER, Case
from beliefbase.inspector.desk import Entry
from beliefbase.inspector.revisions import Revisions

DETAILS = ("how", "cause", "outcome", "superseding_id", "surviving_id", "condition_key", "undoes")


def history(case: Case, now_ms: int) -> dict[str, Any]:
    """Every interval in order, JSON-ready; those that begin after ``now_ms`` are marked as still to come."""
    life, desk = case.life, case.desk
    intervals = life.intervals
    revisions = Revisions(case)
    causes = {event for row in intervals for event in (_event(row.cause), _event(row.by)) if event is not None}
    entries = desk.by_id(causes | {life.id}) | {entry.id: entry for entry in revisions.all}
    desk.meet(entries.values())
    return {
        "belief": life.id.hex(),
        "asked": case.named.hex(),
        "copies": [face.hex() for face in life.faces[1:]],
        "statement": entries[life.id].text("statement"),
        "erased": entries[life.id].erased,
        "intervals": [_row(case, row, entries, stamp(now_ms, COUNTER)) for row in intervals],
        "without_effect": without_effect(case, revisions),
        "basis": [key.hex() for key in revisions.basis],
    }


def flags(row: Interval) -> list[str]:
    """The flags of an interval by name."""
    return [name for name, on in (("stale", row.stale), ("contested", row.contested), ("forked", row.forked)) if on]


def _row(case: Case, row: Interval, entries: dict[bytes, Entry], now: int) -> dict[str, Any]:
    event = _event(row.by) or _event(row.cause)
    entry = None if event is None else entries.get(event)
    by: dict[str, Any] | None = None
    if entry is not None:
        by = {**case.desk.told(entry), **details(entry), "acted_ms": ms_of(case.fold.acted.get(entry.id, row.since))}
    return {
        "from_hlc": row.since,
        "from_ms": ms_of(row.since),
        "until_hlc": None if row.until == FOREVER else row.until,
        "until_ms": None if row.until == FOREVER else ms_of(row.until),
        "status": row.status,
        "flags": flags(row),
        "cause": None if row.cause is None else row.cause.hex(),
        "by": by,
        "by_time": by is None,
        "to_come": row.since > now,
    }


def _event(id_: bytes | None) -> bytes | None:
    """The event behind an id of the fold: an erasure acts under its own id with the belief's behind it."""
    return None if id_ is None else id_[:16]


def details(entry: Entry) -> dict[str, Any]:
    """What an event says besides who and when, JSON-ready: how, cause, outcome, the other belief, what changes."""
    payload = entry.payload
    told: dict[str, Any] = {}
    for field in DETAILS:
        value = payload.get(field)
        if isinstance(value, bytes):
            told[field] = entry.name(field) if field == "condition_key" else value.hex()
        elif isinstance(value, tuple):
            told[field] = [item.hex() for item in value]
        elif value is not None:
            told[field] = value
    if entry.type == "belief.reclassified":
        told["changes"] = {
            name: entry.name(name) if isinstance(value, bytes) else value
            for name, value in payload.items()
            if name != "belief_id"
        }
    return told


def without_effect(case: Case, revisions: Revisions) -> list[dict[str, Any]]:
    """The events about this belief that did nothing, or not yet, with the fold's reason."""
    about: dict[bytes, tuple[str, str | None]] = {}
    for note in case.fold.notes:
        if note.reason not in TOOK_EFFECT:
            about[note.event] = (note.reason.value, None if note.about is None else note.about.hex())
    return [
        {**case.desk.told(entry), **details(entry), "why": about[entry.id][0], "about": about[entry.id][1]}
        for entry in revisions.all
        if entry.id in about
    ]
