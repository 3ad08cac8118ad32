"""What judges said of pairs, every "no" included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns


class Judgements(Projection):
    """One row per judgement, one per verdict."""

    NAME = "judgements"
    TYPES = ("judgement.recorded",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "judgement_facts",
            "Judgements: one belief or utterance against others",
            Owner.EVENT,
            (
                Column("judgement_id", "VARCHAR", "Id of the judgement.recorded event"),
                Column("about_id", "VARCHAR", "The belief or utterance that was judged", entity=True),
                Column("judge", "VARCHAR", "Name and version of the rule, model or person"),
                Column("judge_kind", "VARCHAR", "rule, model or person"),
                Column("verdict_count", "BIGINT", "How many others it was judged against"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the recording agent's name"),
                Column("judged_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("judgement_id",),
        ),
        Table(
            "verdicts",
            "What a judgement said of each pair",
            Owner.EVENT,
            (
                Column("judgement_id", "VARCHAR", "Id of the judgement"),
                Column("position", "BIGINT", "Place in the list, from 0"),
                Column("other_id", "VARCHAR", "The other belief or utterance", entity=True),
                Column("relation", "VARCHAR", "contradicts, supersedes, refines, duplicates, compatible or unrelated"),
                Column("confidence", "BIGINT", "Confidence, per mille"),
                Column("lexical_rank", "BIGINT", "Rank in the lexical lane that proposed the pair, from 1"),
                Column("vector_rank", "BIGINT", "Rank in the vector lane, from 1"),
            ),
            ("judgement_id", "position"),
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        verdicts = events.items("verdicts")
        return {
            "judgement_facts": {
                "row_key": events.keys,
                "judgement_id": events.ids,
                "about_id": events.hexes("about"),
                "judge": events.field("judge"),
                "judge_kind": events.field("judge_kind"),
                "verdict_count": events.lengths("verdicts"),
                "writer_id": events.writers,
                "agent_hash": events.agents,
                "judged_hlc": events.stamps,
            },
            "verdicts": {
                "row_key": events.keys[verdicts.owner],
                "judgement_id": events.ids[verdicts.owner],
                "position": verdicts.place,
                "other_id": verdicts.hexes("other"),
                "relation": verdicts.field("relation"),
                "confidence": verdicts.field("confidence"),
                "lexical_rank": verdicts.field("lexical_rank"),
                "vector_rank": verdicts.field("vector_rank"),
            },
        }


PROJECTION = Judgements()
