"""Who writes: agents and people, and their streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns


class Writers(Projection):
    """One row per ``writer.joined`` and one per ``writer.closed``."""

    NAME = "writers"
    TYPES = ("writer.joined", "writer.closed")
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "writer_facts",
            "What writers said of themselves when they joined",
            Owner.EVENT,
            (
                Column("joined_id", "VARCHAR", "Id of the writer.joined event"),
                Column("writer_id", "VARCHAR", "The stream: one open handle of one process"),
                Column("agent_hash", "VARCHAR", "Hash of the agent's or person's name"),
                Column("kind", "VARCHAR", "human, agent, tool or importer"),
                Column("role", "VARCHAR", "owner or member"),
                Column("model", "VARCHAR", "Language model behind the agent; NULL where it has none or didn't say"),
                Column("max_drift_ms", "BIGINT", "Milliseconds that a foreign stamp may be ahead before it is parked"),
                Column("joined_hlc", "BIGINT", "Stamp of the event"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
            ),
            ("joined_id",),
        ),
        Table(
            "writer_closings",
            "Writers that said that they would write no more",
            Owner.EVENT,
            (
                Column("closed_id", "VARCHAR", "Id of the writer.closed event"),
                Column("writer_id", "VARCHAR", "The stream"),
                Column("closed_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("closed_id",),
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        if events.type == "writer.closed":
            return {
                "writer_closings": {
                    "row_key": events.keys,
                    "closed_id": events.ids,
                    "writer_id": events.writers,
                    "closed_hlc": events.stamps,
                }
            }
        return {
            "writer_facts": {
                "row_key": events.keys,
                "joined_id": events.ids,
                "writer_id": events.writers,
                "agent_hash": events.hexes("agent"),
                "kind": events.field("kind"),
                "role": events.field("role"),
                "model": events.field("model"),
                "max_drift_ms": events.field("max_drift"),
                "joined_hlc": events.stamps,
                "seq": events.seqs,
            }
        }


PROJECTION = Writers()
