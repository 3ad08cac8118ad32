"""Erasures in PostgreSQL: the same words go as anywhere, whoever else stores then, and no table's file keeps one."""

import itertools
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.events.build import START_MS, Author
from tests.events.test_erasure import CANARY, LATER, by_definition, everything, histories
from tests.events.test_postgres_log import in_thread, wait_until_blocked
from tests.postgres_server import address, server
from tests.scale import scaled

from beliefbase.events.erasure import coverage, covered
from beliefbase.events.postgres import PostgresLog


@pytest.fixture
def place():
    return address()


@pytest.fixture
def log(place):
    with closing(PostgresLog(place)) as made:
        yield made


def holds_canary():
    """Files of the server's tables that hold the text."""
    files = [file for file in (server().data / "base").rglob("*") if file.is_file()]
    return [file.name for file in files if b"canary-canary" in file.read_bytes()]


@settings(max_examples=scaled(25), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_in_any_order_of_arrival_the_same_words_go(data):
    events = data.draw(histories())
    expected = by_definition(events)
    arrivals = data.draw(st.permutations(events))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(events)), max_size=3)))
    with closing(PostgresLog(address(), durability="process", wall=lambda: LATER)) as log:
        for start, end in itertools.pairwise([0, *cuts, len(events)]):
            log.merge(arrivals[start:end])
        stored = everything(log)
        assert len(stored) == len(events)
        assert {key: tuple(by) for key, by in coverage(log).items()} == expected
        for event in events:
            assert stored[event.id].body == (None if event.id in expected else event.body), event.skeleton.type
        beliefs = {e.id for e in events if e.skeleton.type == "belief.extracted"}
        assert log.erased() == {key: by for key, by in expected.items() if key in beliefs}
        assert log.wanted() == []


def test_no_file_of_a_table_holds_what_was_erased(log):
    will, owner = Author("will"), Author("owner", ms=START_MS + 1000)
    log.append([will.said(CANARY, subjects=["will"])])
    log.merge([will.said("not canary"), Author("bob", seq=4, prev=bytes(range(32))).said(CANARY, subjects=["will"])])
    with closing(PostgresLog(log.address.conninfo + f"&schema={log.address.schema}")) as other:
        other.append([owner.write("subject.erased", {"subject": "will"})])
    assert log.checkpoint()
    assert len(log.gaps()) == 1
    assert holds_canary() == []


def test_an_open_read_keeps_the_rows_and_checkpoint_says_so(log):
    will, owner = Author("will"), Author("owner", ms=START_MS + 1000)
    log.append([will.said(CANARY, subjects=["will"]), will.said("2")])
    reading = log.read(limit=1)
    next(reading)
    log.append([owner.write("subject.erased", {"subject": "will"})])
    assert not log.checkpoint()
    reading.close()
    assert log.checkpoint()
    assert log.checkpoint()
    assert holds_canary() == []


def test_an_erasure_waits_for_those_who_store_and_reaches_their_words(log, place):
    will, owner = Author("will"), Author("owner", ms=START_MS + 1000)
    said, erased = will.said(CANARY, subjects=["will"]), owner.write("subject.erased", {"subject": "will"})
    with log.transaction() as transaction:
        transaction.insert([said])
        erasing = in_thread(lambda: log.append([erased]))
        wait_until_blocked(place)
    erasing.result(60)
    assert log.get(said.id).body is None
    assert set(covered(log)) == {said.id}


def test_what_is_stored_beside_an_erasure_is_dropped_at_the_door(log, place):
    will, owner = Author("will"), Author("owner", ms=START_MS + 1000)
    said, erased = will.said(CANARY, subjects=["will"]), owner.write("subject.erased", {"subject": "will"})
    with log.transaction() as transaction:
        transaction.insert([erased])
        saying = in_thread(lambda: log.append([said]))
        wait_until_blocked(place)
    saying.result(60)
    assert log.get(said.id).body is None
    assert log.checkpoint()
    assert holds_canary() == []


def test_two_erasures_at_once_both_act(log, place):
    will, zoe, ann, bob = (
        Author(name, ms=START_MS + ms) for name, ms in [("w", 0), ("z", 0), ("a", 1000), ("b", 1000)]
    )
    log.append([one := will.said(CANARY, subjects=["will"]), two := zoe.said(CANARY, subjects=["zoe"])])
    with log.transaction() as transaction:
        transaction.insert([ann.write("subject.erased", {"subject": "will"})])
        other = in_thread(lambda: log.append([bob.write("subject.erased", {"subject": "zoe"})]))
        wait_until_blocked(place)
    other.result(60)
    assert set(covered(log)) == {one.id, two.id}
    assert all(event.body is None for event in everything(log).values() if event.id in {one.id, two.id})


def test_an_erasure_ahead_of_the_wall_waits_until_the_wall_gets_there(place):
    wall = START_MS + 500
    with closing(PostgresLog(place, wall=lambda: wall)) as log:
        said = Author().said(CANARY, subjects=["will"])
        future = Author("peer").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1000) << 16)
        log.merge([said, future])
        assert log.get(said.id) == said
        wall = START_MS + 1000
        assert log.carry_out_erasures() == 1
        assert log.get(said.id).body is None
        assert log.wanted() == []
    assert holds_canary() == []
