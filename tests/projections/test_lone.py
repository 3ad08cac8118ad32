"""Lives of lone beliefs: without a fold of each they are what the fold gives."""

import random

import numpy as np
import pytest
from tests.events.build import Author
from tests.projections.test_contract import contents
from tests.projections.worlds import AS_OF_MS, open_log

from beliefbase.beliefs import lone
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.lone import FOLDED, Courses
from beliefbase.beliefs.policies import BUILT_IN
from beliefbase.beliefs.reasons import Reason
from beliefbase.beliefs.rules import KIND_HALF_LIVES, MOST_CONSERVATIVE_FIRST, TIMELESS_KINDS
from beliefbase.events.hlc import MAX_HLC
from beliefbase.projections.columns import octets
from beliefbase.projections.intervals import PROJECTION as INTERVALS
from beliefbase.projections.partition import Sets
from beliefbase.projections.projector import Projector
from beliefbase.projections.spells import PROJECTION as SPELLS
from beliefbase.projections.stretches import Stretches

VALUES = {
    "kind": (*KIND_HALF_LIVES, *TIMELESS_KINDS, "some_other", None),
    "node_kind": ("belief", "conclusion", *TIMELESS_KINDS, None, None, None),
    "speech_act": (*MOST_CONSERVATIVE_FIRST, "question", None),
    "speech_act_confidence": (0, 599, 600, 601, 1000, None),
    "confidence": (0, 849, 850, 851, 1000, None),
    "assertion_class": ("durable_fact", "durable_fact", "hypothesis", None),
    "assertion_type": ("quoted", None),
    "voice": ("self", "authority", None),
    "policy": (*BUILT_IN, *(name.partition("@")[0] for name in BUILT_IN), "unheard_of@1", *[None] * 12),
    "condition_key": (b"k" * 16, None),
    "session": (b"s" * 16, None),
    "evidence": ((), (b"e" * 16,)),
}
STAMPS = (0, 1, 0xFFFF, 1_750_000_000_000 << 16, MAX_HLC >> 1, MAX_HLC - (200 * 86_400_000 << 16), MAX_HLC)


def extraction(dice, number):
    drawn = {name: dice.choice(values) for name, values in VALUES.items()}
    payload = {name: value for name, value in drawn.items() if value is not None}
    hlc = min(MAX_HLC, dice.choice(STAMPS) + dice.choice((0, dice.randrange(1 << 40))))
    belief = number.to_bytes(16, "big")
    return Fact(hlc, b"w" * 16, number, belief, "belief.extracted", payload, (), None, b"a" * 16)


@pytest.mark.parametrize("seed", range(4))
def test_they_live_as_the_fold_says_whatever_their_attributes_and_stamps_are(monkeypatch, seed):
    monkeypatch.setattr(lone, "_MOST", 1_000_000)
    dice = random.Random(seed)
    facts = [extraction(dice, number) for number in range(1, 3001)]
    folded = fold(facts)
    remarkable = {note.event for note in folded.notes}
    assert {note.reason for note in folded.notes} == {Reason.QUESTION, Reason.UNKNOWN_POLICY}
    courses, told, numbers, saturated = Courses(), [], [], 0
    for fact in facts:
        number = courses.number(fact.payload)
        assert (number == FOLDED) == (fact.id in remarkable)
        if number != FOLDED:
            if fact.hlc <= courses.found[number].latest:
                told.append(fact)
                numbers.append(number)
            else:
                saturated += 1
    assert saturated and len(set(numbers)) > 10
    along = Stretches.along(
        octets([fact.id for fact in told], 16),
        np.array([fact.hlc for fact in told]),
        courses.found,
        np.array(numbers),
    )
    of = Stretches.of([folded.lives[fact.id] for fact in told])
    for projection in (INTERVALS, SPELLS):
        for table, columns in projection.of_lives(of).items():
            for name, values in projection.of_lives(along)[table].items():
                assert list(values) == list(columns[name]), (table, name)


def test_of_too_many_sorts_the_rest_is_folded(monkeypatch):
    monkeypatch.setattr(lone, "_MOST", 2)
    courses = Courses()
    assert [courses.number({"kind": kind}) for kind in ("a", "b", "c", "b", "a")] == [0, 1, FOLDED, 1, 0]


@pytest.mark.parametrize("least", [1, 200])
@pytest.mark.parametrize("chunk", [3, 10_000])
def test_a_rebuild_gives_what_it_gives_where_every_belief_is_folded(tmp_path, monkeypatch, least, chunk):
    monkeypatch.setattr("beliefbase.projections.partition.CHUNK", chunk)
    monkeypatch.setattr("beliefbase.events.catalog.lockstep.LEAST", least)
    dice, author = random.Random(7), Author("ann")
    events = [author.joined(), said := author.said("will said so", subjects=["will"])]
    fields = (
        {"kind": "rule", "speech_act": "directive", "assertion_class": "durable_fact", "confidence": 900},
        {"kind": "note", "speech_act": "humor_or_irony"},
        {"kind": "goal"},
        {"policy": "unheard_of@1"},
        {"source_ref": "key:one"},
        {"evidence": [said.id]},
    )
    events += [author.extracted(f"belief {number}", **dice.choice(fields)) for number in range(60)]
    question = {"evidence": (), "kind": "note", "speech_act": "question"}
    events.append(author.write("belief.extracted", {}, payload=question))
    beliefs = [event.id for event in events[2:]]
    events += [author.retracted(dice.choice(beliefs)) for _ in range(5)]
    events.append(author.write("subject.erased", {"subject": "will"}))
    log = open_log(tmp_path, events)
    found = []
    for name, folds in (("straight", Sets.is_lone), ("folded", lambda _sets, _number: False)):
        monkeypatch.setattr(Sets, "is_lone", folds)
        with Projector(log, tmp_path / name) as projector:
            projector.rebuild(AS_OF_MS)
            found.append((contents(projector), projector.digest()))
            statuses = {status for (status,) in projector.rows("SELECT DISTINCT status FROM belief_intervals")}
            assert statuses >= {"active", "candidate", "expired", "retracted", "erased"}
    log.close()
    assert found[0] == found[1]
