"""Every event that revises a belief: what it did to which one, by whom, having read what."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table, hexed, text

_OTHER = {"belief.superseded": "superseding_id", "belief.merged": "surviving_id"}
_TARGET = {"belief.superseded": "superseded_id", "belief.merged": "duplicate_id"}
_HOW = ("how", "cause", "outcome")
_CLASS = (
    "kind",
    "node_kind",
    "speech_act",
    "speech_act_confidence",
    "voice",
    "assertion_type",
    "assertion_class",
    "confidence",
    "policy",
)


class Revisions(Projection):
    """One row per revision; those of contradictions stand in their own tables."""

    NAME = "revisions"
    TYPES = (
        "belief.affirmed",
        "belief.promoted",
        "belief.demoted",
        "belief.reclassified",
        "belief.superseded",
        "belief.merged",
        "belief.retracted",
        "belief.reinstated",
        "condition.met",
        "memory.revalidated",
    )
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "revision_facts",
            "Events that revise beliefs, whether they had an effect or not (the void ones are in anomalies)",
            Owner.EVENT,
            (
                Column("revision_id", "VARCHAR", "Id of the event"),
                Column("type", "VARCHAR", "Type of the event"),
                Column("belief_id", "VARCHAR", "The belief that it revises; NULL for a condition's key", entity=True),
                Column("other_id", "VARCHAR", "Superseding or surviving belief", entity=True),
                Column("condition_key_hash", "VARCHAR", "Hash of the name of the condition that was met, or is set"),
                Column("how", "VARCHAR", "How, cause or outcome, as the type has it"),
                Column("changes", "VARCHAR", "What a reclassification sets, as field=value, comma-separated"),
                Column("session_hash", "VARCHAR", "Hash of the session's name"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("agent_hash", "VARCHAR", "Hash of the revising agent's name"),
                Column("revised_hlc", "BIGINT", "Stamp of the event"),
                Column("recorded_lag_ms", "BIGINT", "Milliseconds between the stamp and the wall clock at append"),
            ),
            ("revision_id",),
        ),
        Table(
            "revision_basis",
            "The revisions that the author of a revision had read",
            Owner.EVENT,
            (
                Column("revision_id", "VARCHAR", "Id of the event"),
                Column("basis_id", "VARCHAR", "Id of a revision that its author had read, as it was written"),
            ),
            ("revision_id", "basis_id"),
        ),
        Table(
            "revision_undoes",
            "The endings that a reinstatement undoes",
            Owner.EVENT,
            (
                Column("revision_id", "VARCHAR", "Id of the belief.reinstated event"),
                Column("position", "BIGINT", "Place in the list, from 0"),
                Column("undone_id", "VARCHAR", "Id of the event to undo, as it was written"),
            ),
            ("revision_id", "position"),
        ),
        Table(
            "revision_texts",
            "Reasons given for revisions; rows go when words are erased",
            Owner.EVENT,
            (
                Column("revision_id", "VARCHAR", "Id of the event"),
                Column("reason", "VARCHAR", "Why, in the author's words"),
            ),
            ("revision_id",),
            digested=False,
        ),
    )

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload, skeleton, key, revision = event.payload, event.skeleton, event.key, event.id
        kind = event.type
        rows["revision_facts"].append(
            (
                key,
                revision,
                kind,
                hexed(payload.get(_TARGET.get(kind, "belief_id"))),
                hexed(payload.get(_OTHER[kind])) if kind in _OTHER else None,
                hexed(payload.get("condition_key")),
                next((payload[field] for field in _HOW if field in payload), None),
                ",".join(f"{field}={payload[field]}" for field in _CLASS if field in payload)
                if kind == "belief.reclassified"
                else None,
                hexed(payload.get("session")),
                event.writer,
                skeleton.seq,
                event.agent,
                event.hlc,
                skeleton.recorded,
            )
        )
        if skeleton.basis:
            rows["revision_basis"] += [(key, revision, basis.hex()) for basis in skeleton.basis_ids]
        if kind == "belief.reinstated":
            rows["revision_undoes"] += [
                (key, revision, place, undone.hex()) for place, undone in enumerate(payload["undoes"])
            ]
        reason = text(event.words, "reason")
        if reason is not None:
            rows["revision_texts"].append((key, revision, reason))


PROJECTION = Revisions()
