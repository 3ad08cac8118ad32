"""The doctor: what is odd in a store, and what to do about each oddity."""

from contextlib import closing

import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import erase

from beliefbase.store import BeliefStore


@pytest.fixture
def examined(tmp_path, monkeypatch):
    def examined(events, *, code):
        with closing(open_log(tmp_path)) as log:
            log.merge(events)
        done = beliefbase(monkeypatch, "-s", tmp_path, "--json", "doctor")
        assert done.code == code, done.out + done.err
        return done.json

    return examined


def test_a_healthy_store_needs_nothing(examined):
    ann = Author()
    told = examined([ann.joined(), ann.said("one")], code=0)
    assert (told["events"], told["streams"], told["findings"]) == (2, 1, [])


def test_forks_gaps_and_parked_stamps_are_named_with_a_next_step(examined):
    ann, bob = Author("ann"), Author("bob")
    first = [ann.joined(), bob.joined()]
    twin = ann.fork()
    bob.said("never arrives")
    events = [*first, ann.said("left"), twin.said("right"), bob.said("kept aside")]
    events.append(ann.write("utterance.recorded", {"speaker": "will", "verbatim": "tomorrow"}, hlc=1 << 62))
    told = examined(events, code=1)
    assert told["parked"] == 1 and len(told["findings"]) == 3
    assert all(finding["what"] and finding["next"] for finding in told["findings"])


def test_words_that_are_missing_are_wanted(examined, tmp_path, monkeypatch):
    ann = Author()
    events = [ann.joined(), ann.said("one")]
    examined(events, code=0)
    erase(tmp_path, [events[1].id])
    done = beliefbase(monkeypatch, "-s", tmp_path, "--json", "doctor")
    assert (done.code, done.json["words_wanted"]) == (1, 1)


def test_writers_are_shown_with_how_late_and_how_far_ahead_they_are(tmp_path, monkeypatch):
    now = 1_800_000_000_000
    with BeliefStore.open(tmp_path, create=True, importing=True, wall=lambda: now) as store:
        store.writer("importer", kind="importer").record_utterance("old", speaker="will", at=now - 5_000_000)
    walls = [now]
    with BeliefStore.open(tmp_path, wall=lambda: walls[-1]) as store:
        ann = store.writer("ann")
        ann.record_utterance("one", speaker="ann")
        walls.append(now - 40_000)
        ann.record_utterance("two", speaker="ann")
    agents = {one["agent"]: one for one in beliefbase(monkeypatch, "-s", tmp_path, "--json", "doctor").json["agents"]}
    assert agents["importer"]["late_ms"] == 5_000_000
    assert (agents["ann"]["events"], agents["ann"]["writers"], agents["ann"]["skew_ms"]) == (3, 1, 40_000)
    told = beliefbase(monkeypatch, "-s", tmp_path, "doctor").out
    assert "ann (agent): 3 events of 1 writer(s)" in told


def test_an_erasure_ahead_of_the_clock_is_named(examined):
    erasure = Author().write("subject.erased", {"subject": "will"}, hlc=1 << 62)
    told = examined([erasure], code=1)
    assert any("erasure" in finding["what"] for finding in told["findings"])
