"""The command diff: what is believed otherwise at another moment, or would be under another policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Progress
from beliefbase.cli.snapshots import PIN, answering, asked, up_to_date
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import moment

COLUMNS: Final = ("belief_id", "before", "after", "statement", "kind", "speech_act", "agent")
FLAGS: Final = ("stale", "contested", "forked")


@command("diff")
@click.argument("earlier", required=False)
@click.argument("later", required=False)
@click.option(
    "--policy",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of other policies, as `policies suggest --write` makes it: what would be believed under them?",
)
@click.option("--as-of", help="With --policy or --pin alone: at which moment; by default now, or the pin's.")
@PIN
def diff_command(
    settings: Settings,
    earlier: str | None,
    later: str | None,
    policy: Path | None,
    as_of: str | None,
    pin_file: Path | None,
) -> None:
    """Compare what is believed at two moments, by two states of knowledge, or under two policies.

    EARLIER and LATER (by default now) are RFC 3339, dates, or milliseconds since 1970; with --pin both are asked of
    what the store held when the pin was made. With --pin alone: one moment by what was held then, and by what is held
    now. With --policy: now and under other policies, over the same log. Nothing is written.
    """
    if bool(policy) + bool(earlier) > 1 or not (policy or earlier or pin_file) or (earlier and as_of):
        raise click.UsageError("give diff EARLIER [LATER] [--pin FILE], --pin FILE [--as-of MOMENT], or --policy FILE")
    if policy is not None and pin_file is not None:
        raise click.UsageError("--policy compares over the log as it is: leave out --pin")
    if policy is not None:
        rows = _under(settings, policy, as_of)
    elif earlier is None and pin_file is not None:
        rows = _learnt(settings, pin_file, as_of)
    else:
        rows = _between(settings, moment(earlier or ""), later, pin_file)
    if settings.json:
        settings.out.rows(rows)
        return
    settings.out.rows([{**row, **_standings(row)} for row in rows], COLUMNS, empty="(no difference)")


def _between(settings: Settings, earlier: int, later: str | None, pin_file: Path | None) -> list[dict[str, Any]]:
    with BeliefStore.open(settings.path) as store, answering(store, pin_file, later) as (folder, at):
        return asked(
            folder,
            "SELECT * FROM changed_between($earlier, $later) ORDER BY changed_ms, belief_id",
            {"earlier": earlier, "later": at},
        )


def _learnt(settings: Settings, pin_file: Path, as_of: str | None) -> list[dict[str, Any]]:
    from beliefbase.projections.errors import NoSnapshot
    from beliefbase.projections.publish import current
    from beliefbase.replay.answers import learnt_since, read_models_at
    from beliefbase.replay.pin import Pin

    pin, progress = Pin.read(pin_file), Progress()
    with BeliefStore.open(settings.path) as store:
        at = moment(as_of) if as_of else pin.as_of_ms
        snapshot = current(up_to_date(store))
        if snapshot is None:
            raise NoSnapshot("nothing was published yet", hint="beliefbase project")
        with read_models_at(store.log, store.path / READ_NAME, pin, as_of_ms=at, progress=progress.tell) as fresh:
            progress.close()
            return learnt_since(fresh, snapshot, as_of_ms=at)


def _under(settings: Settings, policy: Path, as_of: str | None) -> list[dict[str, Any]]:
    from beliefbase.replay.alternative import read_alternative
    from beliefbase.replay.what_if import Change, WhatIf

    change = Change(other=read_alternative(policy))
    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        at = moment(as_of) if as_of else store.wall()
        found = WhatIf(store.log, change, progress=progress.tell).differences(as_of_ms=at)
        progress.close()
        up_to_date(store)
        told = {
            row["belief_id"]: row
            for row in store.query(
                "SELECT belief_id, statement, kind, speech_act, agent, began_ms FROM beliefs_at($ts)"
                " WHERE belief_id IN (SELECT unnest($ids))",
                {"ts": at, "ids": [one.belief_id for one in found]},
            )
        }
    rows = []
    for one in found:
        row: dict[str, Any] = {"belief_id": one.belief_id, **told.get(one.belief_id, {})}
        for name in ("status", *FLAGS):
            row |= {f"{name}_before": getattr(one.before, name, None), f"{name}_after": getattr(one.after, name, None)}
        rows.append(row)
    return rows


def _standings(row: dict[str, Any]) -> dict[str, str]:
    return {side: _standing(row, side) for side in ("before", "after")}


def _standing(row: dict[str, Any], side: str) -> str:
    status = row[f"status_{side}"]
    if status is None:
        return "-"
    flags = [flag for flag in FLAGS if row[f"{flag}_{side}"]]
    return f"{status} ({', '.join(flags)})" if flags else str(status)
