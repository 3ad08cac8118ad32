"""Who was asked whether a load-bearing belief still holds, and what they answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Cells, Columns


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

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        common: dict[str, Cells] = {
            "row_key": events.keys,
            "belief_id": events.hexes("belief_id"),
            "writer_id": events.writers,
            "agent_hash": events.agents,
        }
        if events.type == "memory.revalidated":
            return {
                "revalidation_answers": {
                    **common,
                    "answer_id": events.ids,
                    "outcome": events.field("outcome"),
                    "prompt_id": events.hexes("prompt_id"),
                    "session_hash": events.hexes("session"),
                    "answered_hlc": events.stamps,
                }
            }
        return {
            "revalidation_prompts": {
                **common,
                "prompt_id": events.ids,
                "cause": events.field("cause"),
                "injection_id": events.hexes("injection_id"),
                "asked_hlc": events.stamps,
            }
        }


PROJECTION = Revalidations()
