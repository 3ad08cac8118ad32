"""The list of planted bugs fits the source and the docs; ``make mutants`` runs them."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "mutants.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="bench/ is not there")


def script():
    spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_mutant_applies_exactly_once_and_is_a_program_still():
    mutants = script()
    for mutant in mutants.MUTANTS:
        source = (ROOT / "beliefs" / mutant.file).read_text("utf-8")
        bug = mutants.mutated(mutant, source)
        assert bug is not None, f"{mutant.bug}: beliefs/{mutant.file} holds its text not exactly once"
        assert ast.dump(ast.parse(bug)) != ast.dump(ast.parse(source)), mutant.bug


def test_there_are_at_least_25_and_each_has_a_name_of_its_own():
    bugs = [mutant.bug for mutant in script().MUTANTS]
    assert len(bugs) == len(set(bugs)) >= 25


def test_the_page_lists_them():
    assert (ROOT / "docs" / "mutants.md").read_text("utf-8") == script().page()
