"""The fold against the executable reading of the rules, and against itself: any order, any moment, any tiling."""

import random
from itertools import pairwise, permutations

import pytest
from tests.beliefs import oracle
from tests.beliefs.drafted import Log, rows, stamp
from tests.beliefs.oracle import needs_spec
from tests.beliefs.random_facts import RULES, Draws
from tests.scale import scaled

from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import FOREVER


def worlds(seeds):
    draw = oracle.spec("random_worlds").world
    return ((seed, draw(random.Random(seed))) for seed in seeds)


def opposed(events):
    """Whether resolutions of one contradiction name different winners."""
    named = {}
    for event in events:
        if event.type == "resolve" and event.p["out"] in ("left", "right"):
            named.setdefault(event.p["k"], set()).add(event.p["out"])
    return any(len(winners) > 1 for winners in named.values())


def contrary(seed):
    """A world of the reading with more resolutions, that contradict each other, and with what undoes them."""
    r = random.Random(seed)
    events = oracle.spec("random_worlds").world(r)
    event_of = oracle.spec("lifecycle_model").Ev
    beliefs = [event.id for event in events if event.type == "extract"]
    days = (max(event.h for event in events) >> 16) + 2

    def add(type_, **p):
        at = r.randrange(days) << 16 | r.choice((0, 0, 1, 2))
        events.append(event_of(at, r.choice("PQR"), 100 + len(events), f"x{len(events)}", type_, p, (), ""))
        return events[-1].id

    raised = [event.id for event in events if event.type == "raise"]
    raised += [add("raise", l=r.choice(beliefs), r=r.choice(beliefs)) for _ in range(2 - len(raised))]
    outcomes = ("left", "right", "left", "right", "neither", "both_hold")
    resolutions = [add("resolve", k=k, out=r.choice(outcomes)) for k in raised for _ in range(r.randint(1, 3))]
    for _ in range(r.randint(0, 2)):
        add("reinstate", b=r.choice(beliefs), undoes=(r.choice(resolutions),))
    if r.random() < 0.5:
        belief = r.choice(beliefs)
        add("reinstate", b=belief, undoes=(add("retract", b=belief),))
    if r.random() < 0.5:
        add("merge", b=r.choice(beliefs), s=r.choice(beliefs))
    if r.random() < 0.5:
        add("reclass", b=r.choice(beliefs), set={"act": "directive", "conf": 900, "sac": 900, "cls": "durable_fact"})
    return events


def amended(events):
    """Whether the amendment of docs/adr/0013 says anything else about a world than the reading as it is."""
    model, tables = oracle.spec("lifecycle_model"), oracle.spec("random_worlds").K
    before, after = (make(model)(events, **tables) for make in (oracle.exact, oracle.last_stands))
    pending = [{(d.e.id, d.t) for d in world.edges if d.st == "wait"} for world in (before, after)]
    return oracle.told(before) != oracle.told(after) or before.void != after.void or pending[0] != pending[1]


def assert_agreement(seeds):
    """Compare every world; returns in how many the amendment of ADR 0013 matters."""
    moved = 0
    for seed, events in worlds(seeds):
        assert oracle.difference(events) == "", f"world {seed}"
        if amended(events):
            assert opposed(events), f"world {seed} has no opposite resolutions"
            moved += 1
    return moved


# -- the reading ----------------------------------------------------------------------------------------------------


@needs_spec
def test_the_hand_made_cases_agree_row_by_row(monkeypatch):
    model = oracle.spec("lifecycle_model")
    lists, original = [], model.fold

    def recording(events, lit=frozenset(), watch=None, **tables):
        if not lit:
            lists.append(events)
        return original(events, lit, watch, **tables)

    monkeypatch.setattr(model, "fold", recording)
    oracle.reload("cases")
    assert len(lists) > 40
    assert [(events, found) for events in lists if (found := oracle.difference(events, {}))] == []


@needs_spec
def test_two_thousand_random_worlds_agree_row_by_row_and_flag_by_flag():
    moved = assert_agreement(range(2000))
    assert moved < 20


@pytest.mark.slow
@needs_spec
def test_twenty_thousand_random_worlds_agree_row_by_row_and_flag_by_flag(record_property):
    moved = assert_agreement(range(2000, 2000 + scaled(20_000)))
    record_property("worlds_moved_by_adr_0013", moved)


@needs_spec
def test_worlds_full_of_opposite_resolutions_agree():
    moved = 0
    for seed in range(300):
        events = contrary(seed)
        assert oracle.difference(events) == "", f"contrary world {seed}"
        if amended(events):
            assert opposed(events)
            moved += 1
    assert moved > 5


@pytest.mark.slow
@needs_spec
def test_many_worlds_full_of_opposite_resolutions_agree():
    for seed in range(1000, 1000 + scaled(5000)):
        assert oracle.difference(contrary(seed)) == "", f"contrary world {seed}"


# -- no event stamped after T changes T -----------------------------------------------------------------------------


def assert_prefixes(facts, rules):
    """At every stamp T, what the whole log says of T is what the log up to T says."""
    whole = fold(facts, rules)
    for moment in sorted({fact.hlc for fact in facts}):
        part = fold([fact for fact in facts if fact.hlc <= moment], rules)
        for belief in whole.lives.keys() | part.lives.keys():
            views = [folded.lives[belief].at(moment) if belief in folded.lives else None for folded in (whole, part)]
            assert standing(views[0]) == standing(views[1]), f"belief {belief.hex()} at {moment}"


def standing(row):
    """A row without its end, which later events may bring about."""
    return row and row._replace(until=0)


@needs_spec
def test_no_event_stamped_after_a_moment_changes_that_moment():
    for _, events in worlds(range(400)):
        assert_prefixes(oracle.facts(events), oracle.rules())
    for seed in range(60):
        assert_prefixes(Draws(seed, rule_changes=seed % 3 == 0).facts, RULES)


@pytest.mark.slow
@needs_spec
def test_no_event_stamped_after_a_moment_changes_it_in_twenty_thousand_worlds():
    for _, events in worlds(range(2000, 2000 + scaled(20_000))):
        assert_prefixes(oracle.facts(events), oracle.rules())


# -- any order, any moment, no gaps ---------------------------------------------------------------------------------


def assert_order_free(seed, rounds):
    facts = Draws(seed, rule_changes=seed % 3 == 0).facts
    whole, r = fold(sorted(facts), RULES), random.Random(seed)
    for _ in range(rounds):
        arrived = [*facts, *r.choices(facts, k=r.randrange(len(facts)))]
        r.shuffle(arrived)
        cuts = sorted(r.sample(range(len(arrived) + 1), 3))
        batches = [arrived[since:until] for since, until in pairwise([0, *cuts, len(arrived)])]
        again = fold([fact for batch in r.sample(batches, len(batches)) for fact in batch], RULES)
        assert rows(again) == rows(whole)
        assert again.notes == whole.notes
        assert again.acted == whole.acted


def test_any_permutation_split_and_duplication_folds_equally():
    for seed in range(80):
        assert_order_free(seed, 4)


@pytest.mark.slow
def test_any_permutation_split_and_duplication_of_many_logs_folds_equally():
    for seed in range(1000, 1000 + scaled(3000)):
        assert_order_free(seed, 4)


def assert_tiling(seed):
    for life in fold(Draws(seed, rule_changes=seed % 3 == 0).facts, RULES).lives.values():
        tiles = life.intervals
        assert tiles[0].since == life.born
        assert tiles[-1].until == FOREVER
        assert all(row.since < row.until for row in tiles)
        for row, following in pairwise(tiles):
            assert row.until == following.since
            assert (row.status, row.cause, row[5:]) != (following.status, following.cause, following[5:])
        for spell in life.spells:
            within = [row for row in tiles if spell.since <= row.since < spell.until]
            assert within[0].since == spell.since
            assert within[-1].until == spell.until
            assert all(row.live for row in within)
        assert sum(row.until - row.since for row in tiles if row.live) == sum(s.until - s.since for s in life.spells)


def test_intervals_tile_every_life_and_every_spell():
    for seed in range(300):
        assert_tiling(seed)


@pytest.mark.slow
def test_intervals_tile_every_life_and_every_spell_of_many_logs():
    for seed in range(1000, 1000 + scaled(5000)):
        assert_tiling(seed)


def test_moving_as_of_needs_no_refold():
    """What a fold up to T says of T stands in the rows of the whole fold already, also for moments to come."""
    for seed in range(60):
        facts = Draws(seed).facts
        whole, r = fold(facts, RULES), random.Random(seed)
        for moment in [r.randrange(120) << 16 | r.randrange(3) for _ in range(8)]:
            there = fold(facts, RULES, until=moment)
            for belief, life in there.lives.items():
                assert standing(life.at(moment)) == standing(whole.lives[belief].at(moment))


# -- the acting order -----------------------------------------------------------------------------------------------


def test_an_undo_stamped_before_the_ending_that_it_undoes_acts_directly_after_it():
    """Extraction at 900, retraction by a fast clock at 1100, its undo stamped 1005: live again from 1100 on."""
    log = Log()
    belief = log.extract(on=900)
    retracted = log.retract(belief, on=1100, by="fast clock")
    undone = log.reinstate(belief, retracted, on=1005, by="ben")
    for folded in log.in_all_orders():
        life = folded.lives[belief]
        assert folded.acted[undone] == stamp(1100)
        assert life.at(stamp(1100)).status == "candidate"
        assert life.affirmed == [stamp(1100)]
        assert life.at(stamp(1100) - 1).status == "candidate"


def test_an_undo_stamped_before_does_nothing_until_the_ending_is_there():
    log = Log()
    belief = log.extract(on=900)
    retracted = log.retract(belief, on=1100)
    log.reinstate(belief, retracted, on=1005)
    log.retract(belief, on=1050)
    assert [log.status(belief, day) for day in (1049, 1050, 1099, 1100)] == ["candidate", *["retracted"] * 3]


def test_what_is_retracted_before_it_was_extracted_is_born_ended():
    log = Log()
    retracted = log.retract(missing := log.extract(on=900), on=100)
    for arrived in permutations(log.facts):
        life = fold(arrived).lives[missing]
        assert [(row.since, row.status, row.cause) for row in life.intervals] == [(stamp(900), "retracted", retracted)]
        assert life.spells == []


def test_several_that_act_directly_after_one_act_in_their_own_order_each_followed_by_its_own():
    log = Log()
    belief = log.extract(on=50)
    first = log.retract(belief, on=10)
    undo_of_second = log.reinstate(belief, second := log.retract(belief, on=20), on=5)
    affirmed = log.affirm(belief, on=1)
    for folded in log.in_all_orders():
        assert list(folded.acted) == [belief, affirmed, first, second, undo_of_second]
        assert set(folded.acted.values()) == {stamp(50)}
        assert folded.lives[belief].at(stamp(50)).cause == first
