"""The curiosity queue: questions that were raised, and their answers."""

from __future__ import annotations

from typing import Any

from beliefbase.events.hlc import stamp
from beliefbase.inspector.case import COUNTER
from beliefbase.inspector.desk import Desk, Entry
from beliefbase.inspector.evidence import Evidence


def questions(desk: Desk, as_of_ms: int, *, answered: bool) -> list[dict[str, Any]]:
    """The questions open at a moment in their order, JSON-ready; with ``answered`` the others as well.

    Copies of one question (same source_ref) are one, and an answer to any of them counts.
    """
    until = stamp(as_of_ms, COUNTER)
    entries = [entry for entry in desk.of_types("question.raised", "question.answered") if entry.skeleton.hlc <= until]
    asked: dict[bytes, Entry] = {}
    entity: dict[bytes, bytes] = {}
    for entry in entries:
        if entry.type == "question.raised":
            name = entry.skeleton.source_ref or entry.id
            entity[entry.id] = name
            asked.setdefault(name, entry)
    answers: dict[bytes, list[Entry]] = {}
    for entry in entries:
        if entry.type == "question.answered":
            question = entry.payload["question_id"]
            answers.setdefault(entity.get(question, question), []).append(entry)
    listed = {name: entry for name, entry in asked.items() if answered or name not in answers}
    cited = [key for entry in listed.values() for key in entry.payload.get("evidence", ())]
    cited += [
        one.payload["answer_id"] for name in listed for one in answers.get(name, ()) if "answer_id" in one.payload
    ]
    evidence = Evidence(desk, cited)
    desk.meet(entries)
    return [_question(desk, entry, answers.get(name, []), evidence) for name, entry in listed.items()]


def _question(desk: Desk, entry: Entry, answers: list[Entry], evidence: Evidence) -> dict[str, Any]:
    return {
        **desk.told(entry),
        "question": entry.text("question"),
        "topic": entry.text("topic"),
        "session": entry.name("session"),
        "evidence": [evidence.of(key) for key in entry.payload.get("evidence", ())],
        "open": not answers,
        "answers": [
            {
                **desk.told(one),
                "answer": one.text("answer"),
                "answer_id": None if "answer_id" not in one.payload else evidence.of(one.payload["answer_id"]),
            }
            for one in answers
        ],
    }
