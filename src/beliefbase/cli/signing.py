"""The command key: keys of agents that sign what they write."""

from __future__ import annotations

from pathlib import Path

import click

from beliefbase.cli.app import Settings, command
from beliefbase.events.signing import AgentKey, key_file
from beliefbase.events.writer import new_seed
from beliefbase.store import KEYS


@command("key")
@click.argument("action", type=click.Choice(["new", "show"]))
@click.argument("names", nargs=-1, required=True)
@click.option(
    "--folder",
    envvar=KEYS,
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help=f"Folder of the keys (or {KEYS}), outside of any store.",
)
def key_command(settings: Settings, action: str, names: tuple[str, ...], folder: Path) -> None:
    """Make keys for agents that sign, or show the lines of a trust file that trust them.

    NAMES are agents. Whoever writes as one of them with BELIEFBASE_KEYS set to the folder signs from then on; give
    the lines to those who audit (`beliefbase audit --keys FILE`), and the key files to nobody.
    """
    keys = []
    for name in names:
        path = key_file(folder, name)
        if action == "new":
            AgentKey.new(name, new_seed()).write(path)
        keys.append((AgentKey.read(path), path))
    told = [{"agent": key.agent, "public": key.public.hex(), "file": str(path)} for key, path in keys]
    settings.out.object({"keys": told}, "\n".join(key.line for key, _ in keys))
