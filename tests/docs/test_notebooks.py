"""Every notebook of the docs runs from top to bottom as a script, and is kept without outputs."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_is_one():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, capsys):
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["nbformat"] == 4
    names = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), f"{path.name}, {cell['id']}", "exec"), names)
    told = capsys.readouterr().out
    assert "note: 80 spells, 80 ended" in told
    assert "curves.svg" in told
    assert "note direct_assertion half_life@1" in told
