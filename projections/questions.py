"""The curiosity queue: questions and their answers; a question is never a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Cells, Columns


class Questions(Projection):
    """One row per question and answer, and one with the words of each while they are there."""

    NAME = "questions"
    TYPES = ("question.raised", "question.answered")
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "question_facts",
            "Questions without their words",
            Owner.EVENT,
            (
                Column("question_id", "VARCHAR", "Id of the question.raised event"),
                Column("session_hash", "VARCHAR", "Hash of the session's name"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the asking agent's name"),
                Column("asked_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("question_id",),
        ),
        Table(
            "question_texts",
            "The words of questions; rows go when words are erased",
            Owner.EVENT,
            (
                Column("question_id", "VARCHAR", "Id of the question"),
                Column("question", "VARCHAR", "What is asked"),
                Column("topic", "VARCHAR", "What it is about"),
            ),
            ("question_id",),
            digested=False,
        ),
        Table(
            "question_answers",
            "Answers to questions",
            Owner.EVENT,
            (
                Column("reply_id", "VARCHAR", "Id of the question.answered event"),
                Column("question_id", "VARCHAR", "The question", entity=True),
                Column("answer_id", "VARCHAR", "The utterance or belief that answers it", entity=True),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the answering agent's name"),
                Column("answered_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("reply_id",),
        ),
        Table(
            "question_answer_texts",
            "Answers in words; rows go when words are erased",
            Owner.EVENT,
            (
                Column("reply_id", "VARCHAR", "Id of the question.answered event"),
                Column("answer", "VARCHAR", "The answer"),
            ),
            ("reply_id",),
            digested=False,
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        common: dict[str, Cells] = {"row_key": events.keys, "writer_id": events.writers, "agent_hash": events.agents}
        if events.type == "question.raised":
            asked = events.worded
            return {
                "question_facts": {
                    **common,
                    "question_id": events.ids,
                    "session_hash": events.hexes("session"),
                    "asked_hlc": events.stamps,
                },
                "question_texts": {
                    "row_key": asked.keys,
                    "question_id": asked.ids,
                    "question": asked.text("question"),
                    "topic": asked.text("topic"),
                },
            }
        worded = events.saying("answer")
        return {
            "question_answers": {
                **common,
                "reply_id": events.ids,
                "question_id": events.hexes("question_id"),
                "answer_id": events.hexes("answer_id"),
                "answered_hlc": events.stamps,
            },
            "question_answer_texts": {
                "row_key": worded.keys,
                "reply_id": worded.ids,
                "answer": worded.text("answer"),
            },
        }


PROJECTION = Questions()
