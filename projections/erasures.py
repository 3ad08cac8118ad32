"""Whose words were to be erased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns


class Erasures(Projection):
    """One row per ``subject.erased``."""

    NAME = "erasures"
    TYPES = ("subject.erased",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "erasure_facts",
            "Erasures of a person's words",
            Owner.EVENT,
            (
                Column("erasure_id", "VARCHAR", "Id of the subject.erased event"),
                Column("subject_hash", "VARCHAR", "Hash of the person's name"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the erasing agent's name"),
                Column("erased_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("erasure_id",),
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        return {
            "erasure_facts": {
                "row_key": events.keys,
                "erasure_id": events.ids,
                "subject_hash": events.hexes("subject"),
                "writer_id": events.writers,
                "agent_hash": events.agents,
                "erased_hlc": events.stamps,
            }
        }


PROJECTION = Erasures()
