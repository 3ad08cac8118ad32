"""Runs the world of a seed, and makes a failure small: the seed, what went wrong, and the fewest operations for it."""

import os
import shutil
import tempfile
import traceback
from pathlib import Path
from typing import NamedTuple

from tests.sim.healing import heal
from tests.sim.plan import plan
from tests.sim.violation import Violation
from tests.sim.world import World, remove

MEMORY = Path("/dev/shm")
ROOM_BYTES = 1 << 29


class Failure(NamedTuple):
    """What a world ended in."""

    seed: int
    kind: str
    """The violated promise without ids, or the place of an error: tells whether two failures are one."""
    what: str
    plan: object
    trace: tuple

    def as_text(self):
        """For people."""
        numbers = ",".join(str(op.number) for op in self.plan.ops)
        lines = [f"seed {self.seed} fails after {len(self.plan.ops)} operations:", *self.trace, "", self.what]
        lines.append(f"Again: python -P tests/sim/run.py --seed {self.seed} --ops {numbers}")
        return "\n".join(lines)


def run(plan_):
    """Run a plan; the failure, or None."""
    folder = Path(tempfile.mkdtemp(prefix="beliefbase-sim-", dir=_memory()))
    world = None
    try:
        world = World(plan_, folder)
        for op in plan_.ops:
            world.run(op)
        heal(world)
        return None
    except Exception as error:  # noqa: BLE001  whatever the product raises is a failure of this world
        return _failure(plan_, error, () if world is None else tuple(world.trace))
    finally:
        if world is not None:
            world.close()
        remove(folder)


def _memory():
    """A folder in memory, where there is one with some room; None: wherever temporary files are."""
    roomy = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
    return MEMORY if roomy else None


def run_seed(seed):
    """Run the world of a seed; the failure, or None."""
    return run(plan(seed))


def shrink(failure, *, most_runs=300):
    """The same failure with as few operations as can be found."""
    best, runs = failure, 0
    size = max(1, len(best.plan.ops) // 2)
    while runs < most_runs:
        start, smaller = 0, False
        while start < len(best.plan.ops) and runs < most_runs:
            ops = best.plan.ops[:start] + best.plan.ops[start + size :]
            found, runs = run(best.plan._replace(ops=ops)), runs + 1
            if found is not None and found.kind == failure.kind:
                best, smaller = found, True
            else:
                start += size
        if size == 1 and not smaller:
            break
        size = max(1, size // 2)
    return best


def _failure(plan_, error, trace):
    what = "".join(traceback.format_exception(error))
    if isinstance(error, Violation):
        words = str(error).split()
        kind = " ".join(word for word in words if word.isalpha())
        what = f"{error}\n{what}"
    else:
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} in {Path(last.filename).name} {last.name}"
    return Failure(plan_.seed, kind, what, plan_, trace)
