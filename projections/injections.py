"""What agents were shown: one injection with its cards."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed, text

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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload, key, injection, hlc = event.payload, event.key, event.id, event.hlc
        cards = payload["cards"]
        rows["injection_facts"].append(
            (
                key,
                injection,
                event.writer,
                event.agent,
                hexed(payload.get("conversation")),
                hexed(payload.get("session")),
                payload.get("turn"),
                payload.get("renderer"),
                len(cards),
                hlc,
                event.skeleton.recorded,
            )
        )
        shown = rows["injection_cards"]
        for place, card in enumerate(cards):
            get = card.get
            shown.append(
                (
                    key,
                    injection,
                    place,
                    card["belief_id"].hex(),
                    get("tag"),
                    get("applicability"),
                    get("force"),
                    get("rank"),
                    hlc,
                )
            )
        words = event.words
        if words and ("query" in words or "context" in words):
            rows["injection_texts"].append((key, injection, text(words, "query"), text(words, "context")))


PROJECTION = Injections()
