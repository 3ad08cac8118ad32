"""Analysts read while four processes append and one projects: no error, one frontier per answer, and soon."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time

import pytest
from tests.scale import scaled

from beliefbase.store import BeliefStore

APPENDER = """
import sys, time
from beliefbase.store import BeliefStore

path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
entry = {"assertion_class": "durable_fact", "confidence": 900}
with BeliefStore.open(path, durability="process") as store:
    writer = store.writer(name)
    old, written = None, 1
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.time() + seconds
    while time.time() < end:
        with store.batch():
            new = writer.extract(f"{name} {written}", kind="fact", speech_act="direct_assertion", **entry)
            shown = writer.inject([new])
            writer.use(shown, new, "used")
            if old is not None:
                writer.supersede(old, by=new)
        written += 3 + (old is not None)
        old = new
        time.sleep(0.05)
print(written)
"""

ANALYST = '''
import json, sys, time
from pathlib import Path
from beliefbase.projections.publish import current
from beliefbase.projections.query import opened, run

folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
roots, lags, answers, path, connection = set(), [], 0, None, None
COUNTS = """SELECT root, events, newest_hlc, (SELECT count(*) FROM writer_facts), (SELECT count(*) FROM belief_facts),
    (SELECT count(*) FROM injection_cards), (SELECT count(*) FROM use_facts), (SELECT count(*) FROM revision_facts),
    (SELECT count(*) FROM belief_spells WHERE ended_as = 'superseded'),
    (SELECT coalesce(CAST(sum(seq) AS BIGINT), 0) FROM frontier) FROM meta"""
TELEMETRY = """SELECT count(*), coalesce(CAST(sum(injected) AS BIGINT), 0), coalesce(CAST(sum(used) AS BIGINT), 0),
    coalesce(CAST(sum(superseded) AS BIGINT), 0) FROM lifecycle_telemetry_at(140737488355327)"""
print("ready", flush=True)
sys.stdin.readline()
end = time.time() + seconds
while time.time() < end or ((len(roots) < 2 or answers < 3) and time.time() < end + 60):  # on a busy machine
    begun = time.monotonic()
    if current(folder) != path:
        if connection is not None:
            connection.close()
        path, connection = current(folder), opened(folder)
    ask = lambda sql: run(connection, sql).rows[0]
    root, events, newest, joined, beliefs, cards, uses, revisions, superseded, read = ask(COUNTS)
    assert events == joined + beliefs + cards + uses + revisions == read, ask(COUNTS)
    assert beliefs == cards == uses and superseded == revisions, ask(COUNTS)
    if answers % 10 == 0:
        assert ask(TELEMETRY) == (beliefs, cards, uses, superseded)
        assert ask("SELECT max(last_hlc) FROM writer_stamps_at(140737488355327)")[0] in (newest, None)
        assert ask("SELECT root FROM meta") == (root,)
    roots.add(root)
    if events:
        lags.append(time.time() * 1000 - (newest >> 16))
    answers += 1
    time.sleep(max(0.0, 0.1 - (time.monotonic() - begun)))
print(json.dumps({"roots": len(roots), "answers": answers, "lags": lags}))
'''


def start(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, err = process.communicate(timeout=180)
    assert (process.returncode, err) == (0, ""), err
    return json.loads(out)


def watch(path, seconds):
    """Append, project and read for so long; returns what appenders wrote and what analysts saw."""
    with BeliefStore.open(path, create=True, durability="process") as store:
        store.project()
    program = "from beliefbase.cli import main; main()"
    projector = subprocess.Popen(
        [sys.executable, "-c", program, "-s", path, "project", "--watch"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert projector.stdout.readline()
        appenders = [start(APPENDER, path, name, seconds) for name in ("ann", "bob", "cem", "dee")]
        analysts = [start(ANALYST, path / "read", seconds) for _ in range(3)]
        for process in (*appenders, *analysts):
            assert process.stdout.readline() == "ready\n", process.stderr.read()
        for process in (*appenders, *analysts):
            process.stdin.write("go\n")
            process.stdin.flush()
        written, seen = [finish(one) for one in appenders], [finish(one) for one in analysts]
        wanted = sum(written)
        for _ in range(600):
            with BeliefStore.open(path) as store:
                (row,) = store.query("SELECT events FROM meta")
            if row["events"] == wanted:
                break
            time.sleep(0.1)
    finally:
        projector.send_signal(signal.SIGINT)
        projector.communicate(timeout=60)
    assert row["events"] == wanted
    assert projector.returncode == 0
    return written, seen


def check(tmp_path, seconds):
    written, seen = watch(tmp_path / "store", seconds)
    lags = [lag for one in seen for lag in one["lags"][len(one["lags"]) // 4 :]]
    answers = sum(one["answers"] for one in seen)
    print(
        f"{sum(written)} events, {answers} answers from up to {max(one['roots'] for one in seen)} snapshots,"
        f" lag {statistics.median(lags):.0f} ms, at most {max(lags):.0f} ms"
    )
    assert all(one["answers"] >= 3 for one in seen)
    assert all(one["roots"] >= 2 for one in seen)
    assert len(list((tmp_path / "store" / "read").glob("snapshot-*.duckdb"))) <= 5, "old snapshots are not pruned"
    return lags


def test_every_answer_is_of_one_frontier(tmp_path):
    check(tmp_path, 5)


@pytest.mark.slow
def test_every_answer_is_of_one_frontier_for_a_minute_and_snapshots_are_fresh(tmp_path):
    busy, seconds = os.getloadavg()[0], scaled(60)
    lag = statistics.median(check(tmp_path, seconds))
    if seconds < 60:
        return  # of a short run, a machine that is busy with other things makes anything
    if lag >= 2000 and busy > 1:
        pytest.skip(f"every answer was of one frontier; a lag of {lag:.0f} ms is no finding under a load of {busy:.1f}")
    assert lag < 2000
