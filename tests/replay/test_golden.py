"""Golden logs: every release replays what earlier ones wrote to the digests that are kept for its rules.

One that fails says: a change to code alters answers that were given under the same rules version. Undo it, or give
the rules (or the projection) a new version and run `beliefbase golden update tests/golden/v1`.
"""

import json
import shutil
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.world import beliefbase
from tests.projections.worlds import open_log
from tests.replay.tampering import store, world

from beliefbase.events.bundle import export
from beliefbase.events.catalog import CATALOG
from beliefbase.events.errors import LogDamaged
from beliefbase.replay.files import audit_file
from beliefbase.replay.portable import read_log, write_log

GOLDEN = Path(__file__).parents[1] / "golden"
EVERYTHING = GOLDEN / "v1" / "everything.bblog"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    def run(*arguments, code=0, env=None):
        done = beliefbase(monkeypatch, *arguments, env=env)
        assert done.code == code, done.out + done.err
        return done

    return run


def test_released_logs_replay_to_their_digests(run):
    done = run("golden", "check", GOLDEN / "v1")
    assert "Same" in done.out


def test_the_golden_log_holds_everything_that_a_log_can_hold():
    events = list(read_log(EVERYTHING).events())
    types = {event.skeleton.type for event in events}
    assert set(CATALOG.models) <= types and "belief.imagined" in types and "" in types
    report = audit_file(EVERYTHING)
    assert {row["reason"] for row in report.dropped} == {
        "unknown_format", "unknown_type", "unknown_version", "unknown_field", "question"
    }  # fmt: skip
    assert [finding.check for finding in report.findings] == ["forks"]
    assert any(event.wants_words for event in events)


def test_a_change_to_code_that_alters_an_answer_is_refused(run, monkeypatch):
    monkeypatch.setattr("beliefbase.beliefs.rules.ENTRY_CONFIDENCE", 950)
    done = run("golden", "check", GOLDEN / "v1", code=1)
    assert "a change to code alters answers" in done.out and "belief_intervals" in done.out


def test_a_file_of_digests_stands_for_its_log(run):
    assert (
        str(EVERYTHING)
        in json.loads(run("--json", "golden", "check", GOLDEN / "v1" / "everything.digests.json").out)["subject"]
    )


@pytest.mark.parametrize("name, code", [("flipped", 4), ("other-digests", 1)])
def test_deliberately_bad_ones_fail(run, name, code):
    done = run("golden", "check", GOLDEN / "damaged" / f"{name}.bblog", code=code)
    assert ("Damaged" if code == 4 else "belief_facts") in done.out


def test_several_logs_are_summed_up_and_the_gravest_counts(run, tmp_path):
    done = run("golden", "check", GOLDEN, "--markdown", tmp_path / "summary.md", code=4)
    assert done.out.rstrip().endswith("1 passed, 2 failed")
    summary = (tmp_path / "summary.md").read_text("utf-8").splitlines()
    assert summary[0] == "## Replay audit: 1 passed, 2 failed"
    assert [line.split("|")[2].strip() for line in summary[4:7]] == ["damaged", "drift", "same"]
    assert not [line for line in summary if line.startswith("- **damage**: damage")]


@pytest.mark.parametrize("command", [("golden", "check"), ("audit",)])
def test_no_logs_are_never_green_in_any_output(run, tmp_path, command):
    empty, junit, markdown = tmp_path / "empty", tmp_path / "junit.xml", tmp_path / "summary.md"
    empty.mkdir()
    done = run(*command, empty, "--junit", junit, "--markdown", markdown, "--github", code=5)
    said = "Nothing was checked: no log file"
    assert done.out.startswith(said) and f"::error title=beliefbase::{said}" in done.out
    assert "golden make" in json.loads(run("--json", *command, empty, code=5).out)["reason"]
    suite = ET.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert said in next(suite.iter("failure")).text
    assert said in markdown.read_text("utf-8") and "0 failed" not in markdown.read_text("utf-8")


@pytest.mark.parametrize("action", ["check", "update"])
def test_a_log_of_which_only_digests_are_left_fails(run, tmp_path, action):
    for path in EVERYTHING.parent.iterdir():
        shutil.copy(path, tmp_path)
    digests = tmp_path / "gone.digests.json"
    shutil.copy(tmp_path / "everything.digests.json", digests)
    done = run("golden", action, tmp_path, code=4)
    assert "gone.bblog: the log is missing" in done.out and "1 passed, 1 failed" in done.out
    run("golden", action, digests, code=4)


def test_digests_of_a_bundle_stand_for_the_bundle(run, small, tmp_path):
    with closing(open_log(tmp_path / "store")) as log:
        export(log, tmp_path / "all.bundle")
    run("golden", "update", tmp_path)
    told = json.loads(run("--json", "golden", "check", tmp_path / "all.bundle.digests.json").out)
    assert told["subject"].endswith("all.bundle")
    assert len(json.loads(run("--json", "golden", "check", tmp_path).out)["logs"]) == 2


def test_audit_takes_log_files_without_a_store(run):
    told = json.loads(run("--json", "audit", EVERYTHING).out)
    assert (told["outcome"], told["exit"], told["checked"]["events"]) == ("same", 0, 287)


def test_digests_are_kept_by_an_explicit_update_and_never_in_ci(run, tmp_path):
    store(tmp_path / "store", world(5, 30))
    log = tmp_path / "mine.bblog"
    run("-s", tmp_path / "store", "golden", "make", log)
    kept = (tmp_path / "mine.digests.json").read_text("utf-8")
    run("golden", "check", log)
    (tmp_path / "mine.digests.json").unlink()
    assert "golden update" in run("golden", "check", log, code=1).out
    assert "not updated in CI" in run("golden", "update", log, code=2, env={"CI": "true"}).err
    run("golden", "update", log)
    assert (tmp_path / "mine.digests.json").read_text("utf-8") == kept


def test_digests_of_other_rules_stay(run, tmp_path):
    for path in EVERYTHING.parent.iterdir():
        shutil.copy(path, tmp_path)
    kept = tmp_path / "everything.digests.json"
    values = json.loads(kept.read_text("utf-8"))
    values["digests"][0]["rules"] = "lifecycle@0"
    kept.write_text(json.dumps(values), "utf-8")
    assert "no digests for rules" in run("golden", "check", tmp_path, code=1).out
    run("golden", "update", tmp_path)
    rules = [entry["rules"] for entry in json.loads(kept.read_text("utf-8"))["digests"]]
    assert rules[0] == "lifecycle@0" != rules[1]
    run("golden", "check", tmp_path)


# ---------------------------------------------------------------------- the file


@pytest.fixture
def small(tmp_path):
    with closing(open_log(tmp_path / "store", world(8, 24))) as log:
        write_log(log, tmp_path / "small.bblog")
    return tmp_path / "small.bblog"


def test_a_log_file_holds_the_log_byte_for_byte(small, tmp_path):
    with closing(open_log(tmp_path / "copy")) as copy:
        copy.merge(read_log(small).events())
        write_log(copy, tmp_path / "again.bblog")
    assert (tmp_path / "again.bblog").read_bytes() == small.read_bytes()


def test_every_line_that_is_missing_doubled_or_swapped_is_damage(small):
    lines = small.read_text("ascii").splitlines(keepends=True)
    for at in range(1, len(lines)):
        for changed in (
            lines[:at] + lines[at + 1 :],
            lines[: at + 1] + lines[at:],
            [*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]],
            lines[:at],
        ):
            small.write_text("".join(changed), "ascii")
            assert audit_file(small).exit_code == 4, at


@pytest.mark.parametrize(
    "text", ["", "beliefbase-log 2\n", "beliefbase-log 1\nstream x\n", "beliefbase-log 1\nend x y\n"]
)
def test_what_is_no_log_file_is_refused_with_its_line(small, text):
    small.write_text(text, "ascii")
    with pytest.raises(LogDamaged, match="line"):
        read_log(small)


# ---------------------------------------------------------------------- bundles


def test_a_bundle_is_audited_like_a_log_file(run, small, tmp_path):
    with closing(open_log(tmp_path / "store")) as log:
        export(log, tmp_path / "all.bundle")
    bundled, checked_in = (
        json.loads(run("--json", "audit", tmp_path / name).out) for name in ("all.bundle", "small.bblog")
    )
    assert bundled["digest"] == checked_in["digest"] and bundled["checked"]["events"] == 24
    data = (tmp_path / "all.bundle").read_bytes()
    (tmp_path / "all.bundle").write_bytes(data[:-50] + bytes([data[-50] ^ 1]) + data[-49:])
    assert "all.bundle" in run("audit", tmp_path / "all.bundle", code=4).out
