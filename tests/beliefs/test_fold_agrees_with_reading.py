"""The fold says what the executable reading of the rules says: interval by interval, flag by flag."""

import random

import pytest
from tests.beliefs import oracle

pytestmark = oracle.needs_spec


def worlds(first, last):
    draw = oracle.spec("random_worlds").world
    return ((seed, draw(random.Random(seed))) for seed in range(first, last))


def first_difference(first, last):
    for seed, events in worlds(first, last):
        found = oracle.difference(events)
        if found:
            return f"world {seed}: {found}"
    return ""


def cases(monkeypatch):
    """The event lists of the hand-made cases: whatever they hand to the reading's fold without a misreading."""
    model = oracle.spec("lifecycle_model")
    seen = []
    original = model.fold

    def recording(events, lit=frozenset(), watch=None, **tables):
        if not lit:
            seen.append(events)
        return original(events, lit, watch, **tables)

    monkeypatch.setattr(model, "fold", recording)
    monkeypatch.delitem(__import__("sys").modules, "cases", raising=False)
    oracle.spec("cases")
    return seen


def test_hand_made_cases(monkeypatch):
    lists = cases(monkeypatch)
    assert len(lists) > 40
    for events in lists:
        assert oracle.difference(events, {}) == ""


def test_two_thousand_random_worlds():
    assert first_difference(0, 2_000) == ""


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_twenty_thousand_random_worlds(block):
    assert first_difference(2_000 * block, 2_000 * (block + 1)) == ""


def prefix_violation(events):
    """A stamp T and belief whose state at T differs without the events stamped after T; None if there is none."""
    rules = oracle.rules()
    everything = oracle.fold(oracle.facts(events), rules)
    for stamp in sorted({e.h for e in events}):
        known = oracle.fold(oracle.facts([e for e in events if e.h <= stamp]), rules)
        for belief in everything.lives.keys() | known.lives.keys():
            whole = everything.lives[belief].at(stamp) if belief in everything.lives else None
            part = known.lives[belief].at(stamp) if belief in known.lives else None
            if (whole and whole[2:]) != (part and part[2:]) or (whole and whole.since) != (part and part.since):
                return stamp, belief
    return None


def test_no_event_stamped_after_a_moment_changes_that_moment():
    assert [seed for seed, events in worlds(0, 600) if prefix_violation(events)] == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_no_event_stamped_after_a_moment_changes_it_in_twenty_thousand_worlds(block):
    assert [seed for seed, events in worlds(2_000 * block, 2_000 * (block + 1)) if prefix_violation(events)] == []
