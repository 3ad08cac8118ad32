"""A restart of the machine is noticed where it may have taken acknowledged events: only with process durability."""

import pytest
from tests.events.build import Author

from beliefbase.events.restarts import boot_id
from beliefbase.events.sqlite import SQLiteLog

NOW = 1_800_000_000_000


@pytest.fixture
def opened(tmp_path):
    """The log as it is opened in a run of the machine."""
    logs = []

    def opened(boot, durability="process"):
        log = SQLiteLog(tmp_path / "log.db", durability=durability, boot=lambda: boot, wall=lambda: NOW)
        logs.append(log)
        return log

    yield opened
    for log in logs:
        log.close()


def test_a_restart_after_process_durable_appends_is_found_with_what_is_left(opened):
    author = Author()
    opened("monday").append([author.joined(), author.said()])
    assert opened("monday").restarted() is None
    assert opened("tuesday", "power").restarted() == (2, NOW)
    later = opened("tuesday")
    later.append([author.said()])
    assert later.restarted() == (2, NOW)
    assert opened("wednesday").restarted() == (3, NOW)


def test_nothing_is_reported_where_nothing_was_appended_or_every_append_is_on_the_disk(opened):
    opened("monday").frontier()
    opened("monday", "power").append([Author().joined()])
    assert opened("tuesday").restarted() is None


def test_a_system_that_does_not_name_its_runs_reports_nothing(opened):
    author = Author()
    opened("monday").append([author.joined()])
    log = opened("")
    log.append([author.said()])
    assert log.restarted() is None


def test_a_run_has_one_name():
    assert boot_id() == boot_id()
