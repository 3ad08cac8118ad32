"""The oldest and the newest supported DuckDB: the same tests pass, digests are equal, each reads the other's files."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from tests.projections.worlds import World, open_log

ROOT = Path(__file__).parents[2]
OTHER = "1.5.6" if duckdb.__version__.startswith("2.") else "2.0.1"

PUBLISH = """
import sys
from pathlib import Path
import duckdb
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector

with Projector(SQLiteLog(sys.argv[1], create=False), Path(sys.argv[2])) as projector:
    projector.rebuild(int(sys.argv[3]))
    projector.publish()
    print(duckdb.__version__, projector.digest())
"""

READ = """
import sys
from pathlib import Path
from beliefbase.projections.digest import digest
from beliefbase.projections.lifetimes import GROUPINGS, of
from beliefbase.projections.query import connect

with connect(Path(sys.argv[1])) as connection:
    print(digest(connection))
    views = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"
    for (view,) in connection.execute(views).fetchall():
        rows = connection.execute(f"SELECT * FROM {view} ORDER BY ALL").fetchall()
        print(view, [tuple(round(x, 9) if isinstance(x, float) else x for x in row) for row in rows])
    lives = of(connection, as_of_ms=int(sys.argv[2]))
    for by in GROUPINGS:
        found = lives.compare(by)
        print([(c.group, c.median_ms, c.ended_total) for c in found.curves], round(found.test.p or 0, 9))
"""


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A folder with another release of DuckDB, to be put in front of the installed one."""
    target = tmp_path_factory.mktemp("duckdb")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target, f"duckdb=={OTHER}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"duckdb {OTHER} can't be had: {done.stderr.strip().splitlines()[-1]}")
    return target


def run(command, folder=None):
    """With the installed DuckDB, or with the one in a folder."""
    environment = {**os.environ, **({"PYTHONPATH": str(folder)} if folder else {})}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)


def python(script, *arguments, folder=None):
    done = run([sys.executable, "-c", script, *map(str, arguments)], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_each_reads_what_the_other_published_and_gives_the_same_answers(tmp_path, other):
    events = World(8, 500).events
    open_log(tmp_path, events).close()
    as_of_ms = max(event.skeleton.hlc for event in events) >> 16
    digests = {
        python(PUBLISH, tmp_path / "log.db", tmp_path / name, as_of_ms, folder=folder)
        for name, folder in (("ours", None), ("theirs", other))
    }
    assert {line.split()[0] for line in digests} == {duckdb.__version__, OTHER}
    assert len({line.split()[1] for line in digests}) == 1
    answers = {
        python(READ, tmp_path / name, as_of_ms, folder=folder)
        for name in ("ours", "theirs")
        for folder in (None, other)
    }
    assert len(answers) == 1


@pytest.mark.slow
def test_the_tests_of_the_projections_pass_with_the_other_release(other):
    chosen = ["test_contract.py", "test_lifetimes.py", "test_query.py", "test_dictionary.py", "test_read_models.py"]
    files = [f"tests/projections/{name}" for name in chosen] + [
        "tests/cli/test_analysts.py",
        "tests/docs/test_cookbook.py",
    ]
    done = run([Path(sys.executable).with_name("pytest"), "-q", "-x", "-p", "no:cacheprovider", *files], other)
    assert done.returncode == 0, done.stdout[-3000:]
