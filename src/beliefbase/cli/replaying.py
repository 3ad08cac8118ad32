"""Commands that replay: golden, replay, taint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.checks import A_FILE, finish, output_options
from beliefbase.cli.output import Progress
from beliefbase.events.ids import parse_id
from beliefbase.events.log import EventLog
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import moment

if TYPE_CHECKING:
    from beliefbase.replay.what_if import Difference

LISTED: Final = 1000
"""Beliefs that a difference lists; the rest is counted."""


@command("golden")
@click.argument("action", type=click.Choice(["check", "update", "make"]))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_options
def golden_command(
    settings: Settings,
    action: str,
    paths: tuple[Path, ...],
    junit: Path | None,
    markdown: Path | None,
    github: bool,
) -> None:
    """Check golden logs, update their digests, or make one of a store.

    PATHS are log files, or folders of them. `make` writes the store's log into the one file that is named. Digests
    are never updated in CI.
    """
    from beliefbase.replay import golden

    if action != "check" and os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise click.UsageError("golden digests are not updated in CI: run this on your machine and commit the files")
    progress = Progress()
    if action == "make":
        from beliefbase.replay.portable import write_log

        if len(paths) != 1:
            raise click.UsageError("golden make FILE")
        with BeliefStore.open(settings.path) as store:
            write_log(store.log, paths[0])
    does = golden.check if action == "check" else golden.update
    reports = [does(path, progress=progress.tell) for path in golden.logs(paths)]
    progress.close()
    finish(settings, reports, junit, markdown, github=github)


@command("replay")
@click.argument("belief", required=False)
@click.option("--step", is_flag=True, help="Show the life of BELIEF event by event.")
@click.option("--without-writer", multiple=True, help="As if this agent, or writer, had written nothing (repeatable).")
@click.option(
    "--without-source", multiple=True, help="As if nothing had come from this person, conversation … (repeatable)."
)
@click.option(
    "--policy", type=A_FILE, help="As if the policies and profile of this JSON file had always been in force."
)
@click.option("--until", help="As if nothing had been written after this time.")
@click.option("--as-of", help="The moment to compare at: RFC 3339, a date, or milliseconds; by default now.")
def replay_command(
    settings: Settings,
    belief: str | None,
    step: bool,
    without_writer: tuple[str, ...],
    without_source: tuple[str, ...],
    policy: Path | None,
    until: str | None,
    as_of: str | None,
) -> None:
    """Replay the log with something left out or other rules, and show what would be believed."""
    if step or belief:
        if not (step and belief) or without_writer or without_source or policy or until or as_of:
            raise click.UsageError("replay BELIEF --step, or replay with something left out or other rules")
        from beliefbase.replay.steps import steps, steps_text

        with BeliefStore.open(settings.path) as store:
            told = steps(store.log, parse_id(belief))
        settings.out.object(told, steps_text(told))
        return
    from beliefbase.replay.alternative import Alternative, read_alternative
    from beliefbase.replay.what_if import Change, WhatIf

    other = read_alternative(policy) if policy else Alternative()
    change = Change(without_writer, without_source, other, moment(until) if until else None)
    if not change.told:
        raise click.UsageError("what if? Give --without-writer, --without-source, --policy or --until")
    progress = Progress()
    with BeliefStore.open(settings.path) as store:
        at = moment(as_of) if as_of else store.wall()
        what_if = WhatIf(store.log, change, progress=progress.tell)
        differing = what_if.differences(as_of_ms=at)
        digest, changed_digest = what_if.digests(store.path / READ_NAME, as_of_ms=at)
        beliefs = _rows(store.log, differing[:LISTED])
    progress.close()
    told = {
        "change": change.told,
        "as_of_ms": at,
        "digest": digest,
        "changed_digest": changed_digest,
        "differing": len(differing),
        "beliefs": beliefs,
    }
    settings.out.object(told, _what_if_text(told))


def _rows(log: EventLog, differing: Sequence[Difference]) -> list[dict[str, Any]]:
    from beliefbase.replay.what_if import standing_text

    ids = {bytes.fromhex(one.belief_id) for one in differing}
    statements = {event.id.hex(): event.words.get("statement") for event in log.by_id(ids, words=True)}
    return [
        {
            "belief_id": one.belief_id,
            "statement": statements.get(one.belief_id),
            "is": standing_text(one.before),
            "would_be": standing_text(one.after),
        }
        for one in differing
    ]


@command("taint")
@click.argument("suspect")
def taint_command(settings: Settings, suspect: str) -> None:
    """List everything downstream of SUSPECT: an event, an agent or writer, a person, a conversation, a source.

    A conclusion or injection is reached if it rests on, or showed, something that was reached.
    """
    from beliefbase.replay.taint import Taint, suspects

    with BeliefStore.open(settings.path) as store:
        told = Taint(store.log, suspects(store.log, suspect)).as_dict()
    settings.out.object(told, _taint_text(told))


def _what_if_text(told: dict[str, Any]) -> str:
    lines = [f"What if: {', '.join(told['change'])}"]
    lines += [f"digest {told['digest']}", f"   now {told['changed_digest'] or 'none: no event assigns policies'}"]
    lines.append(f"{told['differing']} belief(s) would stand otherwise:")
    for row in told["beliefs"]:
        stands = f"{row['is'] or 'unknown'} → {row['would_be'] or 'unknown'}"
        lines.append(f"  {row['belief_id']}  {stands:<24}  {row['statement'] or ''}".rstrip())
    return "\n".join(lines)


def _taint_text(told: dict[str, Any]) -> str:
    lines = [f"{told['start']} event(s) under suspicion, {told['reached']} downstream"]
    for group, rows in told.items():
        if isinstance(rows, list) and rows:
            lines.append(f"{group}:")
            lines += [f"  {row['event']}  {row['type']:<24}  {row.get('text', '')}".rstrip() for row in rows]
    return "\n".join(lines)
