"""The doctor: what is odd in a store, and what to do about each oddity."""

from contextlib import closing

import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import erase

from beliefbase.beliefs.rules import RULES_VERSION
from beliefbase.doctor import examine, network_file_system
from beliefbase.events.hlc import wall_ms
from beliefbase.events.index import INDEX_VERSION
from beliefbase.events.restarts import boot_id
from beliefbase.events.sqlite import SQLiteLog
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


def test_a_fork_is_one_finding_however_long_its_branches_are(examined):
    ann = Author("ann")
    first = [ann.joined(), ann.said("before")]
    twin = ann.fork()
    told = examined([*first, *ann.utterances(30), *twin.utterances(25)], code=1)
    (finding,) = told["findings"]
    assert ann.writer.hex() in finding["what"]
    assert "(ann)" in finding["what"]
    assert "25 seqs from 3 to 27" in finding["what"]
    assert "cloned" in finding["next"] and "sync" in finding["next"]


def test_of_many_findings_of_a_kind_the_first_are_shown_and_the_rest_counted(examined):
    waiting = []
    for number in range(25):
        author = Author(f"{number}")
        author.joined()
        waiting.append(author.said())
    told = examined([Author("ann").joined(), *waiting], code=1)
    assert len(told["findings"]) == 21
    assert told["findings"][-1]["what"] == "and 5 more events that are kept aside"


def test_sizes_settings_and_erased_words_are_told(tmp_path, monkeypatch):
    with BeliefStore.open(tmp_path, create=True) as store:
        owner = store.writer("mara", role="owner")
        owner.append("profile.activated", {"profile": "quick@1"})
        owner.append("profile.activated", {"profile": "slow@2"})
        owner.record_utterance("x" * 5000, speaker="will")
        store.project()
        owner.append("subject.erased", {"subject": "will"})
        identity = store.log.store_id().hex()
    told = beliefbase(monkeypatch, "-s", tmp_path, "--json", "doctor").json
    assert told["settings"] == {
        "store_id": identity,
        "max_drift_ms": 60_000,
        "profile": "slow@2",
        "event_format": 1,
        "index_version": INDEX_VERSION,
        "rules": RULES_VERSION,
        "keys": None,
        "restart_noticed": None,
    }
    assert (told["erasures"], told["words_erased"], told["words_wanted"]) == (1, 1, 0)
    assert told["log_bytes"] > 50_000
    assert told["read_model_bytes"] > 100_000
    text = beliefbase(monkeypatch, "-s", tmp_path, "doctor").out
    assert "words erased: 1" in text
    assert "profile: slow@2" in text


@pytest.mark.skipif(not boot_id(), reason="this system doesn't name its runs")
def test_a_restart_that_may_have_taken_events_is_told_for_a_week(tmp_path, monkeypatch):
    BeliefStore.open(tmp_path, create=True).close()
    log = SQLiteLog(tmp_path / "log.db", durability="process", boot=lambda: "before")
    log.append([Author().joined()])
    log.close()
    now = wall_ms()
    with BeliefStore.open(tmp_path, wall=lambda: now) as store:  # in this run of the machine
        (finding,) = examine(store).findings
        assert "1 were left" in finding["what"]
        assert "sync" in finding["next"]
    with BeliefStore.open(tmp_path, wall=lambda: now + 8 * 86_400_000) as store:
        found = examine(store)
        assert found.findings == []
        assert found.facts["settings"]["restart_noticed"] is not None


def test_a_network_file_system_is_named(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"/dev/sda / ext4 rw 0 0\nserver:/x {tmp_path}/far\\040away nfs4 rw 0 0\ntmpfs {tmp_path}/near tmpfs rw 0 0\n"
    )
    assert network_file_system(tmp_path / "far away" / "store", mounts) == "nfs4"
    assert network_file_system(tmp_path / "near" / "store", mounts) is None
    assert network_file_system(tmp_path / "far", mounts) is None
    assert network_file_system(tmp_path, tmp_path / "no such file") is None


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
