"""Spells: the maximal live stretches of beliefs, which survival curves are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from beliefbase.beliefs.rules import FOREVER
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.columns import NO_INTEGER, Columns
from beliefbase.projections.stretches import ACTIVE, Stretches, statuses


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

    def of_lives(self, lives: Stretches) -> Mapping[str, Columns]:  # noqa: D102  of the base
        before = np.append(False, lives.live[:-1])[: len(lives.live)]
        after = np.append(lives.live[1:], False)[: len(lives.live)]
        begins = np.flatnonzero(lives.live & (lives.first | ~before))
        ends = np.flatnonzero(lives.live & (lives.last | ~after))
        owner = lives.owner[begins]
        firsts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])[: len(owner)])
        number = np.arange(len(owner)) - np.repeat(firsts, np.diff(np.append(firsts, len(owner)))) + 1
        active = np.where(lives.status == ACTIVE, lives.since, FOREVER)
        active_from = np.minimum.reduceat(active, begins) if len(begins) else active[:0]
        is_open = lives.last[ends]
        following = np.where(is_open, ends, ends + 1)
        return {
            "belief_spells": {
                "row_key": lives.keys[owner],
                "belief_id": lives.ids[owner],
                "number": number,
                "born_hlc": lives.born[owner],
                "since_hlc": lives.since[begins],
                "until_hlc": lives.until[ends],
                "active_hlc": np.where(active_from == FOREVER, NO_INTEGER, active_from),
                "ended_as": np.where(is_open, np.array(None, dtype=object), statuses(lives.status[following])),
                "cause_id": np.where(is_open, np.array(None, dtype=object), lives.cause[following]),
            }
        }


PROJECTION = Spells()
