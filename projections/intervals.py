"""How every belief lived: stretches of one status and one set of flags, folded by the rules in ``beliefs/``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.life import Life
from beliefbase.projections.base import Column, Owner, Projection, Rows, Table, hexed, row_key

_BELIEF_ID = Column("belief_id", "VARCHAR", "Id of the belief")


class Intervals(Projection):
    """One row per stretch; together they tile the time from the extraction on."""

    NAME = "belief_intervals"
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "belief_intervals",
            "Stretches [since, until) of a belief's life with one status and one set of flags",
            Owner.BELIEF,
            (
                _BELIEF_ID,
                Column("since_hlc", "BIGINT", "Stamp at which the stretch begins"),
                Column("until_hlc", "BIGINT", "Stamp at which the next one begins; 9223372036854775807 while open"),
                Column(
                    "status",
                    "VARCHAR",
                    "candidate, active, superseded, duplicate, retracted, contradicted, obsolete, expired or erased",
                ),
                Column("cause_id", "VARCHAR", "Event that ended the belief; NULL while it lives and where time ended it"),
                Column("by_id", "VARCHAR", "Event whose acting began the stretch; NULL where time did"),
                Column("ended_hlc", "BIGINT", "Stamp from which this ending names the cause; NULL while it lives"),
                Column("stale", "BOOLEAN", "Not affirmed for a half-life"),
                Column("contested", "BOOLEAN", "An open contradiction or a waiting replacement stands against it"),
                Column("forked", "BOOLEAN", "Concurrent revisions give it different fates"),
            ),
            ("belief_id", "since_hlc"),
        ),
    )

    def of_life(self, life: Life, intervals: Sequence[Interval], rows: Rows) -> None:  # noqa: D102  of the base
        belief, key = life.id.hex(), row_key(life.id)
        into = rows["belief_intervals"]
        ended, last = None, None
        for since, until, status, cause, by, stale, contested, forked in intervals:
            if status in {"active", "candidate"}:
                ended = None
            elif ended is None or last != (status, cause):
                ended = since
            last = (status, cause)
            into.append((key, belief, since, until, status, hexed(cause), hexed(by), ended, stale, contested, forked))


PROJECTION = Intervals()
