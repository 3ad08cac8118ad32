"""The command diff: what is believed otherwise at another moment, or would be under another policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Progress
from beliefbase.cli.snapshots import up_to_date
from beliefbase.store import BeliefStore
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
@click.option("--as-of", help="With --policy: at which moment; by default now.")
def diff_command(
    settings: Settings, earlier: str | None, later: str | None, policy: Path | None, as_of: str | None
) -> None:
    """Compare what is believed at two moments.

    EARLIER and LATER (by default now) are RFC 3339, dates, or milliseconds since 1970. With --policy instead: now
    and under other policies, over the same log. Nothing is written.
    """
    if (policy is None) == (earlier is None) or (policy is None and as_of):
        raise click.UsageError(
            "give a moment to compare with (diff EARLIER [LATER]), or --policy FILE [--as-of MOMENT]"
        )
    if policy is not None:
        rows = _under(settings, policy, as_of)
    else:
        rows = _between(settings, moment(earlier or ""), moment(later) if later else None)
    if settings.json:
        settings.out.rows(rows)
        return
    settings.out.rows([{**row, **_standings(row)} for row in rows], COLUMNS, empty="(no difference)")


def _between(settings: Settings, earlier: int, later: int | None) -> list[dict[str, Any]]:
    with BeliefStore.open(settings.path) as store:
        up_to_date(store)
        return store.query(
            "SELECT * FROM changed_between($earlier, $later) ORDER BY changed_ms, belief_id",
            {"earlier": earlier, "later": store.wall() if later is None else later},
        )


def _under(settings: Settings, policy: Path, as_of: str | None) -> list[dict[str, Any]]:
    from beliefbase.replay.what_if import differences, read_alternative

    other = read_alternative(policy)
    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        at = moment(as_of) if as_of else store.wall()
        found = differences(store.log, other, as_of_ms=at, progress=progress.tell)
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
            row |= {f"{name}_before": getattr(one.before, name), f"{name}_after": getattr(one.after, name)}
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
