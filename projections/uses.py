"""What agents did with what they were shown, and what contradicted it live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Cells, Columns


class Uses(Projection):
    """One row per report of use, one per live contradiction."""

    NAME = "uses"
    TYPES = ("memory.used", "memory.live_contradiction_detected")
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "use_facts",
            "Reports of what became of a belief that was shown",
            Owner.EVENT,
            (
                Column("use_id", "VARCHAR", "Id of the memory.used event"),
                Column("injection_id", "VARCHAR", "The injection that showed the belief", entity=True),
                Column("belief_id", "VARCHAR", "The belief", entity=True),
                Column("outcome", "VARCHAR", "used, ignored or corrected"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the reporting agent's name"),
                Column("used_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("use_id",),
        ),
        Table(
            "live_contradiction_facts",
            "What was said while a belief was in use, and contradicts it",
            Owner.EVENT,
            (
                Column("detection_id", "VARCHAR", "Id of the memory.live_contradiction_detected event"),
                Column("belief_id", "VARCHAR", "The belief", entity=True),
                Column("utterance", "VARCHAR", "Id or source_ref hash of the utterance, as it was written"),
                Column("judgement_id", "VARCHAR", "The judgement behind it", entity=True),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the detecting agent's name"),
                Column("detected_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("detection_id",),
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        common: dict[str, Cells] = {"row_key": events.keys, "writer_id": events.writers, "agent_hash": events.agents}
        if events.type == "memory.used":
            return {
                "use_facts": {
                    **common,
                    "use_id": events.ids,
                    "injection_id": events.hexes("injection_id"),
                    "belief_id": events.hexes("belief_id"),
                    "outcome": events.field("outcome"),
                    "used_hlc": events.stamps,
                }
            }
        return {
            "live_contradiction_facts": {
                **common,
                "detection_id": events.ids,
                "belief_id": events.hexes("belief_id"),
                "utterance": events.hexes("utterance_id"),
                "judgement_id": events.hexes("judgement"),
                "detected_hlc": events.stamps,
            }
        }


PROJECTION = Uses()
