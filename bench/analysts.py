"""What analysts' answers cost: the full set of curves against one plain GROUP BY over the same spells.

The read models are filled directly, as the projector would leave them: making two million beliefs from events takes
far longer than asking about them. Lifetimes are exponential; a part of them ends by each cause, some beliefs enter
late, and some come back. With ``--read`` the questions are put to what a projector published instead, for example of
a log by ``bench/generator.py``, whose supersessions form hubs, chains and a random graph. The full set is the curves,
restricted means, log-rank tests and incidences for all beliefs together and by kind, speech act, policy, agent and
model.

Run: python bench/analysts.py [--beliefs 200000 | --read STORE/read] [--runs 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from beliefbase.projections import lifetimes, publish
from beliefbase.projections.query import connect, run
from beliefbase.projections.work import META, WorkDatabase

START_MS = 1_750_000_000_000
AS_OF_MS = START_MS + 500 * 86_400_000
MEMORY = "4GB"

WRITERS = """
INSERT INTO writer_facts BY NAME
SELECT number AS row_key, md5('joined' || number) AS joined_id, md5('writer' || number) AS writer_id,
    md5('agent' || number) AS agent_hash, 'agent' AS kind, 'member' AS role, 'model-' || number % 4 AS model,
    60000 AS max_drift_ms, $start << 16 AS joined_hlc, 1 AS seq
FROM range(20) AS r(number)
"""
FACTS = """
INSERT INTO belief_facts BY NAME
SELECT number AS row_key, md5(number::VARCHAR) AS belief_id, md5('writer' || number % 20) AS writer_id, number AS seq,
    md5('agent' || number % 20) AS agent_hash,
    ['fact', 'rule', 'decision', 'preference', 'note', 'progress'][1 + CAST(hash(number) % 6 AS INTEGER)] AS kind,
    ['direct_assertion', 'directive', 'observation', 'correction']
        [1 + CAST(hash(number + 1) % 4 AS INTEGER)] AS speech_act,
    1000 AS speech_act_confidence, 900 AS confidence, 0 AS evidence_count,
    CASE WHEN CAST(hash(number + 2) % 5 AS INTEGER) = 0 THEN 'amendable_persistent' END AS policy,
    ($start + number * 43200000000 // $beliefs) << 16 AS extracted_hlc, 0 AS recorded_lag_ms
FROM range($beliefs) AS r(number)
"""
SPELLS = """
INSERT INTO belief_spells BY NAME
WITH lives AS (
    SELECT row_key, belief_id, extracted_hlc AS born,
        1 + CAST(-ln((1 + CAST(hash(row_key + 3) % 1000000 AS INTEGER)) / 1000001.0) * 7776000000 AS BIGINT) AS lived,
        CAST(hash(row_key + 4) % 100 AS INTEGER) AS fate
    FROM belief_facts
)
SELECT row_key, belief_id, 1 AS number, born AS born_hlc, born AS since_hlc,
    CASE WHEN fate < 85 THEN born + (lived << 16) ELSE 9223372036854775807 END AS until_hlc, born AS active_hlc,
    CASE WHEN fate < 45 THEN 'superseded' WHEN fate < 60 THEN 'retracted' WHEN fate < 65 THEN 'contradicted'
        WHEN fate < 68 THEN 'obsolete' WHEN fate < 82 THEN 'expired' WHEN fate < 85 THEN 'duplicate' END AS ended_as,
    CASE WHEN fate < 68 OR fate BETWEEN 82 AND 84 THEN md5('end' || row_key) END AS cause_id
FROM lives
UNION ALL
SELECT row_key, belief_id, 2, born, born + ((lived + 86400000) << 16), 9223372036854775807, born, NULL, NULL
FROM lives
WHERE fate < 3
"""
INTERVALS = """
INSERT INTO belief_intervals BY NAME
SELECT row_key, belief_id, since_hlc, until_hlc, 'active' AS status, NULL AS cause_id, NULL AS by_id, NULL AS ended_hlc,
    false AS stale, false AS contested, false AS forked
FROM belief_spells
UNION ALL
SELECT row_key, belief_id, until_hlc,
    lead(since_hlc, 1, 9223372036854775807) OVER (PARTITION BY belief_id ORDER BY number), ended_as,
    cause_id, cause_id, until_hlc, false, false, false
FROM belief_spells
QUALIFY ended_as IS NOT NULL
"""
FLOOR = f"SELECT kind, cause, count(*), sum(exit_ms - entry_ms) FROM {lifetimes.ROWS} GROUP BY ALL ORDER BY ALL"
CURVE = "SELECT count(*), min(survival) FROM invalidation_curves(['kind'], $ts, false)"
TELEMETRY = "SELECT count(*), sum(beliefs) FROM telemetry_by_groups(['kind'], $ts)"


def fill(folder: Path, beliefs: int) -> None:
    """Read models with so many beliefs, published."""
    work = WorkDatabase(folder / "work.duckdb")
    work.create()
    for sql in (WRITERS, FACTS, SPELLS, INTERVALS):
        named = {"start": START_MS, "beliefs": beliefs}
        work.connection.execute(sql, {name: value for name, value in named.items() if f"${name}" in sql})
    ((newest,),) = work.rows(
        "SELECT max(h) FROM (SELECT max(extracted_hlc) AS h FROM belief_facts UNION ALL SELECT"
        " max(until_hlc) FILTER (WHERE until_hlc < 9223372036854775807) FROM belief_spells) AS m"
    )
    values: dict[str, Any] = {column.name: 0 if column.type == "BIGINT" else "bench" for column in META}
    work.write_meta({**values, "root": "0" * 64, "as_of_ms": AS_OF_MS, "newest_hlc": newest})
    work.create_views()
    publish.publish(work.connection, folder, state={"root": "0" * 64})
    work.close()


def full_set(lives: lifetimes.Lifetimes) -> None:
    """Every curve, test and incidence that the command line can print."""
    for by in (None, *lifetimes.GROUPINGS):
        lives.compare(by)
        lives.incidences(by)


def median(work: Callable[[], object], runs: int) -> float:
    """Seconds."""
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def measure(folder: Path, as_of_ms: int, runs: int) -> dict[str, float]:
    """Seconds for each question to the newest snapshot in a folder, and the peak of memory in MB."""
    found: dict[str, float] = {}
    with connect(folder, threads=2, memory=MEMORY) as connection:
        ((found["beliefs"],),) = run(connection, "SELECT count(*) FROM beliefs_at($ts)", {"ts": as_of_ms}).rows
        found["rows"] = median(lambda: lifetimes.of(connection, as_of_ms=as_of_ms), runs)
        lives = lifetimes.of(connection, as_of_ms=as_of_ms)
        found["group_by"] = median(lambda: run(connection, FLOOR), runs)
        found["curves_by_kind"] = median(lambda: lives.compare("kind"), runs)
        found["full_set"] = median(lambda: full_set(lives), runs)
        found["rows_of_actives"] = median(lambda: lifetimes.of(connection, as_of_ms=as_of_ms, active=True), 1)
        found["curve_in_sql"] = median(lambda: run(connection, CURVE, {"ts": as_of_ms}), 1)
        found["telemetry_by_kind"] = median(lambda: run(connection, TELEMETRY, {"ts": as_of_ms}), 1)
    found["full_set_per_group_by"] = found["full_set"] / found["group_by"]
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def of_filled(beliefs: int, runs: int) -> dict[str, float]:
    """What :func:`measure` finds for so many beliefs that are filled in."""
    with tempfile.TemporaryDirectory(prefix="bench-analysts-") as name:
        filled = median(lambda: fill(Path(name), beliefs), 1)
        return {"filled": filled, **measure(Path(name), AS_OF_MS, runs)}


def of_published(folder: Path, runs: int) -> dict[str, float]:
    """What :func:`measure` finds at the newest event of what was published in a folder."""
    with connect(folder, threads=1, memory=MEMORY) as connection:
        ((newest,),) = run(connection, "SELECT newest_hlc >> 16 FROM meta").rows
    return measure(folder, newest, runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--beliefs", type=int, default=200_000)
    what.add_argument("--read", type=Path, help="published read models, in place of filled ones")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = of_published(options.read, options.runs) if options.read else of_filled(options.beliefs, options.runs)
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:22} {value:,.3f}")


if __name__ == "__main__":
    main()
