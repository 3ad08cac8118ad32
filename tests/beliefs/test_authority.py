"""How much a conclusion's inputs carry (docs/adr/0011-conclusion-authority.md)."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefbase.beliefs.authority import Input, authority, weight

CONTEXTS = ("same_context", "adjacent_context", "cross_context", "unknown", None)
inputs = st.builds(
    Input,
    essential=st.booleans(),
    confidence=st.integers(0, 1000),
    live=st.booleans(),
    applicability=st.sampled_from(CONTEXTS),
)


def essential(confidence, *, live=True, applicability="cross_context"):
    return Input(True, confidence, live, applicability)


def supporting(confidence, *, live=True, applicability="same_context"):
    return Input(False, confidence, live, applicability)


@pytest.mark.parametrize(
    ("given_inputs", "carried"),
    [
        ([], 0),
        ([essential(900)], 900),
        ([essential(900), essential(700)], 700),
        ([supporting(800)], 800),
        ([supporting(800, applicability="cross_context"), supporting(500)], 680),
        ([essential(800), supporting(1000)], 850),
        ([essential(800), supporting(1000, applicability="adjacent_context")], 846),
        ([essential(800), supporting(1000, applicability=None)], 842),
        ([essential(800), supporting(1000), supporting(1000)], 850),
        ([essential(800, live=False), supporting(1000)], 0),
        ([essential(800), supporting(1000, live=False)], 800),
        ([essential(0), supporting(1000)], 0),
    ],
)
def test_what_inputs_carry(given_inputs, carried):
    assert authority(given_inputs) == carried


@given(st.lists(inputs, max_size=5))
def test_the_order_of_inputs_does_not_matter_and_the_result_is_per_mille(given_inputs):
    results = {authority(ordered) for ordered in permutations(given_inputs)}
    assert len(results) == 1
    assert 0 <= results.pop() <= 1000


@given(st.integers(0, 1000), st.sampled_from(CONTEXTS))
def test_an_essential_input_never_decays(confidence, applicability):
    assert weight(essential(confidence, applicability=applicability)) == confidence


@given(st.lists(inputs, max_size=5), st.integers(0, 1000))
def test_support_never_weakens_a_conclusion(given_inputs, confidence):
    assert authority([*given_inputs, supporting(confidence)]) >= authority(given_inputs)


@given(st.integers(1, 1000), st.lists(inputs.map(lambda item: item._replace(essential=False)), max_size=5))
def test_support_closes_at_most_a_quarter_of_what_is_missing(confidence, support):
    carried = authority([essential(confidence), *support])
    assert confidence <= carried <= confidence + (1000 - confidence) // 4
