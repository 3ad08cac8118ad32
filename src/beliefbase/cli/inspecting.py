"""The memory inspector: history, why, explain, policies, profile, questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beliefbase.cli.app import Settings, command
from beliefbase.events.ids import parse_id
from beliefbase.inspector.case import Case
from beliefbase.inspector.desk import Desk
from beliefbase.store import BeliefStore
from beliefbase.writing import moment

as_of_option = click.option("--as-of", help="A moment: RFC 3339, a date, or milliseconds; by default now.")


def case_at(store: BeliefStore, belief: str, as_of: str | None) -> Case:
    """A belief at a moment, by default now."""
    desk, key = Desk(store.log), parse_id(belief)
    return Case(desk, key, moment(as_of)) if as_of else Case(desk, key, store.wall(), now=True)


@command("history")
@click.argument("belief")
def history_command(settings: Settings, belief: str) -> None:
    """Tell every interval of BELIEF's life.

    Since when, until when, and who or what began it; what time will do is marked as to come.
    """
    from beliefbase.inspector.history import history
    from beliefbase.inspector.rendering import history_text

    with BeliefStore.open(settings.path) as store:
        told = history(Case(Desk(store.log), parse_id(belief), None), store.wall())
    settings.out.object(told, history_text(told))


@command("why")
@click.argument("belief")
@as_of_option
def why_command(settings: Settings, belief: str, as_of: str | None) -> None:
    """Tell why BELIEF is there.

    Evidence in the speaker's own words, who read it how, verdicts, revisions, and whom it was shown to.
    """
    from beliefbase.inspector.reasons_text import why_text
    from beliefbase.inspector.why import why

    with BeliefStore.open(settings.path) as store:
        told = why(case_at(store, belief, as_of))
    settings.out.object(told, why_text(told))


@command("explain")
@click.argument("belief")
@as_of_option
def explain_command(settings: Settings, belief: str, as_of: str | None) -> None:
    """Tell which rule decides BELIEF's status.

    A chain of sentences with what the rule read, at a moment or now.
    """
    from beliefbase.inspector.explain import explain
    from beliefbase.inspector.rendering import explanation_text
    from beliefbase.inspector.sentences import sentences

    with BeliefStore.open(settings.path) as store:
        told = explain(case_at(store, belief, as_of))
    told["sentences"] = sentences(told)
    settings.out.object(told, explanation_text(told))


@command("policies")
@click.argument("action", type=click.Choice(["list", "show", "suggest"]), default="list")
@click.argument("name", required=False)
@as_of_option
@click.option(
    "--write", "target", type=click.Path(dir_okay=False, path_type=Path), help="With suggest: a file for diff --policy."
)
def policies_command(settings: Settings, action: str, name: str | None, as_of: str | None, target: Path | None) -> None:
    """List, show or suggest lifecycle policies.

    Those built in and those defined by events; show NAME tells all about one. suggest reads from the lifetimes of
    beliefs what policy and half-life each kind and speech act should have, or that there is not enough evidence.
    """
    from beliefbase.inspector.rendering import policies_text, policy_text

    if (action == "show") != (name is not None):
        raise click.UsageError("policies list, policies show NAME, or policies suggest")
    if action == "suggest":
        from beliefbase.cli.advising import suggest

        suggest(settings, as_of, target)
        return
    with BeliefStore.open(settings.path) as store:
        rules = _rules(store, as_of)
        if name is not None:
            told = rules.policy(name)
            settings.out.object(told, policy_text(told))
        elif settings.json:
            settings.out.rows(rules.policies())
        else:
            click.echo(policies_text(rules.policies()))


@command("profile")
@click.argument("_action", metavar="[show]", type=click.Choice(["show"]), default="show", expose_value=False)
@as_of_option
def profile_command(settings: Settings, as_of: str | None) -> None:
    """Show the profile in force.

    Half-lives by speech act and kind, and its switches.
    """
    from beliefbase.inspector.rendering import profile_text

    with BeliefStore.open(settings.path) as store:
        told = _rules(store, as_of).profile()
    settings.out.object(told, profile_text(told))


@command("questions")
@click.option("--all", "answered", is_flag=True, help="Also those that have an answer.")
@as_of_option
def questions_command(settings: Settings, answered: bool, as_of: str | None) -> None:
    """List the curiosity queue.

    Questions that are open, with --all the answered ones as well.
    """
    from beliefbase.inspector.curiosity import questions
    from beliefbase.inspector.rendering import question_text

    with BeliefStore.open(settings.path) as store:
        asked = questions(Desk(store.log), moment(as_of) if as_of else store.wall(), answered=answered)
    if settings.json:
        settings.out.rows(asked)
        return
    for told in asked:
        click.echo(question_text(told))
    if not asked:
        click.echo("(no questions)" if answered else "(no open questions)")


def _rules(store: BeliefStore, as_of: str | None) -> Any:
    from beliefbase.inspector.rules_in_force import RulesInForce

    return RulesInForce(Desk(store.log), moment(as_of) if as_of else store.wall())
