"""A fold that stops at a moment: what the inspector reads its explanations off."""

from functools import cache
from itertools import product

from tests.beliefs.random_facts import RULES, Draws

from beliefbase.beliefs.coherence import incoherence
from beliefbase.beliefs.edges import EFFECTIVE, WAITING
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import entry_checks, most_conservative, passes_entry

WORLDS = 150


@cache
def moments():
    return list(stopped_folds())


def stopped_folds():
    for seed in range(WORLDS):
        facts = Draws(seed, rule_changes=seed % 3 == 0).facts
        whole = fold(facts, RULES)
        for ms in range(0, 60, 7):
            until = (ms << 16) | 0xFFFF
            yield whole, fold(facts, RULES, until=until), until


def test_the_state_left_is_that_of_the_moment_and_agrees_with_the_whole_fold():
    compared = 0
    for whole, stopped, until in moments():
        born = {life.id for life in whole.lives.values() if life.born <= until}
        assert born == set(stopped.lives)
        for id_, life in stopped.lives.items():
            row, of_all = life.at(until), whole.lives[id_].at(until)
            assert row[2:] == of_all[2:] and row.since == of_all.since
            assert life.alive(until) == row.live
            compared += 1
    assert compared > 1000


def test_the_first_ending_in_force_names_the_status_unless_the_belief_had_expired_before():
    ended = 0
    for _, stopped, until in moments():
        for life in stopped.lives.values():
            row = life.at(until)
            if row.cause is not None:
                assert life.endings[0][2][:16] == row.cause[:16]
                ended += 1
            elif row.status == "expired":
                assert life.expired is not None
            else:
                assert not life.endings
    assert ended > 100


def test_who_forks_a_belief_is_named_exactly_while_it_is_forked():
    forked = 0
    for _, stopped, until in moments():
        for life in stopped.lives.values():
            rivals = life.forks.rivals(life) if life.forks is not None else []
            assert bool(rivals) == life.at(until).forked
            forked += bool(rivals)
            if rivals:
                assert len({(rival.axis, rival.event) for rival in rivals}) >= 2
    assert forked > 10


def test_what_contests_a_belief_is_a_waiting_replacement_or_an_open_contradiction():
    contested = 0
    for _, stopped, until in moments():
        for life in stopped.lives.values():
            if life.at(until).contested:
                family = list(life.family())
                waiting = [e for member in family for e in (member.on or {}).values() if e.state is WAITING and e.bites]
                disputes = [c for member in family for c in member.disputes or () if c.bites and c.open]
                assert waiting or disputes
                contested += 1
    assert contested > 10


def test_a_correction_names_what_it_takes_its_half_life_from():
    taken = 0
    for _, stopped, _ in moments():
        for life in stopped.lives.values():
            if life.half_life.reason == "correction":
                targets = [edge.target.half_life.days for edge in life.by if edge.state is EFFECTIVE]
                assert life.half_life.days in targets
                taken += 1
    assert taken > 10


def test_the_entry_gate_check_by_check_is_the_entry_gate():
    for class_, confidence, certainty, act, kind in product(
        (None, "durable_fact", "opinion"),
        (None, 849, 850, 1000),
        (None, 599, 600),
        (None, "directive", "humor_or_irony", "negation", "observation"),
        ("fact", "goal"),
    ):
        given = {
            "assertion_class": class_,
            "confidence": confidence,
            "speech_act_confidence": certainty,
            "speech_act": act,
            "kind": kind,
        }
        attributes = {name: value for name, value in given.items() if value is not None}
        assert all(check.passed for check in entry_checks(attributes)) == passes_entry(attributes), attributes


def test_of_several_utterances_the_most_conservative_act_wins():
    assert most_conservative(["directive", "casual_characterization", "observation"]) == "casual_characterization"
    assert most_conservative(["directive", "humor_or_irony"]) == "humor_or_irony"
    assert most_conservative(["correction", "question"]) == "correction"
    assert most_conservative(["question"]) == "question"


def test_an_offhand_remark_called_a_durable_fact_is_warned_about():
    offhand = {"speech_act": "casual_characterization", "assertion_class": "durable_fact"}
    assert "no durable fact" in incoherence(offhand)
    assert incoherence({**offhand, "speech_act": "directive"}) is None
    assert incoherence({**offhand, "assertion_class": "opinion"}) is None
    assert incoherence({}) is None
