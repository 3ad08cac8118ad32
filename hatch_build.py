"""Editable installs: put one directory link per source folder inside the import root."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("beliefs", "events", "projections", "replay")


class LinkFolders(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            return
        root = Path(self.root)
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
