"""What docs/audit.md gives for GitHub Actions, GitLab and pre-commit does what it says: green, red, and its files."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")
EXAMPLES = re.findall(r"^## (GitHub Actions|GitLab|pre-commit)\n+```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"beliefbase golden check.*?(?=\n      - |\n  \w|\n        language|\Z)", re.DOTALL)


def command(example):
    (found,) = COMMAND.findall(example)
    return " ".join(found.split())


def run(text, folder):
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CI": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    return subprocess.run(["sh", "-c", text], cwd=folder, env=environment, capture_output=True, text=True)


def test_there_is_one_of_each():
    assert [name for name, _ in EXAMPLES] == ["GitHub Actions", "GitLab", "pre-commit"]


@pytest.mark.parametrize("name, example", EXAMPLES)
def test_the_example_passes_whole_logs_and_fails_bad_ones(tmp_path, name, example):
    logs = tmp_path / "beliefs"
    logs.mkdir()
    changed = shlex.quote("beliefs/log.bblog") if name == "pre-commit" else ""
    for source, good in (("v1/everything", True), ("damaged/other-digests", False)):
        for suffix in (".bblog", ".digests.json"):
            shutil.copy(ROOT / "tests" / "golden" / f"{source}{suffix}", logs / f"log{suffix}")
        done = run(f"{command(example)} {changed}", tmp_path)
        assert (done.returncode == 0) == good, done.stdout + done.stderr
        if "--junit" in example:
            assert ("<failure" in (tmp_path / "audit.xml").read_text("utf-8")) != good
        if name == "GitHub Actions":
            assert ("::error" in done.stdout) != good
            assert (tmp_path / "summary.md").read_text("utf-8").startswith("## Replay audit: ")


def test_the_hook_of_this_repository_is_the_one_in_the_docs():
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    local = dict(EXAMPLES)["pre-commit"]
    for line in ("entry: beliefbase golden check", "language: python", r"files: \.(bblog|digests\.json)$"):
        assert line in hook and line in local
