"""The curiosity queue: questions and their answers; a question is never a memory."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed, text


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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload, words = event.payload, event.words
        if event.type == "question.raised":
            rows["question_facts"].append(
                (event.key, event.id, hexed(payload.get("session")), event.writer, event.agent, event.hlc)
            )
            if words:
                rows["question_texts"].append((event.key, event.id, text(words, "question"), text(words, "topic")))
            return
        rows["question_answers"].append(
            (
                event.key,
                event.id,
                payload["question_id"].hex(),
                hexed(payload.get("answer_id")),
                event.writer,
                event.agent,
                event.hlc,
            )
        )
        answer = text(words, "answer")
        if answer is not None:
            rows["question_answer_texts"].append((event.key, event.id, answer))


PROJECTION = Questions()
