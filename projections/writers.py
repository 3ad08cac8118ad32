"""Who writes: agents and people, and their streams."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed


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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload = event.payload
        if event.type == "writer.closed":
            rows["writer_closings"].append((event.key, event.id, event.writer, event.hlc))
            return
        rows["writer_facts"].append(
            (
                event.key,
                event.id,
                event.writer,
                hexed(payload["agent"]),
                payload.get("kind"),
                payload.get("role"),
                payload.get("model"),
                payload.get("max_drift"),
                event.hlc,
                event.skeleton.seq,
            )
        )


PROJECTION = Writers()
