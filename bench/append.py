"""How fast events are appended, against the floor: raw ``executemany`` of the same rows.

The floor writes the rows that the product wrote into the same tables and indexes of an empty log, under the same
pragmas and with as many events per commit. Both are timed in turn, several times, each size in a process of its own.

Run: python bench/append.py [--events 20000] [--runs 5] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import platform
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from beliefbase.events.catalog import CATALOG
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.events.sqlite_schema import connect
from beliefbase.events.writer import Batch, Pen, Writer

SIZES = (1, 10, 100, 1000)
"""Events per commit."""
SHARE = {1: 50, 10: 10, 100: 2, 1000: 1}
"""Small commits cost an fsync each: so much fewer events of them."""
WORDS = "the quick brown fox jumps over one lazy dog while rain falls on old roof tiles and nobody asks why".split()
TABLES = ("events", "words", "refs", "stamps", "tips", "heads", "buckets")
CHANGED = ("heads", "buckets")
"""Tables whose rows are replaced by each commit."""


def wire(count: int, seed: int) -> Iterator[tuple[str, dict]]:
    """Events as they are written on the wire: two utterances, two beliefs that cite one, a revision of either."""
    rng = random.Random(seed)
    said = [rng.randbytes(16) for _ in range(64)]
    for number in range(count):
        kind = number % 5
        text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 30)))
        talk = f"talk {rng.randint(1, 200)}"
        if kind < 2:
            yield (
                "utterance.recorded",
                {"speaker": f"person {rng.randint(1, 9)}", "verbatim": text, "conversation": talk, "turn": number},
            )
        elif kind < 4:
            yield (
                "belief.extracted",
                {
                    "statement": text,
                    "kind": "fact",
                    "speech_act": "direct_assertion",
                    "speech_act_confidence": rng.randint(500, 1000),
                    "confidence": rng.randint(500, 1000),
                    "assertion_class": "durable_fact",
                    "session": talk,
                    "evidence": [rng.choice(said)],
                },
            )
        elif rng.random() < 0.5:
            yield "belief.affirmed", {"belief_id": rng.choice(said), "how": "recurrence", "session": talk}
        else:
            yield "belief.superseded", {"superseded_id": rng.choice(said), "superseding_id": rng.choice(said)}


def product(path: Path, events: list[tuple[str, dict]], size: int) -> float:
    """Seconds to check, stamp and store all events, ``size`` per commit; from the fields on the wire to the commit."""
    log, pen = SQLiteLog(path), Pen()
    writer = Writer(pen, agent="bench")
    started = time.perf_counter()
    for start in range(0, len(events), size):
        drafts = [CATALOG.draft(name, fields) for name, fields in events[start : start + size]]
        with Batch(log, pen) as batch:
            batch.add_all(writer, drafts)
    seconds = time.perf_counter() - started
    log.close()
    return seconds


def rows_of(path: Path, size: int) -> list[dict[str, list[tuple]]]:
    """The rows of every commit, by table."""
    with sqlite3.connect(path) as connection:
        found = {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in TABLES}
    count = len(found["events"])
    # The first commit also holds the event with which the writer joined.
    ends = [min(1 + size * (number + 1), count) for number in range((count - 2) // size + 1)]
    commits: list[dict[str, list[tuple]]] = [{name: [] for name in TABLES} for _ in ends]
    place = [number for number, end in enumerate(ends) for _ in range(end - (ends[number - 1] if number else 0))]
    for row in found["events"]:
        commits[place[row[0] - 1]]["events"].append(row)
    for row in found["words"]:
        commits[place[row[0] - 1]]["words"].append(row)
    for row in found["refs"]:
        commits[place[row[2] - 1]]["refs"].append(row)
    for number, row in enumerate(found["stamps"]):
        commits[place[number]]["stamps"].append(row)
    position = {hashlib.sha256(row[-1]).digest()[:16]: row[0] for row in found["events"]}
    for row in found["tips"]:
        commits[place[position[row[1]] - 1]]["tips"].append(row)
    for commit in commits:
        commit["heads"], commit["buckets"] = found["heads"], found["buckets"]
    return commits


def floor(path: Path, commits: list[dict[str, list[tuple]]]) -> float:
    """Seconds to write the same rows with nothing around it."""
    SQLiteLog(path).close()
    connection = connect(path, "power")
    width = {name: len(connection.execute(f"SELECT * FROM {name}").description) for name in TABLES}
    statements = {
        name: f"INSERT {'OR REPLACE ' if name in CHANGED else ''}INTO {name} VALUES ({', '.join('?' * width[name])})"
        for name in TABLES
    }
    started = time.perf_counter()
    for commit in commits:
        connection.execute("BEGIN IMMEDIATE")
        for name in TABLES:
            connection.executemany(statements[name], commit[name])
        connection.execute("COMMIT")
    seconds = time.perf_counter() - started
    connection.close()
    return seconds


def measure(size: int, count: int, runs: int, seed: int) -> dict:
    """Medians over the runs of one size, in microseconds per event, and the peak memory of this process."""
    events = list(wire(count, seed))
    gc.collect()
    gc.freeze()  # the collector is to walk over the product's objects, not over the input
    ours, least, cpu = [], [], []
    with tempfile.TemporaryDirectory(prefix="beliefbase-bench-") as folder:
        for run in range(runs):
            paths = Path(folder, f"product-{run}.db"), Path(folder, f"floor-{run}.db")
            before = time.process_time()
            ours.append(product(paths[0], events, size))
            cpu.append(time.process_time() - before)
            least.append(floor(paths[1], rows_of(paths[0], size)))
            for path in Path(folder).iterdir():
                path.unlink()
    return {
        "per_commit": size,
        "events": count,
        "us_per_event": round(statistics.median(ours) / count * 1e6, 1),
        "cpu_us_per_event": round(statistics.median(cpu) / count * 1e6, 1),
        "events_per_s": round(count / statistics.median(ours)),
        "floor_us_per_event": round(statistics.median(least) / count * 1e6, 1),
        "ratio_to_floor": round(statistics.median(f / p for f, p in zip(least, ours, strict=True)), 3),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = []
    for size in options.sizes:
        count = max(options.events // SHARE.get(size, 1), size)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            results.append(pool.submit(measure, size, count, options.runs, options.seed).result())
    if options.json:
        print(json.dumps({"machine": platform.platform(), "python": platform.python_version(), "append": results}))
        return
    print(f"append, medians of {options.runs} runs, seed {options.seed} ({platform.platform()})")
    print("per commit   events   µs/event  CPU µs   events/s   floor µs   ratio to floor   peak MiB")
    for row in results:
        print(
            f"{row['per_commit']:10} {row['events']:8} {row['us_per_event']:10} {row['cpu_us_per_event']:7}"
            f" {row['events_per_s']:10} {row['floor_us_per_event']:10} {row['ratio_to_floor']:16} {row['peak_mib']:10}"
        )


if __name__ == "__main__":
    main()
