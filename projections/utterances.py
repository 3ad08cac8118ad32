"""What was said, by whom, where and when; the words stand in a table of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns


class Utterances(Projection):
    """One row per utterance, and one with its words while they are there."""

    NAME = "utterances"
    TYPES = ("utterance.recorded",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "utterance_facts",
            "Utterances without their words",
            Owner.EVENT,
            (
                Column("utterance_id", "VARCHAR", "Id of the utterance: of its utterance.recorded event"),
                Column("source_ref", "VARCHAR", "Hash of the item's name at its source; evidence may name it by this"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("agent_hash", "VARCHAR", "Hash of the recording agent's name"),
                Column("speaker_hash", "VARCHAR", "Hash of the speaker's name"),
                Column("conversation_hash", "VARCHAR", "Hash of the conversation's name"),
                Column("turn", "BIGINT", "Place in the conversation"),
                Column("said_hlc", "BIGINT", "Stamp of the event"),
                Column("recorded_lag_ms", "BIGINT", "Milliseconds between the stamp and the wall clock at append"),
            ),
            ("utterance_id",),
        ),
        Table(
            "utterance_texts",
            "The words of utterances, as they were said; rows go when words are erased",
            Owner.EVENT,
            (
                Column("utterance_id", "VARCHAR", "Id of the utterance"),
                Column("verbatim", "VARCHAR", "What was said, never rewritten"),
                Column("topic", "VARCHAR", "What it was about"),
                Column("channel", "VARCHAR", "Where it was said"),
                Column("entities", "VARCHAR[]", "Names of what is mentioned"),
            ),
            ("utterance_id",),
            digested=False,
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        said = events.worded
        return {
            "utterance_facts": {
                "row_key": events.keys,
                "utterance_id": events.ids,
                "source_ref": events.refs,
                "writer_id": events.writers,
                "seq": events.seqs,
                "agent_hash": events.agents,
                "speaker_hash": events.hexes("speaker"),
                "conversation_hash": events.hexes("conversation"),
                "turn": events.field("turn"),
                "said_hlc": events.stamps,
                "recorded_lag_ms": events.lags,
            },
            "utterance_texts": {
                "row_key": said.keys,
                "utterance_id": said.ids,
                "verbatim": said.text("verbatim"),
                "topic": said.text("topic"),
                "channel": said.text("channel"),
                "entities": said.text_list("entities"),
            },
        }


PROJECTION = Utterances()
