"""Plants bugs in the lifecycle fold, one at a time, and says whether the tests find them: ``make mutants``.

Each mutant is a patch of one file of beliefs/ in a temporary copy of the package; the tests of beliefs/ run against the
copy until the first one fails. docs/mutants.md lists them. Exit code 1 if any survives, or no longer applies.
``python bench/mutants.py WORD...`` runs those with one of the words in their names; ``--list`` prints the page.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from planted import MUTANTS, mutated

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("beliefs", "events", "projections", "replay")
TESTS = tuple(
    f"tests/beliefs/{name}.py" for name in ("test_scenarios", "test_policies", "test_oracle", "test_postulates")
)
TIME_LIMIT_S = 600


def copy_tree(to: Path) -> Path:
    """A copy of the package and of the tests of beliefs/, with the reading of the rules beside it if there is one."""
    skip = shutil.ignore_patterns("__pycache__", *FOLDERS)
    tree = to / "tree"
    shutil.copytree(ROOT / "src/beliefbase", tree / "package/beliefbase", ignore=skip)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tree / "package/beliefbase" / folder, ignore=skip)
    shutil.copytree(ROOT / "tests/beliefs", tree / "tests/beliefs", ignore=skip)
    for file in ("tests/conftest.py", "tests/scale.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tree / file)
    reading = ROOT.parent / "shared"
    if reading.is_dir():
        (to / "shared").symlink_to(reading)
    return tree


def failing_test(tree: Path) -> str | None:
    """The first test that fails against the copy; None if all pass."""
    environment = {
        **os.environ,
        "CI": "true",  # fixed seeds
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(tree / "package"),
    }
    command = [str(Path(sys.executable).with_name("pytest")), "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    try:
        run = subprocess.run(
            [*command, *TESTS],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {TIME_LIMIT_S} s"
    if run.returncode == 0:
        return None
    if "NameError" in run.stdout:
        raise SystemExit(f"this is no bug but a typo:\n{run.stdout[-2000:]}")
    named = re.search(r"^(?:FAILED|ERROR) \S*?([^/\s]+?)(?: - |$)", run.stdout, re.MULTILINE)
    if run.returncode != 1 or named is None:
        raise SystemExit(f"the tests did not run (exit {run.returncode}):\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return named[1]


def page() -> str:
    """docs/mutants.md."""
    lines = [
        "# Mutants of the fold",
        "",
        "Planted bugs that the tests of `beliefs/` have to find: `make mutants` applies them one at a time to a copy",
        "and runs the tests against it. `python bench/mutants.py --list` writes this page; a test compares it.",
        "",
        "| | bug | file |",
        "|---|---|---|",
        *(f"| {number} | {mutant.bug} | `beliefs/{mutant.file}` |" for number, mutant in enumerate(MUTANTS, 1)),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the mutants; 1 if any survives or no longer applies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutants with one of these in their description")
    parser.add_argument("--list", action="store_true", help="print docs/mutants.md")
    options = parser.parse_args()
    if options.list:
        print(page(), end="")
        return 0
    chosen = [m for m in MUTANTS if not options.words or any(word in m.bug for word in options.words)]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_tree(Path(folder))
        found = failing_test(tree)
        if found is not None:
            print(f"without any mutant the tests fail already: {found}")
            return 1
        for number, mutant in enumerate(chosen, 1):
            began = time.monotonic()
            file = tree / "package/beliefbase/beliefs" / mutant.file
            source = file.read_text("utf-8")
            bug = mutated(mutant, source)
            if bug is None:
                outcome = f"does not apply: beliefs/{mutant.file} holds its text not exactly once"
            else:
                file.write_text(bug, "utf-8")
                found = failing_test(tree)
                file.write_text(source, "utf-8")
                outcome = f"caught by {found}" if found else "SURVIVED"
            bad += not outcome.startswith("caught")
            print(f"{number:3} {mutant.bug}\n    {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{len(chosen)} mutants, {len(chosen) - bad} caught, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
