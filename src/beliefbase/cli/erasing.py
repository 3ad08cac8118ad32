"""The command that forgets a person."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.checks import A_FILE
from beliefbase.cli.output import Progress
from beliefbase.events.errors import StoreUnavailable
from beliefbase.store import BeliefStore


@command("forget")
@click.argument("subject")
@click.option("--as", "owner", envvar="BELIEFBASE_AGENT", required=True, help="Who erases, as an owner.")
@click.option("--reason", help="Why, in words; without the person's name, because it is kept.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--out", type=A_FILE, help="Write the certificate, as JSON, into this file as well.")
def forget_command(
    settings: Settings, subject: str, owner: str, reason: str | None, yes: bool, out: Path | None
) -> None:
    """Erase the words of the person SUBJECT, and all text that was made from them; facts stay.

    It can't be undone, and reaches every store that this one syncs with. Prints a certificate.
    """
    from beliefbase.erasing import forget, would_go

    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        if not yes:
            _ask(store, subject, would_go(store, subject))
        certificate = forget(store, subject, owner=owner, reason=reason, progress=progress.tell)
    progress.close()
    if out is not None:
        try:
            out.write_text(json.dumps(certificate.as_dict(), indent=2) + "\n", "utf-8")
        except OSError as error:
            click.echo(certificate.as_text(), err=True)
            raise StoreUnavailable(
                f"{out}: can't be written ({error.strerror})",
                hint="the erasure is done; its certificate is above",
                path=str(out),
            ) from error
    settings.out.object(certificate.as_dict(), certificate.as_text())


def _ask(store: BeliefStore, subject: str, found: dict[str, int]) -> None:
    """Ask on a terminal; refuse elsewhere."""
    by_type = ", ".join(f"{count} {name}" for name, count in sorted(found.items())) or "no event"
    what = f"{store.name}: the words of {sum(found.values())} events go for good ({by_type})."
    if not sys.stdin.isatty():
        raise click.UsageError(f"{what} Nobody can be asked here: say --yes.")
    click.confirm(f"{what}\nErase the words of {subject}?", abort=True, err=True)
