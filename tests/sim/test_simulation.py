"""Simulated worlds (docs/simulator.md): a dozen here, 300 by ``make sim``, 10,000 by ``make sim-long``.

A failure prints the seed, the fewest operations that it takes, and the command that runs them again.
"""

import pytest
from tests.sim.net import Line
from tests.sim.plan import KINDS, plan
from tests.sim.simulation import Failure, run, run_seed, shrink
from tests.sim.violation import Violation
from tests.sim.world import World


@pytest.mark.parametrize("seed", range(12))
def test_a_world_keeps_its_promises(seed):
    failure = run_seed(seed)
    assert failure is None, shrink(failure).as_text()


def test_a_seed_is_one_world(tmp_path):
    traces = []
    for name in ("once", "again"):
        world = World(plan(3), tmp_path / name)
        for op in plan(3).ops:
            world.run(op)
        traces.append((world.trace, [machine.log.root() for machine in world.machines]))
        world.close()
    assert traces[0] == traces[1]
    assert len(traces[0][0]) > 10


def test_three_hundred_seeds_hold_every_operation_and_every_kind_of_circumstance():
    plans = [plan(seed) for seed in range(300)]
    counts = {kind: sum(op.kind == kind for one in plans for op in one.ops) for kind in KINDS}
    assert min(counts.values()) >= 100, counts
    assert {one.mix.duckdb for one in plans} == {True, False}
    assert {one.mix.plain for one in plans} == {True, False}
    assert {one.mix.loss > 0 for one in plans} == {True, False}
    assert max(max(one.mix.offsets) for one in plans) > 90_000_000_000  # three years
    assert max(one.mix.grain_ms for one in plans) >= 1_000  # equal stamps


def test_a_failure_is_made_small_and_says_how_to_run_it_again(monkeypatch):
    """A line that loses events for good is no world's promise: two stores never come to the same."""

    def nothing(self, frontier, buckets=None):
        return iter(())

    monkeypatch.setattr(Line, "since", nothing)
    found = run_seed(3)
    assert isinstance(found, Failure)
    small = shrink(found)
    assert small.kind == found.kind and len(small.plan.ops) < len(found.plan.ops) and len(small.plan.ops) <= 3
    assert f"run.py --seed 3 --ops {','.join(str(op.number) for op in small.plan.ops)}" in small.as_text()
    monkeypatch.undo()
    assert run(small.plan) is None


def test_a_check_that_fails_is_told_apart_from_an_error(monkeypatch):
    def wrong(self):
        raise Violation("m0: 12 events are gone")

    monkeypatch.setattr(World, "_write", wrong)
    assert run_seed(3).kind == "events are gone"
