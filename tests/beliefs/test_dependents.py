"""Refolding what a batch touches leaves every row and every remark as a fold of the whole log has them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

import pytest
from tests.beliefs.big_logs import Log
from tests.beliefs.dict_source import DictSource
from tests.beliefs.oracle import facts, needs_spec, rules, spec
from tests.beliefs.random_facts import RULES, Draws
from tests.scale import scaled

from beliefbase.beliefs.dependents import Refold, refold
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.reasons import Note
from beliefbase.beliefs.rules import FOREVER, Rules


def row(life: Life) -> object:
    """All that a projection shows of a belief."""
    return life.faces, life.intervals, life.ever, life.endings, life.half_life, life.affirmed, life.promotions


def remarks(folded: Fold) -> dict[bytes, set[Note]]:
    """Event to the notes about it."""
    found: dict[bytes, set[Note]] = {}
    for note in folded.notes:
        found.setdefault(note.event, set()).add(note)
    return found


class Table:
    """Rows and remarks, kept by refolding what each batch touches."""

    def __init__(self, how: Rules, *, horizon_known: bool = True) -> None:
        self.rows: dict[bytes, object] = {}
        self.notes: dict[bytes, set[Note]] = {}
        self.refolded = self.changed = self.total = 0
        self._how = how
        self._horizon_known = horizon_known
        self._source = DictSource()

    def arrive(self, batch: Sequence[Fact]) -> None:
        """Take in a batch, and compare everything with a fold of the whole log."""
        stamps = [fact.hlc for fact in self._source.facts.values()]
        self._source.add(batch)
        whole = fold(self._source.facts.values(), self._how)
        expected = {belief: row(life) for belief, life in whole.lives.items()}
        horizon = max(stamps, default=0) if self._horizon_known else FOREVER
        result = refold(self._source, batch, self._how, horizon=horizon)
        if result.everything:
            self.rows, self.notes = expected, remarks(whole)
        self.refolded += len(result.lives)
        self.changed += sum(self.rows.get(belief) != new for belief, new in expected.items())
        self.total += len(expected)
        self._take(result)
        assert self.rows == expected
        assert self.notes == remarks(whole)

    def _take(self, result: Refold) -> None:
        for belief in result.gone:
            del self.rows[belief]
        self.rows.update((belief, row(life)) for belief, life in result.lives.items())
        for event, notes in result.notes.items():
            self.notes.pop(event, None)
            if notes:
                self.notes[event] = set(notes)


def in_batches(log: Sequence[Fact], r: random.Random, how: Rules) -> Table:
    """Let a log arrive shuffled, in random batches."""
    order = r.sample(log, len(log))
    cuts = sorted(r.sample(range(1, len(order)), min(len(order) - 1, r.randint(1, 5))))
    table = Table(how, horizon_known=r.random() < 0.5)
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


def after(log: Log, change: Callable[[], object], *, horizon_known: bool = True) -> tuple[Refold, DictSource]:
    """Let what a call appends arrive."""
    old = len(log.facts)
    horizon = max(fact.hlc for fact in log.facts) if horizon_known else FOREVER
    change()
    source = DictSource(log.facts)
    return refold(source, log.facts[old:], horizon=horizon), source


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


def test_the_newest_link_of_a_chain_touches_its_two_ends_at_a_cost_that_does_not_grow():
    log = Log()
    chain = [log.belief() for _ in range(2000)]
    for old, new in zip(chain, chain[1:], strict=False):
        log.supersede(old, new)
    result, source = after(log, lambda: chain.append(log.belief()) or log.supersede(chain[-2], chain[-1]))
    assert result.lives.keys() == set(chain[-2:])
    assert source.given < 100
    assert source.calls < 60


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
