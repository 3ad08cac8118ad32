"""What a batch touches is refolded, and little more."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.beliefs.big_logs import Log
from tests.beliefs.dict_source import DictSource
from tests.beliefs.folded_before import FoldedBefore
from tests.beliefs.refolded import Table

from beliefbase.beliefs.dependents import Refold, refold
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.rules import DEFAULT, FOREVER


def after(log: Log, change: Callable[[], object], *, horizon_known: bool = True) -> tuple[Refold, DictSource]:
    """Let what a call appends arrive."""
    old = len(log.facts)
    horizon = max(fact.hlc for fact in log.facts) if horizon_known else FOREVER
    before = fold(log.facts)
    change()
    source = DictSource(log.facts)
    return refold(source, log.facts[old:], horizon=horizon, past=FoldedBefore(before)), source


def with_hub(*, active: bool, targets: int = 3000) -> tuple[Log, bytes, list[bytes]]:
    log = Log()
    hub = log.belief(active=active)
    others = [log.belief() for _ in range(targets)]
    for other in others:
        log.supersede(other, hub)
    return log, hub, others


@pytest.mark.parametrize("horizon_known", [True, False])
def test_what_happens_to_an_active_superseder_leaves_its_targets_alone(horizon_known):
    log, hub, _ = with_hub(active=True)
    affirmed, _ = after(log, lambda: log.affirm(hub), horizon_known=horizon_known)
    assert affirmed.lives.keys() == {hub}
    retracted, _ = after(log, lambda: log.put("belief.retracted", belief_id=hub, cause="wrong"))
    assert retracted.lives.keys() == {hub}


def test_a_new_target_costs_no_look_at_the_others():
    log, hub, _ = with_hub(active=True)
    result, source = after(log, lambda: log.supersede(log.belief(), hub))
    assert len(result.lives) == 1
    assert source.given < 100


def test_a_superseder_that_rises_ends_everything_that_waited_and_later_changes_touch_it_alone():
    log, hub, others = with_hub(active=False)
    result, _ = after(log, lambda: log.put("belief.promoted", belief_id=hub))
    assert result.lives.keys() == {hub, *others}
    assert {life.at(log.newest).status for life in result.lives.values()} == {"active", "superseded"}
    assert after(log, lambda: log.affirm(hub))[0].lives.keys() == {hub}
    assert after(log, lambda: log.put("belief.demoted", belief_id=hub))[0].lives.keys() == {hub}


def test_what_leaves_a_belief_as_it_was_is_told_to_nobody():
    """A candidate that was retracted: 300 beliefs wait for it in vain, and affirming it is void."""
    log, hub, _ = with_hub(active=False, targets=300)
    log.put("belief.retracted", belief_id=hub, cause="wrong")
    result, source = after(log, lambda: log.affirm(hub))
    assert result.lives.keys() == {hub}
    assert source.given < 20


def test_the_newest_link_of_a_chain_touches_its_two_ends_at_a_cost_that_does_not_grow():
    log = Log()
    chain = [log.belief() for _ in range(2000)]
    for old, new in pairwise(chain):
        log.supersede(old, new)
    result, source = after(log, lambda: chain.append(log.belief()) or log.supersede(chain[-2], chain[-1]))
    assert result.lives.keys() == set(chain[-2:])
    assert source.given < 100
    assert source.calls < 60


def random_graph(beliefs: int) -> tuple[Log, list[bytes]]:
    """Beliefs that supersede one another at random, so often that most of them are connected."""
    r, log = random.Random(beliefs), Log()
    every = [log.belief(active=r.random() < 0.3) for _ in range(beliefs)]
    for _ in range(beliefs):
        log.supersede(*r.sample(every, 2))
    return log, every


def test_what_a_batch_costs_does_not_grow_with_a_random_graph_of_supersessions():
    given = []
    for size in (500, 4000):
        log, every = random_graph(size)
        r = random.Random(7)

        def events(log: Log = log, every: list[bytes] = every, r: random.Random = r) -> None:
            for _ in range(10):
                log.affirm(r.choice(every))
                log.supersede(r.choice(every), log.belief(active=False))
                log.put("belief.retracted", belief_id=r.choice(every), cause="wrong")

        result, source = after(log, events)
        assert 20 <= len(result.lives) < 60
        given.append(source.given)
    assert given[1] < 1.5 * given[0]


def test_a_replaced_successor_leaves_the_forks_alone_of_what_it_replaced():
    log = Log()
    forked, one, other = (log.belief() for _ in range(3))
    log.supersede(forked, one)
    log.supersede(forked, other)
    result, _ = after(log, lambda: log.supersede(one, log.belief()))
    assert result.lives.keys() - {log.facts[-2].id} == {one}


def waiting_below(*, active: bool) -> tuple[Log, bytes, bytes, bytes]:
    """A belief that waits to be superseded by another one, and what replaced that in turn."""
    log = Log()
    old, never, above = log.belief(), log.belief(active=False), log.belief(active=False)
    log.supersede(old, never)
    log.supersede(never, above)
    return log, old, above, log.belief(active=active)


def test_a_candidate_replaced_by_another_concerns_nobody_who_waits_for_it():
    log, _, above, new = waiting_below(active=False)
    result, _ = after(log, lambda: log.supersede(above, new))
    assert result.lives.keys() == {above}


def test_a_candidate_replaced_by_what_is_active_ends_what_waits_for_it():
    log, old, above, new = waiting_below(active=True)
    result, _ = after(log, lambda: log.supersede(above, new))
    assert result.lives.keys() == {old, above}
    assert result.lives[old].at(log.newest).status == "superseded"


def test_a_belief_whose_replacement_was_undone_is_no_way_up_any_more():
    log, old, above, new = waiting_below(active=True)
    (edge,) = [fact for fact in log.facts if fact.payload.get("superseding_id") == above]
    log.put("belief.reinstated", belief_id=edge.payload["superseded_id"], undoes=(edge.id,))
    result, _ = after(log, lambda: log.supersede(above, new))
    assert above in result.lives
    assert old not in result.lives


def test_an_affirmation_is_not_told_to_corrections_which_read_only_the_half_life():
    log = Log()
    old, new = log.belief(), log.belief(speech_act="correction")
    log.supersede(old, new)
    assert after(log, lambda: log.affirm(old))[0].lives.keys() == {old}
    changed, _ = after(log, lambda: log.put("belief.reclassified", belief_id=old, speech_act="humor_or_irony"))
    assert changed.lives.keys() == {old, new}


def test_the_earliest_edge_of_a_cycle_arriving_last_brings_a_belief_back_that_it_does_not_name():
    log = Log()
    a, b, c = (log.belief() for _ in range(3))
    log.supersede(b, c)
    log.supersede(c, a)
    assert fold(log.facts).lives[c].at(log.newest).status == "superseded"
    now = log.newest
    result, _ = after(log, lambda: log.supersede(a, b, at=3), horizon_known=True)
    assert c in result.lives
    assert result.lives[c].at(now).status == "active"
    assert [str(note.reason) for notes in result.notes.values() for note in notes] == ["cycle"]


def test_an_earlier_copy_takes_the_row_over_and_the_old_one_goes():
    early, late = (
        Fact(hlc, b"w" * 16, n, bytes([n]) * 16, "belief.extracted", {"kind": "fact"}, (), b"r" * 16, b"w" * 16)
        for hlc, n in ((1 << 16, 2), (2 << 16, 1))
    )
    result = refold(DictSource([early, late]), [early])
    assert result.gone == {late.id}
    assert result.lives[early.id].faces == (early.id, late.id)


def test_a_profile_touches_everything():
    log = Log()
    log.belief()
    result, _ = after(log, lambda: log.put("profile.activated", profile="p@1"))
    assert result.everything
    assert result.lives == {}


def test_a_belief_whose_words_a_batch_erased_is_refolded():
    log = Log()
    belief, other = log.belief(), log.belief()
    source = DictSource(log.facts)
    erasure = Fact((log.newest >> 16) + 1000 << 16, b"w" * 16, 1, b"e" * 16, "subject.erased", {}, (), None, b"w" * 16)
    source.add([erasure])
    result = refold(source, [erasure], erased={belief: (erasure.hlc, erasure.id)})
    assert result.lives.keys() == {belief}
    assert result.lives[belief].at(erasure.hlc).status == "erased"
    assert other not in result.lives


def test_a_batch_on_which_too_much_hangs_is_left_to_a_full_fold():
    log, hub, others = with_hub(active=False, targets=50)
    for change, hangs in (lambda: log.affirm(others[7]), 1), (lambda: log.put("belief.promoted", belief_id=hub), 51):
        old = len(log.facts)
        change()
        source, batch = DictSource(log.facts), log.facts[old:]
        assert len(refold(source, batch, most=500).lives) == hangs
        assert refold(source, batch, most=20).everything == (hangs > 1)
    assert refold(source, batch, most=20) == (True, {}, set(), {})


def last_alone(log: Log, belief: bytes) -> Life:
    """Let the newest fact of a log arrive after all others; the refolded life of a belief that it doesn't name."""
    *others, last = log.facts
    assert belief not in [value for value in last.payload.values() if isinstance(value, bytes)]
    table = Table(DEFAULT)
    table.arrive(others)
    table.arrive([last])
    result = refold(DictSource(log.facts), [last])
    assert belief in result.lives
    return result.lives[belief]


def forked_belief(log: Log) -> tuple[bytes, tuple[bytes, bytes], tuple[bytes, bytes]]:
    """A belief, two others, and the concurrent supersessions of the first by these."""
    belief, one, other = (log.belief() for _ in range(3))
    first, second = (log.put("belief.superseded", superseded_id=belief, superseding_id=by) for by in (one, other))
    return belief, (one, other), (first, second)


def test_a_confirmation_of_a_candidate_ends_what_waited_for_it():
    log = Log()
    old, new = log.belief(), log.belief(active=False)
    log.supersede(old, new)
    log.affirm(new)
    assert last_alone(log, old).at(log.newest).status == "superseded"


def test_a_promotion_ends_what_waited_for_a_candidate_that_was_replaced_before_it_rose():
    log = Log()
    old, never, new = log.belief(), log.belief(active=False), log.belief(active=False)
    log.supersede(old, never)
    log.supersede(never, new)
    log.put("belief.promoted", belief_id=new)
    assert last_alone(log, old).at(log.newest).status == "superseded"


def test_a_late_promotion_ends_the_survivor_of_the_candidate_that_it_replaces():
    log = Log()
    survivor, duplicate, above = log.belief(), log.belief(active=False), log.belief(active=False)
    log.put("belief.merged", duplicate_id=duplicate, surviving_id=survivor)
    log.supersede(duplicate, above)
    result, _ = after(log, lambda: log.put("belief.promoted", at=4, belief_id=above))
    assert result.lives[survivor].at(FOREVER - 1).status == "superseded"


def test_a_resolution_waits_for_what_replaced_its_winner_in_turn():
    log = Log()
    loser, winner, middle, last = (log.belief() for _ in range(4))
    log.put("belief.demoted", belief_id=last)
    log.supersede(winner, middle)
    log.supersede(middle, last)
    raised = log.put("contradiction.raised", left=loser, right=winner)
    log.put("contradiction.resolved", contradiction_id=raised, outcome="right")
    assert fold(log.facts).lives[loser].at(log.newest).status == "active"
    log.put("belief.promoted", belief_id=last)
    assert last_alone(log, loser).at(log.newest).status == "contradicted"


def test_a_resolution_that_acts_at_last_undoes_what_an_earlier_one_did_to_its_winner():
    log = Log()
    left, right, other = (log.belief() for _ in range(3))
    log.put("belief.demoted", belief_id=other)
    raised = log.put("contradiction.raised", left=left, right=right)
    log.put("contradiction.resolved", contradiction_id=raised, outcome="left")
    log.supersede(right, other)
    log.put("contradiction.resolved", contradiction_id=raised, outcome="right")
    assert fold(log.facts).lives[right].at(log.newest).status == "contradicted"
    log.put("belief.promoted", belief_id=other)
    assert last_alone(log, left).at(log.newest).status == "contradicted"
    assert last_alone(log, right).at(log.newest).status == "superseded"


def test_a_late_affirmation_lets_a_resolution_act_whose_winner_would_have_expired():
    days = 86_400
    log = Log()
    winner, loser = log.belief(policy="fast_decay_status"), log.belief()
    raised = log.put("contradiction.raised", left=winner, right=loser)
    log.put("contradiction.resolved", at=15 * days, contradiction_id=raised, outcome="left")
    end = log.newest
    conclusion = log.belief()
    log.put("conclusion.derived", belief_id=conclusion, inputs=({"belief_id": loser, "role": "essential"},))
    assert fold(log.facts).lives[loser].at(end).status == "active"
    log.put("belief.affirmed", at=10 * days, belief_id=winner, how="confirmation")
    assert last_alone(log, loser).at(end).status == "contradicted"
    assert last_alone(log, conclusion).at(end).status == "candidate"


def test_an_answer_that_waited_for_its_question_acts_when_that_arrives():
    log = Log()
    belief = log.belief()
    prompt = (len(log.facts) + 2).to_bytes(16, "big")
    answer = log.put("memory.revalidated", at=9, belief_id=belief, prompt_id=prompt, outcome="rejected")
    log.put("memory.requires_revalidation_prompt", belief_id=belief, cause="stale")
    before, last = log.facts[:-1], log.facts[-1]
    assert fold(before).waiting == {answer: prompt}
    table = Table(DEFAULT)
    table.arrive(before)
    table.arrive([last])
    result = refold(DictSource(log.facts), [last])
    assert result.lives[belief].at(9000 << 16 | 1).status == "retracted"
    assert result.notes[answer] == []


def test_a_conclusion_regains_an_input_that_it_now_replaces_in_turn():
    log = Log()
    given, middle, last, conclusion = (log.belief() for _ in range(4))
    log.put("conclusion.derived", belief_id=conclusion, inputs=({"belief_id": given, "role": "essential"},))
    log.supersede(given, middle)
    log.supersede(last, conclusion)
    log.supersede(middle, last)
    assert last_alone(log, conclusion).at(log.newest).status == "active"


def test_a_correction_ages_like_what_it_corrects_once_that_is_reclassified():
    log = Log()
    old, new = log.belief(), log.belief(speech_act="correction")
    log.supersede(old, new)
    log.put("belief.reclassified", belief_id=old, speech_act="humor_or_irony")
    assert last_alone(log, new).half_life.days == 7


def test_a_superseder_that_arrives_after_its_supersession_ends_even_a_candidate():
    log = Log()
    old = log.belief(active=False)
    log.supersede(old, (3).to_bytes(16, "big"))
    log.belief(active=False)
    assert last_alone(log, old).at(log.newest).status == "superseded"


def test_a_late_injection_takes_back_a_promotion_by_recurrence():
    log = Log()
    belief = log.belief(active=False)
    for session in (b"s" * 16, b"t" * 16):
        log.put("belief.affirmed", belief_id=belief, how="recurrence", session=session)
    end = log.newest
    log.put("memory.injected", at=1, cards=({"belief_id": belief},), session=b"s" * 16)
    assert last_alone(log, belief).at(end).status == "candidate"


def test_a_contradiction_of_a_duplicate_contests_its_survivor():
    log = Log()
    duplicate, survivor, other = (log.belief() for _ in range(3))
    log.put("belief.merged", duplicate_id=duplicate, surviving_id=survivor)
    log.put("contradiction.raised", left=duplicate, right=other)
    assert last_alone(log, survivor).at(log.newest).contested


def test_undoing_a_resolution_contests_the_other_side_again():
    log = Log()
    winner, loser = log.belief(), log.belief()
    raised = log.put("contradiction.raised", left=winner, right=loser)
    resolved = log.put("contradiction.resolved", contradiction_id=raised, outcome="left")
    log.put("belief.reinstated", belief_id=loser, undoes=(resolved,))
    assert last_alone(log, winner).at(log.newest).contested


def test_a_merge_of_two_successors_ends_the_fork_between_them():
    log = Log()
    belief, (one, other), _ = forked_belief(log)
    assert fold(log.facts).lives[belief].at(log.newest).forked
    log.put("belief.merged", duplicate_id=one, surviving_id=other)
    assert not last_alone(log, belief).at(log.newest).forked


def test_a_revision_elsewhere_ends_a_fork_that_its_author_had_seen_through_an_affirmation():
    log = Log()
    elsewhere = log.belief()
    belief, _, both = forked_belief(log)
    seen = log.put("belief.affirmed", basis=both, belief_id=elsewhere, how="review")
    assert fold(log.facts).lives[belief].at(log.newest).forked
    log.put("belief.retracted", basis=(seen,), belief_id=elsewhere, cause="wrong")
    assert not last_alone(log, belief).at(log.newest).forked


def test_a_late_ancestor_orders_two_revisions():
    log = Log()
    belief, one, other, elsewhere = (log.belief() for _ in range(4))
    first = log.put("belief.superseded", superseded_id=belief, superseding_id=one)
    between = (len(log.facts) + 2).to_bytes(16, "big")
    log.put("belief.superseded", basis=(between,), superseded_id=belief, superseding_id=other)
    end = log.newest
    assert fold(log.facts).lives[belief].at(end).forked
    log.put("belief.retracted", at=5, basis=(first,), belief_id=elsewhere, cause="wrong")
    assert not last_alone(log, belief).at(end).forked


def test_a_revision_that_turns_out_void_gives_a_fork_back():
    log = Log()
    left, right = log.belief(), log.belief()
    belief, _, both = forked_belief(log)
    log.put("belief.superseded", basis=both, superseded_id=left, superseding_id=right)
    end = log.newest
    assert not fold(log.facts).lives[belief].at(end).forked
    log.put("belief.superseded", at=3, superseded_id=right, superseding_id=left)
    assert last_alone(log, belief).at(end).forked


def test_a_condition_ends_all_that_stand_under_its_key():
    log = Log()
    under = log.belief(policy="conditional_expiry", condition_key=b"k" * 16)
    log.put("condition.met", condition_key=b"k" * 16)
    assert last_alone(log, under).at(log.newest).status == "obsolete"
