"""Contradictions that were raised, and how they were resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Cells, Columns


class Contradictions(Projection):
    """One row per contradiction, one per resolution."""

    NAME = "contradictions"
    TYPES = ("contradiction.raised", "contradiction.resolved")
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "contradiction_facts",
            "Two sides that can't both hold",
            Owner.EVENT,
            (
                Column("contradiction_id", "VARCHAR", "Id of the contradiction.raised event"),
                Column("left_id", "VARCHAR", "One side: a belief or utterance", entity=True),
                Column("right_id", "VARCHAR", "The other side", entity=True),
                Column("judgement_id", "VARCHAR", "The judgement behind it", entity=True),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the name of the agent that raised it"),
                Column("raised_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("contradiction_id",),
        ),
        Table(
            "contradiction_resolutions",
            "What holds of a contradiction; of several the last that acts stands",
            Owner.EVENT,
            (
                Column("resolution_id", "VARCHAR", "Id of the contradiction.resolved event"),
                Column("contradiction_id", "VARCHAR", "The contradiction", entity=True),
                Column("outcome", "VARCHAR", "What holds: left, right, both_hold or neither"),
                Column("judgement_id", "VARCHAR", "The judgement behind it", entity=True),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the resolving agent's name"),
                Column("resolved_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("resolution_id",),
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        common: dict[str, Cells] = {
            "row_key": events.keys,
            "judgement_id": events.hexes("judgement"),
            "writer_id": events.writers,
            "agent_hash": events.agents,
        }
        if events.type == "contradiction.raised":
            return {
                "contradiction_facts": {
                    **common,
                    "contradiction_id": events.ids,
                    "left_id": events.hexes("left"),
                    "right_id": events.hexes("right"),
                    "raised_hlc": events.stamps,
                }
            }
        return {
            "contradiction_resolutions": {
                **common,
                "resolution_id": events.ids,
                "contradiction_id": events.hexes("contradiction_id"),
                "outcome": events.field("outcome"),
                "resolved_hlc": events.stamps,
            }
        }


PROJECTION = Contradictions()
