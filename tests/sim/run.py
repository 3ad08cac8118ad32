"""Runs simulated worlds: ``make sim``, ``make sim-long``.

``python -P tests/sim/run.py --seeds 300`` runs the seeds 0 to 299; the first that fails is made small and printed, and
the exit code is 1. ``--seed N`` runs one, and ``--ops`` of it only some operations.
"""

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.sim.plan import plan
from tests.sim.simulation import run, run_seed, shrink


def main():
    """Run; 1 if a world fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=300, help="how many (300)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--jobs", type=int, default=1, help="so many processes (1)")
    parser.add_argument("--seconds", type=float, help="begin no world after so much time, and say how many there were")
    parser.add_argument("--keep-going", action="store_true", help="name every seed that fails")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--ops", help="of that only these operations: their numbers, joined by commas")
    options = parser.parse_args()
    if options.seed is not None:
        return _one(options.seed, options.ops)
    began, done, failed = time.monotonic(), 0, []
    with multiprocessing.Pool(options.jobs) as pool:
        for failure in pool.imap(run_seed, range(options.first, options.first + options.seeds), chunksize=4):
            done += 1
            if failure is not None:
                failed.append(failure)
                print(f"seed {failure.seed}: {failure.kind}", flush=True)
                if not options.keep_going:
                    print(shrink(failure).as_text())
                    return 1
            if done % 500 == 0:
                print(f"{done} worlds, {time.monotonic() - began:.0f} s", flush=True)
            if options.seconds is not None and time.monotonic() - began > options.seconds:
                break
        pool.terminate()
    print(f"{done} worlds from seed {options.first}, {len(failed)} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _one(seed, ops):
    chosen = plan(seed)
    if ops is not None:
        numbers = {int(number) for number in ops.split(",") if number}
        chosen = chosen._replace(ops=tuple(op for op in chosen.ops if op.number in numbers))
    failure = run(chosen)
    if failure is None:
        print(f"seed {seed}: {len(chosen.ops)} operations, nothing found")
        return 0
    print((shrink(failure) if ops is None else failure).as_text())
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
