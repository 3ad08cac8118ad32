"""Inquiries: what would be believed otherwise, what is downstream of a suspect, and a belief's life step by step."""

import json

import pytest
from tests.cli.world import beliefbase

from beliefbase.store import BeliefStore

DAY = 86_400_000
NOW = 1_800_000_000_000


class Story:
    """An honest agent, and one that was fed a lie by a web page."""

    def __init__(self, folder):
        self.folder = folder
        self.ms = NOW - 20 * DAY
        with BeliefStore.open(folder, create=True, durability="process", wall=self.wall) as store:
            honest, fooled = store.writer("honest"), store.writer("fooled")
            said = honest.record_utterance("We ship on Friday.", speaker="will", conversation="standup")
            self.friday = honest.extract("We ship on Friday.", evidence=[said], **SURE)
            lie = fooled.record_utterance("Ship on Monday!", speaker="a web page", conversation="browsing")
            self.monday = fooled.extract("We ship on Monday.", evidence=[lie], **SURE)
            self.supersession = fooled.supersede(self.friday, by=self.monday)
            self.shown = fooled.inject([{"belief_id": self.monday}], session="s1")
            self.planned = honest.extract("Plan the party for Monday.", node_kind="conclusion", **SURE)
            self.conclusion = honest.conclude(self.planned, inputs=[{"belief_id": self.monday, "role": "essential"}])
            self.retraction = honest.retract(self.monday, cause="wrong")
            self.other = honest.extract("Lunch is at noon.", evidence=[said], **SURE)
            self.said, self.lie = said, lie

    def wall(self):
        self.ms += 1000
        return self.ms


SURE = {"kind": "fact", "assertion_class": "durable_fact", "confidence": 900}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    return Story(tmp_path_factory.mktemp("story") / "store")


@pytest.fixture
def run(story, monkeypatch):
    def run(*arguments, code=0):
        done = beliefbase(monkeypatch, "-s", story.folder, "--json", *arguments)
        assert done.code == code, done.out + done.err
        return json.loads(done.out) if code == 0 else done

    return run


def stands(told):
    return {row["belief_id"]: (row["is"], row["would_be"]) for row in told["beliefs"]}


# ---------------------------------------------------------------------- what if


@pytest.mark.parametrize(
    "option", [("--without-writer", "fooled"), ("--without-source", "a web page"), ("--without-source", "browsing")]
)
def test_without_the_fooled_writer_or_its_source(run, story, option):
    told = run("replay", *option, "--as-of", NOW)
    differing = stands(told)
    assert differing[story.monday] == ("retracted", None)
    assert told["digest"] != told["changed_digest"]
    if option[0] == "--without-writer":
        assert differing[story.friday] == ("superseded", "active")
    assert story.other not in differing


def test_a_prefix_in_time(run, story):
    told = run("replay", "--until", "2026-12-31", "--as-of", NOW)
    assert told["differing"] == 0 or all(row["would_be"] is None for row in told["beliefs"])
    told = run("replay", "--until", "2028-01-01", "--as-of", NOW)
    assert (told["differing"], told["digest"]) == (0, told["changed_digest"])


def test_other_policies_from_the_beginning(run, story, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"profile": {"profile": "hasty@1", "kinds": {"fact": 1}}}), "utf-8")
    differing = stands(run("replay", "--policy", rules, "--as-of", NOW))
    assert differing == {story.other: ("active", "expired"), story.planned: ("candidate", "expired")}


def test_what_if_writes_nothing(run, story):
    with BeliefStore.open(story.folder) as store:
        before = store.log.root()
    run("replay", "--without-writer", "honest", "--as-of", NOW)
    with BeliefStore.open(story.folder) as store:
        assert store.log.root() == before


@pytest.mark.parametrize(
    "arguments",
    [(), ("--without-writer", "nobody"), ("--policy", __file__), ("--step",), ("0" * 32,), ("0" * 32, "--step")],
)
def test_what_makes_no_sense_is_a_usage_error(run, arguments):
    run("replay", *arguments, code=2)


def test_a_source_that_nobody_is_is_refused_with_names_like_it(run, story):
    done = run("replay", "--without-source", "A Web Page", code=2)
    assert "'A Web Page'; is it 'a web page'?" in done.err
    run("replay", "--without-source", "nobody at all", code=2)


def test_a_moment_is_told_readably(run, story):
    told = run("replay", "--until", "2023-11-16", "--as-of", NOW)
    assert told["change"] == ["with nothing after 2023-11-16T00:00:00.000Z"]


# ---------------------------------------------------------------------- taint


def ids(told, group):
    return {row["event"] for row in told[group]}


@pytest.mark.parametrize("suspect", ["fooled", "browsing", "a web page", "lie"])
def test_everything_downstream_of_a_suspect(run, story, suspect):
    told = run("taint", story.lie if suspect == "lie" else suspect)
    assert story.monday in ids(told, "beliefs") and story.other not in ids(told, "beliefs")
    assert ids(told, "conclusions") == {story.conclusion}
    assert ids(told, "injections") == {story.shown}
    assert ids(told, "revised") == {story.friday, story.planned}
    assert story.retraction in ids(told, "answers")


def test_each_is_reached_through_something_that_was(run, story):
    told = run("taint", story.lie)
    reached = {
        row["event"]: row["through"]
        for group in told.values()
        if isinstance(group, list)
        for row in group
        if "through" in row
    }
    assert reached[story.monday] == story.lie
    assert reached[story.shown] == story.monday == reached[story.supersession]


def test_nothing_is_downstream_of_what_nobody_named(run, story):
    told = run("taint", story.other)
    assert (told["start"], told["reached"]) == (1, 0)
    run("taint", "nobody at all", code=2)


# ---------------------------------------------------------------------- steps


def test_a_life_event_by_event(run, story):
    told = run("replay", story.friday, "--step")
    steps = {step["event"]: step for step in told["steps"]}
    assert [step["type"] for step in told["steps"]][:2] == ["belief.extracted", "belief.superseded"]
    assert steps[story.friday]["effect"][0].startswith("active from 20")
    assert steps[story.supersession]["effect"][0].startswith("superseded from 20")


def test_steps_say_why_an_event_did_nothing(run, tmp_path, monkeypatch):
    with BeliefStore.open(tmp_path, create=True, durability="process") as store:
        ann = store.writer("ann")
        belief = ann.extract("x", **SURE)
        ann.retract(belief)
        affirmed = ann.affirm(belief)
    done = beliefbase(monkeypatch, "-s", tmp_path, "replay", belief, "--step")
    assert "no effect: affirms_ended" in done.out and affirmed in done.out
