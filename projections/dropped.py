"""Stored events that this release can't use, each with its reason (P5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from beliefbase.projections.base import Column, Dropped, Owner, Projection, Table
from beliefbase.projections.columns import Columns, keys_of


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

    def of_dropped(self, events: Sequence[Dropped]) -> Mapping[str, Columns]:  # noqa: D102  of the base
        return {
            "dropped": {
                "row_key": keys_of([event.event_id for event in events]),
                "event_id": [event.event_id.hex() for event in events],
                "writer_id": [event.skeleton.writer.hex() for event in events],
                "seq": [event.skeleton.seq for event in events],
                "hlc": [event.skeleton.hlc for event in events],
                "type": [event.skeleton.type for event in events],
                "reason": [event.reason for event in events],
                "detail": [event.detail for event in events],
            }
        }


PROJECTION = DroppedEvents()
