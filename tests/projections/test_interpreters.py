"""One log, one digest: every Python that is here, either DuckDB, threads, hash seeds, time zones and locales.

Each cell of the matrix is a process of its own over the same log file, in a virtual environment that is made for it.
What is not on this machine is skipped, with the reason. The Python that runs the tests made the digest that the others
must give; test_duckdb_versions.py has it with both releases of DuckDB, test_determinism.py in other environments.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.projections.projector import Projector

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
RELEASES = ("1.5.6", "2.0.1")
CELLS = {
    "3.11": (RELEASES[0], 1, {"PYTHONHASHSEED": "0", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}),
    "3.12": (RELEASES[0], 4, {"PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland", "LC_ALL": "tr_TR.UTF-8"}),
    "3.13": (RELEASES[1], 2, {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"}),
}
SCRIPT = """
import sys, tempfile
from pathlib import Path
import duckdb
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.replay.golden import check

print(*sys.version_info[:2], sep=".")
print(duckdb.__version__)
with tempfile.TemporaryDirectory() as read:
    with Projector(SQLiteLog(sys.argv[1], create=False), Path(read), threads=int(sys.argv[2])) as projector:
        projector.rebuild(int(sys.argv[3]))
        print(projector.digest())
report = check(Path(sys.argv[4]))
print(report.outcome, report.checked.get("golden"))
"""


def interpreter(version):
    """A Python of this version that runs: on PATH, or one that pyenv keeps; None where there is none."""
    name = f"python{version}"
    on_path = [Path(folder, name) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    for candidate in (*on_path, *kept):
        if candidate.exists():
            told = subprocess.run([candidate, "-c", "import venv"], capture_output=True)
            if told.returncode == 0:
                return candidate
    return None


def environment(version, release, folder):
    """The interpreter of a fresh virtual environment with what the package needs, and this release of DuckDB."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    with (ROOT / "pyproject.toml").open("rb") as file:
        needs = tomllib.load(file)["project"]["dependencies"]
    subprocess.run([found, "-m", "venv", "--without-pip", folder], check=True, capture_output=True)
    python = folder / "bin" / "python"
    others = [need for need in needs if not need.startswith("duckdb")]
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--retries", "1"]
    command = [*pip, "install", "-q", "--no-compile", *others, f"duckdb=={release}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"what Python {version} needs can't be had: {done.stderr.strip().splitlines()[-1]}")
    return python


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    with Projector(open_log(folder, World(17, 300).events), folder / "read") as projector:
        projector.rebuild(AS_OF_MS)
        return folder / "log.db", projector.digest()


@pytest.mark.parametrize("version", [version for version in CELLS if version != RUNNING])
def test_every_python_and_either_duckdb_give_one_digest(tmp_path, log, version):
    release, threads, cell = CELLS[version]
    path, expected = log
    python = environment(version, release, tmp_path / "venv")
    golden = ROOT / "tests" / "golden" / "v1" / "everything.bblog"
    done = subprocess.run(
        [python, "-c", SCRIPT, path, str(threads), str(AS_OF_MS), golden],
        env={**os.environ, **cell, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [version, release, expected, "same 1"]
    shutil.rmtree(tmp_path / "venv")
