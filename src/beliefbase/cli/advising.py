"""policies suggest: what the lifetimes of beliefs say about how long each kind should be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beliefbase.cli.app import Settings
from beliefbase.cli.snapshots import up_to_date
from beliefbase.events.errors import StoreUnavailable
from beliefbase.store import BeliefStore
from beliefbase.writing import moment

if TYPE_CHECKING:
    from beliefbase.projections.advice import Suggestion


def suggest(settings: Settings, as_of: str | None, target: Path | None) -> None:
    """Print a suggestion for every kind and speech act; with ``target``, write those with enough evidence to a file."""
    from beliefbase.beliefs.fold import fold
    from beliefbase.events.hlc import MAX_COUNTER, stamp
    from beliefbase.projections import advice
    from beliefbase.projections.lifetimes import lifetimes
    from beliefbase.projections.reading import Reader
    from beliefbase.projections.source import LogSource

    with BeliefStore.open(settings.path) as store:
        at = moment(as_of) if as_of else store.wall()
        rules = LogSource(store.log, Reader(store.log)).everywhere()
        profile = fold(rules, until=stamp(at, MAX_COUNTER)).profile
        folder = up_to_date(store)
    with lifetimes(folder, as_of_ms=at) as lives:
        found = advice.suggest(lives, profile=profile)
    if target is not None:
        _write(target, json.dumps(advice.alternative(found), indent=2) + "\n")
    if settings.json:
        settings.out.rows([{**one._asdict(), "why": advice.SENTENCES[one.reason]} for one in found])
        return
    settings.out.rows([_row(one) for one in found], empty="(no spells)", whole=("why",))
    if found:
        click.echo(
            "Expired beliefs are no evidence. Ages count from the extraction, half-lives from the last affirmation."
        )
    if target is not None:
        click.echo(f"written: {target}; see what it would change with `beliefbase diff --policy {target}`")


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreUnavailable(
            f"can't write {target}: {error.strerror}", hint="check the path, its rights and the disk", path=str(target)
        ) from error


def _row(one: Suggestion) -> dict[str, str]:
    from beliefbase.projections.advice import SENTENCES

    return {
        "kind": one.kind,
        "speech act": one.speech_act,
        "now": "no decay" if one.current_days is None else f"{one.current_days} d",
        "suggested": one.policy or "-",
        "half-life": "-" if one.half_life_days is None else f"{one.half_life_days:,} d",
        "half ended by": _evidence(one),
        "at risk": f"{one.at_risk:,}",
        "ended": f"{one.ended:,} of {one.spells:,}",
        "expired": f"{one.expired_share:.0%}",
        "why": SENTENCES[one.reason],
    }


def _evidence(one: Suggestion) -> str:
    """The median with its interval, or an age at which less than half had ended."""
    if one.policy is None:
        return "-"
    if one.median_days is None:
        return "-" if one.lower_days is None else f"later than {one.lower_days:,.0f} d"
    lower, upper = ("?" if end is None else f"{end:,.0f}" for end in (one.lower_days, one.upper_days))
    return f"{one.median_days:,.0f} d ({lower} to {upper})"
