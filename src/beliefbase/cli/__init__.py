"""The command line; ``main`` is the entry point."""

from __future__ import annotations

import sys


def main() -> None:
    """Run ``beliefbase``; ``--version`` is answered before anything heavy is loaded."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from importlib.metadata import version

        sys.stdout.write(f"beliefbase {version('beliefbase')}\n")
        return
    from beliefbase.cli.app import run

    run()
