"""Spells: the maximal live stretches of beliefs, which survival curves are made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beliefbase.beliefs.intervals import Interval, spells
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.rules import FOREVER
from beliefbase.projections.base import Column, Owner, Projection, Rows, Table, hexed, row_key


class Spells(Projection):
    """One row per spell."""

    NAME = "belief_spells"
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "belief_spells",
            "Maximal live stretches [since, until) of beliefs",
            Owner.BELIEF,
            (
                Column("belief_id", "VARCHAR", "Id of the belief"),
                Column("number", "BIGINT", "1 for the first spell of the belief"),
                Column("born_hlc", "BIGINT", "Stamp of the extraction, from which ages count"),
                Column("since_hlc", "BIGINT", "Stamp at which the spell begins"),
                Column("until_hlc", "BIGINT", "Stamp at which it ends; 9223372036854775807 while open"),
                Column("active_hlc", "BIGINT", "Stamp from which the belief was active in it; NULL if never"),
                Column("ended_as", "VARCHAR", "Status after it; NULL while open"),
                Column("cause_id", "VARCHAR", "Event that ended it; NULL while open and where time ended it"),
            ),
            ("belief_id", "number"),
        ),
    )

    def of_life(self, life: Life, intervals: Sequence[Interval], rows: Rows) -> None:  # noqa: D102  of the base
        belief, key = life.id.hex(), row_key(life.id)
        into = rows["belief_spells"]
        if len(intervals) == 1 and intervals[0].live:
            row = intervals[0]
            active = row.since if row.status == "active" else None
            into.append((key, belief, 1, life.born, row.since, FOREVER, active, None, None))
            return
        active_since = [row.since for row in intervals if row.status == "active"]
        for number, (since, until, ended_as, cause) in enumerate(spells(intervals), 1):
            active = next((at for at in active_since if since <= at < until), None)
            into.append((key, belief, number, life.born, since, until, active, ended_as, hexed(cause)))


PROJECTION = Spells()
