"""Which events are copies: of one type and source_ref with an earlier one, whose id the entity has (DESIGN 3)."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table


class Copies(Projection):
    """One row per copy; the projector fills it, because no event says by itself that it is one."""

    NAME = "copies"
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "copies",
            "Events that came after another of the same type and source_ref: all of them are one entity",
            Owner.MESSAGE,
            (
                Column("copy_id", "VARCHAR", "Id of the later event"),
                Column("entity_id", "VARCHAR", "Id of the earliest one, under which the entity is shown"),
                Column("type", "VARCHAR", "Type of both"),
                Column("agent_hash", "VARCHAR", "Hash of the name of the agent that wrote the copy"),
                Column("copied_hlc", "BIGINT", "Stamp of the copy"),
            ),
            ("copy_id",),
        ),
    )


PROJECTION = Copies()
