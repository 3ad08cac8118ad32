"""What beliefs were reclassified as, and from when on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from beliefbase.beliefs.attributes import CLASS, UNSAID
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.columns import Columns, keys_of
from beliefbase.projections.stretches import Stretches


class Classes(Projection):
    """One row per reclassification that acts; beliefs that were never reclassified have none."""

    NAME = "belief_classes"
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "belief_classes",
            "What beliefs count as from a reclassification on, until the next one",
            Owner.BELIEF,
            (
                Column("belief_id", "VARCHAR", "Id of the belief"),
                Column("number", "BIGINT", "1 for the first reclassification of the belief"),
                Column("since_hlc", "BIGINT", "Stamp at which it acts"),
                Column("kind", "VARCHAR", "Kind from then on"),
                Column("node_kind", "VARCHAR", "belief, conclusion, domain_concept, goal, work_product; NULL = belief"),
                Column("speech_act", "VARCHAR", "Speech act from then on"),
                Column("speech_act_confidence", "BIGINT", "Confidence in the speech act, per mille"),
                Column("voice", "VARCHAR", "self, authority, other, agent or system"),
                Column("assertion_type", "VARCHAR", "How the words became the statement"),
                Column("assertion_class", "VARCHAR", "durable_fact may be active at once"),
                Column("confidence", "BIGINT", "Confidence, per mille"),
                Column("policy", "VARCHAR", "Lifecycle policy"),
                Column("condition_key_hash", "VARCHAR", "Hash of the condition's name that ends it"),
            ),
            ("belief_id", "number"),
        ),
    )

    def of_lives(self, lives: Stretches) -> Mapping[str, Columns]:  # noqa: D102  of the base
        found = [
            (life.id, number, since, attributes)
            for life in lives.lives
            if life.classes
            for number, (since, attributes) in enumerate(life.classes, 1)
        ]
        attributes = [attributes for _, _, _, attributes in found]
        return {
            "belief_classes": {
                "row_key": keys_of([belief for belief, _, _, _ in found]),
                "belief_id": [belief.hex() for belief, _, _, _ in found],
                "number": [number for _, number, _, _ in found],
                "since_hlc": [since for _, _, since, _ in found],
                **{name: [known.get(name, UNSAID.get(name)) for known in attributes] for name in CLASS},
                "condition_key_hash": [
                    key.hex() if (key := known.get("condition_key")) is not None else None for known in attributes
                ],
            }
        }


PROJECTION = Classes()
