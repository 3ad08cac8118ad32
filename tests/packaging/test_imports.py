"""What importing beliefbase brings in, and under which names."""

import importlib.util
import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import beliefbase

ROOT = Path(__file__).parents[2]
HEAVY = ("click", "duckdb", "eventsourcing", "msgpack", "numpy", "pydantic", "rich")


@pytest.mark.parametrize("name", ["beliefs", "events", "projections", "replay"])
def test_bare_names_are_not_importable(name):
    assert importlib.util.find_spec(name) is None, (
        f"{name} is importable without beliefbase: the repository root is on sys.path "
        "(run `pytest`, not `python -m pytest`) or another distribution installs it"
    )


@pytest.mark.parametrize("name", ["beliefs", "events", "projections", "replay"])
def test_folders_are_packages_of_beliefbase(name):
    spec = importlib.util.find_spec(f"beliefbase.{name}")
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve() == ROOT / name / "__init__.py"


@pytest.mark.parametrize("statement", ["import beliefbase", "import beliefbase; beliefbase.__version__"])
def test_importing_the_package_loads_nothing_heavy(statement):
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in HEAVY if name in json.loads(done.stdout)] == []


def test_importing_events_loads_no_projection_library():
    code = "import json, sys; import beliefbase.events; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in ("click", "duckdb", "numpy", "rich") if name in json.loads(done.stdout)] == []


def test_version_is_that_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert beliefbase.__version__ == version("beliefbase") == project["version"]


def test_public_names_resolve():
    assert {name: hasattr(beliefbase, name) for name in beliefbase.__all__} == dict.fromkeys(beliefbase.__all__, True)
    assert set(beliefbase.__all__) <= set(dir(beliefbase))


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'Belief'"):
        beliefbase.Belief
