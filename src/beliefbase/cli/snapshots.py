"""Which snapshot analysts' commands answer from: one of the log as it is, if it can be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from beliefbase.cli.output import Progress
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import moment

PIN: Final = click.option(
    "--pin",
    "pin_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="From what the store held when this pin was made, by a replay; at its moment unless --as-of says another.",
)


@contextmanager
def answering(store: BeliefStore, pin_file: Path | None, as_of: str | None) -> Iterator[tuple[Path, int]]:
    """A folder of read models to answer from, and the moment: of the log as it is, or of what a pin held.

    Raises:
        BadPin: the file is no pin.
        LogDamaged: the log doesn't hold what was pinned.
    """
    at = moment(as_of) if as_of else None
    if pin_file is None:
        yield up_to_date(store), store.wall() if at is None else at
        return
    from beliefbase.replay.answers import read_models_at
    from beliefbase.replay.pin import Pin

    pin, progress = Pin.read(pin_file), Progress()
    with read_models_at(store.log, store.path / READ_NAME, pin, as_of_ms=at, progress=progress.tell) as fresh:
        fresh.publish()
        progress.close()
        yield fresh.folder, pin.as_of_ms if at is None else at


def asked(folder: Path, sql: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The rows that a folder's newest snapshot gives."""
    from beliefbase.projections.query import query

    answer = query(folder, sql, parameters)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def up_to_date(store: BeliefStore) -> Path:
    """The folder of read models, brought up to date if the newest snapshot is behind the log.

    Where another process projects at the moment, the newest snapshot has to do, and standard error says so.

    Raises:
        ProjectorBusy: another process projects, and nothing was published yet.
    """
    from beliefbase.projections.errors import NoSnapshot, ProjectorBusy

    folder = store.path / READ_NAME
    try:
        if _stands_for(folder) == _wanted(store):
            return folder
        behind = True
    except NoSnapshot:
        behind = False
    progress = Progress()
    try:
        with store.projector(progress=progress.tell) as projector:
            projector.refresh(store.wall())
            projector.publish()
    except ProjectorBusy:
        if not behind:
            raise
        click.echo("(another process projects this store: answered from its newest snapshot)", err=True)
    finally:
        progress.close()
    return folder


def _stands_for(folder: Path) -> tuple[Any, ...]:
    from beliefbase.projections.query import query

    (found,) = query(folder, "SELECT root, rules, projections, schema FROM meta").rows
    return found


def _wanted(store: BeliefStore) -> tuple[Any, ...]:
    from beliefbase.beliefs.rules import RULES_VERSION
    from beliefbase.projections import registry
    from beliefbase.projections.work import SCHEMA_VERSION

    return store.log.root().hex(), RULES_VERSION, registry.versions(), registry.layout(SCHEMA_VERSION)
