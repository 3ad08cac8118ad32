"""Processes that append and are killed: what was acknowledged is stored, streams are whole, and nobody else notices."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from tests.events.processes import Child
from tests.events.test_sqlite_log import assert_whole
from tests.scale import scaled

from beliefbase.store import BeliefStore

ID = 16


def appender(path, name, durability, threads):
    """Appends one event after the other and reports the id of each that was acknowledged."""

    def work(pipe):
        store = BeliefStore.open(path, durability=durability)

        def write(number):
            writer = store.writer(f"{name} {number}")
            for turn in count():
                said = writer.record_utterance(f"{name} {turn}", speaker="will")
                os.write(pipe, bytes.fromhex(said))

        if threads == 1:
            write(0)
        with store.group_commit(), ThreadPoolExecutor(threads) as pool:
            list(pool.map(write, range(threads)))

    return work


def round_of(path, rng, number):
    """A few processes at once, each killed at a moment of its own; the ids that they reported."""
    durability = rng.choice(["power", "process"])
    children = [
        Child(appender(path, f"round {number} {child}", durability, rng.choice([1, 1, 4])))
        for child in range(rng.randint(2, 6))
    ]
    acknowledged = []
    for child in rng.sample(children, len(children)):
        time.sleep(rng.uniform(0, 0.12))
        written = child.kill()
        whole = len(written) - len(written) % ID
        acknowledged += [written[start : start + ID] for start in range(0, whole, ID)]
    return acknowledged


@pytest.mark.parametrize(
    "rounds", [pytest.param(4, id="short"), pytest.param(scaled(100), id="long", marks=pytest.mark.slow)]
)
def test_no_acknowledged_event_is_lost_by_kills(tmp_path, rounds):
    path, rng = tmp_path / "store", random.Random(5)
    BeliefStore.open(path, create=True).close()
    acknowledged, unheard = set(), 0
    for number in count():
        if number >= rounds and acknowledged:
            break
        new = round_of(path, rng, number)
        assert len(set(new) - acknowledged) == len(new)
        acknowledged.update(new)
        with BeliefStore.open(path) as store:
            stored = {
                event.id
                for page in store.log.read(words=False)
                for _, event in page
                if event.skeleton.type == "utterance.recorded"
            }
            assert acknowledged <= stored
            store.writer("between").record_utterance("goes on", speaker="will")
            unheard = len(stored) - len(acknowledged)
    with BeliefStore.open(path) as store:
        assert_whole(store.log)
        assert store.audit().exit_code == 0
    print(f"{number} rounds: {len(acknowledged)} acknowledged, 0 lost; {unheard - number + 1} stored and not heard of")
