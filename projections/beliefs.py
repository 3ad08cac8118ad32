"""Beliefs as they were extracted; what became of them is in the intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed, text, texts

_BELIEF_ID = Column("belief_id", "VARCHAR", "Id of the belief: of its belief.extracted event")


class Beliefs(Projection):
    """One row per belief, one per piece of evidence, and one with the words while they are there."""

    NAME = "beliefs"
    TYPES = ("belief.extracted",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "belief_facts",
            "Beliefs as they were extracted, without their words; a class that was corrected later is in belief_intervals",
            Owner.EVENT,
            (
                _BELIEF_ID,
                Column("writer_id", "VARCHAR", "Stream of the extraction"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("agent_hash", "VARCHAR", "Hash of the extracting agent's name"),
                Column("kind", "VARCHAR", "Kind, as extracted"),
                Column("node_kind", "VARCHAR", "belief, conclusion, domain_concept, goal or work_product; NULL = belief"),
                Column("speech_act", "VARCHAR", "Speech act, as extracted"),
                Column("speech_act_confidence", "BIGINT", "Confidence in the speech act, per mille"),
                Column("voice", "VARCHAR", "self, authority, other, agent or system"),
                Column("assertion_type", "VARCHAR", "How the words became the statement"),
                Column("assertion_class", "VARCHAR", "durable_fact may enter as active at once"),
                Column("confidence", "BIGINT", "Confidence of the extraction, per mille"),
                Column("policy", "VARCHAR", "Lifecycle policy named at extraction"),
                Column("condition_key_hash", "VARCHAR", "Hash of the condition's name that ends it"),
                Column("session_hash", "VARCHAR", "Hash of the session's name"),
                Column("extractor", "VARCHAR", "What extracted it"),
                Column("evidence_count", "BIGINT", "How many utterances it cites"),
                Column("kind_misfit", "BOOLEAN", "The extractor said that no kind fits; observed only"),
                Column("malformed", "VARCHAR", "Observe-only fields that came malformed, comma-separated"),
                Column("extracted_hlc", "BIGINT", "Stamp of the extraction"),
                Column("recorded_lag_ms", "BIGINT", "Milliseconds between the stamp and the wall clock at append"),
            ),
            ("belief_id",),
        ),
        Table(
            "belief_evidence",
            "What beliefs cite, in the extraction's order, as it was written",
            Owner.EVENT,
            (
                _BELIEF_ID,
                Column("position", "BIGINT", "Place in the list, from 0"),
                Column("cited", "VARCHAR", "Id or source_ref hash of what is cited; may be unknown to this store"),
            ),
            ("belief_id", "position"),
        ),
        Table(
            "belief_spans",
            "Where in the cited utterances the evidence stands",
            Owner.EVENT,
            (
                _BELIEF_ID,
                Column("position", "BIGINT", "Place in the list of spans, from 0"),
                Column("evidence", "BIGINT", "Place of the cited utterance in belief_evidence"),
                Column("first_character", "BIGINT", "First character of the verbatim, from 0"),
                Column("end_character", "BIGINT", "The character after the last"),
            ),
            ("belief_id", "position"),
        ),
        Table(
            "belief_texts",
            "The words of beliefs; rows go when words are erased",
            Owner.EVENT,
            (
                _BELIEF_ID,
                Column("statement", "VARCHAR", "What is believed"),
                Column("topic", "VARCHAR", "What it is about"),
                Column("subject", "VARCHAR", "Subject of the statement"),
                Column("predicate", "VARCHAR", "What is said of the subject"),
                Column("obsolete_when", "VARCHAR", "When it should become obsolete; observed only"),
                Column("kind_misfit_reason", "VARCHAR", "Why no kind fits; observed only"),
                Column("supersedes_note", "VARCHAR", "What it seems to replace; observed only"),
                Column("tags", "VARCHAR[]", "Tags of the extractor; observed only"),
                Column("excerpts", "VARCHAR[]", "Excerpts of the evidence"),
            ),
            ("belief_id",),
            digested=False,
        ),
    )

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload, skeleton, key, belief = event.payload, event.skeleton, event.key, event.id
        evidence = payload.get("evidence", ())
        malformed = payload.get("malformed")
        rows["belief_facts"].append(
            (
                key,
                belief,
                event.writer,
                skeleton.seq,
                event.agent,
                payload["kind"],
                payload.get("node_kind"),
                payload.get("speech_act", "direct_assertion"),
                payload.get("speech_act_confidence", 1000),
                payload.get("voice"),
                payload.get("assertion_type"),
                payload.get("assertion_class"),
                payload.get("confidence", 0),
                payload.get("policy"),
                hexed(payload.get("condition_key")),
                hexed(payload.get("session")),
                payload.get("extractor"),
                len(evidence),
                payload.get("kind_misfit"),
                ",".join(malformed) if malformed else None,
                event.hlc,
                skeleton.recorded,
            )
        )
        if evidence:
            rows["belief_evidence"] += [(key, belief, place, cited.hex()) for place, cited in enumerate(evidence)]
        if "spans" in payload:
            rows["belief_spans"] += [
                (key, belief, place, span["evidence"], span["start"], span["end"])
                for place, span in enumerate(payload["spans"])
            ]
        if event.words:
            rows["belief_texts"].append((key, belief, *_texts(event.words)))


def _texts(words: Mapping[str, Any]) -> tuple[str | None, ...]:
    tags, excerpts = texts(words, "tags"), texts(words, "excerpts")
    return (
        text(words, "statement"),
        text(words, "topic"),
        text(words, "subject"),
        text(words, "predicate"),
        text(words, "obsolete_when"),
        text(words, "kind_misfit_reason"),
        text(words, "supersedes_note"),
        json.dumps(tags) if tags else None,
        json.dumps(excerpts) if excerpts else None,
    )


PROJECTION = Beliefs()
