"""From the spells of a snapshot to survival statistics: which rows, from what age, watched until when (DESIGN 7).

The rows are those of the view ``watched_spells``: ages count from the belief's extraction, a later spell enters late,
and so does a belief in curves of actives at the moment it becomes active. Watching ends at the last stamp up to
the moment asked about; for a belief of an import at its importer's last stamp or the last event that names it.
Labels are those of the extraction: one that was corrected later would own the time it took to be corrected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import numpy as np

from beliefbase.projections.query import MEMORY, check_single_select, connect, failed
from beliefbase.projections.survival import CAUSES, Curve, Incidence, LogRank, Spells, cumulative_incidence, log_rank
from beliefbase.projections.survival import kaplan_meier as estimate
from beliefbase.projections.survival.spells import ALL

GROUPINGS: Final = ("kind", "speech_act", "policy", "agent", "model")
"""What curves can be grouped by."""
SIGN: Final = " × "
KIND_AND_ACT: Final = f"kind{SIGN}speech act"
"""The grouping that policies are suggested for; labels have the two names with the sign between them."""
_COLUMNS: Final = {name: name for name in GROUPINGS} | {KIND_AND_ACT: f"kind || '{SIGN}' || speech_act"}
ROWS: Final = "lifetimes"
"""Temporary table that the rows are read into."""


class Comparison(NamedTuple):
    """The curves of all groups, with what is needed to compare them."""

    curves: tuple[Curve, ...]
    test: LogRank
    horizon_ms: int | None
    """Age up to which the restricted means are taken, the same for all groups."""
    unwatched: int
    """Spells that were left out because they ended, or their watching did, in the millisecond in which they began."""


class Lifetimes:
    """The spells of one snapshot at one moment; read once, grouped at will."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._latest: tuple[str | None, Spells] | None = None

    @property
    def unwatched(self) -> int:
        """Spells of no length: they are in no curve."""
        ((count,),) = self._connection.execute(f"SELECT count(*) FROM {ROWS} WHERE exit_ms <= entry_ms").fetchall()
        return int(count)

    def spells(self, by: str | None = None) -> Spells:
        """The rows, under the labels of one of ``GROUPINGS`` or ``KIND_AND_ACT``, sorted by code point; None: all."""
        if self._latest is None or self._latest[0] != by:
            self._latest = by, self._read(by)
        return self._latest[1]

    def compare(self, by: str | None = None, *, horizon_ms: int | None = None, level: float = 0.95) -> Comparison:
        """Curves, their test, and restricted means up to one horizon.

        Without a horizon it is the last age up to which every group was watched, so that each has a mean.
        """
        spells = self.spells(by)
        if horizon_ms is None:
            lasts = [int(rows.exit_ms.max()) for _, rows in spells.by_group() if len(rows)]
            horizon_ms = min(lasts) if lasts else None
        curves = estimate(spells, level=level, horizon_ms=horizon_ms)
        return Comparison(curves, log_rank(spells), horizon_ms, self.unwatched)

    def incidences(self, by: str | None = None, *, level: float = 0.95) -> tuple[Incidence, ...]:
        """By which cause each group's beliefs end."""
        return cumulative_incidence(self.spells(by), level=level)

    def _read(self, by: str | None) -> Spells:
        label = f"'{ALL}'" if by is None else _COLUMNS[by]
        run = self._connection.execute
        found = run(f"SELECT DISTINCT {label} AS label FROM {ROWS} WHERE exit_ms > entry_ms").fetchall()
        labels = tuple(sorted(row[0] for row in found))
        columns = run(
            f"SELECT s.entry_ms, s.exit_ms, s.cause, l.code FROM {ROWS} AS s"
            " JOIN (SELECT unnest($labels) AS label, unnest(range(len($labels))) AS code) AS l"
            f" ON l.label = {label} WHERE s.exit_ms > s.entry_ms",
            {"labels": list(labels)},
        ).fetchnumpy()
        return Spells(
            np.asarray(columns["entry_ms"], dtype=np.int64),
            np.asarray(columns["exit_ms"], dtype=np.int64),
            np.asarray(columns["cause"], dtype=np.int8),
            np.asarray(columns["code"], dtype=np.int64),
            labels,
        )


def of(
    connection: duckdb.DuckDBPyConnection, *, as_of_ms: int, active: bool = False, where: str | None = None
) -> Lifetimes:
    """The lifetimes in a snapshot that is open.

    Args:
        connection: As ``query.connect`` gives it.
        as_of_ms: The moment asked about, in ms since 1970 UTC.
        active: Stretches of being active instead of spells; a demotion censors.
        where: An SQL condition on the columns of ``beliefs`` at that moment; None takes all beliefs.

    Raises:
        QueryFailed, QueryRefused: the condition can't be asked.
    """
    chosen = ""
    if where is not None:
        chosen = f"WHERE belief_id IN (SELECT belief_id FROM beliefs_at($ts) WHERE ({where}\n))"
        check_single_select(connection, f"SELECT belief_id FROM beliefs WHERE ({where}\n)")
    causes = ", ".join(f"'{cause}'" for cause in CAUSES)
    names = ", ".join(GROUPINGS)
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {ROWS} AS SELECT entry_ms, exit_ms,"
            f" CAST(list_position([{causes}], cause) - 1 AS TINYINT) AS cause, {names}"
            f" FROM watched_spells_at($ts, $active) {chosen}",
            {"ts": as_of_ms, "active": active},
        ).fetchall()
    except duckdb.Error as error:
        raise failed(error) from error
    return Lifetimes(connection)


@contextmanager
def lifetimes(
    folder: Path,
    *,
    as_of_ms: int,
    active: bool = False,
    where: str | None = None,
    threads: int = 2,
    memory: str = MEMORY,
) -> Iterator[Lifetimes]:
    """The lifetimes in the newest snapshot of a ``read`` folder, for the length of a block.

    Raises:
        NoSnapshot: nothing was published yet.
        QueryFailed, QueryRefused: the condition can't be asked.
    """
    with connect(folder, threads=threads, memory=memory) as connection:
        yield of(connection, as_of_ms=as_of_ms, active=active, where=where)
