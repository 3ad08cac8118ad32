"""What read models cost: rebuild, refresh and audit, against a bare scan of the same log.

The floor of a rebuild and of an audit is reading every skeleton and every body with plain sqlite3 and unpacking them
with msgpack. A refresh of a thousand events (950 of the newest, 50 late) is compared between a log and a tenth of it,
for several ways in which the log may go on, since what a batch costs depends on what it names. Each measurement runs in
a process of its own; figures are medians.

Run: python bench/store.py [--events 1000000] [--runs 3] [--batches 15] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgpack

from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.audit import audit

sys.path.insert(0, str(Path(__file__).parent))
import generator

NEW = 1000
AS_OF = generator.START_MS


def scan(folder: Path) -> None:
    """The floor: every skeleton and body through plain sqlite3 and msgpack."""
    connection = sqlite3.connect(folder / "log.db")
    unpack = msgpack.unpackb
    for raw, body in connection.execute(
        "SELECT e.state, w.body FROM events e LEFT JOIN words w ON w.position = e.rowid ORDER BY e.rowid"
    ):
        unpack(raw, use_list=False)
        if body is not None:
            unpack(body, use_list=False)


def rebuild(folder: Path) -> None:
    """All read models from nothing."""
    with Projector(SQLiteLog(folder / "log.db", create=False), folder / "read") as projector:
        projector.rebuild(AS_OF)


def check(folder: Path) -> None:
    """The whole audit: chain and words, rebuild, comparison."""
    report = audit(SQLiteLog(folder / "log.db", create=False), folder / "read", as_of_ms=AS_OF)
    if report.exit_code:
        raise SystemExit(report.as_text())


def refresh(folder: Path) -> None:
    """Catch up with what was appended since; where that decides to rebuild, this is what it takes."""
    with Projector(SQLiteLog(folder / "log.db", create=False), folder / "read") as projector:
        projector.refresh(AS_OF)


STEPS: dict[str, Callable[[Path], None]] = {"scan": scan, "rebuild": rebuild, "audit": check, "refresh": refresh}


def measured(step: str, folder: str) -> tuple[float, float]:
    """Seconds, and peak memory in MB: of this process and of the one that folds beside it, added up."""
    started = time.perf_counter()
    STEPS[step](Path(folder))
    taken = time.perf_counter() - started
    peaks = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return taken, sum(peaks) / 1024


def alone(step: str, folder: Path) -> tuple[float, float]:
    """Like :func:`measured`, in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, step, str(folder)).result()


def at_size(events: int, runs: int, batches: int, seed: int, scratch: Path, *, audits: bool) -> dict[str, float]:
    """The medians for a log of ``events``, and the slowest refresh."""
    folder = scratch / f"of-{events}"
    folder.mkdir()
    ways = generator.fill(folder / "log.db", events, seed, last=NEW, ways=batches)
    found: dict[str, list[tuple[float, float]]] = {"scan": [], "rebuild": [], "audit": [], "refresh": []}
    for _ in range(runs):
        found["scan"].append(alone("scan", folder))
        found["rebuild"].append(alone("rebuild", folder))
        if audits:
            found["audit"].append(alone("audit", folder))
    for number, batch in enumerate(ways):
        copy = scratch / f"of-{events}-{number}"
        shutil.copytree(folder, copy)
        SQLiteLog(copy / "log.db", create=False).append(batch)
        found["refresh"].append(alone("refresh", copy))
        shutil.rmtree(copy)
    medians = {}
    for step, results in found.items():
        if results:
            medians[f"{step}_s"] = statistics.median(seconds for seconds, _ in results)
            medians[f"{step}_mb"] = statistics.median(memory for _, memory in results)
    medians["slowest refresh_s"] = max(seconds for seconds, _ in found["refresh"])
    shutil.rmtree(folder)
    return medians


def main() -> None:
    """Measure at a tenth and at the whole, print ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--batches", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beliefbase-bench-") as scratch:
        small = at_size(options.events // 10, options.runs, options.batches, options.seed, Path(scratch), audits=False)
        large = at_size(options.events, options.runs, options.batches, options.seed, Path(scratch), audits=True)
    ratios = {
        "rebuild / scan": large["rebuild_s"] / large["scan_s"],
        "audit / scan": large["audit_s"] / large["scan_s"],
        "refresh / refresh at a tenth": large["refresh_s"] / small["refresh_s"],
    }
    if options.json:
        print(json.dumps({"events": options.events, "small": small, "large": large, "ratios": ratios}))
        return
    runs = f"medians of {options.runs} runs and {options.batches} batches"
    print(f"{runs}\n{'':17} {options.events // 10:>12,} {options.events:>12,} events")
    for name in large:
        print(f"{name:17} {small.get(name, float('nan')):12.2f} {large[name]:12.2f}")
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
