"""Contradictions that were raised, and how they were resolved."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed


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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload = event.payload
        judgement = hexed(payload.get("judgement"))
        if event.type == "contradiction.raised":
            rows["contradiction_facts"].append(
                (
                    event.key,
                    event.id,
                    payload["left"].hex(),
                    payload["right"].hex(),
                    judgement,
                    event.writer,
                    event.agent,
                    event.hlc,
                )
            )
            return
        rows["contradiction_resolutions"].append(
            (
                event.key,
                event.id,
                payload["contradiction_id"].hex(),
                payload["outcome"],
                judgement,
                event.writer,
                event.agent,
                event.hlc,
            )
        )


PROJECTION = Contradictions()
