"""project, query, digest: read models for analysts."""

import csv
import io
import json

import pytest
from tests.cli.world import DURABLE, World


@pytest.fixture
def world(tmp_path, monkeypatch):
    world = World(tmp_path / "store", monkeypatch)
    with world.store(10) as store:
        writer = store.writer("planner")
        world.beliefs = [writer.extract(f'Rule {n}, says "it"', kind="rule", **DURABLE) for n in range(3)]
    return world


def test_project_tells_what_it_did_and_where_the_snapshot_is(world):
    first = world.run("project", "--json").json
    assert (first["how"], first["events"]) == ("rebuilt", 4)
    assert world.run("project", "--json").json["how"] == "unchanged"
    assert world.run("project", "--rebuild", "--json").json["how"] == "rebuilt"
    assert "snapshot" in world.run("project").out


def test_query_answers_from_the_snapshot(world):
    world.run("project")
    done = world.run("query", "SELECT count(*) AS n, min(status) AS s FROM beliefs", "--json")
    assert done.json == [{"n": 3, "s": "active"}]
    with world.store() as store:
        store.writer("late").extract("Rule 4", kind="rule", **DURABLE)
    assert world.run("--json", "query", "SELECT count(*) AS n FROM beliefs").json == [{"n": 3}]
    world.run("project")
    assert world.run("--json", "query", "SELECT count(*) AS n FROM beliefs").json == [{"n": 4}]


def test_query_prints_tables_json_and_csv(world):
    world.run("project")
    sql = "SELECT statement, confidence FROM beliefs ORDER BY statement"
    assert world.run("query", sql).out.splitlines()[0].split() == ["statement", "confidence"]
    assert len(json.loads(world.run("query", sql, "--format", "json").out)) == 3
    rows = list(csv.reader(io.StringIO(world.run("query", sql, "--format", "csv").out)))
    assert rows[:2] == [["statement", "confidence"], ['Rule 0, says "it"', str(DURABLE["confidence"])]]
    assert "(no rows)" in world.run("query", "SELECT 1 WHERE false").out


def test_query_formats_print_values_that_they_lack_in_a_way_that_can_be_read_back(world):
    world.run("project")
    numbers = "SELECT 'nan'::DOUBLE AS a, '-inf'::DOUBLE AS a, {'x': ['inf'::FLOAT, 1.5::FLOAT]} AS s"
    assert world.run("query", numbers, "--format", "json").json == [{"a": None, "a_1": None, "s": {"x": [None, 1.5]}}]
    dates = "SELECT MAP {DATE '2024-05-01': 1} AS m"
    assert world.run("query", dates, "--format", "json").json == [{"m": {"2024-05-01": 1}}]
    values = "SELECT true AS t, 'x'::BLOB AS b, {'a': 1, 'b': 'y'} AS s, [1, NULL] AS l, NULL AS n, 1 AS t"
    header, row = csv.reader(io.StringIO(world.run("query", values, "--format", "csv").out))
    assert header == ["t", "b", "s", "l", "n", "t_1"]
    assert row == ["true", "78", '{"a": 1, "b": "y"}', "[1, null]", "", "1"]
    assert world.run("query", values).out.split()[:6] == header


def test_query_says_when_it_shows_less_than_all(world):
    world.run("project")
    done = world.run("query", "SELECT * FROM beliefs", "--limit", "2", "--json")
    assert len(done.json) == 2
    assert "first 2 rows" in done.err


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("DELETE FROM beliefs", "query_refused"),
        ("SELECT 1; SELECT 2", "query_refused"),
        ("SELECT * FROM read_text('/etc/passwd')", "query_failed"),
        ("SELECT nonsense", "query_failed"),
        ("nonsense", "query_failed"),
    ],
)
def test_query_refuses_what_is_no_select_and_explains_what_fails(world, sql, error):
    world.run("project")
    done = world.run("--json", "query", sql)
    assert (done.code, json.loads(done.err)["error"]) == (2, error)


def test_query_without_a_snapshot_says_what_to_do(world):
    done = world.run("query", "SELECT 1")
    assert done.code == 3
    assert "beliefbase project" in done.err


def test_digest_is_one_line_and_the_same_for_the_same_events(world, tmp_path):
    one = world.run("digest").out.strip()
    assert len(one) == 64
    with world.store() as store, world.store(path=tmp_path / "other") as other:
        other.log.merge([stored.event for page in store.log.read() for stored in page][::-1])
        assert other.digest() == one
        store.writer("late").retract(world.beliefs[0])
    found = world.run("digest", "--json").json
    assert found["digest"] != one
    lines = world.run("digest", "--tables").out.splitlines()
    assert lines[-1] == found["digest"]
    assert {line.split("\t")[0] for line in lines[:-1]} == found["tables"].keys()
