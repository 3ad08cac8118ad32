"""The postulates of belief-base revision, over the set of active beliefs of generated histories.

A revision here is an event appended after everything else; the base is the set of beliefs that are active just before
it and just after it. Recovery is no postulate of bases, and fails.
"""

import random
from inspect import signature
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.beliefs.drafted import Log, stamp
from tests.beliefs.random_facts import RULES, Draws, key
from tests.scale import scaled

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import passes_entry

AFTER = 45 << 16
"""A stamp after every generated event; some beliefs have expired by then, others have not."""


def history(seed, events):
    """A log of up to 30 events with gaps, copies and late stamps."""
    return [fact for fact in Draws(seed, events=events).facts if fact.hlc < AFTER]


histories = st.builds(history, st.integers(0, 10_000), st.integers(6, 30))
STRONG = {"kind": "fact", "assertion_class": "durable_fact", "confidence": 900}
WEAK = {"kind": "fact", "confidence": 900, "speech_act": "hypothetical"}


def event(type_, number=1, **payload):
    """One more event, stamped after all others."""
    return Fact(AFTER + number, key(77), number, key(7000 + number), type_, payload, (), None, key(77))


def base(facts):
    """The active beliefs after the last event."""
    folded = fold(facts, RULES)
    at = max([AFTER, *(fact.hlc for fact in facts[-3:])])
    return {
        belief for belief, life in folded.lives.items() if life.at(at) is not None and life.at(at).status == "active"
    }


def revisions(facts):
    """Every way to end one belief of a history, or to replace it by another one."""
    beliefs = sorted(fold(facts, RULES).lives)
    for belief in beliefs:
        yield belief, event("belief.retracted", belief_id=belief, cause="wrong")
        yield belief, event("condition.met", belief_id=belief)
    for old, new in combinations(beliefs, 2):
        yield old, event("belief.superseded", superseded_id=old, superseding_id=new, cause="update")
        yield new, event("belief.merged", duplicate_id=new, surviving_id=old)


@given(histories)
def test_success_for_what_passes_the_gate(facts):
    """What is extracted well enough is believed."""
    new = event("belief.extracted", **STRONG)
    assert passes_entry(new.payload)
    assert base([*facts, new]) == base(facts) | {new.id}


@given(histories)
def test_success_is_weakened_for_candidates(facts):
    """What is not said clearly enough is kept, and is not believed; a person's word makes it believed."""
    new = event("belief.extracted", **WEAK)
    assert base([*facts, new]) == base(facts)
    assert new.id in fold([*facts, new], RULES).lives
    assert base([*facts, new, event("belief.promoted", 2, belief_id=new.id)]) == base(facts) | {new.id}


@given(histories)
def test_success_of_contraction(facts):
    """What is retracted is not believed any more."""
    for belief in fold(facts, RULES).lives:
        assert belief not in base([*facts, event("belief.retracted", belief_id=belief, cause="withdrawn")])


@given(histories)
def test_inclusion(facts):
    """A contraction adds nothing: what the ended belief had replaced stays replaced."""
    before = base(facts)
    for _, revision in revisions(facts):
        if revision.type in ("belief.retracted", "condition.met"):
            assert base([*facts, revision]) <= before


@given(histories)
def test_inclusion_of_expansion(facts):
    """An extraction adds at most itself."""
    for payload in (STRONG, WEAK):
        new = event("belief.extracted", **payload)
        assert base([*facts, new]) <= base(facts) | {new.id}


@given(histories)
def test_vacuity(facts):
    """Ending what isn't believed, and isn't what something believed rests on or is merged into, changes nothing."""
    before = base(facts)
    folded = fold(facts, RULES)
    for belief, life in folded.lives.items():
        if belief not in before and life.into is None and not life.feeds:
            assert base([*facts, event("belief.retracted", belief_id=belief, cause="wrong")]) == before


def contradicted(facts, which):
    """Two beliefs of a history that are not merged into one, and the event that says they contradict; or nothing."""
    pairs = list(combinations(sorted(fold(facts, RULES).lives), 2))
    for left, right in pairs[which % len(pairs) :] if pairs else ():
        raised = event("contradiction.raised", left=left, right=right)
        lives = fold([*facts, raised], RULES).lives
        if lives[left].canon() is not lives[right].canon():
            return lives[left].canon().id, lives[right].canon().id, raised
    return None


@given(histories, st.integers(0, 100), st.sampled_from(("left", "right")))
def test_consistency_once_resolved(facts, which, outcome):
    """Of a contradiction that is resolved for one side, both are never believed."""
    found = contradicted(facts, which)
    if found is None:
        return
    one, other, raised = found
    resolved = event("contradiction.resolved", 2, contradiction_id=raised.id, outcome=outcome)
    after = fold([*facts, raised, resolved], RULES)
    believed = base([*facts, raised, resolved]) & {one, other}
    if resolved.id in after.pending or resolved.id in after.void:
        assert believed <= base([*facts, raised])
    else:
        assert len(believed) <= 1


@given(histories, st.integers(0, 100))
def test_consistency_is_restored_by_neither(facts, which):
    """Where neither side holds, neither is believed."""
    found = contradicted(facts, which)
    if found is not None:
        one, other, raised = found
        resolved = event("contradiction.resolved", 2, contradiction_id=raised.id, outcome="neither")
        assert not base([*facts, raised, resolved]) & {one, other}


@given(histories)
def test_extensionality(facts):
    """Copies of one item are one belief: whichever of them a revision names, the same is believed."""
    twice = [event("belief.extracted", number, **STRONG)._replace(ref=key(9)) for number in (1, 2)]
    told = [*facts, *twice]
    assert base(told) == base(facts) | {twice[0].id}
    ended = [base([*told, event("belief.retracted", 3, belief_id=copy.id, cause="wrong")]) for copy in twice]
    assert ended[0] == ended[1] == base(facts)


@given(histories)
def test_core_retainment(facts):
    """A belief goes only for what a revision says: itself, its survivors, what rests on it, what waited to go."""
    before = base(facts)
    folded = fold(facts, RULES)
    for belief, revision in revisions(facts):
        after = fold([*facts, revision], RULES)
        for gone in before - base([*facts, revision]):
            life = after.lives[gone]
            named = {member.id for member in folded.lives[belief].chain()}
            rests = life.inputs is not None and life.at(revision.hlc).status == "candidate"
            replaced = life.at(revision.hlc).cause
            assert gone in named or rests or replaced in folded.pending, (gone, revision)


@given(histories)
def test_relevance_of_what_is_never_named(facts):
    """Two histories that share no belief don't touch each other."""
    stranger = event("belief.extracted", **STRONG)
    ended = event("belief.retracted", 2, belief_id=stranger.id, cause="wrong")
    assert base([*facts, stranger, ended]) == base(facts)


def test_recovery_fails():
    """Believing again what was retracted brings back neither what it had replaced nor what had rested on it."""
    log = Log()
    premise, old = log.durable(on=0), log.durable(on=0)
    log.supersede(old, premise, on=1)
    log.retract(premise, on=2)
    again = log.durable(on=3)
    believed = {belief for belief in (premise, old, again) if log.status(belief, 3) == "active"}
    assert believed == {again}


def test_only_an_explicit_reinstatement_brings_back_and_it_brings_back_what_rests_on_it():
    """The premise of a conclusion: retracted, the conclusion is out; restored, it is in again."""
    log = Log()
    premise, conclusion = log.durable(on=0), log.durable(on=0)
    item = {"belief_id": premise, "role": "essential"}
    log.tell("conclusion.derived", on=1, belief_id=conclusion, inputs=(item,))
    gone = log.retract(premise, on=2)
    log.durable(on=3)
    log.reinstate(premise, gone, on=4)
    assert [log.status(conclusion, day) for day in (1, 2, 3, 4)] == ["active", "candidate", "candidate", "active"]
    assert log.fold.lives[premise].affirmed == [stamp(4)]


POSTULATES = (
    test_success_for_what_passes_the_gate,
    test_success_is_weakened_for_candidates,
    test_success_of_contraction,
    test_inclusion,
    test_inclusion_of_expansion,
    test_vacuity,
    test_consistency_once_resolved,
    test_consistency_is_restored_by_neither,
    test_extensionality,
    test_core_retainment,
    test_relevance_of_what_is_never_named,
)


@pytest.mark.slow
@pytest.mark.parametrize("postulate", POSTULATES, ids=lambda postulate: postulate.__name__)
def test_over_thousands_of_histories(postulate):
    parameters = signature(postulate.hypothesis.inner_test).parameters
    for seed in range(20_000, 20_000 + scaled(1000)):
        r = random.Random(seed)
        more = {"which": r.randrange(100), "outcome": r.choice(("left", "right"))}
        drawn = {name: value for name, value in more.items() if name in parameters}
        postulate.hypothesis.inner_test(history(seed, r.randint(6, 30)), **drawn)
