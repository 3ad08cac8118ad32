"""log, show, active: what was appended, and what is believed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.cli.world import DAY, DURABLE, World


@pytest.fixture
def world(tmp_path, monkeypatch):
    world = World(tmp_path / "store", monkeypatch)
    with world.store(10) as store:
        planner = store.writer("planner")
        world.said = planner.record_utterance("It rains.", speaker="Will")
        world.belief = planner.extract("It rains in Ghent", kind="fact", evidence=[world.said], **DURABLE)
        world.candidate = planner.extract("It will snow", kind="fact", speech_act="aspiration")
    with world.store(5) as store:
        world.writer = store.writer("reader")
        world.retraction = world.writer.retract(world.belief, reason="it was dew")
    return world


def rows(world, *options):
    return world.run("log", "--json", *options).lines


class TestLog:
    def test_is_every_event_in_order_of_arrival_with_its_words(self, world):
        found = rows(world)
        assert [row["type"] for row in found] == [
            "writer.joined",
            "utterance.recorded",
            "belief.extracted",
            "belief.extracted",
            "writer.joined",
            "belief.retracted",
        ]
        assert [row["position"] for row in found] == list(range(1, 7))
        assert found[2]["words"] == {"statement": "It rains in Ghent"}
        assert found[2]["payload"]["evidence"] == [world.said]
        assert {row["agent"] for row in found[:4]} == {"planner"}

    def test_is_readable_without_json(self, world):
        lines = world.run("log").out.splitlines()
        assert len(lines) == 6
        assert "planner" in lines[1]
        assert "It rains." in lines[1]
        assert world.retraction in lines[5]

    @pytest.mark.parametrize(
        ("options", "count"),
        [
            (["--type", "belief.extracted"], 2),
            (["--type", "belief.extracted", "--type", "belief.retracted"], 3),
            (["--type", "belief.dreamt"], 0),
            (["--writer", "reader"], 2),
            (["--writer", "reader", "--writer", "planner"], 6),
            (["--writer", "read"], 0),
            (["--writer", "reader", "--type", "belief.retracted"], 1),
            (["--limit", "3"], 3),
        ],
    )
    def test_is_filtered(self, world, options, count):
        assert len(rows(world, *options)) == count

    def test_a_writer_is_meant_by_the_first_digits_of_its_id_too(self, world):
        assert len(rows(world, "--writer", world.writer.id[:8])) == 2
        assert rows(world, "--writer", world.writer.id[:3]) == []

    def test_is_cut_by_time(self, world):
        day = f"{world.ms(7)}"
        assert [row["type"] for row in rows(world, "--since", day)] == ["writer.joined", "belief.retracted"]
        assert len(rows(world, "--until", day)) == 4
        assert rows(world, "--since", day, "--until", f"{world.ms(6)}") == []
        assert world.run("log", "--since", "yesterday").code == 2

    def test_follow_goes_on_with_what_comes(self, world):
        command = [sys.executable, "-c", "from beliefbase.cli import main; main()"]
        with subprocess.Popen(
            [*command, "-s", str(world.path), "log", "--json", "--follow"], stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                seen = [json.loads(process.stdout.readline()) for _ in range(6)]
                with world.store() as store:
                    store.writer("late").retract(world.candidate)
                seen += [json.loads(process.stdout.readline()) for _ in range(2)]
            finally:
                process.send_signal(signal.SIGINT)
        assert [row["agent"] for row in seen[-2:]] == ["late", "late"]
        assert seen[-1]["type"] == "belief.retracted"


class TestShow:
    def test_a_belief_with_what_became_of_it(self, world):
        found = world.run("show", "--json", world.belief).json
        assert (found["type"], found["agent"], found["seq"]) == ("belief.extracted", "planner", 3)
        assert (found["belief"]["status"], found["belief"]["ended_by"]) == ("retracted", world.retraction)
        assert [interval["status"] for interval in found["intervals"]] == ["active", "retracted"]
        assert "row_key" not in found["intervals"][0]

    def test_any_other_event(self, world):
        found = world.run("show", "--json", world.retraction).json
        assert (found["payload"]["belief_id"], found["words"]["reason"]) == (world.belief, "it was dew")
        assert "belief" not in found
        assert world.run("show", world.said).out.startswith(f"id: {world.said}")

    def test_an_id_that_is_none_or_unknown_is_an_error(self, world):
        for key, error in (("nonsense", "invalid_event"), ("0" * 32, "unknown_id")):
            done = world.run("--json", "show", key)
            assert (done.code, json.loads(done.err)["error"]) == (2, error)


class TestActive:
    def believed(self, world, *options):
        return {row["belief_id"] for row in world.run("active", "--json", *options).json}

    def test_now_and_at_an_earlier_moment(self, world):
        assert self.believed(world) == set()
        assert self.believed(world, "--as-of", f"{world.ms(6)}") == {world.belief}
        assert self.believed(world, "--as-of", f"{world.ms(11)}") == set()

    def test_candidates_only_on_demand(self, world):
        assert self.believed(world, "--candidates") == {world.candidate}

    def test_is_a_table_for_people(self, world):
        out = world.run("active", "--as-of", f"{world.ms(6)}").out
        assert "It rains in Ghent" in out
        assert out.splitlines()[0].split()[:2] == ["belief_id", "status"]
        assert "no active beliefs" in world.run("active").out

    def test_an_impossible_moment_is_bad_input(self, world):
        assert world.run("active", "--as-of", "soon").code == 2
        assert world.run("active", "--as-of", "9999-01-01").code == 2


def test_a_date_is_its_first_instant_whatever_the_machines_zone(world, monkeypatch):
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        first = world.run("log", "--json", "--until", "2001-01-01").lines
        at = rows(world)[0]["at_ms"] // DAY * DAY
        text = time.strftime("%Y-%m-%d", time.gmtime(at / 1000))
        assert (first, len(rows(world, "--since", text))) == ([], 6)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert os.environ.get("TZ") != "Pacific/Auckland"
