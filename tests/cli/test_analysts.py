"""What analysts ask on the command line: curves, advice, differences, reports, exports."""

import csv
import io
import json
import subprocess
import sys

import lifelines
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.world import DAY, DURABLE, World

from beliefbase.projections.advice import SENTENCES
from beliefbase.projections.query import query
from beliefbase.store import BeliefStore


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """Sixty rules of which thirty were superseded one after the other, and offhand remarks that expired."""
    patch = pytest.MonkeyPatch()
    world = World(tmp_path_factory.mktemp("analysts") / "store", patch)
    lasting = {**DURABLE, "policy": "amendable_persistent"}
    with world.store(300) as store:
        planner = store.writer("planner", model="parrot-2")
        with store.batch():
            rules = [
                planner.extract(f"Rule {number}", kind="rule", speech_act="directive", tags=["style"], **lasting)
                for number in range(60)
            ]
            remarks = [
                planner.extract(
                    f"Remark {number}",
                    kind="note",
                    speech_act="humor_or_irony",
                    confidence=300,
                    kind_misfit=number == 0,
                    kind_misfit_reason="a joke is no note" if number == 0 else None,
                    obsolete_when="the joke is old",
                )
                for number in range(20)
            ]
            planner.use(planner.inject([rules[0], rules[1], remarks[0]], session="s1"), rules[0], "used")
    for number in range(30):
        with world.store(290 - 5 * number) as store:
            reviewer = store.writer("reviewer")
            with store.batch():
                newer = reviewer.extract(f"Newer rule {number}", kind="rule", speech_act="correction", **lasting)
                reviewer.supersede(rules[number], by=newer)
    with world.store(1) as store:
        store.writer("planner").ask("Still there?")
    world.ok("project")
    yield world, rules
    patch.undo()


@pytest.fixture
def world(past, monkeypatch):
    known, _ = past
    again = World(known.path, monkeypatch)
    again.now = known.now
    return again


class TestCurves:
    def test_points_are_those_of_lifelines_on_the_same_rows(self, world):
        points = world.ok("--json", "curves").json
        assert [*points[0]] == ["group", "age_days", "at_risk", "ended", "censored", "survival", "lower", "upper"]
        rows = query(
            world.path / "read", "SELECT entry_ms, exit_ms, cause FROM watched_spells WHERE exit_ms > entry_ms"
        ).rows
        entry, exit_, cause = zip(*rows, strict=True)
        other = lifelines.KaplanMeierFitter().fit(exit_, [one == "superseded" for one in cause], entry=entry)
        ends = [point for point in points if point["ended"]]
        assert len(ends) == 30
        for point in ends:
            expected = other.survival_function_at_times(point["age_days"] * DAY).iloc[0]
            assert point["survival"] == pytest.approx(expected, abs=1e-9)
            assert point["lower"] < point["survival"] < point["upper"]

    def test_groups_have_a_point_list_each_and_a_test(self, world):
        points = world.ok("--json", "curves", "--by", "speech_act").json
        assert {point["group"] for point in points} == {"correction", "directive", "humor_or_irony"}
        told = world.ok("curves", "--by", "speech_act").out
        assert "Log-rank test: chi² = " in told
        assert "Censored by expiry: 20 of 110 spells (18%)" in told
        assert "100%" in told

    @pytest.mark.parametrize("by, groups", [("agent", {"planner", "reviewer"}), ("model", {"parrot-2", "(no model)"})])
    def test_grouped_by_who_extracted(self, world, by, groups):
        assert {point["group"] for point in world.ok("--json", "curves", "--by", by).json} == groups

    def test_csv_and_json_have_the_same_points(self, world):
        points = world.ok("--json", "curves", "--by", "kind").json
        rows = list(csv.DictReader(io.StringIO(world.ok("curves", "--by", "kind", "--csv").out)))
        assert [row["group"] for row in rows] == [point["group"] for point in points]
        assert [float(row["survival"]) for row in rows] == [point["survival"] for point in points]

    def test_incidences_by_cause(self, world):
        points = world.ok("--json", "curves", "--cause").json
        last = {point["cause"]: point for point in points}
        assert set(last) == {"superseded", "expired"}
        assert last["superseded"]["survival"] + sum(one["incidence"] for one in last.values()) == pytest.approx(1)
        only = world.ok("--json", "curves", "--cause", "superseded").json
        assert only == [point for point in points if point["cause"] == "superseded"]

    def test_the_past_knows_nothing_of_what_came_later(self, world):
        points = world.ok("--json", "curves", "--as-of", world.ms(286), "--by", "kind").json
        assert sum(point["ended"] for point in points) == 1

    def test_curves_of_actives_leave_out_those_that_never_were(self, world):
        assert {point["group"] for point in world.ok("--json", "curves", "--by", "kind", "--active").json} == {"rule"}

    def test_a_condition_chooses_beliefs(self, world):
        points = world.ok("--json", "curves", "--by", "kind", "--where", "speech_act = 'humor_or_irony'").json
        assert {point["group"] for point in points} == {"note"}
        assert world.run("curves", "--where", "nonsense").code == 2

    @pytest.mark.parametrize(
        "more",
        [(), ("--by", "kind"), ("--cause",), ("--cause", "--by", "kind"), ("--cause", "expired", "--by", "kind")],
    )
    @pytest.mark.parametrize("suffix", ["svg", "png"])
    def test_pictures(self, world, tmp_path, more, suffix):
        path = tmp_path / f"curves.{suffix}"
        world.ok("curves", *more, "--plot", path, "--title", "Rules")
        assert path.stat().st_size > 5000

    def test_a_picture_of_what_never_happened_is_refused(self, world, tmp_path):
        assert world.run("curves", "--by", "kind", "--cause", "erased", "--plot", tmp_path / "x.svg").code == 2

    def test_where_nothing_ended_it_says_so(self, world, tmp_path):
        path = tmp_path / "x.svg"
        lasting = ("curves", "--where", "status = 'active'")
        for more, told in ((("--cause",), "nothing ended"), (("--cause", "erased"), "nothing ended as erased")):
            assert f"({told})\n" in world.ok(*lasting, *more).out
            refused = world.run(*lasting, *more, "--plot", path)
            assert (refused.code, told in refused.err) == (2, True)
        assert not path.exists()

    def test_a_picture_that_cannot_be_written_is_an_error_with_its_status(self, world, tmp_path):
        done = world.run("curves", "--plot", tmp_path / "nowhere" / "x.svg")
        assert (done.code, "can't write" in done.err) == (3, True)

    @pytest.mark.parametrize("option", ["--horizon", "--level"])
    @pytest.mark.parametrize("value", ["nan", "inf", "1e30", "-1"])
    def test_what_is_no_number_in_range_is_a_usage_error(self, world, option, value):
        assert world.run("curves", option, value).code == 2

    def test_a_store_without_beliefs(self, tmp_path, monkeypatch):
        other = World(tmp_path / "empty", monkeypatch)
        other.ok("init")
        assert "(no spells)" in other.ok("curves", "--cause").out
        done = other.run("curves", "--cause", "--plot", tmp_path / "x.svg")
        assert (done.code, "no spells" in done.err) == (2, True)
        assert "(no spells)" in other.ok("curves").out
        assert other.ok("--json", "curves").json == []


class TestAdvice:
    def test_a_policy_is_suggested_where_there_is_evidence(self, world, tmp_path):
        found = {(one["kind"], one["speech_act"]): one for one in world.ok("--json", "policies", "suggest").json}
        directive = found["rule", "directive"]
        assert (directive["policy"], directive["half_life_days"]) == ("half_life@1", 155)
        assert directive["lower_days"] < 155
        joke = found["note", "humor_or_irony"]
        assert (joke["policy"], joke["expired_share"]) == (None, 1.0)
        assert "not enough evidence" in joke["why"]

    def test_the_reason_is_told_whole(self, world):
        told = world.ok("policies", "suggest").out
        assert "…" not in told
        assert {sentence for sentence in SENTENCES.values() if sentence in told} >= {SENTENCES["median"]}
        assert SENTENCES["too_few_ends"] in told

    def test_a_suggestion_that_cannot_be_written_is_an_error_with_its_status(self, world, tmp_path):
        done = world.run("policies", "suggest", "--write", tmp_path / "nowhere" / "f.json")
        assert (done.code, "can't write" in done.err) == (3, True)

    def test_a_written_suggestion_shows_what_it_would_change(self, world, tmp_path):
        path = tmp_path / "alternative.json"
        assert "diff --policy" in world.ok("policies", "suggest", "--write", path).out
        path.write_text(json.dumps({"profile": {"profile": "patient@1", "half_lives": {"humor_or_irony": 200}}}))
        before = world.ok("digest").out
        changed = world.ok("--json", "diff", "--policy", path).json
        assert len(changed) == 20
        assert {(one["status_before"], one["status_after"], one["stale_after"]) for one in changed} == {
            ("expired", "candidate", True)
        }
        assert {one["statement"] for one in changed} == {f"Remark {number}" for number in range(20)}
        assert world.ok("digest").out == before

    @pytest.mark.parametrize("more", [(), ("--policy", "x", "2020-01-01"), ("2020-01-01", "--as-of", "2020-01-01")])
    def test_a_comparison_needs_two_sides(self, world, more):
        assert world.run("diff", *more).code == 2


class TestDifferences:
    def test_between_two_moments(self, world, past):
        _, rules = past
        changed = world.ok("--json", "diff", world.ms(292), world.ms(288)).json
        assert sorted((one["statement"], one["status_before"], one["status_after"]) for one in changed) == [
            ("Newer rule 0", None, "active"),
            ("Rule 0", "active", "superseded"),
        ]
        assert rules[0] in {one["belief_id"] for one in changed}
        assert world.ok("diff", world.ms(292), world.ms(291)).out.strip() == "(no difference)"

    def test_until_now(self, world):
        assert len(world.ok("--json", "diff", world.ms(301)).json) == 110


class TestReports:
    def test_what_it_was_called_beside_how_it_ended(self, world):
        rows = {(one["aspect"], one["label"]): one for one in world.ok("--json", "report").json}
        style, phrase = rows["tag", "style"], rows["obsolete_when", "the joke is old"]
        assert (style["beliefs"], style["superseded"], style["active"]) == (60, 30, 30)
        assert (phrase["beliefs"], phrase["expired"], phrase["misfits"]) == (20, 20, 1)
        assert rows["misfit_reason", "a joke is no note"]["beliefs"] == 1
        assert [one["label"] for one in world.ok("--json", "report", "--aspect", "kind").json] == ["rule", "note"]
        assert "style" in world.ok("report").out

    def test_misfits_one_by_one(self, world):
        (misfit,) = world.ok("--json", "report", "--misfits").json
        assert (misfit["kind"], misfit["kind_misfit_reason"], misfit["status"]) == (
            "note",
            "a joke is no note",
            "expired",
        )

    def test_telemetry_counts_what_was_shown_and_used(self, world, past):
        _, rules = past
        with BeliefStore.open(world.path) as store:
            first, second = store.query(
                "SELECT * FROM lifecycle_telemetry WHERE belief_id IN ($a, $b) ORDER BY statement",
                {"a": rules[0], "b": rules[1]},
            )
            (planner,) = store.query(
                "SELECT * FROM telemetry_by_group WHERE grouped_by = 'agent' AND group_name = 'planner'"
            )
        assert (first["injected"], first["used"], first["superseded"], first["ended_cause"]) == (1, 1, 1, "superseded")
        assert first["age_at_invalidation_ms"] == 10 * DAY
        assert (second["injected"], second["used"]) == (1, 0)
        assert (planner["beliefs"], planner["shown"], planner["shown_never_used"]) == (80, 3, 2)


class TestOtherTools:
    def test_exported_files_have_the_rows_of_the_store(self, world, tmp_path):
        told = world.ok("--json", "export", "--parquet", tmp_path / "out").json
        beliefs = pq.read_table(tmp_path / "out" / "beliefs.parquet")
        assert beliefs.num_rows == told["files"]["beliefs"] == 110
        assert beliefs.column("belief_id").to_pylist() == sorted(beliefs.column("belief_id").to_pylist())
        spells = pl.read_parquet(tmp_path / "out" / "watched_spells.parquet")
        assert spells["cause"].value_counts().sort("cause").rows() == [
            ("censored", 60),
            ("expired", 20),
            ("superseded", 30),
        ]
        assert {path.stem for path in (tmp_path / "out").glob("*.parquet")} == set(told["files"])

    def test_an_export_takes_the_place_of_an_earlier_one_and_of_nothing_else(self, world, tmp_path):
        world.ok("export", "--parquet", tmp_path)
        (tmp_path / "gone.parquet").touch()
        first = (tmp_path / "belief_facts.parquet").read_bytes()
        world.ok("export", "--parquet", tmp_path)
        assert not (tmp_path / "gone.parquet").exists()
        assert (tmp_path / "belief_facts.parquet").read_bytes() == first
        (tmp_path / "thesis.txt").touch()
        assert world.run("export", "--parquet", tmp_path).code == 3

    def test_query_formats(self, world, tmp_path):
        sql = "SELECT kind, count(*) AS n FROM beliefs GROUP BY kind ORDER BY kind"
        assert world.ok("query", sql, "--format", "json").json == [{"kind": "note", "n": 20}, {"kind": "rule", "n": 90}]
        assert world.ok("query", sql, "--format", "csv").out == "kind,n\nnote,20\nrule,90\n"
        assert world.ok("query", sql, "--format", "table").out.split() == ["kind", "n", "note", "20", "rule", "90"]
        path = tmp_path / "answer.parquet"
        world.ok("query", sql, "--format", "parquet", "--output", path)
        assert pl.read_parquet(path).rows() == [("note", 20), ("rule", 90)]
        assert [file.name for file in tmp_path.iterdir()] == ["answer.parquet"]
        assert world.run("query", sql, "--format", "parquet").code == 2

    def test_a_query_into_a_file_reads_and_writes_nothing_else(self, world, tmp_path):
        secret = tmp_path / "secret.csv"
        secret.write_text("a\n1\n")
        sql = f"SELECT * FROM read_csv('{secret}')"
        assert world.run("query", sql, "--format", "parquet", "-o", tmp_path / "out.parquet").code != 0
        assert not (tmp_path / "out.parquet").exists()

    def test_exports_and_curves_need_neither_pyarrow_nor_pandas(self, world, tmp_path):
        program = (
            "import sys; sys.modules.update(dict.fromkeys(('pyarrow', 'pandas', 'polars')));"
            "from beliefbase.cli import main; main()"
        )
        for command in (["export", "--parquet", str(tmp_path)], ["curves", "--by", "kind"], ["policies", "suggest"]):
            done = subprocess.run(
                [sys.executable, "-c", program, "-s", world.path, *command], capture_output=True, text=True
            )
            assert (done.returncode, done.stderr) == (0, "")

    def test_columns_for_the_callers_own_library(self, world):
        sql = "SELECT kind, count(*) AS n FROM beliefs WHERE kind <> $not GROUP BY kind"
        with BeliefStore.open(world.path) as store:
            with store.relation(sql, {"not": "note"}) as relation:
                assert relation.columns == ("kind", "n")
                assert pl.DataFrame(relation).rows() == [("rule", 90)]
            with store.relation(sql, {"not": "note"}) as relation:
                assert pa.table(relation).to_pylist() == [{"kind": "rule", "n": 90}]
            with store.relation(sql, {"not": "note"}) as relation:
                assert relation.df().to_dict("records") == [{"kind": "rule", "n": 90}]
            with store.relation(sql, {"not": "note"}) as relation:
                assert relation.rows() == [("rule", 90)]
            assert pl.DataFrame(store.query("SELECT kind FROM beliefs LIMIT 1")).columns == ["kind"]
