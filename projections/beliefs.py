"""Beliefs as they were extracted; what became of them is in the intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.beliefs.attributes import UNSAID
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns

_BELIEF_ID = Column("belief_id", "VARCHAR", "Id of the belief: of its belief.extracted event")

_TEXTS = ("statement", "topic", "subject", "predicate", "obsolete_when", "kind_misfit_reason", "supersedes_note")


class Beliefs(Projection):
    """One row per belief, one per piece of evidence, and one with the words while they are there."""

    NAME = "beliefs"
    TYPES = ("belief.extracted",)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "belief_facts",
            "Beliefs as they were extracted, without their words",
            Owner.EVENT,
            (
                _BELIEF_ID,
                Column("writer_id", "VARCHAR", "Stream of the extraction"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("agent_hash", "VARCHAR", "Hash of the extracting agent's name"),
                Column("kind", "VARCHAR", "Kind, as extracted"),
                Column("node_kind", "VARCHAR", "belief, conclusion, domain_concept, goal, work_product; NULL = belief"),
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

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        evidence, spans, worded = events.items("evidence"), events.items("spans"), events.worded
        malformed = events.field("malformed")
        return {
            "belief_facts": {
                "row_key": events.keys,
                "belief_id": events.ids,
                "writer_id": events.writers,
                "seq": events.seqs,
                "agent_hash": events.agents,
                "kind": events.field("kind"),
                "node_kind": events.field("node_kind"),
                "speech_act": events.field("speech_act", UNSAID["speech_act"]),
                "speech_act_confidence": events.field("speech_act_confidence", UNSAID["speech_act_confidence"]),
                "voice": events.field("voice"),
                "assertion_type": events.field("assertion_type"),
                "assertion_class": events.field("assertion_class"),
                "confidence": events.field("confidence", UNSAID["confidence"]),
                "policy": events.field("policy"),
                "condition_key_hash": events.hexes("condition_key"),
                "session_hash": events.hexes("session"),
                "extractor": events.field("extractor"),
                "evidence_count": events.lengths("evidence"),
                "kind_misfit": events.field("kind_misfit"),
                "malformed": [",".join(names) if names else None for names in malformed],
                "extracted_hlc": events.stamps,
                "recorded_lag_ms": events.lags,
            },
            "belief_evidence": {
                "row_key": events.keys[evidence.owner],
                "belief_id": events.ids[evidence.owner],
                "position": evidence.place,
                "cited": evidence.ids,
            },
            "belief_spans": {
                "row_key": events.keys[spans.owner],
                "belief_id": events.ids[spans.owner],
                "position": spans.place,
                "evidence": spans.field("evidence"),
                "first_character": spans.field("start"),
                "end_character": spans.field("end"),
            },
            "belief_texts": {
                "row_key": worded.keys,
                "belief_id": worded.ids,
                **{name: worded.text(name) for name in _TEXTS},
                "tags": worded.text_list("tags"),
                "excerpts": worded.text_list("excerpts"),
            },
        }


PROJECTION = Beliefs()
