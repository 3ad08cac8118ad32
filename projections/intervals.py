"""How every belief lived: stretches of one status and one set of flags, folded by the rules in ``beliefs/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.columns import NO_INTEGER, Columns
from beliefbase.projections.stretches import Stretches, statuses

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
                Column("cause_id", "VARCHAR", "Event that ended it; NULL while it lives and where time ended it"),
                Column("by_id", "VARCHAR", "Event whose acting began the stretch; NULL where time did"),
                Column("ended_hlc", "BIGINT", "Stamp from which this ending names the cause; NULL while it lives"),
                Column("stale", "BOOLEAN", "Not affirmed for a half-life"),
                Column("contested", "BOOLEAN", "An open contradiction or a waiting replacement stands against it"),
                Column("forked", "BOOLEAN", "Concurrent revisions give it different fates"),
            ),
            ("belief_id", "since_hlc"),
        ),
    )

    def of_lives(self, lives: Stretches) -> Mapping[str, Columns]:  # noqa: D102  of the base
        return {
            "belief_intervals": {
                "row_key": lives.keys[lives.owner],
                "belief_id": lives.ids[lives.owner],
                "since_hlc": lives.since,
                "until_hlc": lives.until,
                "status": statuses(lives.status),
                "cause_id": lives.cause,
                "by_id": lives.by,
                "ended_hlc": np.where(lives.live, NO_INTEGER, lives.since[lives.runs()]),
                "stale": lives.stale,
                "contested": lives.contested,
                "forked": lives.forked,
            }
        }


PROJECTION = Intervals()
