"""``beliefbase forget``: the words are gone from every file, the facts stay, and the audit is green."""

import json
from datetime import UTC, datetime

import pytest
from tests.cli.world import World

from beliefbase.events.errors import InvalidEvent
from beliefbase.projections.errors import ProjectorBusy
from beliefbase.store import BeliefStore

CANARY = "The kingfisher waits under the third bridge. "
FRAGMENT = b"kingfisher waits"
QUERY = "SELECT belief_id, status, statement FROM beliefs"


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path / "store", monkeypatch)


def holding(folder):
    """Files that hold the text."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return [str(file.relative_to(folder)) for file in files if FRAGMENT in file.read_bytes()]


def fill(store):
    """A belief from will's words, one from both people's, one that quotes the first, and one of zoe's alone."""
    agent = store.writer("planner")
    by_will = agent.record_utterance(CANARY * 50, speaker="will", conversation="c1")
    by_zoe = agent.record_utterance("Trains are late on Mondays.", speaker="zoe", conversation="c1")
    sure = {"kind": "fact", "assertion_class": "durable_fact", "confidence": 900}
    alone = agent.extract(CANARY, evidence=[by_will], **sure)
    both = agent.extract(f"{CANARY} And trains are late.", evidence=[by_will, by_zoe], **sure)
    zoes = agent.extract("Trains are late on Mondays.", evidence=[by_zoe], **sure)
    agent.affirm(alone, how="review")
    agent.affirm(alone, how="confirmation", reason=f"because {CANARY}")
    agent.inject([alone, zoes], conversation="c1", rendered=f"<card>{CANARY}</card>")
    agent.supersede(alone, by=zoes, reason=f"not {CANARY}")
    return alone, both, zoes


def test_no_file_of_the_store_holds_the_text_and_the_audit_is_green(world):
    with world.store(ago=10) as store:
        alone, both, zoes = fill(store)
        store.project()
    with world.store(ago=9) as store:  # a second snapshot beside the first
        store.writer("planner").affirm(zoes)
        store.project()
        pin, _ = store.pin()
    leftover = world.path / "read" / "audit-cut-short"
    leftover.mkdir()
    (leftover / "work.duckdb").write_bytes(FRAGMENT)
    (world.path / "recall.db").write_bytes(FRAGMENT)
    assert len(holding(world.path)) >= 5
    pin.write(world.path.parent / "pin.json")
    certificate = world.path.parent / "certificate.json"
    told = world.ok("forget", "will", "--as", "mara", "--yes", "--json", "--out", certificate).json
    assert holding(world.path.parent) == []
    assert told == json.loads(certificate.read_text())
    assert told["words"] == 6  # one of the affirmations has no words
    assert told["events"] == {
        "belief.affirmed": 2,
        "belief.extracted": 2,
        "belief.superseded": 1,
        "memory.injected": 1,
        "utterance.recorded": 1,
    }
    assert told["digest_before"] == pin.digest
    assert told["digest_after"] != pin.digest
    audited = world.run("audit", "--pin", world.path.parent / "pin.json", "--shuffles", 1)
    assert audited.code == 0, audited.out
    rows = {row["belief_id"]: row for row in world.ok("--json", "query", QUERY).json}
    assert [rows[key]["status"] for key in (alone, both, zoes)] == ["superseded", "erased", "active"]
    assert rows[zoes]["statement"] == "Trains are late on Mondays."
    assert rows[alone]["statement"] is rows[both]["statement"] is None
    why = world.run("explain", both)
    assert why.code == 0
    assert "erased" in why.out


def test_curves_and_answers_up_to_the_erasure_are_unchanged(world):
    with world.store(ago=10) as store:
        _, both, _ = fill(store)
    then = datetime.fromtimestamp(world.ms(5) / 1000, UTC).isoformat()
    asked = ("curves", "--as-of", then, "--json")
    before = world.run(*asked), world.run("active", "--as-of", then, "--json").json
    assert before[0].code == 0, before[0].err
    world.run("forget", "will", "--as", "mara", "--yes")
    after = world.run(*asked), world.run("active", "--as-of", then, "--json").json
    assert after[0].json == before[0].json
    assert [row["belief_id"] for row in after[1]] == [row["belief_id"] for row in before[1]]
    assert both in {row["belief_id"] for row in after[1]}
    assert both not in {row["belief_id"] for row in world.run("active", "--json").json}


def test_what_comes_later_and_names_erased_words_loses_its_own(world):
    with world.store(ago=1) as store:
        alone, *_ = fill(store)
        store.project()
    world.run("forget", "will", "--as", "mara", "--yes")
    with BeliefStore.open(world.path) as store:
        agent = store.writer("planner")
        late = agent.affirm(alone, reason=CANARY)
        quote = agent.extract(CANARY, kind="fact", evidence=[alone])
        again = agent.record_utterance("Said anew.", speaker="will")
        store.project()
        assert store.log.get(bytes.fromhex(late)).body is None
        assert store.log.get(bytes.fromhex(again)).body is not None
        assert store.belief(quote)["status"] == "erased"
        assert store.audit().exit_code == 0
    assert holding(world.path) == []


def test_it_asks_on_a_terminal_only_and_needs_yes_elsewhere(world):
    with world.store(ago=1) as store:
        fill(store)
    refused = world.run("forget", "will", "--as", "mara")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert "utterance.recorded" in refused.err
    assert holding(world.path) != []
    nobody = world.run("forget", "will", "--yes")
    assert nobody.code == 2


def test_only_an_owner_erases(world):
    with world.store() as store:
        fill(store)
        with pytest.raises(InvalidEvent, match="only an owner"):
            store.writer("planner").append("subject.erased", {"subject": "will"})
        assert store.log.of_types(["subject.erased"]) == []


def test_nothing_is_erased_while_another_process_projects(world):
    with world.store() as store:
        fill(store)
        with store.projector(), BeliefStore.open(world.path) as other:
            from beliefbase.erasing import forget

            with pytest.raises(ProjectorBusy):
                forget(other, "will", owner="mara")
        assert store.log.of_types(["subject.erased"]) == []


def test_whom_nobody_heard_can_be_forgotten_in_advance(world):
    with world.store() as store:
        fill(store)
    told = world.run("forget", "nobody", "--as", "mara", "--yes", "--json").json
    assert (told["words"], told["events"]) == (0, {})
    assert holding(world.path) != []
    assert world.run("audit").code == 0
