"""What a merge and a sync cost: against appending the same events, and against sending just what differs.

Merge: foreign events, verified one by one, against appending them as their writer does (drafts, stamps, chain; 1000 per
commit) and against the log's bare append of built events. Sync: two stores of N events, of which one has so many more;
the floor is handing over just these, in a list that somebody has made, to the other's merge. CPU time; medians.

Run: python bench/sync.py [--events 100000] [--more 1000] [--runs 3] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import Event
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.events.writer import Batch, Pen, Writer
from beliefbase.store import BeliefStore
from beliefbase.syncing import never_met, sync

sys.path.insert(0, str(Path(__file__).parent))
from append import wire

WRITERS = 20
COMMIT = 1000


def write(log: SQLiteLog, fields: list[tuple[str, dict]], writers: list[Writer], size: int = COMMIT) -> float:
    """Seconds of CPU to append so many per commit, writers in turn."""
    started = time.process_time()
    for number, start in enumerate(range(0, len(fields), size)):
        drafts = [CATALOG.draft(name, values) for name, values in fields[start : start + size]]
        with Batch(log, writers[0].pen) as batch:
            batch.add_all(writers[number % len(writers)], drafts)
    return time.process_time() - started


def events_of(log: SQLiteLog, after: int = 0) -> list[Event]:
    return [event for page in log.read(after) for _, event in page]


def timed(work) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def merges(folder: Path, count: int, runs: int, seed: int) -> dict[str, float]:
    """Microseconds per event, of appending, of bare appending and of merging the same events."""
    found: dict[str, list[float]] = {"append": [], "bare append": [], "merge": []}
    fields = list(wire(count, seed))
    for run in range(runs):
        logs = {name: SQLiteLog(folder / f"{run} {name}.db", durability="process") for name in found}
        pen = Pen(entropy=random.Random(seed).randbytes)
        found["append"].append(write(logs["append"], fields, [Writer(pen, agent="bench")]))
        for name in ("bare append", "merge"):
            fresh = [Event(event.raw, event.salt, event.body) for event in events_of(logs["append"])]
            take = logs[name].append if name == "bare append" else logs[name].merge
            started = time.process_time()
            for start in range(0, count, COMMIT):
                take(fresh[start : start + COMMIT])
            found[name].append(time.process_time() - started)
        for log in logs.values():
            log.close()
    return {name: statistics.median(seconds) / count * 1e6 for name, seconds in found.items()}


def syncs(folder: Path, count: int, more: int, runs: int, seed: int) -> dict[str, float]:
    """Milliseconds and bytes of a sync, and of its floor."""
    fields = list(wire(count + more * runs, seed))
    here, there, floor = (folder / name for name in ("here", "there", "floor"))
    with BeliefStore.open(here, create=True, durability="process") as store:
        pen = Pen(entropy=random.Random(seed).randbytes)
        writers = [Writer(pen, agent=f"agent {number}") for number in range(WRITERS)]
        write(store.log, fields[:count], writers)
        store.log.root()
        store.log.checkpoint()
        shutil.copytree(here, there)
        shutil.copytree(here, floor)
        found: dict[str, list[float]] = {name: [] for name in ("sync_ms", "floor_ms", "sync_bytes", "floor_bytes")}
        for run in range(runs):
            start = count + run * more
            position = store.log.last_position()
            late = [Writer(pen, agent="late") for _ in range(WRITERS)]
            write(store.log, fields[start : start + more], late, max(1, more // WRITERS))
            new = events_of(store.log, position)
            with BeliefStore.open(floor, durability="process") as other:
                found["floor_ms"].append(1000 * timed(lambda log=other.log, new=new: log.merge(new)))
            found["floor_bytes"].append(sum(len(e.raw) + len(e.salt or b"") + len(e.body or b"") for e in new))
            done = []
            found["sync_ms"].append(
                1000 * timed(lambda done=done: (never_met(store, there), done.append(sync(store, there))))
            )
            if not done[0].same or done[0].there["stored"] != len(new):
                raise SystemExit(f"not what was to be synced: {done[0]}")
            found["sync_bytes"].append(done[0].here["sent_bytes"] + done[0].there["sent_bytes"])
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    """Measure, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--more", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beliefbase-bench-") as scratch:
        per_event = merges(Path(scratch), min(options.events, 20_000), options.runs, options.seed)
        found = syncs(Path(scratch), options.events, options.more, options.runs, options.seed)
    ratios = {
        "merge rate / append rate": per_event["append"] / per_event["merge"],
        "merge rate / bare append rate": per_event["bare append"] / per_event["merge"],
        "sync time / floor": found["sync_ms"] / found["floor_ms"],
        "sync bytes / floor": found["sync_bytes"] / found["floor_bytes"],
    }
    if options.json:
        print(json.dumps({"events": options.events, "us_per_event": per_event, "sync": found, "ratios": ratios}))
        return
    print(f"CPU, medians of {options.runs} runs")
    for name, micros in per_event.items():
        print(f"{name:12} {micros:8.1f} µs an event")
    print(f"sync of two stores of {options.events:,} events, one of which has {options.more} more:")
    print(f"  {found['sync_ms']:.1f} ms and {found['sync_bytes']:,.0f} bytes; just these {found['floor_ms']:.1f} ms")
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
