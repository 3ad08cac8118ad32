"""The commands and programs that the README and Getting started print do what they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [text for name, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if name == language]


def commands(block: str) -> list[str]:
    """The commands of a console block, here-documents included."""
    found: list[str] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif found:
            found[-1] += "\n" + line
    return found


def run(command: str, folder: Path) -> str:
    environment = {
        **os.environ,
        "BELIEFBASE_STORE": "team",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def test_the_first_steps_of_the_readme(tmp_path: Path) -> None:
    printed = {
        command: run(command, tmp_path)
        for command in commands(blocks("README.md", "console")[1])
        if command.startswith("beliefbase")
    }
    assert "Primary sources are always cited" in printed["beliefbase active"]
    assert "directive" in next(text for command, text in printed.items() if "query" in command)
    assert printed["beliefbase audit"].startswith("Same")


def test_the_program_of_the_readme(tmp_path: Path) -> None:
    (program,) = blocks("README.md", "python")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_the_program_of_the_page_on_durability(tmp_path: Path) -> None:
    (program,) = blocks("docs/durability.md", "python")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_getting_started(tmp_path: Path) -> None:
    page = "docs/getting-started.md"
    (tmp_path / "notes.ndjson").write_text(blocks(page, "json")[0], encoding="utf-8")
    talk = {
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Ana",
            "session_1_date_time": "9:05 am on 2 March, 2026",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I moved to Graz last week."}],
        },
        "observation": {"session_1_observation": {"Ana": [["Ana lives in Graz.", "D1:1"]]}},
    }
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks" / "talk-1.json").write_text(json.dumps(talk), encoding="utf-8")
    listed = [command for block in blocks(page, "console") for command in commands(block)]
    assert len(listed) > 10
    for command in listed:
        run(command, tmp_path)
    assert "half hobby" in run("beliefbase active", tmp_path)
    assert run("beliefbase digest", tmp_path) == run("beliefbase digest", tmp_path)
