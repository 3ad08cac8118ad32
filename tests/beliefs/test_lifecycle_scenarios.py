"""The ten acceptance scenarios of the lifecycle, as given / when / then."""

from itertools import permutations

import pytest
from tests.beliefs.story import Story, day, hashed

from beliefbase.beliefs.authority import Input, weight
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import FOREVER


@pytest.fixture
def story():
    return Story()


def statuses(life):
    return [(row.since, row.status) for row in life.intervals]


# 1 "I'd describe it as roughly 50% hobby and 50% professional aspiration"


def offhand_remark(story):
    story.extract("half hobby", on=0, act="casual_characterization", confidence=990)
    return story


def test_1_an_offhand_remark_is_a_candidate_with_a_half_life_of_30_days(story):
    life = offhand_remark(story).life("half hobby")
    assert life.half_life.days == 30
    assert {row.status for row in life.intervals if row.live} == {"candidate"}


def test_1_it_is_stale_after_30_days_and_expired_after_60(story):
    life = offhand_remark(story).life("half hobby")
    assert [(row.since, row.until, row.status, row.stale) for row in life.intervals] == [
        (day(0), day(30), "candidate", False),
        (day(30), day(60), "candidate", True),
        (day(60), FOREVER, "expired", False),
    ]


def test_1_reaffirmed_on_day_40_it_is_fresh_again_until_day_70(story):
    offhand_remark(story).affirm("again", "half hobby", on=40, how="recurrence")
    assert not story.at("half hobby", 40).stale
    assert not story.at("half hobby", 69.9).stale
    assert story.at("half hobby", 70).stale
    assert story.status("half hobby", 100) == "expired"


# 2 "Always cite the primary source, never just secondary commentary"


@pytest.mark.parametrize(("confidence", "status"), [(850, "active"), (849, "candidate")])
def test_2_a_directive_that_is_a_durable_fact_is_active_at_once_from_850_on(story, confidence, status):
    story.extract("cite", on=1, act="directive", confidence=confidence)
    assert story.status("cite", 1) == status
    assert story.life("cite").half_life.days == 365


# 3 recurrence


def hypothetical(story):
    story.extract("if", on=0, act="hypothetical", confidence=990)
    return story


def test_3_a_hypothetical_at_990_stays_a_candidate(story):
    assert {row.status for row in hypothetical(story).life("if").intervals} == {"candidate", "expired"}


def test_3_three_sessions_make_it_active(story):
    hypothetical(story).affirm("a", "if", on=1, how="recurrence", session="second")
    story.affirm("b", "if", on=2, how="recurrence", session="third")
    assert story.status("if", 1.9) == "candidate"
    assert story.at("if", 2)[2:5] == ("active", None, hashed("b"))


def test_3_two_sessions_and_the_same_session_again_do_not(story):
    hypothetical(story).affirm("a", "if", on=1, how="recurrence", session="second")
    story.affirm("b", "if", on=2, how="recurrence", session="second")
    assert story.status("if", 2) == "candidate"


def test_3_a_session_in_which_it_was_shown_before_does_not_count(story):
    hypothetical(story).affirm("a", "if", on=1, how="recurrence", session="second")
    cards = ({"belief_id": hashed("if")},)
    story.tell("shown", "memory.injected", on=1.5, cards=cards, session=hashed("third"))
    story.affirm("b", "if", on=2, how="recurrence", session="third")
    assert story.status("if", 2) == "candidate"


# 4 "Actually it's 50/50"


def chain_of_corrections(story):
    story.extract("75/25", on=0, act="casual_characterization")
    story.extract("50/50", on=1, act="correction")
    story.supersede("first", "75/25", "50/50", on=2)
    story.extract("40/60", on=3, act="correction")
    story.supersede("second", "50/50", "40/60", on=4)
    return story


def test_4_a_correction_takes_the_half_life_of_its_target_through_a_chain(story):
    chain_of_corrections(story)
    assert [story.life(name).half_life.days for name in ("50/50", "40/60")] == [30, 30]
    assert story.at("40/60", 34).stale and not story.at("40/60", 33.9).stale


def test_4_also_when_the_target_arrives_later(story):
    chain_of_corrections(story)
    for arrival in permutations(story.facts):
        lives = fold(arrival).lives
        assert lives[hashed("40/60")].half_life.days == 30


# 5 forks


def concurrent_supersessions(story):
    story.extract("deadline May", on=0)
    story.extract("deadline June", on=1, by="bea")
    story.extract("deadline July", on=1, by="cid")
    story.supersede("june", "deadline May", "deadline June", on=2, by="bea")
    story.supersede("july", "deadline May", "deadline July", on=3, by="cid")
    return story


def test_5_two_successors_that_did_not_see_each_other_live_and_the_belief_is_forked(story):
    concurrent_supersessions(story)
    assert story.status("deadline June", 4) == story.status("deadline July", 4) == "active"
    assert not story.at("deadline May", 2).forked
    assert story.at("deadline May", 3).forked


def test_5_who_read_both_and_merges_the_successors_ends_the_fork(story):
    concurrent_supersessions(story)
    story.merge("settled", "deadline July", "deadline June", on=5, by="dan", seen=("june", "july"))
    assert story.at("deadline May", 4.9).forked
    assert not story.at("deadline May", 5).forked
    assert story.status("deadline July", 5) == "duplicate"


def test_5_two_concurrent_affirmations_are_no_fork(story):
    story.extract("A", on=0)
    story.affirm("one", "A", on=1, by="bea")
    story.affirm("two", "A", on=1, by="cid")
    assert not any(row.forked for row in story.life("A").intervals)


# 6 cycles


def test_6_of_two_opposite_supersessions_the_later_is_void_and_listed_in_every_order(story):
    story.extract("A", on=0)
    story.extract("B", on=0)
    story.supersede("A by B", "A", "B", on=1, by="bea")
    story.supersede("B by A", "B", "A", on=2, by="cid")
    for arrival in permutations(story.facts):
        folded = fold(arrival)
        assert [(note.event, str(note.reason)) for note in folded.notes] == [(hashed("B by A"), "cycle")]
        assert folded.lives[hashed("B")].at(day(3)).status == "active"
        assert folded.lives[hashed("A")].at(day(3)).status == "superseded"


def test_6_of_three_in_a_circle_the_earliest_arriving_last_brings_back_c(story):
    for name in "ABC":
        story.extract(name, on=0)
    story.supersede("B by C", "B", "C", on=2)
    story.supersede("C by A", "C", "A", on=3)
    before = story.folded().lives
    assert before[hashed("C")].at(day(4)).status == "superseded"
    story.supersede("A by B", "A", "B", on=1)
    folded = story.folded()
    assert folded.lives[hashed("C")].at(day(4)).status == "active"
    assert list(folded.void) == [hashed("C by A")]


# 7 conclusions


@pytest.mark.parametrize(
    ("applicability", "carried"),
    [("same_context", 800), ("adjacent_context", 736), ("cross_context", 680), ("unknown", 680), (None, 680)],
)
def test_7_only_the_supporting_input_decays(applicability, carried):
    assert weight(Input(True, 800, True, applicability)) == 800
    assert weight(Input(False, 800, True, applicability)) == carried


def test_7_a_conclusion_is_a_candidate_while_an_essential_input_is_not_live(story):
    story.extract("premise", on=0)
    story.extract("hint", on=0)
    story.extract("conclusion", on=1)
    story.derive("derived", "conclusion", on=1, premise="essential", hint="supporting")
    story.act("hint gone", "retracted", "hint", on=2, cause="wrong")
    story.act("gone", "retracted", "premise", on=3, cause="wrong")
    story.reinstate("back", "premise", "gone", on=4)
    assert [story.status("conclusion", number) for number in (1, 2, 3, 4)] == [
        "active",
        "active",
        "candidate",
        "active",
    ]


# 8 a joke against a directive


def joke_against_directive(story):
    story.extract("ship on Fridays", on=0, act="directive")
    story.extract("ship at midnight", on=1, act="humor_or_irony", confidence=200, strong=False)
    story.supersede("joke", "ship on Fridays", "ship at midnight", on=2)
    return story


def test_8_a_joke_leaves_the_directive_active_and_contested(story):
    row = joke_against_directive(story).at("ship on Fridays", 2)
    assert (row.status, row.contested) == ("active", True)
    assert [str(note.reason) for note in story.folded().notes] == ["replacement_waits"]


def test_8_promoted_later_the_successor_takes_over(story):
    joke_against_directive(story).act("meant it", "promoted", "ship at midnight", on=5)
    assert story.status("ship on Fridays", 4.9) == "active"
    row = story.at("ship on Fridays", 5)
    assert (row.status, row.cause, row.by) == ("superseded", hashed("joke"), hashed("meant it"))


def test_8_never_promoted_the_directive_stands(story):
    row = joke_against_directive(story).at("ship on Fridays", 300)
    assert (row.status, row.contested) == ("active", False)


# 9 opposite decisions


def test_9_of_opposite_concurrent_resolutions_the_later_decides(story):
    story.extract("A", on=0)
    story.extract("B", on=0)
    story.contradict("clash", "A", "B", on=1)
    story.resolve("left", "clash", "left", on=2, by="bea")
    story.resolve("right", "clash", "right", on=3, by="cid")
    for arrival in permutations(story.facts):
        lives = fold(arrival).lives
        assert lives[hashed("A")].at(day(4)).status == "contradicted"
        assert lives[hashed("B")].at(day(4)).status == "active"


def test_9_of_opposite_concurrent_merges_one_survives(story):
    story.extract("A", on=0)
    story.extract("B", on=0)
    story.merge("one", "A", "B", on=2, by="bea")
    story.merge("other", "B", "A", on=2, by="cid")
    for arrival in permutations(story.facts):
        lives = fold(arrival).lives
        assert sorted(life.at(day(3)).status for life in lives.values()) == ["active", "duplicate"]


def test_9_superseded_reinstated_then_superseding_in_turn_is_no_cycle(story):
    story.extract("A", on=0)
    story.extract("B", on=0)
    story.supersede("A by B", "A", "B", on=1)
    story.reinstate("A back", "A", "A by B", on=2)
    story.supersede("B by A", "B", "A", on=3)
    assert not story.folded().void
    assert (story.status("A", 4), story.status("B", 4)) == ("active", "superseded")


# 10 policies


def test_10_conditional_expiry_ends_as_obsolete_when_the_condition_is_met_and_not_before(story):
    key = hashed("merged")
    story.extract("merge needs the full check", on=0, policy="conditional_expiry", condition_key=key)
    story.tell("merge done", "condition.met", on=900, condition_key=key)
    life = story.life("merge needs the full check")
    assert statuses(life) == [(day(0), "active"), (day(900), "obsolete")]


def test_10_a_condition_met_before_does_not_end_what_comes_under_the_key_later(story):
    story.tell("met", "condition.met", on=0, condition_key=hashed("k"))
    story.extract("later", on=1, policy="conditional_expiry", condition_key=hashed("k"))
    assert statuses(story.life("later")) == [(day(1), "active")]


def test_10_an_amendable_convention_lives_for_ten_years_untouched(story):
    story.extract("tabs", on=0, policy="amendable_persistent@1")
    row = story.at("tabs", 3_650)
    assert (row.status, row.stale, row.until) == ("active", False, FOREVER)
