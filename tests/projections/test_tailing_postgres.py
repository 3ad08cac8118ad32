"""A projector that follows a log in PostgreSQL while transactions end in another order than they began."""

import os
import random
import time
from contextlib import closing

import pytest
from tests.events.build import Author
from tests.events.processes import Child
from tests.postgres_server import address
from tests.scale import scaled

from beliefbase.events.postgres import PostgresLog
from beliefbase.projections.projector import Projector

WRITERS = 6
LATER = 1_800_000_000_000


@pytest.fixture
def place():
    made = address()
    PostgresLog(made).close()
    return made


def beliefs(projector):
    return {belief_id for (belief_id,) in projector.rows("SELECT belief_id FROM beliefs")}


def test_what_becomes_visible_late_is_projected_without_a_rebuild(place, tmp_path):
    slow, quick = Author("slow"), Author("quick")
    with closing(PostgresLog(place)) as log, closing(PostgresLog(place)) as other:
        log.append([slow.joined(), quick.joined()])
        with Projector(log, tmp_path) as projector:
            projector.refresh(slow.ms)
            with other.transaction() as transaction:
                transaction.insert([late := slow.extracted("late")])
                log.append([early := quick.extracted("early")])
                first = projector.refresh(slow.ms)
                assert beliefs(projector) == {early.id.hex()}
            second = projector.refresh(slow.ms)
            assert (first.how, first.events, second.how, second.events) == ("refreshed", 1, "refreshed", 1)
            assert beliefs(projector) == {early.id.hex(), late.id.hex()}
            assert projector.refresh(slow.ms).how == "unchanged"
            digest = projector.digest()
            projector.rebuild(slow.ms)
            assert projector.digest() == digest


@pytest.mark.parametrize("seconds", [1.5, pytest.param(scaled(60), marks=pytest.mark.slow)])
def test_a_tailing_projector_misses_nothing_of_six_writers_with_slow_transactions(place, tmp_path, seconds):
    def write(number, pipe):
        chance = random.Random(number)
        author = Author(f"writer {number}", ms=1_700_000_000_000 + number)
        end = time.monotonic() + seconds
        with closing(PostgresLog(place, durability="process")) as log:
            log.append([author.joined(f"agent {number}")])
            while time.monotonic() < end:
                events = [author.extracted(f"{number} {author.seq}") for _ in range(chance.randint(1, 3))]
                with log.transaction() as transaction:
                    for event in events:
                        transaction.insert([event])
                        time.sleep(chance.choice([0, 0.002, 0.05]))
                os.write(pipe, b"".join(event.id for event in events))

    reads = 0
    with closing(PostgresLog(place)) as log, Projector(log, tmp_path) as projector:
        projector.refresh(LATER)
        children = [Child(lambda pipe, number=number: write(number, pipe)) for number in range(WRITERS)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            reads += projector.refresh(LATER).how == "refreshed"
        acknowledged = b"".join(child.succeed() for child in children)
        projector.refresh(LATER)
        assert beliefs(projector) == {acknowledged[at : at + 16].hex() for at in range(0, len(acknowledged), 16)}
        digest, root = projector.digest(), projector.refresh(LATER).root
        assert root == log.root().hex()
        projector.rebuild(LATER)
        assert projector.digest() == digest
    print(f"{len(acknowledged) // 16} events, {reads} refreshes beside them, none missed")
