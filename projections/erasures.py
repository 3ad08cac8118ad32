"""Whose words were to be erased."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table


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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        rows["erasure_facts"].append(
            (event.key, event.id, event.payload["subject"].hex(), event.writer, event.agent, event.hlc)
        )


PROJECTION = Erasures()
