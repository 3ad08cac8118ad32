"""The acceptance scenarios of the lifecycle: what is given, what happens, how beliefs stand then.

Every event goes through the catalogue; where arrival order could matter, every order is tried.
"""

from itertools import combinations, permutations

import pytest
from tests.beliefs.dict_source import DictSource
from tests.beliefs.drafted import Log, rows, stamp

from beliefbase.beliefs.attributes import CORRECTABLE
from beliefbase.beliefs.authority import Input, weight
from beliefbase.beliefs.coherence import incoherence
from beliefbase.beliefs.dependents import refold
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.intervals import LIVE
from beliefbase.beliefs.reasons import Reason
from beliefbase.beliefs.rules import FOREVER, MOST_CONSERVATIVE_FIRST, most_conservative
from beliefbase.events.catalog import CATALOG
from beliefbase.events.errors import InvalidEvent


@pytest.fixture
def log():
    return Log()


def shapes(life):
    return [(row.since, row.until, row.status, row.stale) for row in life.intervals]


# -- 1: an offhand remark -------------------------------------------------------------------------------------------

HOBBY = "I'd describe it as roughly 50% hobby and 50% professional aspiration"


def offhand(log, **more):
    said = log.tell("utterance.recorded", on=0, speaker="will", verbatim=HOBBY, topic="project scope")
    statement = "The project is half hobby, half aspiration."
    return log.extract(on=0, statement=statement, evidence=(said,), speech_act="casual_characterization", **more)


def test_1_verbatim_and_topic_are_kept():
    draft = CATALOG.draft("utterance.recorded", {"speaker": "will", "verbatim": HOBBY, "topic": "project scope"})
    assert draft.words["verbatim"] == HOBBY
    assert draft.words["topic"] == "project scope"
    assert not draft.payload.keys() & {"verbatim", "topic"}


def test_1_a_casual_characterization_is_a_candidate_stale_after_30_days_and_expired_after_60(log):
    """Candidate, half-life 30 days; stale after 30, expired after 60 without reaffirmation."""
    belief = offhand(log, confidence=990)
    life = log.fold.lives[belief]
    assert life.half_life == (30, "act:casual_characterization")
    assert shapes(life) == [
        (stamp(0), stamp(30), "candidate", False),
        (stamp(30), stamp(60), "candidate", True),
        (stamp(60), FOREVER, "expired", False),
    ]


def test_1_reaffirmed_on_day_40_it_is_fresh_again_until_day_70(log):
    belief = offhand(log)
    log.affirm(belief, on=40, how="recurrence", session="later")
    assert shapes(log.fold.lives[belief])[2:] == [
        (stamp(40), stamp(70), "candidate", False),
        (stamp(70), stamp(100), "candidate", True),
        (stamp(100), FOREVER, "expired", False),
    ]


def test_1_calling_an_offhand_remark_a_durable_fact_is_warned_about_and_makes_it_no_more_than_a_candidate(log):
    belief = offhand(log, confidence=1000, assertion_class="durable_fact")
    life = log.fold.lives[belief]
    assert log.status(belief, 1) == "candidate"
    assert "no durable fact" in incoherence(life.attributes)


# -- 2: a directive -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "active"),
        ({"confidence": 849}, "candidate"),
        ({"assertion_class": "passing_remark"}, "candidate"),
        ({"speech_act_confidence": 600}, "active"),
        ({"speech_act_confidence": 599}, "candidate"),
    ],
)
def test_2_a_directive_is_active_at_once_as_a_durable_fact_at_850_or_more(log, fields, status):
    """ "Always cite the primary source, never just secondary commentary": directive, 365 days, active at once."""
    belief = log.durable(on=1, **{"speech_act": "directive", "confidence": 850, "kind": "note", **fields})
    assert log.status(belief, 1) == status
    if "speech_act_confidence" not in fields:
        assert log.fold.lives[belief].half_life == (365, "act:directive")


def test_2_what_an_extraction_leaves_out_makes_it_a_candidate(log):
    """Absent: direct_assertion at 1000, confidence 0, no assertion class."""
    belief = log.extract(on=1)
    assert log.status(belief, 1) == "candidate"
    assert log.fold.lives[belief].half_life == (365, "kind:fact")


@pytest.mark.parametrize("act", MOST_CONSERVATIVE_FIRST)
def test_2_only_five_speech_acts_enter_as_active(log, act):
    belief = log.durable(on=1, speech_act=act, confidence=1000)
    entering = {"direct_assertion", "directive", "preference_statement", "correction", "negation"}
    assert log.status(belief, 1) == ("active" if act in entering else "candidate")


# -- 3: recurrence --------------------------------------------------------------------------------------------------


def hypothetical(log):
    return log.durable(on=0, speech_act="hypothetical", confidence=990, session="one")


def test_3_a_hypothetical_at_990_stays_a_candidate_until_three_sessions_had_it(log):
    """A hypothetical at confidence 990 stays a candidate; three sessions' recurrence makes it active."""
    belief = hypothetical(log)
    log.affirm(belief, on=1, how="recurrence", session="two")
    third = log.affirm(belief, on=2, how="recurrence", session="three")
    for folded in log.in_all_orders():
        life = folded.lives[belief]
        assert life.at(stamp(2) - 1).status == "candidate"
        assert life.at(stamp(2))[2:5] == ("active", None, third)


def test_3_two_sessions_and_the_same_session_again_do_not_promote(log):
    """Two sessions plus the same session again does not."""
    belief = hypothetical(log)
    log.affirm(belief, on=1, how="recurrence", session="two")
    log.affirm(belief, on=2, how="recurrence", session="two")
    log.affirm(belief, on=3, how="recurrence", session="one")
    for folded in log.in_all_orders():
        assert folded.lives[belief].at(stamp(3)).status == "candidate"


def test_3_the_same_session_of_another_agent_counts(log):
    belief = hypothetical(log)
    log.affirm(belief, on=1, how="recurrence", session="one", by="ben")
    log.affirm(belief, on=2, how="recurrence", session="one", by="cleo")
    assert log.status(belief, 2) == "active"


def test_3_a_session_in_which_it_had_been_shown_before_does_not_count(log):
    belief = hypothetical(log)
    log.affirm(belief, on=1, how="recurrence", session="two")
    log.tell("memory.injected", on=2, cards=({"belief_id": belief},), session="three")
    log.affirm(belief, on=3, how="recurrence", session="three")
    assert log.status(belief, 3) == "candidate"
    log.affirm(belief, on=4, how="recurrence", session="four")
    assert log.status(belief, 4) == "active"


def test_3_a_demotion_starts_the_count_anew(log):
    belief = hypothetical(log)
    for day, session in enumerate(("two", "three"), 1):
        log.affirm(belief, on=day, how="recurrence", session=session)
    log.tell("belief.demoted", on=3, belief_id=belief)
    for day, session in enumerate(("four", "five"), 4):
        log.affirm(belief, on=day, how="recurrence", session=session)
    assert [log.status(belief, day) for day in (2, 3, 5)] == ["active", "candidate", "candidate"]
    log.affirm(belief, on=6, how="recurrence", session="six")
    assert log.status(belief, 6) == "active"


@pytest.mark.parametrize("fields", [{}, {"how": "confirmation"}, {"how": "review"}])
def test_3_a_persons_word_promotes_at_once_and_is_what_an_affirmation_is_by_default(log, fields):
    belief = hypothetical(log)
    log.affirm(belief, on=1, **fields)
    assert log.status(belief, 1) == "active"


# -- 4: corrections -------------------------------------------------------------------------------------------------


def corrections(log):
    remark = log.extract(on=0, speech_act="casual_characterization")
    first = log.durable(on=1, speech_act="correction", kind="rule")
    second = log.durable(on=3, speech_act="correction", kind="rule")
    log.supersede(remark, first, on=2, cause="correction")
    log.supersede(first, second, on=4, cause="correction")
    return remark, first, second


def test_4_a_correction_takes_its_targets_half_life_through_a_chain_also_when_the_target_arrives_later(log):
    """ "Actually it's 50/50" as a correction that supersedes: takes the target's half-life through a chain."""
    _, first, second = corrections(log)
    for folded in log.in_all_orders():
        assert folded.lives[first].half_life == folded.lives[second].half_life == (30, "correction")
        stale = [row.since for row in folded.lives[second].intervals if row.stale]
        assert stale == [stamp(34)]


def test_4_it_is_by_its_own_kind_until_the_supersession_is_in_effect(log):
    _, first, second = corrections(log)
    assert fold(log.facts, until=stamp(2) - 1).lives[first].half_life == (365, "kind:rule")
    assert fold(log.facts, until=stamp(4) - 1).lives[second].half_life == (365, "kind:rule")


def test_4_of_several_targets_the_shortest_counts_and_none_stays_none(log):
    convention = log.durable(on=0, policy="amendable_persistent")
    remark = log.extract(on=0, speech_act="casual_characterization")
    correction = log.durable(on=1, speech_act="correction")
    log.supersede(convention, correction, on=2)
    assert log.fold.lives[correction].half_life.days is None
    log.supersede(remark, correction, on=3)
    assert log.fold.lives[correction].half_life.days == 30


def test_4_a_policy_of_its_own_wins_over_the_targets(log):
    remark = log.extract(on=0, speech_act="casual_characterization")
    correction = log.durable(on=1, speech_act="correction", policy="fast_decay_status")
    log.supersede(remark, correction, on=2)
    assert log.fold.lives[correction].half_life == (7, "policy:fast_decay_status@1")


def test_4_of_several_targets_with_a_half_life_the_shortest_counts_from_where_it_came(log):
    joke, remark = (log.extract(on=0, speech_act=act) for act in ("humor_or_irony", "casual_characterization"))
    correction = log.durable(on=1, speech_act="correction")
    log.supersede(remark, correction, on=2)
    log.supersede(joke, correction, on=3)
    life = log.fold.lives[correction]
    assert (life.half_life.days, life.stale_at) == (7, stamp(3 + 7))


def test_4_what_the_first_of_a_chain_takes_over_reaches_the_last(log):
    remark = log.extract(on=0, speech_act="casual_characterization")
    first, last = (log.durable(on=day, speech_act="correction") for day in (1, 2))
    log.supersede(first, last, on=3)
    log.supersede(remark, first, on=4)
    for folded in log.in_all_orders():
        life = folded.lives[last]
        assert (life.half_life, life.stale_at) == ((30, "correction"), stamp(4 + 30))


# -- 5: concurrent revisions ----------------------------------------------------------------------------------------


def revised_by_two(log):
    old, june, july = (log.durable(on=day) for day in (0, 1, 1))
    one = log.supersede(old, june, on=2, by="ben")
    other = log.supersede(old, july, on=3, by="cleo")
    return old, june, july, one, other


def test_5_successors_of_agents_who_did_not_see_each_other_both_live_and_the_belief_is_forked(log):
    """Each supersedes it without having seen the other's revision: both successors live, forked and listed."""
    old, june, july, one, other = revised_by_two(log)
    for folded in log.in_all_orders():
        lives = folded.lives
        assert lives[june].at(stamp(3)).status == lives[july].at(stamp(3)).status == "active"
        assert [(row.since, row.status, row.cause, row.forked) for row in lives[old].intervals[1:]] == [
            (stamp(2), "superseded", one, False),
            (stamp(3), "superseded", one, True),
        ]
        assert {rival.event for rival in lives[old].forks.rivals(lives[old])} == {one, other}


def test_5_a_third_agent_who_read_both_and_merges_the_successors_ends_the_fork(log):
    old, june, july, one, other = revised_by_two(log)
    log.merge(july, june, on=5, by="dan", seen=(one, other))
    for folded in log.in_all_orders():
        assert [row.forked for row in folded.lives[old].intervals] == [False, False, True, False]
        assert folded.lives[june].at(stamp(5)).status == "active"
        assert folded.lives[july].at(stamp(5)).status == "duplicate"


def test_5_who_saw_only_one_of_them_does_not_end_the_fork(log):
    old, june, _, one, _ = revised_by_two(log)
    log.retract(june, on=5, by="dan", seen=(one,))
    assert log.at(old, 5).forked


def test_5_two_concurrent_affirmations_are_no_fork(log):
    belief = log.durable(on=0)
    for agent in ("ben", "cleo"):
        log.affirm(belief, on=1, by=agent)
    assert not any(row.forked for row in log.fold.lives[belief].intervals)


def test_5_one_who_had_read_the_others_revision_does_not_fork(log):
    old, june, july = (log.durable(on=day) for day in (0, 1, 1))
    one = log.supersede(old, june, on=2, by="ben")
    log.supersede(old, july, on=3, by="cleo", seen=(one,))
    assert not any(row.forked for row in log.fold.lives[old].intervals)


def test_5_neither_an_affirmation_nor_a_void_revision_that_saw_both_ends_a_fork(log):
    old, june, _, one, other = revised_by_two(log)
    log.affirm(june, on=5, by="dan", seen=(one, other))
    void = log.supersede(june, june, on=6, by="dan", seen=(one, other))
    assert (void, "cycle") in log.notes()
    assert log.at(old, 6).forked


def test_5_what_an_ancestor_saw_counts_only_from_the_ancestors_own_stamp_on(log):
    """Ancestry goes through a revision by a fast clock, which isn't known before its stamp."""
    old, june, july = (log.durable(on=day) for day in (0, 1, 1))
    one = log.supersede(old, june, on=2)
    between = log.affirm(june, on=90, by="fast clock", seen=(one,))
    log.supersede(old, july, on=3, by="cleo", seen=(between,))
    assert [log.at(old, day).forked for day in (2, 3, 89, 90)] == [False, True, True, False]


# -- 6: cycles ------------------------------------------------------------------------------------------------------


def test_6_of_two_edges_that_close_a_circle_the_later_by_hlc_is_void_and_listed(log):
    """A by B and B by A from two machines: the later edge by HLC is void and listed, whatever the arrival order."""
    a, b = log.durable(on=0), log.durable(on=0)
    earlier = log.supersede(a, b, on=1, by="ben")
    later = log.supersede(b, a, on=2, by="cleo")
    for folded in log.in_all_orders():
        assert [(note.event, str(note.reason)) for note in folded.notes] == [(later, "cycle")]
        assert folded.lives[a].at(stamp(2)).cause == earlier
        assert folded.lives[b].at(stamp(2)).status == "active"


def test_6_with_three_the_earliest_edge_arriving_last_brings_c_back_though_nothing_names_it(log):
    """A by B, B by C, C by A, the earliest edge arriving last: C comes back."""
    a, b, c = (log.durable(on=0) for _ in range(3))
    log.supersede(a, b, on=1)
    log.supersede(b, c, on=2)
    last = log.supersede(c, a, on=3)
    earliest = next(fact for fact in log.facts if fact.type == "belief.superseded")
    others = [fact for fact in log.facts if fact is not earliest]
    assert fold(others).lives[c].at(stamp(3)).status == "superseded"
    assert fold(log.facts).lives[c].at(stamp(3)).status == "active"
    assert (last, "cycle") in log.notes()
    refolded = refold(DictSource(log.facts), [earliest])
    assert refolded.lives[c].at(stamp(3)).status == "active"


def test_6_a_belief_can_not_replace_itself(log):
    belief = log.durable(on=0)
    edge = log.supersede(belief, belief, on=1)
    assert log.status(belief, 1) == "active"
    assert log.notes() == {(edge, "cycle")}


def test_6_a_replacement_that_waits_closes_no_circle(log):
    directive = log.durable(on=0)
    joke = log.extract(on=0, speech_act="humor_or_irony")
    log.supersede(directive, joke, on=1)
    log.supersede(joke, directive, on=2)
    assert [log.status(i, 2) for i in (directive, joke)] == ["active", "superseded"]
    assert not log.fold.void


def test_6_a_resolution_closes_a_circle_as_a_supersession_does(log):
    old, new, newest = (log.durable(on=0) for _ in range(3))
    first, second = log.supersede(old, new, on=1), log.supersede(new, newest, on=2)
    void = log.resolve(log.contradict(old, new, on=3), "left", on=4)
    folded = log.fold
    assert folded.void.keys() == {void}
    assert [ending[2] for i in (old, new) for ending in folded.lives[i].endings] == [first, second]


# -- 7: conclusions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "carried"),
    [("same_context", 900), ("adjacent_context", 828), ("cross_context", 765), ("unknown", 765), (None, 765)],
)
def test_7_only_the_supporting_input_decays_with_its_context(context, carried):
    """A conclusion with an essential input from elsewhere and a supporting one: only the supporting one decays."""
    given = {"belief_id": bytes(16), "role": "supporting", **({"applicability": context} if context else {})}
    drafted = CATALOG.draft("conclusion.derived", {"belief_id": bytes(16), "inputs": (given,)}).payload["inputs"][0]
    told = drafted.get("applicability")
    assert weight(Input(essential=False, confidence=900, live=True, applicability=told)) == carried
    assert weight(Input(essential=True, confidence=900, live=True, applicability=told)) == 900


def derived(log, *roles):
    inputs = [log.durable(on=0) for _ in roles]
    conclusion = log.durable(on=1, node_kind="conclusion")
    items = tuple({"belief_id": i, "role": role} for i, role in zip(inputs, roles, strict=True))
    log.tell("conclusion.derived", on=1, belief_id=conclusion, inputs=items)
    return conclusion, inputs


def test_7_a_conclusion_is_a_candidate_while_an_essential_input_is_not_live(log):
    conclusion, (premise, hint) = derived(log, "essential", "supporting")
    log.retract(hint, on=2)
    gone = log.retract(premise, on=3)
    log.reinstate(premise, gone, on=4)
    for folded in log.in_all_orders():
        standing = [folded.lives[conclusion].at(stamp(day)).status for day in (1, 2, 3, 4)]
        assert standing == ["active", "active", "candidate", "active"]


def test_7_an_input_replaced_only_by_the_conclusion_itself_counts_as_live(log):
    conclusion, (premise,) = derived(log, "essential")
    log.supersede(premise, conclusion, on=2)
    assert log.status(premise, 2) == "superseded"
    assert log.status(conclusion, 2) == "active"
    log.retract(premise, on=3)
    assert log.status(conclusion, 3) == "candidate"


# -- 8: a joke ------------------------------------------------------------------------------------------------------


def joked(log):
    directive = log.durable(on=0, speech_act="directive")
    joke = log.extract(on=1, speech_act="humor_or_irony", confidence=200)
    return directive, joke, log.supersede(directive, joke, on=2)


def test_8_a_joke_that_supersedes_a_directive_leaves_it_active_and_contested(log):
    """A joke (candidate, 200) supersedes an active directive: the directive stays active and contested."""
    directive, _, edge = joked(log)
    for folded in log.in_all_orders():
        row = folded.lives[directive].at(stamp(2))
        assert (row.status, row.contested) == ("active", True)
        assert [(note.event, str(note.reason)) for note in folded.notes] == [(edge, "replacement_waits")]


def test_8_promoted_later_the_successor_takes_over(log):
    directive, joke, edge = joked(log)
    promoted = log.promote(joke, on=5)
    for folded in log.in_all_orders():
        life = folded.lives[directive]
        assert life.at(stamp(5) - 1).status == "active"
        assert life.at(stamp(5))[2:5] == ("superseded", edge, promoted)
        assert [note for note in folded.notes if note.event == edge] == [
            (edge, Reason.REPLACEMENT_DEFERRED, promoted),
        ]


def test_8_a_replacement_that_was_undone_is_listed_with_what_undid_it(log):
    old, new = log.durable(on=0), log.durable(on=1)
    edge = log.supersede(old, new, on=2)
    undone = log.reinstate(old, edge, on=3)
    for folded in log.in_all_orders():
        assert [tuple(note) for note in folded.notes] == [(edge, Reason.REPLACEMENT_UNDONE, undone)]


def test_8_never_promoted_the_directive_stands_uncontested_once_the_joke_has_expired(log):
    directive, _, _ = joked(log)
    assert [(row.status, row.contested) for row in log.fold.lives[directive].intervals[:3]] == [
        ("active", False),
        ("active", True),
        ("active", False),
    ]
    assert log.status(directive, 700) == "active"


@pytest.mark.parametrize("kind", ["merge", "resolution"])
def test_8_no_replacement_by_a_belief_that_was_never_active_ends_an_active_one(log, kind):
    directive = log.durable(on=0, speech_act="directive")
    joke = log.extract(on=1, speech_act="humor_or_irony")
    if kind == "merge":
        log.merge(directive, joke, on=2)
    else:
        log.resolve(log.contradict(directive, joke, on=2), "right", on=2)
    assert log.status(directive, 3) == "active"
    log.promote(joke, on=4)
    assert log.status(directive, 4) == ("duplicate" if kind == "merge" else "contradicted")


def test_8_a_waiting_replacement_acts_where_its_target_is_demoted_and_never_once_it_is_undone(log):
    directive, joke, edge = joked(log)
    log.tell("belief.demoted", on=3, belief_id=directive)
    assert log.status(directive, 3) == "superseded"
    again = Log()
    directive, joke, edge = joked(again)
    again.reinstate(directive, edge, on=3)
    again.promote(joke, on=4)
    assert again.status(directive, 5) == "active"


def test_8_what_replaced_the_joke_in_turn_takes_over_once_it_rises(log):
    directive, joke, edge = joked(log)
    idea = log.extract(on=2, speech_act="hypothetical")
    log.supersede(joke, idea, on=3)
    promoted = log.promote(idea, on=4)
    for folded in log.in_all_orders():
        assert folded.lives[directive].at(stamp(4))[2:5] == ("superseded", edge, promoted)


def test_8_a_merge_that_waits_does_not_contest(log):
    directive = log.durable(on=0)
    joke = log.extract(on=1, speech_act="humor_or_irony")
    merged = log.merge(directive, joke, on=2)
    assert not log.at(directive, 2).contested
    assert log.notes() == {(merged, "replacement_waits")}


# -- 9: opposite decisions ------------------------------------------------------------------------------------------


def contradiction(log):
    left, right = log.durable(on=0), log.durable(on=0)
    return left, right, log.contradict(left, right, on=1)


def test_9_of_opposite_concurrent_resolutions_one_side_lives_the_later_decisions(log):
    """Opposite concurrent resolutions of one contradiction: one side lives, the later decision's."""
    left, right, clash = contradiction(log)
    log.resolve(clash, "left", on=2, by="ben")
    later = log.resolve(clash, "right", on=3, by="cleo")
    for folded in log.in_all_orders():
        assert folded.lives[left].at(stamp(3))[2:4] == ("contradicted", later)
        assert folded.lives[right].at(stamp(2)).status == "contradicted"
        assert folded.lives[right].at(stamp(3)).status == "active"
        assert folded.notes == []


@pytest.mark.parametrize(("outcomes", "standing"), [("lr", "contradicted active"), ("lrl", "active contradicted"),
                                                    ("rlrl", "active contradicted"), ("nr", "contradicted active"),
                                                    ("lb", "active active"), ("ln", "contradicted contradicted"),
                                                    ("lnb", "active active")])  # fmt: skip
def test_9_of_several_resolutions_the_last_that_acts_stands(log, outcomes, standing):
    left, right, clash = contradiction(log)
    words = {"l": "left", "r": "right", "b": "both_hold", "n": "neither"}
    for day, outcome in enumerate(outcomes, 2):
        log.resolve(clash, words[outcome], on=day)
    assert " ".join(log.status(side, 9) for side in (left, right)) == standing


def test_9_a_resolution_still_waits_for_a_side_that_ended_otherwise_too(log):
    left, right, clash = contradiction(log)
    log.resolve(clash, "left", on=2)
    gone = log.retract(right, on=2.5)
    decided = log.resolve(clash, "right", on=3)
    assert log.status(left, 4) == "active"
    assert (decided, "replacement_waits") in log.notes()
    log.reinstate(right, gone, on=5)
    assert [log.status(side, 5) for side in (left, right)] == ["contradicted", "active"]


def test_9_a_side_that_has_expired_does_not_win(log):
    left = log.durable(on=0)
    right = log.extract(on=0, speech_act="humor_or_irony")
    log.promote(right, on=0)
    clash = log.contradict(left, right, on=1)
    log.resolve(clash, "left", on=2)
    log.resolve(clash, "right", on=15)
    assert log.status(left, 16) == "active"


def test_9_of_opposite_concurrent_merges_of_two_duplicates_one_survives(log):
    """Opposite concurrent merges of two duplicates: one survives."""
    a, b = log.durable(on=0), log.durable(on=0)
    log.merge(a, b, on=1, by="ben")
    later = log.merge(b, a, on=1, by="cleo")
    for folded in log.in_all_orders():
        assert sorted(folded.lives[i].at(stamp(1)).status for i in (a, b)) == ["active", "duplicate"]
        assert len(folded.void) == 1
    assert later in {fact.id for fact in log.facts}


def test_9_superseded_reinstated_then_superseding_in_turn_is_not_a_cycle(log):
    """Superseded, reinstated, then superseding in turn: not a cycle."""
    a, b = log.durable(on=0), log.durable(on=0)
    edge = log.supersede(a, b, on=1)
    log.reinstate(a, edge, on=2)
    log.supersede(b, a, on=3)
    for folded in log.in_all_orders():
        assert [folded.lives[i].at(stamp(3)).status for i in (a, b)] == ["active", "superseded"]
        assert not folded.void


def test_9_reinstating_the_loser_reopens_the_contradiction(log):
    left, right, clash = contradiction(log)
    resolved = log.resolve(clash, "left", on=2)
    assert not log.at(left, 2).contested
    log.reinstate(right, resolved, on=3)
    assert [log.at(side, 3)[2:3] + log.at(side, 3)[6:7] for side in (left, right)] == [("active", True)] * 2


# -- 10: policies ---------------------------------------------------------------------------------------------------


def test_10_conditional_expiry_ends_as_obsolete_when_condition_met_says_so_and_not_before(log):
    """ "merge needs the full check before the merge" with conditional_expiry."""
    belief = log.durable(on=0, policy="conditional_expiry", condition_key="merged")
    met = log.met(on=2000, condition_key="merged")
    for folded in log.in_all_orders():
        life = folded.lives[belief]
        assert [(row.since, row.status, row.cause, row.stale) for row in life.intervals] == [
            (stamp(0), "active", None, False),
            (stamp(2000), "obsolete", met, False),
        ]


def test_10_a_convention_with_amendable_persistent_lives_for_ten_years_untouched(log):
    belief = log.durable(on=0, policy="amendable_persistent")
    assert [(row.status, row.stale, row.until) for row in log.fold.lives[belief].intervals] == [
        ("active", False, FOREVER)
    ]
    assert log.status(belief, 3653) == "active"


# -- 120 orders, and a late fact ------------------------------------------------------------------------------------


def competing(log):
    a, b, c = log.durable(on=1), log.durable(on=2, by="w1"), log.durable(on=3, by="w2")
    s1 = log.supersede(a, b, on=2.1, by="w1")
    s2 = log.supersede(a, c, on=3.1, by="w2")
    return a, b, c, s1, s2


def test_all_120_orders_of_two_competing_supersessions_give_one_answer_with_both_kept(log):
    a, b, c, s1, s2 = competing(log)
    expected = None
    for folded in log.in_all_orders():
        expected = expected or (rows(folded), folded.notes)
        assert (rows(folded), folded.notes) == expected
    life = log.fold.lives[a]
    assert life.at(stamp(3.1))[2:4] == ("superseded", s1)
    assert [ending[2] for ending in life.endings] == [s1, s2]
    assert life.at(stamp(3.1)).forked
    assert [log.status(i, 4) for i in (b, c)] == ["active", "active"]


def test_all_120_orders_split_anywhere_and_repeated_refold_to_one_answer(log):
    competing(log)
    expected = rows(log.fold)
    for number, arrived in enumerate(permutations(log.facts)):
        source, lives, stored = DictSource(), {}, []
        cuts = [cut for cut in range(1, 5) if number >> cut - 1 & 1]
        for since, until in zip([0, *cuts], [*cuts, 5], strict=True):
            batch = arrived[since:until]
            source.add(batch)
            horizon = max((fact.hlc for fact in stored), default=0)
            lives.update(refold(source, batch, horizon=horizon).lives)
            stored += batch
        assert fold([*arrived, *arrived]).lives.keys() == lives.keys()
        assert {i: rows_of(life) for i, life in lives.items()} == expected


def rows_of(life):
    return life.faces, life.intervals, life.ever, life.endings, life.half_life, life.affirmed, life.promotions


def test_a_fact_that_arrives_late_gets_no_interval_that_ends_before_it_begins(log):
    toronto = log.durable(on=100)
    berlin = log.durable(on=1700)
    log.supersede(toronto, berlin, on=1700)
    for folded in log.in_all_orders():
        assert folded.lives[berlin].at(stamp(1800)).status == "active"
        assert all(row.since < row.until for life in folded.lives.values() for row in life.intervals)


def test_a_supersession_stamped_before_its_target_is_accepted_and_acts_where_the_target_begins(log):
    old, new = log.durable(on=10), log.durable(on=1)
    log.supersede(old, new, on=5)
    for folded in log.in_all_orders():
        assert [(row.since, row.status) for row in folded.lives[old].intervals] == [(stamp(10), "superseded")]


# -- dangling references --------------------------------------------------------------------------------------------

NOWHERE = b"nowhere".ljust(16, b"\0")


def test_a_superseder_that_nobody_knows_ends_nothing_and_contests_its_target(log):
    belief = log.durable(on=0)
    edge = log.supersede(belief, NOWHERE, on=1)
    row = log.at(belief, 1)
    assert (row.status, row.contested) == ("active", True)
    assert log.notes() == {(edge, "replacement_waits")}


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        ("belief.retracted", {"belief_id": NOWHERE}),
        ("belief.affirmed", {"belief_id": NOWHERE}),
        ("belief.superseded", {"superseded_id": NOWHERE, "superseding_id": NOWHERE}),
        ("belief.merged", {"duplicate_id": NOWHERE, "surviving_id": NOWHERE}),
        ("belief.reinstated", {"belief_id": NOWHERE, "undoes": (NOWHERE,)}),
        ("contradiction.resolved", {"contradiction_id": NOWHERE, "outcome": "left"}),
        ("contradiction.raised", {"left": NOWHERE, "right": NOWHERE}),
        ("condition.met", {"belief_id": NOWHERE}),
        ("conclusion.derived", {"belief_id": NOWHERE, "inputs": ({"belief_id": NOWHERE, "role": "essential"},)}),
        ("memory.revalidated", {"belief_id": NOWHERE, "outcome": "confirmed"}),
        ("memory.used", {"injection_id": NOWHERE, "belief_id": NOWHERE, "outcome": "used"}),
    ],
)
def test_what_presupposes_something_missing_waits_and_is_listed(log, type_, fields):
    event = log.tell(type_, on=1, **fields)
    assert log.fold.lives == {}
    assert log.fold.waiting == {event: NOWHERE}
    assert log.notes() == {(event, "missing")}


def test_what_names_something_that_is_no_belief_is_void_and_listed(log):
    said = log.tell("utterance.recorded", on=0, speaker="will", verbatim="Hm.")
    event = log.retract(said, on=1)
    assert log.notes() == {(event, "not_a_belief")}


def test_evidence_that_nobody_knows_changes_nothing_of_a_life(log):
    assert log.status(log.durable(on=0, evidence=(NOWHERE,)), 0) == "active"


# -- seven endings --------------------------------------------------------------------------------------------------

PRECEDENCE = ("erased", "retracted", "duplicate", "superseded", "contradicted", "obsolete")


def end_as(log, belief, by, status):
    """An ending stamped before the belief, so that several act at one place."""
    match status:
        case "retracted":
            log.retract(belief, on=2)
        case "duplicate":
            log.merge(belief, by, on=2)
        case "superseded":
            log.supersede(belief, by, on=2)
        case "contradicted":
            log.resolve(log.contradict(belief, log.durable(on=1), on=2), "right", on=2)
        case "obsolete":
            log.met(on=2, belief_id=belief)


@pytest.mark.parametrize(("first", "second"), list(combinations(PRECEDENCE, 2)))
def test_of_endings_at_one_place_one_names_the_cause_by_a_fixed_precedence(first, second):
    for told in ((first, second), (second, first)):
        log = Log()
        belief, by = log.durable(on=9), log.durable(on=1)
        for status in told:
            end_as(log, belief, by, status)
        erased = {belief: (stamp(2), b"erasure".ljust(16))} if "erased" in told else {}
        life = fold(log.facts, erased=erased).lives[belief]
        assert life.intervals[0].status == first
        survivor_loses = told == ("duplicate", "contradicted")
        assert len(life.endings) == (1 if survivor_loses else 2)


def test_the_first_ending_in_force_names_the_cause_whatever_its_rank(log):
    belief = log.durable(on=0)
    met = log.met(on=1, belief_id=belief)
    retracted = log.retract(belief, on=2)
    assert log.at(belief, 3).cause == met
    log.reinstate(belief, met, on=4)
    assert log.at(belief, 4)[2:4] == ("retracted", retracted)


def test_what_has_expired_stays_expired_whatever_ends_it_later_and_only_affirmation_lifts_that(log):
    belief = log.extract(on=0, speech_act="humor_or_irony")
    log.affirm(belief, on=20, how="recurrence", session="again")
    log.retract(belief, on=40)
    affirmed = log.affirm(belief, on=41)
    assert [log.status(belief, day) for day in (13, 14, 20, 34, 40, 41)] == [
        "candidate", "expired", "candidate", "expired", "expired", "expired",
    ]  # fmt: skip
    assert log.notes() == {(affirmed, "affirms_ended")}


def test_erasure_is_not_undone(log):
    belief, erasure = log.durable(on=0), log.tell("subject.erased", on=1, subject="will")
    log.reinstate(belief, erasure, on=2)
    assert fold(log.facts, erased={belief: (stamp(1), erasure)}).lives[belief].at(stamp(3)).status == "erased"


def test_a_retraction_without_a_cause_is_a_withdrawal():
    assert CATALOG.draft("belief.retracted", {"belief_id": bytes(16)}).payload["cause"] == "withdrawn"


def test_a_revalidation_affirms_or_retracts_or_does_nothing(log):
    for outcome, status in (("confirmed", "active"), ("rejected", "retracted"), ("changed", "candidate")):
        belief = log.extract(on=0)
        prompt = log.tell("memory.requires_revalidation_prompt", on=1, belief_id=belief, cause="stale")
        log.tell("memory.revalidated", on=2, belief_id=belief, outcome=outcome, prompt_id=prompt)
        assert log.status(belief, 2) == status


def test_a_reinstatement_restarts_the_half_life_and_leaves_other_endings_in_force(log):
    joke = log.extract(on=0, speech_act="humor_or_irony")
    first = log.retract(joke, on=4)
    log.reinstate(joke, first, on=40)
    assert [log.status(joke, day) for day in (39, 40, 53, 54)] == ["retracted", "candidate", "candidate", "expired"]
    assert [row.since for row in log.fold.lives[joke].intervals if row.stale] == [stamp(47)]


# -- duplicates -----------------------------------------------------------------------------------------------------


def test_what_names_a_duplicate_after_its_merge_counts_for_the_survivor_as_well(log):
    duplicate, survivor = log.durable(on=0), log.durable(on=0)
    merged = log.merge(duplicate, survivor, on=1)
    log.retract(duplicate, on=2)
    assert log.at(duplicate, 2)[2:4] == ("duplicate", merged)
    assert log.status(survivor, 2) == "retracted"


def test_the_survivor_keeps_the_later_last_affirmation_and_no_ending_from_before(log):
    duplicate, survivor = log.durable(on=0), log.durable(on=0)
    ended = log.met(on=3, belief_id=duplicate)
    log.affirm(duplicate, on=2)
    log.merge(duplicate, survivor, on=4)
    life = log.fold.lives[survivor]
    assert life.at(stamp(5)).status == "active"
    assert life.stale_at == stamp(2 + 365)
    assert log.at(duplicate, 5).cause == ended


def test_what_waited_to_replace_the_duplicate_replaces_the_survivor_as_well(log):
    duplicate, survivor = log.durable(on=0), log.durable(on=0)
    joke = log.extract(on=0, speech_act="humor_or_irony")
    log.supersede(duplicate, joke, on=1)
    log.merge(duplicate, survivor, on=2)
    assert log.at(survivor, 2).contested
    log.promote(joke, on=3)
    for folded in log.in_all_orders():
        assert folded.lives[survivor].at(stamp(3)).status == "superseded"


# -- several utterances, unsure acts --------------------------------------------------------------------------------


def test_of_several_utterances_the_most_conservative_speech_act_wins():
    order = (
        "humor_or_irony hypothetical casual_characterization aspiration uncertain_assertion observation negation "
        "direct_assertion preference_statement correction directive"
    ).split()
    assert list(MOST_CONSERVATIVE_FIRST) == order
    for first, second in combinations(order, 2):
        assert most_conservative([second, first]) == most_conservative([first, second]) == first


def test_a_speech_act_below_600_ages_like_a_direct_assertion_unless_the_profile_fails_closed(log):
    unsure = {"speech_act": "humor_or_irony", "speech_act_confidence": 599, "kind": "decision"}
    belief = log.extract(on=0, **unsure)
    sure = log.extract(on=0, **{**unsure, "speech_act_confidence": 600})
    log.tell("profile.activated", on=1, profile="careful@1", fail_closed=True)
    careful = log.extract(on=2, **unsure)
    assert [log.fold.lives[i].half_life.days for i in (belief, sure, careful)] == [180, 7, 7]


def test_a_question_is_refused_at_append_and_dropped_with_its_reason_in_replay(log):
    with pytest.raises(InvalidEvent) as refused:
        log.extract(on=0, speech_act="question")
    assert "question.raised" in refused.value.hint
    log.extract(on=0)
    foreign = log.facts[0]._replace(payload={**log.facts[0].payload, "speech_act": "question"})
    folded = fold([foreign])
    assert folded.lives == {}
    assert [str(note.reason) for note in folded.notes] == ["question"]


def test_reclassified_to_a_question_it_ends_as_retracted(log):
    belief = log.durable(on=0)
    event = log.reclassify(belief, on=1, speech_act="question")
    assert log.at(belief, 1)[2:4] == ("retracted", event)


def test_a_reclassification_measures_the_half_life_anew_from_the_last_affirmation(log):
    belief = log.durable(on=0, speech_act="preference_statement")
    log.affirm(belief, on=10)
    log.reclassify(belief, on=30, speech_act="casual_characterization")
    life = log.fold.lives[belief]
    assert (life.half_life.days, life.stale_at) == (30, stamp(40))
    assert log.status(belief, 30) == "active"


def test_a_belief_that_turns_out_to_be_no_utterances_is_timeless(log):
    belief = log.durable(on=0, speech_act="observation")
    assert log.status(belief, 0) == "candidate"
    log.reclassify(belief, on=1, node_kind="goal")
    assert log.status(belief, 1) == "active"
    assert log.fold.lives[belief].half_life.days is None


def test_the_rules_take_every_correction_that_a_reclassification_can_hold():
    shapes = CATALOG.models["belief.reclassified"].shapes()
    assert set(CORRECTABLE) == shapes.keys() - {"belief_id"}
    assert set(CORRECTABLE) <= CATALOG.models["belief.extracted"].shapes().keys()


def test_a_reclassification_applies_the_entry_gate_again_but_an_earlier_promotion_stands(log):
    unpromoted, promoted = log.durable(on=0), log.extract(on=0)
    log.promote(promoted, on=1)
    for belief in (unpromoted, promoted):
        log.reclassify(belief, on=2, speech_act="observation")
    assert [log.status(belief, 2) for belief in (unpromoted, promoted)] == ["candidate", "active"]
    log.reclassify(unpromoted, on=3, speech_act="directive")
    assert log.status(unpromoted, 3) == "active"


# -- half-lives -----------------------------------------------------------------------------------------------------

BY_ACT = {
    "directive": 365, "preference_statement": 180, "observation": 90, "aspiration": 60, "uncertain_assertion": 45,
    "casual_characterization": 30, "hypothetical": 14, "humor_or_irony": 7,
}  # fmt: skip
BY_KIND = {"rule": 365, "fact": 365, "decision": 180, "rationale": 180, "preference": 180, "note": 90, "progress": 14}


@pytest.mark.parametrize(("act", "days"), list(BY_ACT.items()))
@pytest.mark.parametrize("kind", BY_KIND)
def test_eight_speech_acts_have_a_half_life_of_their_own_whatever_the_kind(log, act, days, kind):
    belief = log.extract(on=0, speech_act=act, kind=kind)
    assert log.fold.lives[belief].half_life.days == days


@pytest.mark.parametrize(("kind", "days"), list(BY_KIND.items()))
@pytest.mark.parametrize("act", ["direct_assertion", "negation", "correction"])
def test_the_others_age_by_kind(log, act, kind, days):
    belief = log.extract(on=0, speech_act=act, kind=kind)
    assert log.fold.lives[belief].half_life == (days, f"kind:{kind}")


def test_the_profile_in_force_at_the_last_affirmation_counts(log):
    belief = log.durable(on=0)
    log.tell("profile.activated", on=1, profile="hasty@1", kinds={"fact": 10})
    assert log.fold.lives[belief].half_life.days == 365
    log.affirm(belief, on=2)
    assert log.fold.lives[belief].half_life == (10, "profile:fact")


@pytest.mark.parametrize("field", ["kind", "node_kind"])
@pytest.mark.parametrize("kind", ["domain_concept", "goal", "work_product"])
def test_kinds_that_do_not_come_from_utterances_ignore_the_speech_act(log, field, kind):
    belief = log.durable(on=0, speech_act="humor_or_irony", speech_act_confidence=100, **{field: kind})
    assert log.status(belief, 5000) == "active"
    assert log.fold.lives[belief].half_life == (None, f"timeless:{kind}")


# -- policies by name, and condition keys ---------------------------------------------------------------------------


def test_a_policys_first_definition_counts_and_others_are_listed(log):
    log.tell("policy.defined", on=0, policy="sprint@1", base="half_life", half_life_days=5)
    second = log.tell("policy.defined", on=1, policy="sprint@1", base="half_life", half_life_days=50)
    belief = log.durable(on=2, policy="sprint")
    assert log.fold.lives[belief].half_life == (5, "policy:sprint@1")
    assert log.notes() == {(second, "policy_redefined")}


def test_a_released_policy_can_not_be_redefined(log):
    event = log.tell("policy.defined", on=0, policy="amendable_persistent@1", base="half_life", half_life_days=1)
    assert log.notes() == {(event, "policy_redefined")}


def test_a_belief_under_an_unknown_policy_ages_as_if_it_named_none_and_is_listed(log):
    belief = log.durable(on=0, policy="sprint@2", kind="note")
    assert log.fold.lives[belief].half_life == (90, "kind:note")
    assert log.notes() == {(belief, "unknown_policy")}
    log.tell("policy.defined", on=3, policy="sprint@2", base="fast_decay_status")
    assert log.fold.lives[belief].half_life == (7, "policy:sprint@2")
    assert log.notes() == set()


def test_a_condition_ends_those_that_stand_under_its_key_then(log):
    under = {"policy": "conditional_expiry", "condition_key": "shipped"}
    before, other = log.durable(on=0, **under), log.durable(on=0, **{**under, "condition_key": "paid"})
    left, joined = log.durable(on=0, **under), log.durable(on=0)
    unpolicied = log.durable(on=0, condition_key="shipped")
    log.reclassify(left, on=1, condition_key="paid")
    log.reclassify(joined, on=1, **under)
    log.met(on=2, condition_key="shipped")
    after = log.durable(on=3, **under)
    standing = {i: log.status(i, 4) for i in (before, joined, other, left, unpolicied, after)}
    assert [standing[i] for i in (before, joined)] == ["obsolete", "obsolete"]
    assert {standing[i] for i in (other, left, unpolicied, after)} == {"active"}


def test_a_condition_met_for_one_belief_ends_it_whatever_its_policy(log):
    belief = log.durable(on=0)
    log.met(on=1, belief_id=belief)
    assert log.status(belief, 1) == "obsolete"


def test_nothing_ends_that_nobody_or_time_ended(log):
    belief = log.durable(on=0, policy="conditional_expiry", condition_key="never")
    assert {row.status for row in log.fold.lives[belief].intervals} <= LIVE


# -- contradictions with utterances ---------------------------------------------------------------------------------


def denied(log):
    belief = log.durable(on=0)
    said = log.tell("utterance.recorded", on=1, speaker="will", verbatim="No, never.", source_ref="chat:1:7")
    log.tell("utterance.recorded", on=1.1, speaker="will", verbatim="No, never.", source_ref="chat:1:7", by="ben")
    return belief, log.contradict(belief, said, on=2)


def test_a_belief_that_an_utterance_contradicts_is_contested(log):
    belief, _ = denied(log)
    for folded in log.in_all_orders():
        assert [row.contested for row in folded.lives[belief].intervals][:2] == [False, True]
        assert folded.lives.keys() == {belief}
        assert folded.notes == []


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("left", "active"), ("right", "contradicted"), ("neither", "contradicted"), ("both_hold", "active")],
)
def test_a_belief_can_lose_against_an_utterance_which_itself_never_ends(log, outcome, status):
    belief, clash = denied(log)
    log.resolve(clash, outcome, on=3)
    for folded in log.in_all_orders():
        row = folded.lives[belief].at(stamp(3))
        assert (row.status, row.contested) == (status, False)
        assert folded.notes == []


def test_the_last_of_opposite_resolutions_between_a_belief_and_an_utterance_stands(log):
    belief, clash = denied(log)
    for day, outcome in enumerate(("right", "left", "right"), 3):
        log.resolve(clash, outcome, on=day)
    assert [log.status(belief, day) for day in (3, 4, 5)] == ["contradicted", "active", "contradicted"]
