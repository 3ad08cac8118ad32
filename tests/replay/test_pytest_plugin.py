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


MARKED = """
import pytest

@pytest.mark.beliefbase_golden({})
def test_the_story(): pass
"""


def mark(suite, argument):
    next(suite.path.glob("test_*.py")).write_text(MARKED.format(argument), "utf-8")


@pytest.mark.parametrize("more", [(), ("-p", "xdist", "-n", "2")])
def test_the_marker_alone_replays_and_compares(suite, more):
    mark(suite, '"story.bblog"')
    run(suite, *more).assert_outcomes(passed=1)
    path = suite.path / "story.digests.json"
    path.write_text(path.read_text("utf-8").replace('"digest": "', '"digest": "00'), "utf-8")
    result = run(suite, *more)
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_methods_of_unittest_are_compared_as_well_and_skipped_tests_are_not(suite):
    (suite.path / "story.digests.json").unlink()
    mark(suite, '"story.bblog")\n@pytest.mark.skip(')
    suite.makepyfile(
        test_methods="""
        import pytest, unittest

        class TestIt(unittest.TestCase):
            @pytest.mark.beliefbase_golden("story.bblog")
            def test_it(self): pass
        """
    )
    run(suite).assert_outcomes(errors=1, skipped=1)


def test_the_log_may_be_named_by_keyword(suite):
    mark(suite, 'path="story.bblog"')
    result = run(suite)
    result.assert_outcomes(passed=1)
    assert result.ret == 0


@pytest.mark.parametrize("argument", ["", "file='story.bblog'", "'story.bblog', 'other.bblog'", "3"])
def test_a_marker_that_names_no_log_is_an_error_of_its_test_alone(suite, argument):
    suite.makepyfile(test_another="def test_another(): pass")
    (suite.path / "story.bblog").unlink()
    next(suite.path.glob("test_a_marker*.py")).write_text(MARKED.format(argument), "utf-8")
    result = run(suite)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*say which log*"])


@pytest.mark.parametrize(
    "arguments, whole",
    [((".",), True), (("tests",), True), (("tests/part",), False), (("tests/part", "tests"), True), (("--lf",), False)],
)
def test_paths_that_hold_all_tests_are_the_whole_suite(suite, arguments, whole):
    next(suite.path.glob("test_*.py")).unlink()
    (suite.path / "tests" / "part").mkdir(parents=True)
    for name in ("test_story.py", "part/test_part.py"):
        (suite.path / "tests" / name).write_text("def test_nothing(): pass", "utf-8")
    suite.makeini("[pytest]\nbeliefbase_goldens = .\ntestpaths = tests")
    result = suite.runpytest("-p", "beliefbase.pytest_plugin", "--import-mode=importlib", *arguments)
    assert ("story.bblog: no test names it" in result.stdout.str()) == whole
    assert (result.ret == pytest.ExitCode.TESTS_FAILED) == whole


def test_a_run_in_a_folder_of_the_suite_is_no_whole_run(suite, monkeypatch):
    part = suite.mkdir("part")
    (part / "test_part.py").write_text("def test_nothing(): pass", "utf-8")
    monkeypatch.chdir(part)
    assert run(suite).ret == 0


def test_a_folder_of_golden_logs_that_is_not_there_is_an_error(suite):
    suite.makeini("[pytest]\nbeliefbase_goldens = goldn")
    result = run(suite)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*beliefbase_goldens*goldn*"])
