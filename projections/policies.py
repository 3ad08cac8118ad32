"""Which lifecycle policies were defined and which profiles activated: the rules of a time are in the log as well."""

from __future__ import annotations

from typing import ClassVar

from beliefbase.projections.base import Column, Owner, Projection, Read, Rows, Table


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
                Column("fail_closed", "BOOLEAN", "Whether an unsure speech act counts as uncertain_assertion"),
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

    def of_event(self, event: Read, rows: Rows) -> None:  # noqa: D102  of the base
        payload, skeleton, key = event.payload, event.skeleton, event.key
        if event.type == "policy.defined":
            rows["policy_definitions"].append(
                (
                    key,
                    event.id,
                    payload["policy"],
                    payload["base"],
                    payload.get("half_life_days"),
                    event.writer,
                    event.agent,
                    skeleton.seq,
                    event.hlc,
                )
            )
            return
        rows["profile_activations"].append(
            (
                key,
                event.id,
                payload["profile"],
                payload.get("newer_wins"),
                payload.get("fail_closed"),
                event.writer,
                event.agent,
                skeleton.seq,
                event.hlc,
            )
        )
        for of, field in (("speech_act", "half_lives"), ("kind", "kinds")):
            rows["profile_half_lives"] += [
                (key, event.id, of, name, days) for name, days in sorted(payload.get(field, {}).items())
            ]


PROJECTION = Policies()
