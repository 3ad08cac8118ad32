"""What an audit costs: the log against itself, the whole audit and a quick one, against a bare scan of the same log.

The floor is reading every skeleton and every body with plain sqlite3 and unpacking them with msgpack. A quick audit is
of a thousand events more, at the whole size and at a tenth of it. Each step runs in a process of its own.

Run: python bench/audit.py [--events 1000000] [--runs 3] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generator
import store

from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.audit import Request, audit
from beliefbase.replay.integrity import Integrity
from beliefbase.replay.report import AuditReport

NEW = 1000
AS_OF = generator.START_MS


def project(folder: Path) -> None:
    """Make the read models that the audit compares."""
    with Projector(SQLiteLog(folder / "log.db", create=False), folder / "read") as projector:
        projector.rebuild(AS_OF)
        projector.publish()


def chain(folder: Path) -> None:
    """Part (a) alone."""
    report = AuditReport()
    Integrity(SQLiteLog(folder / "log.db", create=False), report, lambda _what, _done: None).check()
    if report.damaged:
        raise SystemExit(report.as_text())


def whole(folder: Path) -> None:
    """Parts (a), (b) and (f), live read models and a snapshot included."""
    report = audit(SQLiteLog(folder / "log.db", create=False), folder / "read", as_of_ms=AS_OF)
    if report.exit_code or report.not_checked:
        raise SystemExit(report.as_text())


def quick(folder: Path) -> None:
    """What came after the last full audit."""
    report = audit(SQLiteLog(folder / "log.db", create=False), folder / "read", Request(quick=True), as_of_ms=AS_OF)
    if report.exit_code or not NEW <= report.checked["events"] < 2 * NEW:
        raise SystemExit(report.as_text())


STEPS: dict[str, Callable[[Path], None]] = {
    "project": project, "scan": store.scan, "chain": chain, "audit": whole, "quick": quick
}  # fmt: skip


def measured(step: str, folder: str) -> tuple[float, float, float]:
    """Seconds of wall and of processor time, and peak memory in MB of this process."""
    started, busy = time.perf_counter(), time.process_time()
    STEPS[step](Path(folder))
    return time.perf_counter() - started, time.process_time() - busy, _peak_mb()


def _peak_mb() -> float:
    """Peak memory of this process alone: what getrusage tells on Linux starts at the size of the parent."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(step: str, folder: Path) -> tuple[float, float, float]:
    """Like :func:`measured`, in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, step, str(folder)).result()


def at_size(events: int, runs: int, seed: int, folder: Path) -> dict[str, list[float]]:
    """Medians of (wall s, processor s, MB) by step for a log of ``events``."""
    folder.mkdir()
    made = generator.generate(events, seed)
    generator.store(folder / "log.db", made.timely[:-NEW] + made.late).close()
    alone("project", folder)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for step in ("scan", "chain", "audit"):
        found[step] = [alone(step, folder) for _ in range(runs)]
    generator.store(folder / "log.db", made.timely[-NEW:]).close()
    found["quick"] = [alone("quick", folder) for _ in range(runs)]
    return {step: [statistics.median(column) for column in zip(*rows, strict=True)] for step, rows in found.items()}


def main() -> None:
    """Measure at a tenth and at the whole, print ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beliefbase-bench-") as scratch:
        small = at_size(options.events // 10, options.runs, options.seed, Path(scratch, "small"))
        large = at_size(options.events, options.runs, options.seed, Path(scratch, "large"))
    ratios = {
        "chain / scan": large["chain"][1] / large["scan"][1],
        "audit / scan": large["audit"][1] / large["scan"][1],
        "quick / quick at a tenth": large["quick"][1] / small["quick"][1],
    }
    if options.json:
        print(json.dumps({"events": options.events, "small": small, "large": large, "ratios": ratios}))
        return
    print(f"medians of {options.runs} runs; of {options.events:,} events, and of a tenth; ratios of processor time")
    print(f"{'':8} {'wall s':>9} {'cpu s':>9} {'MB':>7}   {'wall s':>9} {'cpu s':>9} {'MB':>7}")
    for step in large:
        cells = [
            f"{value:9.2f}" if index < 2 else f"{value:7.0f}"
            for of in (large, small)
            for index, value in enumerate(of[step])
        ]
        print(f"{step:8} {' '.join(cells[:3])}   {' '.join(cells[3:])}")
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f}")


if __name__ == "__main__":
    main()
