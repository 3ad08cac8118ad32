"""A slice folds its beliefs exactly as the whole log does, and holds little more than that takes."""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest
from tests.beliefs.big_logs import Log
from tests.beliefs.dict_source import DictSource
from tests.beliefs.oracle import facts, needs_spec, rules, spec
from tests.beliefs.random_facts import RULES, Draws
from tests.scale import scaled

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.reasons import TOOK_EFFECT
from beliefbase.beliefs.rules import Rules
from beliefbase.beliefs.slices import Slice, slice_for
from beliefbase.events.catalog.registry import REVISIONS

_OWN = ("belief_id", "superseded_id", "duplicate_id")


_ABOUT_EVENTS = sorted(TOOK_EFFECT)


def told(folded: Fold, belief: bytes) -> object:
    """All that a fold says about a belief and about the facts that act on it."""
    life = folded.lives.get(folded.entity.get(belief, belief))
    if life is None:
        return None
    about = [note for note in folded.notes if note.reason not in _ABOUT_EVENTS]
    notes = [note for note in about if note.about in life.faces or note.event in life.faces]
    return life.faces, life.intervals, life.ever, life.endings, life.half_life, life.affirmed, life.promotions, notes


def void_of(folded: Fold, log: list[Fact], faces: Collection[bytes]) -> object:
    """Which facts that act on a belief are void, wait, are deferred or undone, and since when the others act."""
    revisions = [fact for fact in log if fact.type in REVISIONS]
    acting = [fact.id for fact in revisions if any(fact.payload.get(field) in faces for field in _OWN)]
    later = {(note.event, note.reason): note.about for note in folded.notes if note.reason in _ABOUT_EVENTS}
    return [
        (
            *(i, folded.acted.get(i), i in folded.void, folded.waiting.get(i), i in folded.pending),
            *(later.get((i, reason)) for reason in _ABOUT_EVENTS),
        )
        for i in acting
    ]


def check(log: list[Fact], how: Rules, r: random.Random) -> tuple[int, int]:
    """Fold slices for each belief alone and for random sets; returns (facts in slices of one, facts in the log)."""
    whole, source = fold(log, how), DictSource(log)
    beliefs = [fact.id for fact in log if fact.type == "belief.extracted"]
    held = 0
    for chosen in [[b] for b in beliefs] + [r.sample(beliefs, r.randint(1, len(beliefs))) for _ in range(2)]:
        held_facts = slice_for(source, chosen)
        part = fold(held_facts, how)
        for belief in chosen:
            assert told(part, belief) == told(whole, belief)
            life = whole.lives.get(belief)
            if life is not None:
                assert void_of(part, log, life.faces) == void_of(whole, log, life.faces)
        held += len(held_facts) if len(chosen) == 1 else 0
    return held, len(beliefs) * len(log)


def check_draws(seeds: range) -> tuple[int, int]:
    total = [0, 0]
    for seed in seeds:
        r = random.Random(seed)
        log = Draws(seed, beliefs=r.choice((4, 8, 12)), events=r.choice((12, 20, 30, 45)), rule_changes=seed % 3 == 0)
        held, of = check(log.facts, RULES, r)
        total[0] += held
        total[1] += of
    return total[0], total[1]


def check_worlds(seeds: range) -> None:
    worlds, how = spec("random_worlds"), rules()
    for seed in seeds:
        check(facts(worlds.world(random.Random(seed))), how, random.Random(seed))


def test_slices_of_random_logs_fold_like_the_whole_log():
    held, of = check_draws(range(150))
    assert held < 0.6 * of


@pytest.mark.slow
def test_slices_of_many_random_logs_fold_like_the_whole_log():
    check_draws(range(1000, 1000 + scaled(3000)))


@needs_spec
def test_slices_of_the_readings_worlds_fold_like_the_whole_world():
    check_worlds(range(1000))


@pytest.mark.slow
@needs_spec
def test_slices_of_many_of_the_readings_worlds_fold_like_the_whole_world():
    check_worlds(range(10_000, 10_000 + scaled(20_000)))


def cost(source: DictSource, belief: bytes) -> tuple[int, int, int]:
    """Facts in the slice of one belief, facts that the log gave for it, rounds of look-ups."""
    source.given = 0
    found = Slice(source, [belief])
    return len(found.facts), source.given, found.lookups.rounds


@pytest.fixture(scope="module")
def hub() -> tuple[DictSource, bytes, list[bytes]]:
    """A belief that supersedes 20,000 others."""
    log = Log()
    middle = log.belief()
    targets = [log.belief() for _ in range(20_000)]
    for target in targets:
        log.supersede(target, middle)
    return DictSource(log.facts), middle, targets


def test_the_slice_of_one_of_many_targets_leaves_the_others_out(hub):
    source, _, targets = hub
    size, given, rounds = cost(source, targets[77])
    assert size == 3 and given <= 10 and rounds <= 10


def test_the_slice_of_a_superseder_leaves_its_targets_out_unless_it_is_a_correction(hub):
    source, middle, _ = hub
    assert cost(source, middle)[:2] == (1, 1)
    log = Log()
    correction = log.belief(speech_act="correction")
    for _ in range(5):
        log.supersede(log.belief(), correction)
    assert cost(DictSource(log.facts), correction)[0] == 11


@pytest.mark.parametrize("order", ["in time", "backwards", "shuffled"])
def test_the_slice_of_a_link_in_a_long_chain_does_not_hold_the_chain(order):
    log = Log()
    chain = [log.belief() for _ in range(20_000)]
    links = list(range(len(chain) - 1))
    if order == "backwards":
        links.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(links)
    for link in links:
        log.supersede(chain[link], chain[link + 1])
    source = DictSource(log.facts)
    costs = [cost(source, chain[link]) for link in random.Random(2).sample(links, 50)]
    assert max(size for size, _, _ in costs) <= 4
    assert sum(given for _, given, _ in costs) <= 60 * len(costs)
    assert sum(rounds for _, _, rounds in costs) <= 60 * len(costs)


def test_slices_in_a_sparse_random_graph_stay_small():
    log, r = Log(), random.Random(3)
    beliefs = [log.belief(active=r.random() < 0.6) for _ in range(50_000)]
    for _ in range(15_000):
        log.supersede(*r.sample(beliefs, 2))
    source = DictSource(log.facts)
    costs = [cost(source, belief) for belief in r.sample(beliefs, 1000)]
    assert sum(size for size, _, _ in costs) <= 3 * len(costs)
    assert max(given for _, given, _ in costs) <= 60
    assert max(rounds for _, _, rounds in costs) <= 40


def test_a_cycle_is_seen_although_its_edges_name_other_beliefs():
    log = Log()
    a, b, c = (log.belief() for _ in range(3))
    for old, new in ((a, b), (b, c), (c, a)):
        log.supersede(old, new)
    folded = fold(slice_for(DictSource(log.facts), [c]))
    assert folded.lives[c].at(log.newest).status == "active"
    assert [str(note.reason) for note in folded.notes] == ["cycle"]


def test_injections_are_held_only_where_recurrences_may_promote():
    log = Log()
    candidate, active = log.belief(active=False), log.belief()
    for belief in (candidate, active):
        log.put("memory.injected", cards=({"belief_id": belief},), session=b"s" * 16)
        log.affirm(belief, "recurrence")
    assert len(slice_for(DictSource(log.facts), [candidate])) == 2
    for belief in (candidate, active):
        log.affirm(belief, "recurrence")
    assert len(slice_for(DictSource(log.facts), [candidate])) == 4
    assert len(slice_for(DictSource(log.facts), [active])) == 3


def alike(log: Log, belief: bytes) -> bool:
    """Whether a belief's slice folds it like the whole log."""
    return told(fold(slice_for(DictSource(log.facts), [belief])), belief) == told(fold(log.facts), belief)


def test_sessions_in_which_a_belief_had_been_shown_do_not_promote_it_in_a_slice_either():
    log = Log()
    belief = log.belief(active=False)
    log.put("memory.injected", cards=({"belief_id": belief},), session=b"s" * 16)
    for session in (b"s" * 16, b"t" * 16):
        log.put("belief.affirmed", belief_id=belief, how="recurrence", session=session)
    assert fold(log.facts).lives[belief].at(log.newest).status == "candidate"
    assert alike(log, belief)


def test_a_resolution_is_part_of_the_slices_of_both_sides():
    log = Log()
    winner, loser = log.belief(), log.belief()
    raised = log.put("contradiction.raised", left=winner, right=loser)
    log.put("contradiction.resolved", contradiction_id=raised, outcome="left")
    assert fold(log.facts).lives[loser].at(log.newest).status == "contradicted"
    assert alike(log, winner)
    assert alike(log, loser)


def test_what_lies_between_an_input_and_the_conclusion_that_replaced_it_in_turn_is_part_of_the_slice():
    log = Log()
    given, middle, conclusion = (log.belief() for _ in range(3))
    log.put("conclusion.derived", belief_id=conclusion, inputs=({"belief_id": given, "role": "essential"},))
    log.supersede(given, middle)
    assert fold(log.facts).lives[conclusion].at(log.newest).status == "candidate"
    log.supersede(middle, conclusion)
    assert fold(log.facts).lives[conclusion].at(log.newest).status == "active"
    assert alike(log, conclusion)


def test_whether_the_revision_that_would_end_a_fork_is_void_is_part_of_the_slice():
    log = Log()
    forked, one, other, left, right = (log.belief() for _ in range(5))
    log.supersede(right, left)
    both = tuple(log.put("belief.superseded", superseded_id=forked, superseding_id=by) for by in (one, other))
    log.put("belief.superseded", basis=both, superseded_id=left, superseding_id=right)
    assert fold(log.facts).lives[forked].at(log.newest).forked
    assert alike(log, forked)


def test_what_had_read_a_void_revision_of_the_belief_itself_is_part_of_the_slice():
    log = Log()
    forked, one, other, elsewhere = (log.belief() for _ in range(4))
    both = tuple(log.put("belief.superseded", superseded_id=forked, superseding_id=by) for by in (one, other))
    void = log.put("belief.superseded", basis=both, superseded_id=forked, superseding_id=forked)
    assert fold(log.facts).lives[forked].at(log.newest).forked
    log.put("belief.retracted", basis=(void,), belief_id=elsewhere)
    assert not fold(log.facts).lives[forked].at(log.newest).forked
    assert alike(log, forked)
