"""The bugs that ``make sim-bugs`` plants fit the source and the docs; a few of them are planted here."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sim import bugs
from tests.sim.planting import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / "bench" / "planted.py").is_file(), reason="bench/ is not there")

SCRIPT = Path(__file__).with_name("bugs.py")


@pytest.mark.parametrize("bug", bugs.BUGS, ids=lambda bug: bug.name)
def test_a_bug_applies_exactly_once_and_is_a_program_still(bug):
    source = bug.source()
    assert source is not None, f"{bug.file} holds its text not exactly once"
    assert ast.dump(ast.parse(source)) != ast.dump(ast.parse((ROOT / bug.file).read_text("utf-8")))


def test_there_are_at_least_25_and_the_page_names_a_seed_below_500_for_each():
    names = [bug.name for bug in bugs.BUGS]
    assert len(names) == len(set(names)) >= 25
    known = bugs.known()
    assert list(known) == names
    assert max(known.values()) < bugs.MOST_SEEDS


@pytest.mark.slow
def test_planted_bugs_are_found():
    chosen = [bug.name for bug in bugs.BUGS[::12]]
    run = subprocess.run([sys.executable, "-P", SCRIPT, "--known", *chosen], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{len(chosen)} of {len(chosen)} planted bugs found" in run.stdout


def test_a_bug_that_is_none_survives(tmp_path):
    harmless = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from tests.sim.planting import Bug, caught_by\n"
        "bug = Bug('none', 'events/tips.py', 'if not revisions: return', 'if not revisions:\\n        return None')\n"
        "print(caught_by(bug, [3]))"
    )
    run = subprocess.run([sys.executable, "-P", "-c", harmless, ROOT], capture_output=True, text=True)
    assert run.stdout.strip() == "(None, '')", run.stderr
