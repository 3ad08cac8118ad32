"""What group commit gives: threads that each append one event at a time, with a commit for each and with shared ones.

Both ways write the same events with ``durability="power"``: every call returns once its event is on the disk. The
floor is one thread's appends of one event per commit. Figures are medians; events per second of wall time, since
waiting for the disk is what is saved.

Run: python bench/group_commit.py [--events 2000] [--threads 1 2 4 8 16 32] [--runs 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from beliefbase.store import BeliefStore


def appended(folder: Path, threads: int, events: int, *, grouped: bool) -> tuple[float, float]:
    """Events per second, and per commit."""
    with BeliefStore.open(folder, create=True) as store:
        writers = [store.writer(f"agent {number}") for number in range(threads)]
        each = events // threads

        def work(number: int) -> None:
            for turn in range(each):
                writers[number].record_utterance(f"Said as number {turn} by {number}.", speaker="will")

        started = time.perf_counter()
        with store.group_commit() if grouped else nullcontext() as group, ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        seconds = time.perf_counter() - started
        commits = each * threads if group is None else group.commits
        return each * threads / seconds, each * threads / commits


def main() -> None:
    """Measure every number of threads both ways, in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2, 4, 8, 16, 32])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for threads in options.threads:
        found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
        with tempfile.TemporaryDirectory(prefix="beliefbase-bench-") as scratch:
            for run in range(options.runs):
                for grouped, results in found.items():
                    path = Path(scratch, f"{run}-{grouped}")
                    results.append(appended(path, threads, options.events, grouped=grouped))
        alone, group = (statistics.median(rate for rate, _ in found[grouped]) for grouped in (False, True))
        shared = statistics.median(size for _, size in found[True])
        rows.append({"threads": threads, "alone_per_s": alone, "grouped_per_s": group, "per_commit": shared})
    if options.json:
        print(json.dumps({"machine": platform.platform(), "events": options.events, "group_commit": rows}))
        return
    print(f"{options.events} events one at a time, medians of {options.runs} runs ({platform.platform()})")
    print("threads   a commit each   group commit   events per commit    gain")
    for row in rows:
        gain = row["grouped_per_s"] / row["alone_per_s"]
        print(
            f"{row['threads']:7} {row['alone_per_s']:13.0f}/s {row['grouped_per_s']:12.0f}/s"
            f" {row['per_commit']:19.1f} {gain:6.2f}×"
        )


if __name__ == "__main__":
    main()
