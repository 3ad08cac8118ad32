"""Random logs that arrive in any batches, refolded, have every row and every remark as a fold of the whole log has."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest
from tests.beliefs.big_logs import Tangle
from tests.beliefs.oracle import facts, needs_spec, rules, spec
from tests.beliefs.random_facts import RULES, Draws, key
from tests.beliefs.refolded import Table
from tests.scale import scaled

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.rules import DEFAULT, Rules


def in_batches(log: Sequence[Fact], r: random.Random, how: Rules) -> Table:
    """Let a log arrive shuffled, in random batches."""
    order = r.sample(log, len(log))
    cuts = sorted(r.sample(range(1, len(order)), min(len(order) - 1, r.randint(1, 5))))
    table = Table(how, horizon_known=r.random() < 0.5, past_known=r.random() < 0.7)
    for since, until in zip([0, *cuts], [*cuts, len(order)], strict=True):
        table.arrive(order[since:until])
    return table


def one_by_one(log: Iterable[Fact], how: Rules) -> Table:
    """Let a log arrive in the order of its stamps, one by one."""
    table = Table(how)
    for fact in sorted(log):
        table.arrive([fact])
    return table


def each_last(log: Sequence[Fact], some: Iterable[Fact], how: Rules) -> None:
    """Let each of some facts arrive after all others."""
    for last in some:
        table = Table(how)
        table.arrive([fact for fact in log if fact is not last])
        table.arrive([last])


def check_draws(seeds: range) -> tuple[int, int, int]:
    refolded = changed = total = 0
    for seed in seeds:
        r = random.Random(seed)
        log = Draws(seed, beliefs=r.choice((4, 8, 12)), events=r.choice((12, 20, 30)), rule_changes=seed % 5 == 0).facts
        in_batches(log, r, RULES)
        each_last(log, r.sample(log, 5), RULES)
        table = one_by_one(log, RULES)
        refolded += table.refolded
        changed += table.changed
        total += table.total
    return refolded, changed, total


def check_worlds(seeds: range) -> None:
    worlds, how = spec("random_worlds"), rules()
    for seed in seeds:
        r = random.Random(seed)
        log = facts(worlds.world(r))
        in_batches(log, r, how)
        each_last(log, log, how)


def test_random_logs_arriving_in_any_order_give_the_rows_of_the_whole_log():
    refolded, changed, total = check_draws(range(60))
    assert refolded < 3 * changed
    assert refolded < 0.6 * total


@pytest.mark.slow
def test_many_random_logs_arriving_in_any_order_give_the_rows_of_the_whole_log():
    check_draws(range(1000, 1000 + scaled(1500)))


@needs_spec
def test_the_readings_worlds_arriving_in_any_order_give_the_rows_of_the_whole_world():
    check_worlds(range(150))


@pytest.mark.slow
@needs_spec
def test_many_of_the_readings_worlds_arriving_in_any_order_give_the_rows_of_the_whole_world():
    check_worlds(range(10_000, 10_000 + scaled(5000)))


def check_larger_draws(seeds: range) -> None:
    """Logs of up to 200 events, most of them without copies, with which little is known beforehand."""
    for seed in seeds:
        r = random.Random(seed)
        log = Draws(seed, beliefs=r.choice((20, 40)), events=r.choice((50, 100, 160))).facts
        if r.random() < 0.7:
            log = [fact._replace(ref=None) for fact in log]
        last = set(r.sample(range(len(log)), r.choice((1, 3, 10))))
        table = Table(RULES)
        table.arrive([fact for number, fact in enumerate(log) if number not in last])
        table.arrive([log[number] for number in sorted(last)])


def check_tangles(seeds: range) -> None:
    for seed in seeds:
        r = random.Random(seed)
        tangle = Tangle(seed, r.choice((30, 60, 120)))
        old = list(tangle.facts)
        for _ in range(r.choice((1, 5, 20))):
            tangle.whim(late=r.random() < 0.2)
        table = Table(DEFAULT)
        table.arrive(old)
        table.arrive(tangle.facts[len(old) :])


def test_batches_over_tangled_logs_give_the_rows_of_the_whole_log():
    check_tangles(range(40))


@pytest.mark.slow
def test_many_batches_over_tangled_logs_give_the_rows_of_the_whole_log():
    check_tangles(range(1000, 1000 + scaled(1000)))


def test_a_replacement_and_a_resolution_that_one_event_lets_act_do_so_in_their_order():
    """Together they would close a cycle, but for what the resolution undoes."""
    facts = list[Fact]()

    def put(at: int, event: int, name: str, basis: tuple[int, ...] = (), **payload: object) -> None:
        named = {f: key(v) if isinstance(v, int) and f != "confidence" else v for f, v in payload.items()}
        cited = tuple(key(one) for one in basis)
        facts.append(Fact(at << 16, key(0), len(facts) + 1, key(event), name, named, cited, None, key(0)))

    for at, belief, kind, act in (
        (2, 279, "rationale", "humor_or_irony"),
        (3, 134, "rule", "hypothetical"),
        (5, 464, "rule", "humor_or_irony"),
    ):
        put(at, belief, "belief.extracted", kind=kind, speech_act=act, confidence=500, assertion_class="passing")
    put(13, 825, "contradiction.raised", left=134, right=279)
    put(16, 907, "contradiction.resolved", contradiction_id=222, outcome="right")
    put(20, 123, "contradiction.resolved", contradiction_id=825, outcome="right")
    put(27, 12, "belief.affirmed", belief_id=279, how="review")
    put(30, 165, "contradiction.resolved", contradiction_id=825, outcome="left")
    put(40, 299, "belief.merged", (165, 123), duplicate_id=643, surviving_id=134)
    put(44, 892, "belief.superseded", (165, 123, 299), superseded_id=279, superseding_id=134, cause="update")
    put(
        50,
        965,
        "belief.extracted",
        kind="decision",
        speech_act="directive",
        confidence=900,
        assertion_class="durable_fact",
    )
    put(61, 222, "contradiction.raised", left=134, right=464)
    put(65, 613, "belief.superseded", superseded_id=464, superseding_id=965, cause="update")
    put(101, 622, "belief.superseded", (93, 299), superseded_id=292, superseding_id=643, cause="update")
    table = Table(RULES)
    table.arrive(facts)
    put(99, 93, "condition.met", belief_id=292)
    table.arrive(facts[-1:])
    assert "cycle" not in {str(note.reason) for notes in table.notes.values() for note in notes}


def test_batches_over_larger_random_logs_give_the_rows_of_the_whole_log():
    check_larger_draws(range(20))


@pytest.mark.slow
def test_many_batches_over_larger_random_logs_give_the_rows_of_the_whole_log():
    check_larger_draws(range(1000, 1000 + scaled(1000)))
