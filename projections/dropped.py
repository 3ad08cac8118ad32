"""Stored events that this release can't use, each with its reason (P5)."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Dropped, Owner, Projection, Rows, Table, row_key


class DroppedEvents(Projection):
    """One row per event that no projection and no rule could read."""

    NAME = "dropped"
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "dropped",
            "Events that this release stores and passes on but can't use",
            Owner.MESSAGE,
            (
                Column("event_id", "VARCHAR", "Id of the event"),
                Column("writer_id", "VARCHAR", "Its stream"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("hlc", "BIGINT", "Stamp of the event"),
                Column("type", "VARCHAR", "Name of its type; empty for a format of a newer release"),
                Column(
                    "reason",
                    "VARCHAR",
                    "unknown_format, unknown_type, unknown_version, unknown_field, invalid_payload, touches_mismatch"
                    " or question",
                ),
                Column("detail", "VARCHAR", "The format, type, version or field in question"),
            ),
            ("event_id",),
        ),
    )

    def of_unreadable(self, message: Dropped, rows: Rows) -> None:  # noqa: D102  of the base
        skeleton = message.skeleton
        rows["dropped"].append(
            (
                row_key(message.event_id),
                message.event_id.hex(),
                skeleton.writer.hex(),
                skeleton.seq,
                skeleton.hlc,
                skeleton.type,
                message.reason,
                message.detail,
            )
        )


PROJECTION = DroppedEvents()
