"""Who was asked whether a load-bearing belief still holds, and what they answered."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed


class Revalidations(Projection):
    """One row per prompt, one per answer."""

    NAME = "revalidations"
    TYPES = ("memory.requires_revalidation_prompt", "memory.revalidated")
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "revalidation_prompts",
            "Prompts to confirm a belief that is stale or contradicted while load-bearing",
            Owner.EVENT,
            (
                Column("prompt_id", "VARCHAR", "Id of the memory.requires_revalidation_prompt event"),
                Column("belief_id", "VARCHAR", "The belief", entity=True),
                Column("cause", "VARCHAR", "stale or contradicted"),
                Column("injection_id", "VARCHAR", "The injection that led to it", entity=True),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the asking agent's name"),
                Column("asked_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("prompt_id",),
        ),
        Table(
            "revalidation_answers",
            "Answers to such prompts, or given without one",
            Owner.EVENT,
            (
                Column("answer_id", "VARCHAR", "Id of the memory.revalidated event"),
                Column("belief_id", "VARCHAR", "The belief", entity=True),
                Column("outcome", "VARCHAR", "confirmed, rejected or changed"),
                Column("prompt_id", "VARCHAR", "The prompt that it answers", entity=True),
                Column("session_hash", "VARCHAR", "Hash of the session's name"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the answering agent's name"),
                Column("answered_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("answer_id",),
        ),
    )

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload = event.payload
        if event.type == "memory.revalidated":
            rows["revalidation_answers"].append(
                (
                    event.key,
                    event.id,
                    payload["belief_id"].hex(),
                    payload["outcome"],
                    hexed(payload.get("prompt_id")),
                    hexed(payload.get("session")),
                    event.writer,
                    event.agent,
                    event.hlc,
                )
            )
            return
        rows["revalidation_prompts"].append(
            (
                event.key,
                event.id,
                payload["belief_id"].hex(),
                payload["cause"],
                hexed(payload.get("injection_id")),
                event.writer,
                event.agent,
                event.hlc,
            )
        )


PROJECTION = Revalidations()
