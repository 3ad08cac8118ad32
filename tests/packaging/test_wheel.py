"""The built distributions: complete, collision-free, and usable where no source is.

What a failure means: a backend dropped or misplaced a package, or users who install the wheel get something else
than the tests see. Needs a package index for hatchling, the dependencies and opensearch-py (`make wheel-test`).
"""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
FOLDERS = ("beliefs", "events", "projections", "replay")


def run(*command: str | Path, cwd: Path, stdin: str = "") -> str:
    # Neither the checkout nor anything of this process' paths may help the installed package.
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE", "VIRTUAL_ENV"))
    }
    done = subprocess.run(command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command} -> {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def source_files() -> set[str]:
    """Every file of the source folders, at its place inside the import root."""
    found = set()
    for folder in ("src/beliefbase", *FOLDERS):
        base = ROOT / folder
        for directory, subdirectories, names in os.walk(base):  # does not follow the links
            subdirectories[:] = [name for name in subdirectories if name != "__pycache__"]
            inside = Path(directory).relative_to(base)
            target = PurePosixPath("beliefbase") if folder.startswith("src") else PurePosixPath("beliefbase", folder)
            found |= {str(target / inside.as_posix() / name) for name in names}
    return found


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """An sdist of the checkout, and a wheel built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    run(BIN / "python", "-P", "-m", "build", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="module")
def wheel(dist) -> Path:
    (wheel,) = dist.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def sdist(dist) -> Path:
    (sdist,) = dist.glob("*.tar.gz")
    return sdist


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory) -> Path:
    """A clean environment outside the checkout, without development dependencies: its bin directory."""
    home = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "venv", home / "venv", cwd=home)
    site = home / "venv" / "bin"
    pip(site, "install", f"{wheel}[cli]")
    return site


def pip(site: Path, *arguments: str) -> None:
    run(site / "python", "-m", "pip", "--quiet", *arguments, cwd=site)


def python(site: Path, code: str) -> str:
    return run(site / "python", "-P", "-c", code, cwd=site)


def test_wheel_holds_every_source_file_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    packaged = {name for name in names if not PurePosixPath(name).parts[0].endswith(".dist-info")}
    assert packaged == source_files()
    assert "beliefbase/py.typed" in packaged


def test_wheel_has_one_import_root(wheel):
    top = {PurePosixPath(name).parts[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"beliefbase"}


def test_wheel_carries_licence_and_entry_point(wheel):
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    (entry_points,) = (name for name in names if name.endswith("entry_points.txt"))
    assert b"beliefbase = beliefbase.cli:main" in archive.read(entry_points)


def test_sdist_holds_the_sources_but_no_links_and_no_rubbish(sdist):
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert [member.name for member in members if member.issym() or member.islnk()] == []
    names = {str(PurePosixPath(*PurePosixPath(member.name).parts[1:])) for member in members if member.isfile()}
    inside = {name.removeprefix("src/") if name.startswith("src/") else f"beliefbase/{name}" for name in names}
    assert source_files() <= inside
    assert {"Makefile", "hatch_build.py", "pyproject.toml", "LICENSE", "tests/packaging/test_wheel.py"} <= names
    rubbish = ("__pycache__", ".venv", ".coverage", "_cache", ".hypothesis", "dist", "build", ".git", "notes")
    assert [name for name in names if any(part.endswith(rubbish) for part in PurePosixPath(name).parts[:-1])] == []
    assert [name for name in names if name.endswith((".pyc", ".db", ".duckdb", ".whl", ".coverage"))] == []


def test_installed_package_is_the_wheel_not_the_checkout(site):
    where = Path(python(site, "import beliefbase.events as e; print(e.__file__)").strip())
    assert where.is_relative_to(site.parent)


@pytest.mark.parametrize("name", FOLDERS)
def test_bare_names_are_not_installed(site, name):
    assert python(site, f"import importlib.util as u; print(u.find_spec({name!r}))").strip() == "None"


def test_every_module_imports_with_run_time_dependencies_only(site):
    modules = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in source_files()
        if name.endswith(".py")
        and not name.endswith(("/__main__.py", "/pytest_plugin.py"))  # pytest loads that one
        and (not PurePosixPath(name).name.startswith("postgres") or name.endswith("/postgres_url.py"))  # the extra's
    )
    python(site, f"import importlib\nfor name in {modules!r}: importlib.import_module(name)")


def test_version_of_the_installed_command(site, wheel):
    assert run(site / "beliefbase", "--version", cwd=site).split()[-1] == wheel.name.split("-")[1]


def test_types_are_seen_by_users_of_the_wheel(site, tmp_path):
    """A project that uses the installed wheel is type-checked against it (py.typed)."""
    (tmp_path / "user.py").write_text(
        "from beliefbase import BeliefStore, __version__\n\nreveal_type(BeliefStore)\nreveal_type(__version__)\n",
        "utf-8",
    )
    out = run(
        BIN / "mypy", "--strict", "--python-executable", site / "python", "--config-file=", "user.py", cwd=tmp_path
    )
    assert "beliefbase.store.BeliefStore" in out
    assert 'Revealed type is "str"' in out or 'Revealed type is "builtins.str"' in out


BOTH = "import opensearchpy, beliefbase.events; from events import Events; print(beliefbase.events.__name__)"


def test_lives_beside_opensearch_py_in_both_orders(site, wheel):
    """opensearch-py depends on a distribution that installs a top-level `events`."""
    pip(site, "install", "opensearch-py")
    assert python(site, BOTH).strip() == "beliefbase.events"
    pip(site, "uninstall", "--yes", "beliefbase")
    python(site, "import opensearchpy")
    pip(site, "install", f"{wheel}[cli]")
    assert python(site, BOTH).strip() == "beliefbase.events"
    pip(site, "uninstall", "--yes", "opensearch-py", "Events")
    python(site, "import beliefbase.events, beliefbase.replay")


BELIEF = {"type": "belief.extracted", "agent": "scribe", "evidence": ["$said"], "kind": "fact", "confidence": 900}
LINES = [
    {
        "type": "utterance.recorded",
        "agent": "scribe",
        "ref": "said",
        "speaker": "ada",
        "verbatim": "Friday. No: Monday.",
    },
    BELIEF | {"ref": "old", "statement": "We ship on Friday.", "assertion_class": "durable_fact"},
    BELIEF | {"ref": "new", "statement": "We ship on Monday.", "assertion_class": "durable_fact"},
    {
        "type": "belief.superseded",
        "agent": "scribe",
        "superseded_id": "$old",
        "superseding_id": "$new",
        "cause": "correction",
    },
]


def test_installed_command_works_on_a_store(site, tmp_path):
    """Append, project, query and audit with nothing but the wheel."""

    def beliefbase(*arguments: str, stdin: str = "") -> str:
        return run(site / "beliefbase", "-s", tmp_path / "store", *arguments, cwd=tmp_path, stdin=stdin)

    beliefbase("init")
    beliefbase("append", stdin="".join(f"{json.dumps(line)}\n" for line in LINES))
    beliefbase("project")
    assert "2" in beliefbase("query", "SELECT count(*) AS n FROM beliefs").split()
    active = beliefbase("active", "--json")
    json.loads(active)
    assert "We ship on Monday." in active
    assert "We ship on Friday." not in active
    digest = beliefbase("digest")
    beliefbase("audit")  # exit status 0: a rebuild gives the same
    assert beliefbase("digest") == digest
