"""What the rules found remarkable: events without effect, events that wait, and for what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.reasons import VOID, Note, Reason
from beliefbase.projections.base import Column, Owner, Projection, Rows, Table, hexed, row_key

_WAITING: Final = frozenset({Reason.MISSING, Reason.REPLACEMENT_WAITS})


class Anomalies(Projection):
    """One row per remark of the fold."""

    NAME = "anomalies"
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "anomaly_facts",
            "Events that have no effect, that wait for something, or that one should know of",
            Owner.MESSAGE,
            (
                Column("event_id", "VARCHAR", "Id of the event"),
                Column("type", "VARCHAR", "Its type"),
                Column("state", "VARCHAR", "void: it has no effect; waiting: not yet; noted: good to know"),
                Column("reason", "VARCHAR", "Why, out of the closed set in beliefs/reasons.py"),
                Column("about_id", "VARCHAR", "What it names: the missing id, the belief, the target it waits to end"),
                Column("hlc", "BIGINT", "Stamp of the event"),
            ),
            ("event_id", "reason", "about_id"),
        ),
    )

    def of_notes(self, notes: Iterable[Note], facts: Iterable[Fact], rows: Rows) -> None:  # noqa: D102  of the base
        by_id: dict[bytes, Fact] | None = None
        for note in notes:
            if by_id is None:
                by_id = {fact.id: fact for fact in facts}
            fact = by_id.get(note.event)
            if fact is not None:
                rows["anomaly_facts"].append(
                    (
                        row_key(fact.id),
                        fact.id.hex(),
                        fact.type,
                        "void" if note.reason in VOID else "waiting" if note.reason in _WAITING else "noted",
                        note.reason.value,
                        hexed(note.about),
                        fact.hlc,
                    )
                )


PROJECTION = Anomalies()
