"""The command group: commands are loaded when they are asked for, and errors are told in one way."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import click

from beliefbase.cli.output import Output
from beliefbase.events.errors import BeliefbaseError, StoreUnavailable

COMMANDS: Final[dict[str, str]] = {
    "init": "writing",
    "append": "writing",
    "import": "writing",
    "log": "reading",
    "show": "reading",
    "active": "reading",
    "history": "inspecting",
    "why": "inspecting",
    "explain": "inspecting",
    "affirm": "deciding",
    "promote": "deciding",
    "demote": "deciding",
    "retract": "deciding",
    "reinstate": "deciding",
    "reclassify": "deciding",
    "resolve": "deciding",
    "questions": "inspecting",
    "policies": "inspecting",
    "profile": "inspecting",
    "classify": "classifying",
    "project": "models",
    "query": "models",
    "curves": "curves",
    "report": "reporting",
    "diff": "comparing",
    "export": "reporting",
    "digest": "models",
    "audit": "checks",
    "pin": "checks",
    "key": "signing",
    "golden": "replaying",
    "replay": "replaying",
    "taint": "replaying",
    "sync": "syncing",
    "bundle": "syncing",
    "forget": "erasing",
    "doctor": "checks",
    "demo": "showing",
}
"""Command → module of this package, in the order in which ``--help`` lists them."""


class LazyGroup(click.Group):
    """Loads a command's module on first use, so that ``beliefbase append`` never waits for DuckDB."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(f"beliefbase.cli.{module}"), f"{cmd_name}_command")
        return command if isinstance(command, click.Command) else None


class Settings:
    """What every command knows: which store, and how to print."""

    def __init__(self, store: str | None, json: bool) -> None:
        self.store = store
        self.json = json

    @property
    def path(self) -> str:
        """Where the store is.

        Raises:
            click.UsageError: it was not said.
        """
        if not self.store:
            raise click.UsageError("which store? Give -s DIR (or -s postgresql://…), or set BELIEFBASE_STORE.")
        return self.store

    @property
    def out(self) -> Output:
        """The printer for this command."""
        return Output(json=self.json)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "-s", "--store", envvar="BELIEFBASE_STORE", help="The store: a directory, or postgresql://… (or BELIEFBASE_STORE)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.version_option(package_name="beliefbase")
@click.pass_context
def cli(ctx: click.Context, store: str | None, as_json: bool) -> None:
    """Keep what agents were told: append events, project read models, query them, prove them."""
    ctx.obj = Settings(store, as_json)


def command(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command whose first argument is the Settings; takes -s and --json after its name as well."""

    def wrap(function: Callable[..., Any]) -> click.Command:
        def call(store: str | None, as_json: bool, **arguments: Any) -> Any:
            settings = click.get_current_context().find_object(Settings) or Settings(None, json=False)
            return function(Settings(store or settings.store, as_json or settings.json), **arguments)

        call.__doc__ = function.__doc__
        call.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        made = click.command(name)(call)
        made.params.append(click.Option(["-s", "--store"], help="The store: a directory, or postgresql://…."))
        made.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."))
        return made

    return wrap


def _unavailable(error: OSError) -> StoreUnavailable:
    place = "" if error.filename is None else f"{error.filename}: "
    return StoreUnavailable(
        f"{place}{error.strerror or type(error).__name__}",
        hint="check that the place exists, the rights of its files and folders, and the free space",
    )


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the group; turn errors into one message, a hint and an exit status.

    ``arguments`` are those of the command line where none are given.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    out = Output(json="--json" in given)
    try:
        status = cli.main(given, prog_name="beliefbase", standalone_mode=False)
    except click.exceptions.Abort:
        status = 130
    except click.ClickException as error:
        if out.json:
            out.problem({"error": "usage", "message": error.format_message(), "hint": "beliefbase --help"})
        else:
            error.show()
        status = error.exit_code
    except BeliefbaseError as error:
        out.error(error)
        status = error.exit_code
    except OSError as error:
        unavailable = _unavailable(error)
        out.error(unavailable)
        status = unavailable.exit_code
    sys.exit(status if isinstance(status, int) else 0)
