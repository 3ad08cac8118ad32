"""The demo tells its story and proves it."""

from tests.cli.world import beliefbase


def test_its_digests_are_equal_and_its_audit_is_green(monkeypatch):
    done = beliefbase(monkeypatch, "demo", "--json")
    told = done.json
    assert done.code == 0
    assert told["digest"] == told["rebuilt"] == told["in_order"]
    assert (told["audit"]["exit"], len(told["digest"])) == (0, 64)
    rule = {"statement": "Raw transcripts are always kept", "status": "active"}
    assert all(rule in believed for believed in told["before"].values())
    assert not any(rule in believed for believed in told["after"].values())


def test_it_is_a_story_for_people(monkeypatch):
    out = beliefbase(monkeypatch, "demo").out
    assert "roughly 75% hobby" in out
    assert "All digests are equal." in out
