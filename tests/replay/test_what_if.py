"""What would be believed under other policies: another fold of the same log, and nothing written."""

import json
from contextlib import closing

import pytest
from tests.events.build import START_MS, Author
from tests.projections.worlds import World, open_log

from beliefbase.events.hlc import MAX_COUNTER, stamp
from beliefbase.replay.alternative import InvalidAlternative, read_alternative
from beliefbase.replay.rebuild import replayed
from beliefbase.replay.what_if import Change, WhatIf

DAY = 86_400_000
ACTIVE = {"assertion_class": "durable_fact", "confidence": 900}


@pytest.fixture
def alternative(tmp_path):
    def write(**parts):
        path = tmp_path / "alternative.json"
        path.write_text(json.dumps(parts), encoding="utf-8")
        return read_alternative(path)

    return write


@pytest.fixture
def notes(tmp_path):
    """A note (90 days), a directive that names no decay, and one that names none."""
    ann = Author()
    kinds = ({"kind": "note"}, {"kind": "rule", "policy": "amendable_persistent"}, {"kind": "rule"})
    events = [ann.joined(), *(ann.extracted(**{**ACTIVE, **fields}) for fields in kinds)]
    log = open_log(tmp_path / "store", events)
    yield log, [event.id.hex() for event in events[1:]]
    log.close()


def differences(log, other, *, as_of_ms):
    return WhatIf(log, Change(other=other)).differences(as_of_ms=as_of_ms)


def told(found):
    return {one.belief_id: (one.before.status, one.before.stale, one.after.status, one.after.stale) for one in found}


def test_an_assigned_policy_changes_beliefs_that_name_none(notes, alternative):
    log, (note, _, _) = notes
    other = alternative(assign=[{"kind": "note", "speech_act": "direct_assertion", "policy": "amendable_persistent"}])
    found = differences(log, other, as_of_ms=START_MS + 200 * DAY)
    assert told(found) == {note: ("expired", False, "active", False)}


def test_a_policy_of_the_file_can_be_assigned(notes, alternative):
    log, (_, _, rule) = notes
    other = alternative(
        policies=[{"policy": "short@1", "base": "half_life", "half_life_days": 10}],
        assign=[{"kind": "rule", "speech_act": "direct_assertion", "policy": "short@1"}],
    )
    assert told(differences(log, other, as_of_ms=START_MS + 15 * DAY)) == {rule: ("active", False, "active", True)}
    assert told(differences(log, other, as_of_ms=START_MS + 30 * DAY)) == {rule: ("active", False, "expired", False)}


def test_a_profile_takes_the_place_of_those_in_the_log(notes, alternative):
    log, (note, _, rule) = notes
    late = Author("bob", ms=START_MS + DAY)
    log.append([late.joined("bob"), late.write("profile.activated", {"profile": "mine@1", "kinds": {"note": 1}})])
    other = alternative(profile={"profile": "theirs@1", "kinds": {"rule": 1, "note": 1000}})
    assert told(differences(log, other, as_of_ms=START_MS + 100 * DAY)) == {
        note: ("active", True, "active", False),
        rule: ("active", False, "expired", False),
    }


def test_the_same_rules_give_no_difference_and_nothing_is_written(tmp_path, alternative):
    log = open_log(tmp_path / "world", World(1, 300).events)
    root = log.root()
    assert differences(log, alternative(assign=[]), as_of_ms=START_MS + 30 * DAY) == []
    assert log.root() == root
    log.close()


def test_what_the_log_defined_first_yields_to_the_file(tmp_path, alternative):
    ann = Author()
    belief = [
        ann.joined(),
        ann.write("policy.defined", {"policy": "team@1", "base": "half_life", "half_life_days": 1}),
        ann.extracted(**ACTIVE, policy="team@1"),
    ]
    log = open_log(tmp_path / "store", belief)
    other = alternative(policies=[{"policy": "team@1", "base": "half_life", "half_life_days": 500}])
    found = differences(log, other, as_of_ms=START_MS + 30 * DAY)
    log.close()
    assert told(found) == {belief[2].id.hex(): ("expired", False, "active", False)}


@pytest.mark.parametrize("seed", range(4))
def test_the_difference_is_that_between_two_rebuilds(tmp_path, seed):
    at, events = START_MS + 20 * DAY, World(seed, 250).events
    entity = {event.id.hex(): event.skeleton.source_ref or event.id for event in events}
    with closing(open_log(tmp_path, events)) as log:
        for change in (
            Change(without_writers=["ann"]),
            Change(without_sources=["bob"]),
            Change(until_ms=START_MS + 60),
        ):
            what_if = WhatIf(log, change)
            before, after = (standings(part, tmp_path, at, entity) for part in (log, what_if._changed))
            found = {
                entity[one.belief_id]: (standing(one.before), standing(one.after))
                for one in what_if.differences(as_of_ms=at)
            }
            assert found == {
                key: (before.get(key), after.get(key)) for key in before | after if before.get(key) != after.get(key)
            }


def standing(interval):
    return None if interval is None else (interval.status, interval.stale, interval.contested, interval.forked)


def standings(log, folder, at, entity):
    sql = "SELECT belief_id, status, stale, contested, forked FROM work.belief_intervals"
    with replayed(log, folder, as_of_ms=at, progress=lambda _what, _done: None) as fresh:
        rows = fresh.rows(f"{sql} WHERE since_hlc <= $1 AND $1 < until_hlc", [stamp(at, MAX_COUNTER)])
    return {entity[belief]: tuple(rest) for belief, *rest in rows}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"polices": []}',
        '{"policies": {}}',
        '{"policies": [{"policy": "x@1"}]}',
        '{"policies": [3]}',
        '{"profile": {"profile": "x@1", "kinds": {"note": "soon"}}}',
        '{"assign": [{"kind": "note"}]}',
        '{"assign": [{"kind": "note", "speech_act": "observation", "policy": "unheard_of"}]}',
    ],
)
def test_a_file_that_is_no_alternative_is_refused(tmp_path, text):
    path = tmp_path / "alternative.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidAlternative) as caught:
        read_alternative(path)
    assert "policies suggest" in caught.value.hint or caught.value.hint


@pytest.mark.parametrize(
    "field, value, known",
    [("kind", "zzz", "work_product"), ("speech_act", "zzz", "directive"), ("speech_act", "question", "directive")],
)
def test_an_assignment_that_no_belief_can_have_is_refused_with_those_that_are(alternative, field, value, known):
    one = {"kind": "note", "speech_act": "observation", "policy": "amendable_persistent", field: value}
    with pytest.raises(InvalidAlternative, match=f"{field} '{value}'; there are: .*{known}"):
        alternative(assign=[one])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidAlternative):
        read_alternative(tmp_path / "nothing.json")
