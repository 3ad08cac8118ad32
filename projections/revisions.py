"""Every event that revises a belief: what it did to which one, by whom, having read what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from beliefbase.beliefs.attributes import CLASS
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Cells, Columns, Same

_OTHER = {"belief.superseded": "superseding_id", "belief.merged": "surviving_id"}
_TARGET = {"belief.superseded": "superseded_id", "belief.merged": "duplicate_id"}
_HOW = ("how", "cause", "outcome")


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

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        other = _OTHER.get(events.type)
        basis, undone, reasoned = events.basis, events.items("undoes"), events.saying("reason")
        return {
            "revision_facts": {
                "row_key": events.keys,
                "revision_id": events.ids,
                "type": Same(events.type, len(events)),
                "belief_id": events.hexes(_TARGET.get(events.type, "belief_id")),
                "other_id": events.hexes(other) if other else Same(None, len(events)),
                "condition_key_hash": events.hexes("condition_key"),
                "how": _how(events),
                "changes": _changes(events),
                "session_hash": events.hexes("session"),
                "writer_id": events.writers,
                "seq": events.seqs,
                "agent_hash": events.agents,
                "revised_hlc": events.stamps,
                "recorded_lag_ms": events.lags,
            },
            "revision_basis": {
                "row_key": events.keys[basis.owner],
                "revision_id": events.ids[basis.owner],
                "basis_id": basis.ids,
            },
            "revision_undoes": {
                "row_key": events.keys[undone.owner],
                "revision_id": events.ids[undone.owner],
                "position": undone.place,
                "undone_id": undone.ids,
            },
            "revision_texts": {
                "row_key": reasoned.keys,
                "revision_id": reasoned.ids,
                "reason": reasoned.text("reason"),
            },
        }


def _how(events: Batch) -> Cells:
    given = [values for values in map(events.field, _HOW) if not isinstance(values, Same)]
    if len(given) < 2:
        return given[0] if given else Same(None, len(events))
    return [next((value for value in values if value is not None), None) for values in zip(*given, strict=True)]


def _changes(events: Batch) -> Sequence[str | None]:
    if events.type != "belief.reclassified":
        return Same(None, len(events))
    given = [events.field(field, "") for field in CLASS]
    return [
        ",".join(f"{field}={value}" for field, value in zip(CLASS, values, strict=True) if value != "")
        for values in zip(*given, strict=True)
    ]


PROJECTION = Revisions()
