"""The bans of pyproject.toml hold: each planted offence is found, where it is one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

OFFENCES = [
    "import events",
    "from events import hlc",
    "from beliefs.model import Belief",
    "import projections.base",
    "from replay import audit",
    "import uuid",
    "from uuid import uuid4",
    "import random",
    "import secrets",
    "import pickle",
    "import locale",
    "import os\n\nos.urandom(16)",
    "from os import urandom",
    "import time\n\ntime.time()",
    "import time\n\ntime.time_ns()",
    "from time import time_ns",
    "import datetime as dt\n\ndt.datetime.now(dt.UTC)",
    "from datetime import UTC, datetime\n\ndatetime.now(UTC)",
    "from datetime import datetime\n\ndatetime.utcnow()",
    "from datetime import date\n\ndate.today()",
]


def lint(source: str, path: str) -> set[str]:
    done = subprocess.run(
        [BIN / "ruff", "check", "--select=TID251", "--output-format=concise", f"--stdin-filename={path}", "-"],
        input=f"{source}\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode in {0, 1}, done.stderr
    return set(re.findall(r"\b[A-Z]+\d+\b", done.stdout))


@pytest.mark.parametrize("source", OFFENCES)
def test_clock_randomness_and_bare_names_are_refused(source):
    assert lint(source, "beliefs/planted.py") == {"TID251"}


@pytest.mark.parametrize("path", ["events/hlc.py", "events/writer.py"])
def test_clock_and_randomness_are_allowed_where_they_belong(path):
    assert lint("import time\n\ntime.time_ns()\n\nimport secrets", path) == set()


@pytest.mark.parametrize("source", ["import time\n\ntime.monotonic()", "from beliefbase.events import hlc"])
def test_what_is_allowed_stays_allowed(source):
    assert lint(source, "beliefs/planted.py") == set()


@pytest.mark.slow
def test_layers_find_planted_imports(tmp_path):
    """A copy of the package with one wrong import for each contract breaks each of them."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/beliefbase", tmp_path / "beliefbase", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    planted = {
        "events/planted.py": "import beliefbase.projections\n",
        "beliefs/planted.py": "import duckdb\n",
        "projections/planted.py": "import eventsourcing.domain\n",
        "replay/planted.py": "import psycopg\n",
    }
    for name, source in planted.items():
        (tmp_path / "beliefbase" / name).write_text(source, "utf-8")
    done = subprocess.run([BIN / "lint-imports", "--no-cache"], cwd=tmp_path, capture_output=True, text=True)
    assert "0 kept, 4 broken" in done.stdout, done.stdout + done.stderr
    for name in planted:
        assert f"beliefbase.{name.removesuffix('.py').replace('/', '.')} ->" in done.stdout
