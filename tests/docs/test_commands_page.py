"""docs/commands.md is what the command line says of itself, and every command says what it does."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def generator():
    spec = importlib.util.spec_from_file_location("generate_commands", DOCS / "generate_commands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date():
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert page == generator().render(), "docs/commands.md is out of date: run make docs"


def test_every_option_has_a_meaning():
    rows = [line for line in (DOCS / "commands.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert rows
    assert [row for row in rows if row.endswith("|  |")] == []
