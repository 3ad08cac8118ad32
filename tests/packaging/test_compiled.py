"""The compiled wheel: it is what it says, and answers as the modules themselves do, row by row.

What a failure means: mypyc reads something in the fold's modules differently from Python (a tuple has no identity, for
one): write it so that both agree. Needs a package index, a C compiler and Python's headers (`make compiled-test`).
"""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.packaging.test_wheel import ROOT, python, run, source_files
from tests.scale import scaled

sys.path.insert(0, str(ROOT / "bench"))

import compiled

pytestmark = [pytest.mark.slow, pytest.mark.skipif(compiled.obstacle() is not None, reason=f"{compiled.obstacle()}")]

FOLDED = Path(__file__).with_name("folded.py")
LOGS = scaled(1000)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return compiled.wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory) -> Path:
    """A clean environment with the compiled wheel: its bin directory."""
    home = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "venv", home / "venv", cwd=home)
    run(home / "venv/bin/python", "-m", "pip", "--quiet", "install", f"{wheel}[cli]", cwd=home)
    return home / "venv/bin"


def test_the_wheel_holds_sources_and_libraries_within_the_import_root(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    libraries = {name for name in names if name.endswith((".so", ".pyd"))}
    assert {name for name in names - libraries if ".dist-info/" not in name} == source_files()
    assert libraries and all(name.startswith("beliefbase/beliefs/") for name in libraries)
    assert "none-any" not in wheel.name


def test_nothing_compiled_is_left_in_the_source_tree(wheel):
    tree = [path for path in ROOT.rglob("*") if path.suffix in {".so", ".pyd", ".c", ".o"}]
    assert [path for path in tree if ".venv" not in path.parts] == []


def test_the_modules_of_the_fold_are_compiled_and_the_others_are_not(site):
    code = "import beliefbase.beliefs.{0} as m; print(m.__file__)"
    assert not python(site, code.format("fold")).strip().endswith(".py")
    assert not python(site, code.format("life")).strip().endswith(".py")
    assert python(site, code.format("slices")).strip().endswith(".py")


def test_golden_digests_stay(site, tmp_path):
    assert "Same" in run(site / "beliefbase", "golden", "check", ROOT / "tests/golden/v1", cwd=tmp_path)


def test_folds_and_errors_are_those_of_the_sources(site, tmp_path):
    here = subprocess.run([sys.executable, "-P", FOLDED, str(LOGS)], capture_output=True, text=True, check=True)
    pure, built = here.stdout.splitlines(), run(site / "python", "-P", FOLDED, str(LOGS), cwd=tmp_path).splitlines()
    assert json.loads(pure[0]) == {"compiled": False} and json.loads(built[0]) == {"compiled": True}
    assert len(pure) == len(built) > LOGS
    for expected, got in zip(pure[1:], built[1:], strict=True):
        assert json.loads(got) == json.loads(expected)
