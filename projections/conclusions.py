"""What beliefs were concluded from."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table


class Conclusions(Projection):
    """One row per derivation, one per input."""

    NAME = "conclusions"
    TYPES = ("conclusion.derived",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "conclusion_facts",
            "Beliefs that are conclusions",
            Owner.EVENT,
            (
                Column("derivation_id", "VARCHAR", "Id of the conclusion.derived event"),
                Column("belief_id", "VARCHAR", "The conclusion", entity=True),
                Column("input_count", "BIGINT", "How many beliefs it rests on"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the concluding agent's name"),
                Column("derived_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("derivation_id",),
        ),
        Table(
            "conclusion_inputs",
            "The beliefs that a conclusion rests on",
            Owner.EVENT,
            (
                Column("derivation_id", "VARCHAR", "Id of the conclusion.derived event"),
                Column("position", "BIGINT", "Place in the list, from 0"),
                Column("belief_id", "VARCHAR", "The input", entity=True),
                Column("role", "VARCHAR", "essential or supporting"),
                Column("applicability", "VARCHAR", "same_context, adjacent_context, cross_context or unknown"),
            ),
            ("derivation_id", "position"),
        ),
    )

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        inputs = event.payload["inputs"]
        rows["conclusion_facts"].append(
            (
                event.key,
                event.id,
                event.payload["belief_id"].hex(),
                len(inputs),
                event.writer,
                event.agent,
                event.hlc,
            )
        )
        rows["conclusion_inputs"] += [
            (event.key, event.id, place, item["belief_id"].hex(), item["role"], item.get("applicability", "unknown"))
            for place, item in enumerate(inputs)
        ]


PROJECTION = Conclusions()
