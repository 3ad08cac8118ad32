"""What is known of a replacement spares the slice what lies above it, until what that leans on changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

from tests.beliefs.big_logs import Log
from tests.beliefs.dict_source import DictSource
from tests.beliefs.folded_before import FoldedBefore
from tests.beliefs.refolded import Table

from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.past import Known, Outcomes
from beliefbase.beliefs.rules import DEFAULT, FOREVER
from beliefbase.beliefs.slices import Slice


def sliced(
    log: Log, lives: Collection[bytes], *, new: int = 0, changed: Mapping[bytes, int] | None = None, rows: bool = False
) -> Slice:
    """The slice of some lives, or ``rows``, where all but the last facts are known beforehand; it folds like the log.

    ``new`` is how many these are, and ``changed`` are beliefs with the stamps from which on they may live otherwise.
    """
    stamps = {} if changed is None else changed
    old = log.facts[: len(log.facts) - new]
    past = FoldedBefore(fold(old))
    batch = {fact.id for fact in log.facts[len(old) :]}
    outcomes = Outcomes(past, batch, max(fact.hlc for fact in old))
    found = Slice(
        DictSource(log.facts),
        known=Known(outcomes, lambda belief: stamps.get(belief, FOREVER), log.newest, past.reshaped()),
    )
    if rows:
        found.add(lives)
    else:
        found.add(lives=lives)
    part, whole = fold(found.facts, settled=found.settled), fold(log.facts)
    for belief in lives:
        assert part.lives[belief].intervals == whole.lives[belief].intervals
        assert part.lives[belief].half_life == whole.lives[belief].half_life
    return found


def test_a_belief_that_one_known_to_be_fit_replaces_needs_nothing_above_that():
    log = Log()
    hub = log.belief(active=False)
    for _ in range(200):
        log.supersede(hub, log.belief(active=False))
    log.supersede(hub, log.belief())
    old = log.belief()
    log.supersede(old, hub)
    found = sliced(log, [old], new=1)
    assert found.settled.fit.keys() == {hub}
    assert len(found.facts) == 3
    assert fold(log.facts).lives[old].at(log.newest).status == "superseded"


def test_a_reinstatement_of_another_belief_leaves_a_replacement_in_force_for_good():
    log = Log()
    hub, top, old = log.belief(active=False), log.belief(), log.belief()
    link = log.supersede(hub, top)
    log.put("belief.reinstated", belief_id=top, undoes=(link,))
    log.supersede(old, hub)
    assert sliced(log, [old], new=1).settled.fit.keys() == {hub}


def test_what_only_waits_to_be_replaced_is_fit_all_the_same():
    log = Log()
    hub, top, old = log.belief(active=False), log.belief(), log.belief()
    log.supersede(hub, top)
    log.supersede(top, log.belief(active=False))
    log.supersede(old, hub)
    found = sliced(log, [old], new=1)
    assert found.settled.fit.keys() == {hub}
    assert len(found.facts) == 3


def test_a_belief_waits_for_good_for_what_is_known_to_have_ended_with_all_above_it():
    log = Log()
    hub, old = log.belief(active=False), log.belief()
    for _ in range(100):
        log.supersede(hub, log.belief(active=False))
    top = log.belief()
    log.supersede(hub, top)
    log.put("belief.retracted", belief_id=top, cause="wrong")
    waits = log.supersede(old, hub)
    found = sliced(log, [old], new=1)
    assert found.settled.unfit == {waits}
    assert top not in {fact.id for fact in found.facts}
    assert fold(log.facts).lives[old].at(log.newest).status == "active"


def test_a_row_needs_only_the_first_of_what_replaced_one_that_contests_it():
    log = Log()
    hub, old = log.belief(active=False), log.belief()
    log.supersede(old, hub)
    contested = log.newest
    for _ in range(100):
        log.supersede(hub, log.belief(active=False))
    found = sliced(log, [old], rows=True)
    assert len(found.facts) < 10
    life = fold(found.facts, settled=found.settled).lives[old]
    assert life.at(contested).contested
    assert not life.at(log.newest).contested


def test_what_replaced_a_belief_later_does_nothing_where_only_its_end_is_taken_in():
    log = Log()
    hub, old = log.belief(active=False), log.belief()
    log.supersede(old, hub)
    log.supersede(hub, log.belief(active=False))
    later = log.supersede(hub, log.belief(active=False))
    log.put("belief.reinstated", belief_id=old, undoes=(later,))
    found = sliced(log, [old], rows=True)
    assert later in {fact.id for fact in found.facts}
    assert later in found.settled.ticks


def test_sessions_in_which_a_belief_was_shown_count_where_only_its_end_is_taken_in():
    log = Log()
    hub, old = log.belief(active=False), log.belief()
    log.put("memory.injected", cards=({"belief_id": hub},), session=b"s" * 16)
    for session in (b"s" * 16, b"t" * 16):
        log.put("belief.affirmed", belief_id=hub, how="recurrence", session=session)
    log.supersede(hub, log.belief(active=False))
    waits = log.supersede(old, hub)
    assert sliced(log, [old], new=1).settled.unfit == {waits}
    assert fold(log.facts).lives[old].at(log.newest).status == "active"


def test_a_belief_that_was_active_once_needs_nothing_of_what_ended_it():
    log = Log()
    risen = log.belief(active=False)
    log.affirm(risen)
    for _ in range(50):
        log.supersede(risen, log.belief(active=False))
    log.put("belief.retracted", belief_id=risen, cause="wrong")
    old = log.belief()
    log.supersede(old, risen)
    found = sliced(log, [old], new=1)
    assert found.settled.ever.keys() == {risen}
    assert len(found.facts) == 3


def test_a_replacement_that_closes_a_cycle_of_old_ones_needs_no_life_on_the_way():
    log = Log()
    chain = [log.belief() for _ in range(300)]
    for old, new in pairwise(chain):
        log.supersede(old, new)
    log.supersede(chain[-1], chain[0])
    found = sliced(log, [chain[-1]], new=1)
    assert len(found.settled.void) == 1
    assert len(found.facts) == 3
    assert fold(log.facts).lives[chain[-1]].at(log.newest).status == "active"


def test_a_correction_needs_the_first_of_each_sort_that_it_corrects():
    log = Log()
    correction = log.belief(speech_act="correction")
    for number in range(300):
        log.supersede(log.belief(speech_act=("observation", "directive", "correction")[number % 3]), correction)
    assert len(sliced(log, [correction]).facts) == 1 + 3 * 2


def test_a_correction_needs_more_where_what_came_first_may_age_otherwise_one_day():
    log = Log()
    correction = log.belief(speech_act="correction")
    targets = [log.belief(speech_act="observation") for _ in range(10)]
    for target in targets:
        log.supersede(target, correction)
    log.put("belief.reclassified", belief_id=targets[0], speech_act="directive")
    assert len(sliced(log, [correction]).facts) == 1 + 3 + 2


def arriving(log: Log, *, new: int) -> None:
    """Check that a log's last facts, refolded, leave the rows of a fold of all."""
    table = Table(DEFAULT)
    table.arrive(log.facts[: len(log.facts) - new])
    table.arrive(log.facts[len(log.facts) - new :])


def with_link(log: Log, old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """A replacement, and two ends between which another one, were it there before, would make it close a cycle."""
    aside = log.belief(active=False)
    log.supersede(new, aside)
    log.supersede(old, new)
    return aside, old


def test_a_replacement_waits_after_all_when_the_way_to_what_is_active_turns_out_void():
    log = Log()
    hub, low, high, top = (log.belief(active=number == 3) for number in range(4))
    old = log.belief()
    log.supersede(hub, low)
    ends = with_link(log, low, high)
    log.supersede(high, top)
    log.supersede(old, hub)
    now = log.newest
    assert fold(log.facts).lives[old].at(now).status == "superseded"
    log.supersede(*ends, at=5)
    arriving(log, new=2)
    assert fold(log.facts).lives[old].at(now).status == "active"


def test_a_replacement_acts_when_a_link_of_the_cycle_that_it_would_close_turns_out_void():
    log = Log()
    chain = [log.belief() for _ in range(4)]
    log.supersede(*chain[:2])
    ends = with_link(log, *chain[1:3])
    log.supersede(*chain[2:])
    log.supersede(chain[-1], chain[0])
    now = log.newest
    assert fold(log.facts).lives[chain[-1]].at(now).status == "active"
    log.supersede(*ends, at=5)
    arriving(log, new=2)
    assert fold(log.facts).lives[chain[-1]].at(now).status == "superseded"


def test_a_correction_needs_what_it_corrected_next_when_the_first_may_have_changed():
    log = Log()
    correction = log.belief(speech_act="correction")
    first, second = (log.belief(speech_act="observation") for _ in range(2))
    log.supersede(first, correction)
    log.supersede(second, correction)
    changed: dict[bytes, int] = {}
    found = sliced(log, [correction], changed=changed)
    assert second not in {fact.id for fact in found.facts}
    changed[first] = log.facts[3].hlc + 1
    assert not found.lost()
    changed[first] = log.facts[3].hlc
    assert [lost.user.belief for lost in found.lost()] == [correction]
    found.add()
    assert second in {fact.id for fact in found.facts}


def test_what_waits_below_its_own_target_closes_a_cycle_once_that_is_replaced():
    """Nothing above the target was active but itself; now something is, by way of the target."""
    log = Log()
    target, below = log.belief(), log.belief(active=False)
    log.supersede(target, below)
    log.supersede(below, target)
    log.supersede(target, log.belief())
    arriving(log, new=1)
    assert {str(note.reason) for note in fold(log.facts).notes} >= {"cycle", "replacement_deferred"}


def test_what_replaces_a_belief_that_was_fit_by_another_one_concerns_what_waits_for_that_itself():
    log = Log()
    top, below, waiting = log.belief(), log.belief(active=False), log.belief(active=False)
    log.supersede(below, top)
    log.supersede(waiting, below)
    log.supersede(top, waiting)
    log.supersede(below, log.belief())
    arriving(log, new=1)
    assert {str(note.reason) for note in fold(log.facts).notes} >= {"cycle", "replacement_deferred"}


def test_what_was_said_makes_fit_whom_it_was_right_against():
    log = Log()
    said, low, old = log.put("utterance.recorded", speaker=b"s" * 16), log.belief(active=False), log.belief()
    raised = log.put("contradiction.raised", left=low, right=said)
    log.put("contradiction.resolved", contradiction_id=raised, outcome="right")
    log.supersede(old, low)
    arriving(log, new=1)
    assert fold(log.facts).lives[old].at(log.newest).status == "superseded"


def test_side_by_side_a_belief_is_found_fit_from_the_earliest_moment_that_matters():
    log = Log()
    hub, top = log.belief(active=False), log.belief()
    log.supersede(hub, top)
    first, second = log.belief(), log.belief()
    log.supersede(first, hub)
    since = log.newest
    log.supersede(second, hub)
    assert sliced(log, [first, second], new=2).settled.fit == {hub: since}
