"""What the build does besides packing files: links for editable installs, and, when asked for, compiled modules.

``BELIEFBASE_COMPILE=1`` makes the wheel of this interpreter and platform: the modules named in pyproject.toml compiled
by mypyc, their sources beside them (docs/adr/0027-compiled-modules.md). Nothing is compiled in the source tree.
"""

import os
import shutil
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("beliefs", "events", "projections", "replay")
COMPILER = ("mypy[mypyc]>=2.4,<3",)
GROUP = "beliefbase.beliefs.compiled"
"""The library that holds the code of all compiled modules is named after this."""


class Build(BuildHookInterface):
    def dependencies(self) -> list[str]:
        return list(COMPILER) if _asked() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            link_folders(Path(self.root))
        elif _asked():
            self._scratch = tempfile.TemporaryDirectory(prefix="beliefbase-compiled-")
            scratch = Path(self._scratch.name)
            built = compiled(Path(self.root), scratch, self.config["compiled"])
            build_data["force_include"].update({str(file): str(file.relative_to(scratch / "built")) for file in built})
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable" and _asked():
            self._scratch.cleanup()


def _asked() -> bool:
    return os.environ.get("BELIEFBASE_COMPILE", "") not in {"", "0"}


def compiled(root: Path, scratch: Path, modules: list[str]) -> list[Path]:
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    links = shutil.ignore_patterns("__pycache__", *FOLDERS)
    package = shutil.copytree(root / "src" / "beliefbase", scratch / "source" / "beliefbase", ignore=links)
    for folder in FOLDERS:
        shutil.copytree(root / folder, package / folder, ignore=shutil.ignore_patterns("__pycache__"))
    files = [f"beliefbase/{module}" for module in modules]
    options = ["--config-file=", "--follow-imports=silent", f"--cache-dir={scratch / 'types'}"]
    with chdir(scratch / "source"):
        extensions = mypycify([*options, *files], opt_level="2", debug_level="0", group_name=GROUP)
        for extension in extensions if os.name == "posix" else ():
            extension.extra_compile_args.append("-fvisibility=hidden")  # calls within the library need no table
        command = build_ext(Distribution({"name": "beliefbase", "ext_modules": extensions}))
        command.build_lib, command.build_temp = str(scratch / "built"), str(scratch / "objects")
        command.ensure_finalized()
        command.run()
    return [file for file in (scratch / "built").rglob("*") if file.is_file()]


def link_folders(root: Path) -> None:
    for folder in FOLDERS:
        link, target = root / "src" / "beliefbase" / folder, root / folder
        if link.exists():
            continue
        if link.is_symlink():  # a broken link, left by a moved checkout
            link.unlink()
        if os.name == "nt":
            import _winapi

            _winapi.CreateJunction(str(target), str(link))
        else:
            link.symlink_to(os.path.relpath(target, link.parent), target_is_directory=True)
