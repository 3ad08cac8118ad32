"""The pytest plugin, in suites of its own."""

import shutil

import pytest
from tests.replay.tampering import store, world

from beliefbase.events.sqlite import SQLiteLog
from beliefbase.replay import golden
from beliefbase.replay.portable import write_log

pytest_plugins = "pytester"

SUITE = """
import pytest

@pytest.mark.beliefbase_golden("story.bblog")
def test_the_story(beliefbase_golden):
    assert len(beliefbase_golden.digest) == 64
    assert beliefbase_golden.rows("SELECT count(*) > 0 FROM utterances") == [(True,)]
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    store(folder, world(3, 40))
    log = SQLiteLog(folder / "log.db")
    write_log(log, folder / "story.bblog")
    log.close()
    golden.update(folder / "story.bblog")
    return folder


@pytest.fixture
def suite(pytester, story, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    for name in ("story.bblog", "story.digests.json"):
        shutil.copy(story / name, pytester.path / name)
    pytester.makeini("[pytest]\nbeliefbase_goldens = .")
    pytester.makepyfile(SUITE)
    return pytester


def run(suite, *arguments):
    return suite.runpytest("-p", "beliefbase.pytest_plugin", "-p", "no:cacheprovider", *arguments)


def test_a_golden_log_passes(suite):
    result = run(suite, "--strict-markers")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_other_digests_fail_and_an_update_mends_that(suite):
    path = suite.path / "story.digests.json"
    kept = path.read_text("utf-8")
    path.write_text(kept.replace('"digest": "', '"digest": "00'), "utf-8")
    result = run(suite)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*--beliefbase-update*"])
    run(suite, "--beliefbase-update").assert_outcomes(passed=1)
    assert path.read_text("utf-8") == kept


def test_a_damaged_log_fails(suite):
    path = suite.path / "story.bblog"
    lines = path.read_text("ascii").splitlines(keepends=True)
    path.write_text("".join(lines[:4] + lines[5:]), "ascii")
    result = run(suite)
    result.assert_outcomes(errors=1)


def test_in_ci_nothing_is_updated(suite, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert run(suite, "--beliefbase-update").ret == pytest.ExitCode.USAGE_ERROR


def test_a_log_that_no_test_names_fails_the_whole_suite_and_no_part_of_it(suite):
    shutil.copy(suite.path / "story.bblog", suite.path / "forgotten.bblog")
    result = run(suite)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*forgotten.bblog*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert run(suite, next(suite.path.glob("test_*.py"))).ret == 0


def test_a_test_that_names_no_log_is_told_how(suite):
    suite.makepyfile("def test_nothing(beliefbase_golden): ...")
    run(suite).stdout.fnmatch_lines(["*say which log*"])


def test_it_works_under_xdist(suite):
    result = run(suite, "-p", "xdist", "-n", "2")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_under_xdist_a_log_that_no_test_names_fails_the_suite_as_well(suite):
    shutil.copy(suite.path / "story.bblog", suite.path / "forgotten.bblog")
    result = run(suite, "-p", "xdist", "-n", "2")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*forgotten.bblog*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
