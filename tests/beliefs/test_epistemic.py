"""Where a claim stands among revisions: speculative, coherent, contested, falsified, or ended for another reason."""

from itertools import pairwise

import pytest
from tests.beliefs.drafted import Log, stamp
from tests.beliefs.random_facts import RULES, Draws

from beliefbase.beliefs.epistemic import Standing, standing, standings
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import FOREVER


@pytest.fixture
def log():
    return Log()


def told(log, belief, *, grounded=True):
    """The standings of a belief, each with the day from which it holds."""
    stretches = standings(log.fold.lives[belief], grounded=grounded)
    return [(stretch.since // stamp(1), str(stretch.standing)) for stretch in stretches]


def test_a_candidate_is_speculative_and_an_active_belief_coherent(log):
    belief = log.extract(on=0)
    log.promote(belief, on=1)
    assert told(log, belief) == [(0, "speculative"), (1, "coherent"), (730, "ended")]


def test_without_known_evidence_even_an_active_belief_is_speculative(log):
    belief = log.durable(on=0, policy="amendable_persistent")
    assert told(log, belief, grounded=False) == [(0, "speculative")]


def test_an_open_contradiction_contests_until_it_is_resolved(log):
    left, right = (log.durable(on=0, policy="amendable_persistent") for _ in range(2))
    log.resolve(log.contradict(left, right, on=1), "left", on=2)
    assert told(log, left) == [(0, "coherent"), (1, "contested"), (2, "coherent")]
    assert told(log, right) == [(0, "coherent"), (1, "contested"), (2, "falsified")]


@pytest.mark.parametrize(("cause", "after"), [("wrong", "falsified"), ("withdrawn", "ended"), ("asked", "ended")])
def test_only_a_retraction_as_wrong_falsifies(log, cause, after):
    belief = log.durable(on=0)
    log.retract(belief, on=1, cause=cause)
    assert told(log, belief)[1:] == [(1, after)]


def test_what_had_ended_otherwise_is_falsified_by_a_later_ending_too(log):
    old, new = log.durable(on=0), log.durable(on=0)
    log.supersede(old, new, on=1)
    wrong = log.retract(old, on=2, cause="wrong")
    log.reinstate(old, wrong, on=3)
    assert told(log, old) == [(0, "coherent"), (1, "ended"), (2, "falsified"), (3, "ended")]
    assert {row.status for row in log.fold.lives[old].intervals[1:]} == {"superseded"}


def test_what_had_expired_is_falsified_by_a_later_ending_too(log):
    belief = log.extract(on=0, speech_act="humor_or_irony")
    log.retract(belief, on=20, cause="wrong")
    assert told(log, belief) == [(0, "speculative"), (14, "ended"), (20, "falsified")]


def test_neither_falsifies_both_and_both_hold_takes_that_back(log):
    left, right = (log.durable(on=0, policy="amendable_persistent") for _ in range(2))
    clash = log.contradict(left, right, on=1)
    log.resolve(clash, "neither", on=2)
    log.resolve(clash, "both_hold", on=3)
    for side in (left, right):
        assert told(log, side) == [(0, "coherent"), (1, "contested"), (2, "falsified"), (3, "coherent")]


def test_a_retraction_as_wrong_falsifies_the_survivor_of_a_merge_as_well(log):
    duplicate, survivor = log.durable(on=0), log.durable(on=0)
    log.merge(duplicate, survivor, on=1)
    log.retract(duplicate, on=2, cause="wrong")
    assert told(log, duplicate)[-1] == told(log, survivor)[-1] == (2, "falsified")


def test_standings_tile_every_life_and_agree_with_its_rows():
    seen = set()
    for seed in range(120):
        for life in fold(Draws(seed).facts, RULES).lives.values():
            stretches = standings(life, grounded=True)
            assert stretches[0].since == life.born
            assert stretches[-1].until == FOREVER
            for stretch, following in pairwise(stretches):
                assert stretch.until == following.since
                assert stretch.standing is not following.standing
            for stretch in stretches:
                row = life.at(stretch.since)
                falsified = life.falsified_at(stretch.since)
                assert stretch.standing is standing(row, falsified=falsified, grounded=True)
                assert (stretch.standing is Standing.COHERENT) <= (row.status == "active" and not row.contested)
                seen.add(stretch.standing)
    assert seen == set(Standing)


def test_falsified_is_what_an_ending_in_force_says():
    compared = 0
    for seed in range(120):
        facts = Draws(seed).facts
        folded, types = fold(facts, RULES), {fact.id: fact for fact in facts}
        for life in folded.lives.values():
            says = [types[ending[2]] for ending in life.endings]
            wrong = any(f.type == "contradiction.resolved" or f.payload.get("cause") == "wrong" for f in says)
            assert life.falsified_at(FOREVER - 1) == wrong
            compared += wrong
    assert compared > 20
