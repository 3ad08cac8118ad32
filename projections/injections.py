"""What agents were shown: one injection with its cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns

_ID = Column("injection_id", "VARCHAR", "Id of the injection: of its memory.injected event")


class Injections(Projection):
    """One row per injection, one per card, and one with the words while they are there."""

    NAME = "injections"
    TYPES = ("memory.injected",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "injection_facts",
            "Injections without their words",
            Owner.EVENT,
            (
                _ID,
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the name of the agent that recorded it"),
                Column("conversation_hash", "VARCHAR", "Hash of the conversation's name"),
                Column("session_hash", "VARCHAR", "Hash of the session's name"),
                Column("turn", "BIGINT", "Place in the conversation"),
                Column("renderer", "VARCHAR", "What rendered it"),
                Column("cards", "BIGINT", "How many beliefs were shown"),
                Column("injected_hlc", "BIGINT", "Stamp of the event"),
                Column("recorded_lag_ms", "BIGINT", "Milliseconds between the stamp and the wall clock at append"),
            ),
            ("injection_id",),
        ),
        Table(
            "injection_cards",
            "The beliefs of an injection, in the order in which they were shown",
            Owner.EVENT,
            (
                _ID,
                Column("position", "BIGINT", "Place in the list, from 0"),
                Column("belief_id", "VARCHAR", "The belief that was shown", entity=True),
                Column("tag", "VARCHAR", "How it was to be used"),
                Column("applicability", "VARCHAR", "same_context, adjacent_context, cross_context or unknown"),
                Column("force", "BIGINT", "Force, per mille"),
                Column("rank", "BIGINT", "Rank in the recall"),
                Column("injected_hlc", "BIGINT", "Stamp of the injection"),
            ),
            ("injection_id", "position"),
        ),
        Table(
            "injection_texts",
            "The words of injections; rows go when words are erased",
            Owner.EVENT,
            (
                _ID,
                Column("query", "VARCHAR", "What was asked"),
                Column("context", "VARCHAR", "The context that the beliefs were shown in"),
            ),
            ("injection_id",),
            digested=False,
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        cards = events.items("cards")
        asked = events.saying("query", "context")
        return {
            "injection_facts": {
                "row_key": events.keys,
                "injection_id": events.ids,
                "writer_id": events.writers,
                "agent_hash": events.agents,
                "conversation_hash": events.hexes("conversation"),
                "session_hash": events.hexes("session"),
                "turn": events.field("turn"),
                "renderer": events.field("renderer"),
                "cards": events.lengths("cards"),
                "injected_hlc": events.stamps,
                "recorded_lag_ms": events.lags,
            },
            "injection_cards": {
                "row_key": events.keys[cards.owner],
                "injection_id": events.ids[cards.owner],
                "position": cards.place,
                "belief_id": cards.hexes("belief_id"),
                "tag": cards.field("tag"),
                "applicability": cards.field("applicability"),
                "force": cards.field("force"),
                "rank": cards.field("rank"),
                "injected_hlc": events.stamps[cards.owner],
            },
            "injection_texts": {
                "row_key": asked.keys,
                "injection_id": asked.ids,
                "query": asked.text("query"),
                "context": asked.text("context"),
            },
        }


PROJECTION = Injections()
