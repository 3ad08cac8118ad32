"""What a store with very many short-lived writers costs, against one with ten writers and as many events.

Every writer of the first store wrote two events, as a command or hook does: that it joined, and one more. Opening,
appending by a new writer, refreshing the read models after ten writers wrote, and a sync in which ten writers are new
to the other store are measured in CPU time, each in a process of its own; figures are medians.

Run: python bench/writers.py [--writers 100000] [--runs 3] [--seed 1] [--steps open append refresh sync]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path

from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.events.writer import Batch, Pen, Writer
from beliefbase.projections.projector import Projector
from beliefbase.store import BeliefStore
from beliefbase.syncing import never_met, sync

FEW, CHANGED, TIMES = 10, 10, 20
BATCH = 2000
START_MS = 1_750_000_000_000
NOW = START_MS + 10**9
WORDS = "the quick brown fox jumps over one lazy dog while rain falls on old roof tiles and nobody asks why".split()


def drafts(rng: random.Random) -> Iterator[Draft]:
    """Utterances, and beliefs that cite one of the last."""
    said = [rng.randbytes(16) for _ in range(64)]
    for number in count():
        text = " ".join(rng.choices(WORDS, k=12))
        if number % 2:
            yield CATALOG.draft("utterance.recorded", {"speaker": f"person {number % 50}", "verbatim": text})
        else:
            fields = {"statement": text, "kind": "fact", "evidence": [rng.choice(said)]}
            yield CATALOG.draft("belief.extracted", fields)


def fill(log: SQLiteLog, writers: int, total: int, seed: int) -> None:
    """``total`` events of so many writers, who write one behind the other."""
    rng = random.Random(seed)
    others, clock = drafts(rng), count(START_MS, 5)
    pen = Pen(wall=clock.__next__, entropy=rng.randbytes)
    each = total // writers - 1
    for names in batched(range(writers), max(1, BATCH // each)):
        joined = [Writer(pen, agent=f"agent {number % FEW}") for number in names]
        for part in batched(range(each), BATCH):
            with Batch(log, pen) as batch:
                for writer in joined:
                    batch.add_all(writer, list(islice(others, len(part))))


def batched(items: range, size: int) -> Iterator[range]:
    """Parts of so many items."""
    return (items[start : start + size] for start in range(0, len(items), size))


def opened(folder: Path) -> SQLiteLog:
    return SQLiteLog(folder / "log.db", create=False, durability="process", wall=lambda: NOW)


def write(log: SQLiteLog, writers: int) -> None:
    """So many new writers write one event each, each in a commit of its own."""
    for number in range(writers):
        pen = Pen(wall=lambda: NOW)
        with Batch(log, pen) as batch:
            said = {"speaker": "will", "verbatim": f"Said as number {number}."}
            batch.add(Writer(pen, agent="hook"), CATALOG.draft("utterance.recorded", said))


def opening(folder: Path) -> Callable[[], object]:
    return lambda: [opened(folder).close() for _ in range(TIMES)]


def appending(folder: Path) -> Callable[[], object]:
    def work() -> None:
        log = opened(folder)
        write(log, TIMES)
        log.close()

    return work


def refreshing(folder: Path) -> Callable[[], object]:
    log = opened(folder)
    with Projector(log, folder / "read") as projector:
        projector.refresh(NOW)
    write(log, CHANGED)

    def work() -> None:
        with Projector(log, folder / "read") as projector:
            report = projector.refresh(NOW)
        if report.how != "refreshed":
            raise SystemExit(f"not a refresh: {report}")

    return work


def syncing(folder: Path) -> Callable[[], object]:
    store = BeliefStore.open(folder, durability="process", wall=lambda: NOW)

    def work() -> None:
        """What the command does: whether they have met, then the sync."""
        met = never_met(store, folder / "peer") is None
        if not met or not sync(store, folder / "peer").same:
            raise SystemExit("the stores differ after a sync")

    work()
    write(store.log, CHANGED)
    return work


STEPS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "open": opening,
    "append": appending,
    "refresh": refreshing,
    "sync": syncing,
}
PER = {"open": TIMES, "append": TIMES, "refresh": 1, "sync": 1}


def measured(step: str, folder: str) -> float:
    """Milliseconds of CPU that one of this step takes."""
    work = STEPS[step](Path(folder))
    before = time.process_time()
    work()
    return (time.process_time() - before) / PER[step] * 1000


def alone(step: str, folder: Path) -> float:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, step, str(folder)).result()


def at(folder: Path, writers: int, total: int, runs: int, seed: int, steps: list[str]) -> dict[str, float]:
    """The medians for a store with so many writers."""
    folder.mkdir()
    log = SQLiteLog(folder / "log.db", durability="process", wall=lambda: NOW)
    fill(log, writers, total, seed)
    if "refresh" in steps:
        with Projector(log, folder / "read") as projector:
            projector.rebuild(NOW)
    log.checkpoint()
    log.close()
    (folder / "peer").mkdir()
    shutil.copy(folder / "log.db", folder / "peer" / "log.db")
    found: dict[str, list[float]] = {step: [] for step in steps}
    for _ in range(runs):
        for step, results in found.items():
            results.append(alone(step, folder))
    return {step: statistics.median(results) for step, results in found.items()}


def main() -> None:
    """Measure both stores, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", nargs="*", choices=STEPS, default=list(STEPS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    total = 2 * options.writers
    with tempfile.TemporaryDirectory(prefix="beliefbase-bench-") as scratch:
        few = at(Path(scratch, "few"), FEW, total, options.runs, options.seed, options.steps)
        many = at(Path(scratch, "many"), options.writers, total, options.runs, options.seed, options.steps)
    ratios = {step: many[step] / few[step] for step in options.steps}
    if options.json:
        print(json.dumps({"events": total, "writers": options.writers, "few": few, "many": many, "ratios": ratios}))
        return
    print(
        f"{total:,} events, medians of {options.runs} runs, ms of CPU\n{'':8}{FEW:>12} {options.writers:>12,} writers"
    )
    for step in options.steps:
        print(f"{step:8}{few[step]:12.2f} {many[step]:12.2f}  {ratios[step]:.2f}×")


if __name__ == "__main__":
    main()
