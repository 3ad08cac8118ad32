"""Which lifecycle policies were defined and which profiles activated: the rules of a time are in the log as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Cells, Columns


class Policies(Projection):
    """One row per definition, one per activation, one per half-life that a profile sets."""

    NAME = "policies"
    TYPES = ("policy.defined", "profile.activated")
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "policy_definitions",
            "Definitions of lifecycle policies; the first one of a name and version counts",
            Owner.EVENT,
            (
                Column("definition_id", "VARCHAR", "Id of the policy.defined event"),
                Column("policy", "VARCHAR", "Name and version"),
                Column("base", "VARCHAR", "The built-in behaviour that it has"),
                Column("half_life_days", "BIGINT", "Days to stale; twice that to expired"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the defining agent's name"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("defined_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("definition_id",),
        ),
        Table(
            "profile_activations",
            "Activations of domain profiles; the last one up to a moment is in force",
            Owner.EVENT,
            (
                Column("activation_id", "VARCHAR", "Id of the profile.activated event"),
                Column("profile", "VARCHAR", "Name and version"),
                Column("newer_wins", "BOOLEAN", "Whether a raised contradiction is resolved for the newer side"),
                Column("fail_closed", "BOOLEAN", "Whether an unsure speech act ages as stated where that is faster"),
                Column("writer_id", "VARCHAR", "Stream of the event"),
                Column("agent_hash", "VARCHAR", "Hash of the activating agent's name"),
                Column("seq", "BIGINT", "Place in the stream, from 1"),
                Column("activated_hlc", "BIGINT", "Stamp of the event"),
            ),
            ("activation_id",),
        ),
        Table(
            "profile_half_lives",
            "Half-lives that a profile sets",
            Owner.EVENT,
            (
                Column("activation_id", "VARCHAR", "Id of the profile.activated event"),
                Column("of", "VARCHAR", "speech_act or kind"),
                Column("name", "VARCHAR", "The speech act or kind"),
                Column("half_life_days", "BIGINT", "Days to stale; twice that to expired"),
            ),
            ("activation_id", "of", "name"),
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        common: dict[str, Cells] = {
            "row_key": events.keys,
            "writer_id": events.writers,
            "agent_hash": events.agents,
            "seq": events.seqs,
        }
        if events.type == "policy.defined":
            return {
                "policy_definitions": {
                    **common,
                    "definition_id": events.ids,
                    "policy": events.field("policy"),
                    "base": events.field("base"),
                    "half_life_days": events.field("half_life_days"),
                    "defined_hlc": events.stamps,
                }
            }
        set_by = [
            (place, of, name, days)
            for of, field in (("speech_act", "half_lives"), ("kind", "kinds"))
            for place, half_lives in enumerate(events.field(field, {}))
            for name, days in sorted(half_lives.items())
        ]
        owner = np.array([place for place, _, _, _ in set_by], dtype=np.int64)
        return {
            "profile_activations": {
                **common,
                "activation_id": events.ids,
                "profile": events.field("profile"),
                "newer_wins": events.field("newer_wins"),
                "fail_closed": events.field("fail_closed"),
                "activated_hlc": events.stamps,
            },
            "profile_half_lives": {
                "row_key": events.keys[owner],
                "activation_id": events.ids[owner],
                "of": [of for _, of, _, _ in set_by],
                "name": [name for _, _, name, _ in set_by],
                "half_life_days": [days for _, _, _, days in set_by],
            },
        }


PROJECTION = Policies()
