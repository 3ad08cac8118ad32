"""Builds the compiled wheel and puts it into a folder of its own: ``python bench/compiled.py FOLDER``.

With that folder in PYTHONPATH this interpreter runs the compiled modules. Exit code 3, and why, where it can't compile.
Needs a package index for hatchling and mypy; takes a minute or two.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CANNOT = 3


def obstacle() -> str | None:
    """Why nothing can be compiled for this interpreter; None if it seems that it can."""
    header = Path(sysconfig.get_paths()["include"], "Python.h")
    if sys.implementation.name != "cpython":
        return f"mypyc compiles for CPython, this is {sys.implementation.name}"
    if not header.is_file():
        return f"Python's headers are missing ({header}; Debian and Ubuntu: python3-dev)"
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cl"
    if shutil.which(shlex.split(command)[0]) is None:
        return f"there is no C compiler ({command})"
    return None


def wheel(folder: Path) -> Path:
    """The compiled wheel, built into a folder."""
    environment = {**os.environ, "BELIEFBASE_COMPILE": "1"}
    command = [sys.executable, "-P", "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the compiled wheel could not be built:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    (built,) = folder.glob("*.whl")
    return built


def install(folder: Path) -> None:
    """Build the wheel and unpack it into a folder; what it depends on is taken from this interpreter's environment."""
    with tempfile.TemporaryDirectory() as scratch:
        built = wheel(Path(scratch))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(built)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    reason = obstacle()
    if reason is not None:
        print(reason)
        raise SystemExit(CANNOT)
    install(Path(sys.argv[1]))
