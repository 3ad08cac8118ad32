"""The demo."""

from __future__ import annotations

import sys

import click

from beliefbase.cli.app import Settings, command


@command("demo")
def demo_command(settings: Settings) -> None:
    """Tell a small story of three agents in a temporary store, and prove its answers."""
    from beliefbase.demo import run

    quiet = settings.json
    found = run(lambda line: None if quiet else click.echo(line))
    if quiet:
        settings.out.object(found)
    if not found["digest"] == found["rebuilt"] == found["in_order"] or found["audit"]["exit"]:
        sys.exit(1)
