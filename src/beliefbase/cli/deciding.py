"""Commands for people: each stores one event with its author and reason, based on what the command has just read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, get_args

import click

from beliefbase.beliefs.coherence import incoherence
from beliefbase.beliefs.reasons import Reason
from beliefbase.cli.app import Settings, command
from beliefbase.events.catalog.beliefs import AssertionType, Kind, NodeKind, SpeechAct, Voice
from beliefbase.events.ids import parse_id
from beliefbase.inspector.case import Case
from beliefbase.inspector.decisions import Dispute, Reading
from beliefbase.inspector.desk import Desk
from beliefbase.store import BeliefStore
from beliefbase.writing import StoreWriter, clock_text

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS: Final = (
    click.option("--as", "author", envvar="BELIEFBASE_AGENT", help="Who decides (or BELIEFBASE_AGENT)."),
    click.option("--reason", help="Why, in words."),
    click.option("--basis", multiple=True, help="A revision that was read (repeatable); by default all there are now."),
)


_WITHOUT_EFFECT: Final = {
    Reason.REPLACEMENT_WAITS: "it waits: what is to take the other's place is not fit for it; see explain",
    Reason.CYCLE: "it has no effect: it would close a cycle of replacements",
}


def decision(name: str) -> Callable[[F], click.Command]:
    """A command of a person: takes --as, --reason and --basis."""

    def wrap(function: F) -> click.Command:
        decorated: Any = function
        for option in reversed(_OPTIONS):
            decorated = option(decorated)
        return command(name)(decorated)

    return wrap


@decision("affirm")
@click.argument("belief")
@click.option(
    "--how",
    type=click.Choice(["confirmation", "review", "recurrence"]),
    default="confirmation",
    show_default=True,
    help="A person confirmed it, a review kept it, or it was heard again.",
)
@click.option("--session", help="The session in which it recurred.")
@click.option("--evidence", multiple=True, help="An utterance that shows it (repeatable).")
def affirm_command(settings: Settings, belief: str, author: str | None, **said: Any) -> None:
    """Say that BELIEF still holds.

    Its half-life starts anew, and a confirmation or review makes it active.
    """
    _decide(settings, belief, author, "belief.affirmed", said, Reading.check_affirm)


@decision("promote")
@click.argument("belief")
def promote_command(settings: Settings, belief: str, author: str | None, **said: Any) -> None:
    """Make the candidate BELIEF active."""
    _decide(settings, belief, author, "belief.promoted", said, Reading.check_live)


@decision("demote")
@click.argument("belief")
def demote_command(settings: Settings, belief: str, author: str | None, **said: Any) -> None:
    """Make the active BELIEF a candidate.

    Its recurrences count anew.
    """
    _decide(settings, belief, author, "belief.demoted", said, Reading.check_live)


@decision("retract")
@click.argument("belief")
@click.option(
    "--cause",
    type=click.Choice(["wrong", "withdrawn", "asked"]),
    default="withdrawn",
    show_default=True,
    help="It was never true, its author took it back, or somebody asked for it to go.",
)
def retract_command(settings: Settings, belief: str, author: str | None, **said: Any) -> None:
    """End BELIEF without a successor."""
    _decide(settings, belief, author, "belief.retracted", said, Reading.check_retract)


@decision("reinstate")
@click.argument("belief")
@click.option("--undoes", multiple=True, help="An ending to undo (repeatable); by default all that are in force.")
def reinstate_command(settings: Settings, belief: str, author: str | None, **said: Any) -> None:
    """Undo the endings of BELIEF.

    All that are in force now, or only those named.
    """

    def endings(reading: Reading) -> None:
        said["undoes"] = [key.hex() for key in reading.endings(parse_id(key) for key in said["undoes"])]

    _decide(settings, belief, author, "belief.reinstated", said, endings)


@decision("reclassify")
@click.argument("belief")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="What kind of memory it is.")
@click.option("--node-kind", type=click.Choice(get_args(NodeKind)), help="What the memory is made of.")
@click.option("--speech-act", type=click.Choice(get_args(SpeechAct)), help="How it was meant; question retracts it.")
@click.option("--speech-act-confidence", type=click.IntRange(0, 1000), help="Per mille.")
@click.option("--voice", type=click.Choice(get_args(Voice)), help="Whose voice speaks in it.")
@click.option("--assertion-type", type=click.Choice(get_args(AssertionType)), help="What kind of text it rests on.")
@click.option("--assertion-class", help="durable_fact may be active at once.")
@click.option("--confidence", type=click.IntRange(0, 1000), help="Per mille.")
@click.option("--policy", help="name or name@version; beliefbase policies lists them.")
@click.option("--condition-key", help="The condition that ends it under conditional_expiry.")
def reclassify_command(settings: Settings, belief: str, author: str | None, **said: Any) -> None:
    """Correct how BELIEF was meant; only what is given changes. Half-life and entry gate are applied anew."""
    if not any(value is not None for name, value in said.items() if name not in {"reason", "basis"}):
        raise click.UsageError("what is to change? Give --speech-act, --kind, --policy …")
    _decide(settings, belief, author, "belief.reclassified", said, lambda _reading: None)


@decision("resolve")
@click.argument("contradiction")
@click.argument("outcome", type=click.Choice(["left", "right", "both_hold", "neither"]))
@click.option("--judgement", help="The judgement it rests on.")
def resolve_command(settings: Settings, contradiction: str, outcome: str, author: str | None, **said: Any) -> None:
    """Say what holds of CONTRADICTION.

    Its left side, its right side, both_hold, or neither; the loser ends as contradicted.
    """
    with BeliefStore.open(settings.path) as store:
        writer = _writer(store, author)
        dispute = Dispute(Desk(store.log), parse_id(contradiction), store.wall())
        fields = {"contradiction_id": dispute.id.hex(), "outcome": outcome, **_fields(said)}
        fields.setdefault("basis", [key.hex() for key in dispute.basis])
        event = writer.append("contradiction.resolved", fields)
        sides = [_standing(store, key, event) for key in dispute.beliefs]
    notes = sorted({note for side in sides for note in side["without_effect"]})
    told = {"event": event, "type": "contradiction.resolved", "agent": author, "basis": fields["basis"]}
    told |= {"notes": notes, "sides": sides}
    lines = [f"{event}  contradiction.resolved {outcome} by {author}", *(f"  {_told(side)}" for side in sides)]
    lines += [f"  note: {note}" for note in notes]
    settings.out.object(told, "\n".join(lines))


def _decide(
    settings: Settings,
    belief: str,
    author: str | None,
    type_name: str,
    said: Mapping[str, Any],
    check: Callable[[Reading], object],
) -> None:
    """Read the belief, check that the event will act, store it, and tell how the belief stands then."""
    with BeliefStore.open(settings.path) as store:
        writer = _writer(store, author)
        key = parse_id(belief)
        reading = Reading(Case(Desk(store.log), key, store.wall(), now=True))
        check(reading)
        fields = {"belief_id": belief, **_fields(said)}
        fields.setdefault("basis", [one.hex() for one in reading.basis])
        event = writer.append(type_name, fields)
        standing = _standing(store, key, event)
    warnings = filter(None, [standing["incoherence"], standing["unknown_policy"]])
    notes = [*reading.notes, *standing["without_effect"], *warnings]
    told = {"event": event, "type": type_name, "agent": author, "basis": fields["basis"], "notes": notes, **standing}
    lines = [f"{event}  {type_name} by {author}", f"  {_told(standing)}", *(f"  note: {note}" for note in notes)]
    settings.out.object(told, "\n".join(lines))


def _writer(store: BeliefStore, author: str | None) -> StoreWriter:
    if not author:
        raise click.UsageError("who decides? Give --as NAME, or set BELIEFBASE_AGENT.")
    return store.writer(author, kind="human")


def _fields(said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said on the command line, as the wire has it."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in said.items()
        if value is not None and value != ()
    }


def _standing(store: BeliefStore, belief: bytes, event: str) -> dict[str, Any]:
    """How a belief stands once the event is stored, and whether that is without effect."""
    case = Case(Desk(store.log), belief, store.wall(), now=True)
    notes = {note.reason for note in case.fold.notes if note.event == bytes.fromhex(event)}
    row = case.standing
    age = case.life.half_life.days
    return {
        "belief": case.id.hex(),
        "status": row.status,
        "flags": [flag for flag in ("stale", "contested", "forked") if getattr(row, flag)],
        "stale_ms": None if age is None else case.life.stale_at >> 16,
        "expires_ms": None if age is None else case.life.expires_at >> 16,
        "incoherence": incoherence(case.life.attributes),
        "unknown_policy": _unknown_policy(case),
        "without_effect": [_WITHOUT_EFFECT.get(reason, f"it has no effect: {reason}") for reason in sorted(notes)],
    }


def _unknown_policy(case: Case) -> str | None:
    if not any(note.reason is Reason.UNKNOWN_POLICY and note.event == case.life.id for note in case.fold.notes):
        return None
    return (
        f"the policy {case.life.attributes.get('policy')} is not defined: it ages as if it named none"
        " (`beliefbase policies list`)"
    )


def _told(standing: Mapping[str, Any]) -> str:
    flags = "".join(f", {flag}" for flag in standing["flags"])
    fresh = ""
    if standing["status"] in {"candidate", "active"}:
        stale = standing["stale_ms"]
        fresh = "; doesn't age" if stale is None else f"; stale at {clock_text(stale)}"
    return f"{standing['belief']} is now {standing['status']}{flags}{fresh}"
