"""Folding beside: a second process gives the tables that this one would give."""

import gc
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.events.build import Author
from tests.projections.test_contract import contents
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.beliefs.collector import paused
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.lookups import named
from beliefbase.events.errors import StoreUnavailable
from beliefbase.projections import beside
from beliefbase.projections.errors import FoldingFailed
from beliefbase.projections.partition import EVERYWHERE, KEPT, Plan, Sets, _connected
from beliefbase.projections.projector import Projector
from beliefbase.projections.reading import Reader
from beliefbase.projections.stretches import Stretches


def sets_of(log):
    reader = Reader(log)
    return Sets(log, reader, Plan.of(log, reader))


@pytest.mark.parametrize("seed", range(3))
def test_a_second_process_gives_the_same_tables(tmp_path, monkeypatch, seed):
    log = open_log(tmp_path, World(seed, 300).events)
    with Projector(log, tmp_path / "here") as projector:
        projector.rebuild(AS_OF_MS)
        here = contents(projector), projector.digest()
    monkeypatch.setattr(beside, "LARGE", 1)
    with Projector(log, tmp_path / "beside") as projector:
        projector.rebuild(AS_OF_MS)
        assert (contents(projector), projector.digest()) == here
        assert not list((tmp_path / "beside").glob("folding*"))
    log.close()


def test_events_that_arrive_while_both_read_are_in_the_tables_once(tmp_path, monkeypatch):
    """The second process may have read what the first had not, or the other way round."""
    world = World(8, 200).events
    log = open_log(tmp_path, world[:150])
    monkeypatch.setattr(beside, "LARGE", 1)

    def arrive(what, _number):
        if what == "reading":
            log.append(world)

    with Projector(log, tmp_path / "beside", progress=arrive) as projector:
        assert projector.rebuild(AS_OF_MS).root == log.root().hex()
        with_another = contents(projector)
    with Projector(log, tmp_path / "here") as projector:
        monkeypatch.setattr(beside, "LARGE", 1_000_000)
        projector.rebuild(AS_OF_MS)
        assert contents(projector) == with_another
    log.close()


def test_a_second_process_that_dies_is_reported_and_leaves_what_was_there(tmp_path, monkeypatch):
    author = Author("ann")
    log = open_log(tmp_path, [author.joined(), *author.utterances(4)])
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        before = projector.digest()
        monkeypatch.setattr(beside, "LARGE", 1)
        monkeypatch.setattr(beside.sys, "executable", "/bin/false")
        with pytest.raises(FoldingFailed) as caught:
            projector.rebuild(AS_OF_MS)
        assert caught.value.data["status"] == 1
        assert caught.value.hint
        assert isinstance(caught.value, StoreUnavailable)
        assert projector.digest() == before
    log.close()


@pytest.mark.parametrize("seed", range(3))
def test_sets_fold_as_the_whole_does_however_small_they_are(tmp_path, monkeypatch, seed):
    log = open_log(tmp_path, World(seed, 400).events)
    found = []
    for size in (1, 7, 100_000):
        monkeypatch.setattr("beliefbase.projections.partition.CHUNK", size)
        with Projector(log, tmp_path / f"read-{size}") as projector:
            projector.rebuild(AS_OF_MS)
            found.append(contents(projector))
    log.close()
    assert found[0] == found[1] == found[2]


def test_stretches_are_the_intervals_and_spells_of_each_life(tmp_path):
    """Columns are made without a loop over lives; this compares them with the loop."""
    from beliefbase.projections.intervals import PROJECTION as INTERVALS
    from beliefbase.projections.spells import PROJECTION as SPELLS

    log = open_log(tmp_path, World(21, 900).events)
    events = [stored.event for page in log.read() for stored in page]
    lives = list(fold(Reader(log).facts(events)).lives.values())
    log.close()
    assert any(life.forks for life in lives)
    intervals = INTERVALS.of_lives(Stretches.of(lives))["belief_intervals"]
    names = ("belief_id", "since_hlc", "until_hlc", "status", "cause_id", "stale", "contested", "forked")
    assert list(zip(*(intervals[name].tolist() for name in names), strict=True)) == [
        (life.id.hex(), *row[:3], row.cause and row.cause.hex(), row.stale, row.contested, row.forked)
        for life in lives
        for row in life.intervals
    ]
    spells = SPELLS.of_lives(Stretches.of(lives))["belief_spells"]
    names = ("belief_id", "number", "since_hlc", "until_hlc", "ended_as", "cause_id")
    assert list(zip(*(spells[name].tolist() for name in names), strict=True)) == [
        (life.id.hex(), number, spell.since, spell.until, spell.ended_as, spell.cause and spell.cause.hex())
        for life in lives
        for number, spell in enumerate(life.spells, 1)
    ]


@pytest.mark.parametrize("least", [1, 200])
@pytest.mark.parametrize("seed", range(15))
def test_being_shown_decides_about_recurrences_in_sets_as_in_the_whole(tmp_path, monkeypatch, seed, least):
    """Injections that can't matter are left out of a fold; here they often do, also by way of copies and merges."""
    monkeypatch.setattr("beliefbase.projections.partition.CHUNK", 1)
    monkeypatch.setattr("beliefbase.events.catalog.lockstep.LEAST", least)
    dice, author = random.Random(seed), Author()
    sessions = [bytes([number]) * 16 for number in range(1, 6)]
    events = [author.joined()]
    beliefs = []
    for number in range(12):
        named = {"source_ref": f"key:{number // 2}"} if number < 6 else {}
        events.append(author.extracted(f"belief {number}", session=dice.choice(sessions), **named))
        beliefs.append(events[-1].id)
    for _ in range(120):
        belief = dice.choice(beliefs)
        match dice.randrange(12):
            case 0:
                events.append(author.merged(belief, dice.choice(beliefs)))
            case 1:
                events.append(author.write("belief.demoted", {"belief_id": belief}))
            case 2 | 3 | 4 | 5:
                cards = [{"belief_id": shown, "rank": 1} for shown in sorted(dice.sample(beliefs, 2))]
                session = {} if dice.random() < 0.1 else {"session": dice.choice(sessions)}
                events.append(author.write("memory.injected", {"cards": cards, **session}))
            case _:
                fields = {"belief_id": belief, "how": "recurrence", "session": dice.choice(sessions)}
                events.append(author.write("belief.affirmed", fields))
    log = open_log(tmp_path, events)
    whole = fold(Reader(log).facts(events))
    parts, context = {}, set()
    for facts, more in sets_of(log):
        parts |= fold(facts + more).lives
        context.update(fact.id for fact in more)
    assert {belief: life.line for belief, life in parts.items()} == {
        belief: life.line for belief, life in whole.lives.items()
    }
    assert any(life.promotions for life in whole.lives.values())
    assert 0 < len(context) < sum(event.skeleton.type == "memory.injected" for event in events)
    log.close()


@pytest.mark.parametrize("seed", range(20))
def test_facts_that_name_one_thing_are_in_one_set(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("beliefbase.projections.partition.CHUNK", 1)
    log = open_log(tmp_path, World(seed, 300).events)
    of_key, seen = {}, set()
    for number, (facts, _) in enumerate(sets_of(log)):
        for fact in facts:
            assert fact.id not in seen
            seen.add(fact.id)
            for key in () if fact.type in EVERYWHERE else (fact.id, *(key for _, key in named(fact))):
                assert of_key.setdefault(key, number) == number, fact
    stored = [one.event for page in log.read() for one in page]
    assert seen == {fact.id for fact in Reader(log).facts(stored) if fact.type in KEPT}
    log.close()
    assert len(set(of_key.values())) > 3


@given(st.integers(0, 30).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n)] * 2)))))
def test_components_are_what_edges_join(graph):
    last, edges = graph
    left, right = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    parts = {node: {node} for node in range(last + 1)}
    for one, other in edges:
        if parts[one] is not parts[other]:
            parts[one] |= parts[other]
            for node in parts[other]:
                parts[node] = parts[one]
    assert _connected(last + 1, left, right).tolist() == [min(parts[node]) for node in range(last + 1)]


def test_nothing_to_fold_is_no_trouble(tmp_path):
    log = open_log(tmp_path, [Author("ann").joined()])
    assert list(sets_of(log)) == [([], [])]
    log.close()


@pytest.mark.parametrize("seed", range(10))
def test_a_fold_that_was_taken_apart_leaves_nothing_to_the_collector_of_cycles(tmp_path, seed):
    log = open_log(tmp_path, World(seed, 600).events)
    (facts, context) = sets_of(log)[0]
    log.close()
    gc.collect()
    with paused():
        folded = fold(facts + context)
        assert folded.notes and [life.intervals for life in folded.lives.values()]
        assert any(life.on for life in folded.lives.values()) and any(life.disputes for life in folded.lives.values())
        folded.dissolve()
        del folded
        assert gc.collect() == 0
