"""Which snapshot analysts' commands answer from: one of the log as it is, if it can be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beliefbase.cli.output import Progress
from beliefbase.store import READ_NAME, BeliefStore


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
