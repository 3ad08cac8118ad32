"""A pytest plugin: golden logs as tests of a suite (docs/audit.md).

::

    @pytest.mark.beliefbase_golden("golden/story.bblog")
    def test_the_story_replays_to_the_same_answer(beliefbase_golden):
        assert beliefbase_golden.rows("SELECT count(*) FROM active_set") == [(3,)]

The marker alone audits the log file and compares its digests with those kept beside it, before the test runs; the
fixture hands the test what was replayed. With ``--beliefbase-update`` today's digests are kept instead; that is refused
in CI. Golden logs below the folders of the ini option ``beliefbase_goldens`` that no test names fail a run of the whole
suite.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from beliefbase.replay.report import AuditReport

MARKER: Final = "beliefbase_golden"
_USED: Final = pytest.StashKey[set[str]]()
_REPLAYED: Final = pytest.StashKey["Golden"]()
_WORKERS_SAW: Final = "beliefbase_goldens_used"


class Golden:
    """A golden log that replays to the digests kept for it.

    Attributes:
        path: The log file.
        report: The audit of it.
        digest: The digest over all read models.
    """

    def __init__(self, path: Path, report: AuditReport) -> None:
        self.path = path
        self.report = report
        self.digest = report.digest

    def rows(self, sql: str, *, as_of_ms: int = (1 << 47) - 1) -> list[tuple[Any, ...]]:
        """Rows of a query on its read models; ``as_of_ms`` is the moment that views are asked at, by default the last.

        Costs a replay.
        """
        from beliefbase.replay.files import opened

        with opened(self.path, as_of_ms=as_of_ms) as fresh:
            return fresh.rows(sql)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the setting."""
    group = parser.getgroup("beliefbase")
    group.addoption(
        "--beliefbase-update", action="store_true", help="keep today's digests of the golden logs that tests name"
    )
    parser.addini("beliefbase_goldens", "folders whose golden logs must all be named by some test", type="paths")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; refuse to update in CI, and folders that aren't there."""
    config.addinivalue_line("markers", f"{MARKER}(path): replay this golden log, and compare its digests")
    config.stash[_USED] = set()
    if config.getoption("--beliefbase-update") and os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise pytest.UsageError("golden digests are not updated in CI: run this on your machine and commit the files")
    for folder in config.getini("beliefbase_goldens"):
        if not Path(folder).is_dir():
            raise pytest.UsageError(f"beliefbase_goldens: there is no folder {folder}; correct the setting, or make it")


@pytest.fixture
def beliefbase_golden(request: pytest.FixtureRequest) -> Golden:
    """The golden log that the test's marker names, replayed and compared."""
    return _replayed(request.node)


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Replay the log that a test is marked with, whether or not it asks for the fixture."""
    if item.get_closest_marker(MARKER) is not None and not item.config.getoption("setupplan", False):
        _replayed(item)


def _replayed(item: pytest.Item) -> Golden:
    """The replay of the log that a test names, done once for the test; a difference fails the test."""
    if _REPLAYED not in item.stash:
        item.stash[_REPLAYED] = _replay(item)
    return item.stash[_REPLAYED]


def _replay(item: pytest.Item) -> Golden:
    path = _named(item)
    if path is None:
        pytest.fail(f'say which log, and only that: @pytest.mark.{MARKER}("file.bblog")', pytrace=False)
    from beliefbase.events.errors import BeliefbaseError
    from beliefbase.replay import golden

    does = golden.update if item.config.getoption("--beliefbase-update") else golden.check
    try:
        report = does(path)
    except BeliefbaseError as error:
        pytest.fail(f"{error}\n{error.hint}", pytrace=False)
    item.user_properties.append(("beliefbase_digest", report.digest))
    if report.exit_code:
        hint = "\nIf the change is meant: pytest --beliefbase-update, and commit the digests."
        pytest.fail(f"{path}\n{report.as_text()}{hint}", pytrace=False)
    return Golden(path, report)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note which golden logs are named, also by tests that are deselected later."""
    path = _named(item)
    if path is not None:
        item.config.stash[_USED].add(str(path))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist says which logs it saw named; a run of the whole suite fails over logs that nobody names."""
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:
        used: set[str] = config.stash[_USED]
        output[_WORKERS_SAW] = sorted(used)
    elif session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} and list(_unused(config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of xdist saw."""
    node.config.stash[_USED].update(getattr(node, "workeroutput", {}).get(_WORKERS_SAW, ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the golden logs that no test names."""
    unused = list(_unused(config))
    if unused:
        terminalreporter.section("unused golden logs", red=True)
        for path in unused:
            terminalreporter.line(f"{path}: no test names it; use it, or delete it with its digests")


def _named(item: pytest.Item) -> Path | None:
    """The log that an item's marker names, relative to the file of the test; None where it names none."""
    marker = item.get_closest_marker(MARKER)
    if marker is None or not marker.kwargs.keys() <= {"path"}:
        return None
    given = [*marker.args, *marker.kwargs.values()]
    if len(given) != 1 or not isinstance(given[0], str | os.PathLike):
        return None
    return (item.path.parent / given[0]).resolve()


def _is_whole(config: pytest.Config) -> bool:
    """Whether all tests are collected: a part of the suite says nothing about the rest."""
    if config.getoption("collectonly") or config.getoption("lf", False):
        return False
    root = config.rootpath
    found = (
        glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207  as pytest does: Path.glob refuses `.`
        for pattern in config.getini("testpaths")
    )
    suite = [root / path for paths in found for path in paths] or [root]
    given = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
    return all(any(part.resolve().is_relative_to(folder) for folder in given) for part in suite)


def _unused(config: pytest.Config) -> Iterator[Path]:
    if not _is_whole(config):
        return
    for folder in config.getini("beliefbase_goldens"):
        for path in sorted(Path(folder).rglob("*.bblog")):
            if str(path.resolve()) not in config.stash[_USED]:
                yield path
