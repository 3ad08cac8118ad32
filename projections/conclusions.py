"""What beliefs were concluded from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns


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

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        inputs = events.items("inputs")
        return {
            "conclusion_facts": {
                "row_key": events.keys,
                "derivation_id": events.ids,
                "belief_id": events.hexes("belief_id"),
                "input_count": events.lengths("inputs"),
                "writer_id": events.writers,
                "agent_hash": events.agents,
                "derived_hlc": events.stamps,
            },
            "conclusion_inputs": {
                "row_key": events.keys[inputs.owner],
                "derivation_id": events.ids[inputs.owner],
                "position": inputs.place,
                "belief_id": inputs.hexes("belief_id"),
                "role": inputs.field("role"),
                "applicability": inputs.field("applicability", "unknown"),
            },
        }


PROJECTION = Conclusions()
