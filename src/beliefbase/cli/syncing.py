"""Commands that bring stores together: sync, bundle."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Progress
from beliefbase.events.postgres_url import Address, is_address
from beliefbase.store import BeliefStore
from beliefbase.syncing import SHOWN, never_met, sync, take_bundle, write_bundle

A_PATH = click.Path(path_type=Path)


@command("sync")
@click.argument("other")
@click.option("--yes", is_flag=True, help="Let two stores meet that never met, without being asked.")
def sync_command(settings: Settings, other: str, yes: bool) -> None:
    """Bring this store and OTHER to the same events, both ways.

    OTHER is a store's directory, the address of one in a database (postgresql://…), or a bundle file.

    Two stores that never met are one from then on: their agents are shown first. A run that was cut short is gone on
    with by the next one.

    Exit status: 0 both hold the same events, 1 they differ still.
    """
    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        _introduce(settings, store, other, yes=yes)
        done = sync(store, other, progress=progress.tell)
    progress.close()
    settings.out.object(done.as_dict(), done.as_text())
    if not done.same:
        sys.exit(1)


@command("bundle")
@click.argument("action", type=click.Choice(["export", "import", "verify"]))
@click.argument("file", type=A_PATH)
@click.option("--yes", is_flag=True, help="Let stores meet that never met, without being asked.")
def bundle_command(settings: Settings, action: str, file: Path, yes: bool) -> None:
    """Write a store into FILE, merge FILE into a store, or check FILE (which needs no store).

    A bundle is checked as a whole before anything of it is used.
    """
    from beliefbase.events.bundle import Bundle

    if action == "verify":
        with Bundle(file) as bundle:
            contents = bundle.contents
        settings.out.object({"bundle": str(file), **contents._asdict()})
        return
    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        if action == "export":
            told: Mapping[str, Any] = {"bundle": str(file), **write_bundle(store, file)._asdict()}
            text = None
        else:
            _introduce(settings, store, file, yes=yes)
            told = take_bundle(store, file, progress=progress.tell)
            text = "\n".join([f"{told['stored']} new events", *(f"  ! {note}" for note in told["notes"])])
    progress.close()
    settings.out.object(told, text)


def _introduce(settings: Settings, store: BeliefStore, other: str | Path, *, yes: bool) -> None:
    """Show whose stores are about to meet for the first time, and ask."""
    met = None if yes and settings.json else never_met(store, other)
    if met is None:
        return
    there = Address.read(other).shown if is_address(other) else other
    for name, where in (("here", store.name), ("there", there)):
        click.echo(f"{where}: {_listed(met[name])}", err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("these two never met, and nobody can be asked here: say --yes if they belong together.")
    click.confirm("They become one for good. Do they belong together?", abort=True, err=True)


def _listed(agents: Sequence[Mapping[str, Any]]) -> str:
    if not agents:
        return "nobody wrote yet"
    shown = ", ".join(f"{one['agent']} ({one['kind']}, {one['writers']} writers)" for one in agents[:SHOWN])
    return shown if len(agents) <= SHOWN else f"{shown} and {len(agents) - SHOWN} more"
