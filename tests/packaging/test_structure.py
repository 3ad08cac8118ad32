"""The shape of the source: modules of bounded size, documented, around one noun."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/beliefbase", "beliefs", "events", "projections", "replay")
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if folder != "src/beliefbase" or path.resolve() == path  # not through the links of an editable install
)
MAX_LINES = 400


def test_every_folder_is_looked_at():
    assert [folder for folder in FOLDERS if not any(module.startswith(f"{folder}/") for module in MODULES)] == []


@pytest.mark.parametrize("module", MODULES)
def test_modules_are_documented_and_bounded(module):
    source = (ROOT / module).read_text("utf-8")
    lines = len(source.splitlines())
    assert lines <= MAX_LINES, f"{module} has {lines} lines: split it along its nouns"
    assert ast.get_docstring(ast.parse(source)), f"{module} has no docstring"


def test_no_module_is_a_drawer():
    drawers = {"util", "utils", "helpers", "misc", "common"}
    assert [module for module in MODULES if Path(module).stem in drawers] == []


def test_no_module_looks_through_a_bare_folder_name():
    bare = {"beliefs", "events", "projections", "replay"}
    found = []
    for module in MODULES:
        for node in ast.walk(ast.parse((ROOT / module).read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            found += [(module, name) for name in names if name.split(".")[0] in bare]
    assert found == []
