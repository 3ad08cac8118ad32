"""``why`` says where a claim stands among revisions."""

import pytest
from tests.cli.world import DURABLE, World


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path / "store", monkeypatch)


@pytest.fixture
def writer(world):
    with world.store(5) as store:
        yield store.writer("planner")


def epistemic(world, belief):
    told = world.ok("--json", "why", belief).json["epistemic"]
    assert f"epistemic status: {told}" in world.ok("why", belief).out
    return told


def test_a_claim_is_coherent_with_known_evidence_and_speculative_without(world, writer):
    said = writer.record_utterance("Tea is at four", speaker="Mara")
    fields = {"kind": "fact", "speech_act": "directive", **DURABLE}
    known = writer.extract("Tea is at four", evidence=[said], **fields)
    dangling = writer.extract("Tea is at five", evidence=["ab" * 16], **fields)
    candidate = writer.extract("Tea is at six", kind="fact", evidence=[said])

    assert [epistemic(world, belief) for belief in (known, dangling, candidate)] == [
        "coherent",
        "speculative",
        "speculative",
    ]


def test_a_claim_called_wrong_is_falsified_and_one_withdrawn_only_ended(world, writer):
    said = writer.record_utterance("Tea is at four", speaker="Mara")
    wrong, withdrawn = (writer.extract(text, kind="fact", evidence=[said]) for text in ("At four", "At five"))
    writer.retract(wrong, cause="wrong")
    writer.retract(withdrawn)

    assert [epistemic(world, belief) for belief in (wrong, withdrawn)] == ["falsified", "ended"]
