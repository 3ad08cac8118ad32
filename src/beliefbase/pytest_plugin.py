"""A pytest plugin: golden logs as tests of a suite (docs/audit.md).

::

    @pytest.mark.beliefbase_golden("golden/story.bblog")
    def test_the_story_replays_to_the_same_answer(beliefbase_golden):
        assert beliefbase_golden.rows("SELECT count(*) FROM active_set") == [(3,)]

The fixture audits the log file and compares its digests with those kept beside it, before the test runs. With
``--beliefbase-update`` it keeps today's digests instead; that is refused in CI. Golden logs below the folders of the
ini option ``beliefbase_goldens`` that no test names fail a run of the whole suite.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from beliefbase.replay.report import AuditReport

MARKER: Final = "beliefbase_golden"
_USED: Final = pytest.StashKey[set[str]]()
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
    """Declare the marker; refuse to update in CI."""
    config.addinivalue_line("markers", f"{MARKER}(path): the golden log that the fixture {MARKER} replays")
    config.stash[_USED] = set()
    if config.getoption("--beliefbase-update") and os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise pytest.UsageError("golden digests are not updated in CI: run this on your machine and commit the files")


@pytest.fixture
def beliefbase_golden(request: pytest.FixtureRequest) -> Golden:
    """The golden log that the test's marker names, replayed and compared."""
    path = _named(request.node)
    if path is None:
        pytest.fail(f'say which log: @pytest.mark.{MARKER}("file.bblog")', pytrace=False)
    from beliefbase.events.errors import BeliefbaseError
    from beliefbase.replay import golden

    does = golden.update if request.config.getoption("--beliefbase-update") else golden.check
    try:
        report = does(path)
    except BeliefbaseError as error:
        pytest.fail(f"{error}\n{error.hint}", pytrace=False)
    request.node.user_properties.append(("beliefbase_digest", report.digest))
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
    """The log that an item's marker names: relative to the file of the test."""
    marker = item.get_closest_marker(MARKER)
    return None if marker is None else (item.path.parent / marker.args[0]).resolve()


def _unused(config: pytest.Config) -> Iterator[Path]:
    if config.args_source is pytest.Config.ArgsSource.ARGS or config.getoption("--collect-only"):
        return  # a part of the suite says nothing about the rest
    for folder in config.getini("beliefbase_goldens"):
        for path in sorted(Path(folder).rglob("*.bblog")):
            if str(path.resolve()) not in config.stash[_USED]:
                yield path
