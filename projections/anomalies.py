"""What the rules found remarkable: events without effect, events that wait, and for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.reasons import VOID, Note, Reason
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.columns import Columns, keys_of

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
                Column(
                    "about_id",
                    "VARCHAR",
                    "What it names: the missing id, the belief, the target it waits to end, or the event with which it"
                    " acted or was undone",
                ),
                Column("hlc", "BIGINT", "Stamp of the event"),
            ),
            ("event_id", "reason", "about_id"),
        ),
    )

    def of_notes(self, notes: Sequence[tuple[Note, Fact]]) -> Mapping[str, Columns]:  # noqa: D102  of the base
        return {
            "anomaly_facts": {
                "row_key": keys_of([fact.id for _, fact in notes]),
                "event_id": [fact.id.hex() for _, fact in notes],
                "type": [fact.type for _, fact in notes],
                "state": [_state(note.reason) for note, _ in notes],
                "reason": [note.reason.value for note, _ in notes],
                "about_id": [None if note.about is None else note.about.hex() for note, _ in notes],
                "hlc": [fact.hlc for _, fact in notes],
            }
        }


def _state(reason: Reason) -> str:
    return "void" if reason in VOID else "waiting" if reason in _WAITING else "noted"


PROJECTION = Anomalies()
