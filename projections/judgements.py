"""What judges said of pairs, every "no" included."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table


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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload, key, judgement = event.payload, event.key, event.id
        verdicts = payload["verdicts"]
        rows["judgement_facts"].append(
            (
                key,
                judgement,
                payload["about"].hex(),
                payload["judge"],
                payload.get("judge_kind"),
                len(verdicts),
                event.writer,
                event.agent,
                event.hlc,
            )
        )
        rows["verdicts"] += [
            (
                key,
                judgement,
                place,
                verdict["other"].hex(),
                verdict["relation"],
                verdict.get("confidence"),
                verdict.get("lexical_rank"),
                verdict.get("vector_rank"),
            )
            for place, verdict in enumerate(verdicts)
        ]


PROJECTION = Judgements()
