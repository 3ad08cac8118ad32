"""The doctor: what is odd in a store, and what to do about each oddity."""

from contextlib import closing

import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import erase


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
