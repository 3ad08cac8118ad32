"""An explanation as a chain of sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from beliefbase.beliefs.rules import ENDINGS
from beliefbase.inspector.phrases import because, belief, by_whom, days, per_mille, quoted
from beliefbase.writing import clock_text

Data = Mapping[str, Any]

_NOUNS: Final = {"candidate": "a candidate", "duplicate": "a duplicate"}

_WAITS: Final = {
    "known": "{} is not known here",
    "live": "{} is not live",
    "active": "{} is not active",
    "ever_active": "{} has never been active",
}


def sentences(told: Data) -> list[str]:
    """The rule that decides the status, what it read, and what else bears on the belief."""
    return [
        *_standing(told),
        *_extraction(told),
        *_endings(told),
        *_maturity(told),
        *_conclusion(told),
        *_half_life(told),
        *_waiting(told),
        *_fork(told),
        *_contest(told),
        *_replaces(told),
        *_remarks(told),
    ]


def _standing(told: Data) -> Iterator[str]:
    flags = "".join(f", {flag}" for flag in told["flags"])
    words = quoted(told["statement"]) if told["statement"] else "The belief (its words are not here)"
    yield (
        f"{words} is {_NOUNS.get(told['status'], told['status'])}{flags}, as of {clock_text(told['as_of_ms'])};"
        f" in this state since {clock_text(told['since_ms'])}."
    )
    if told["asked"] != told["belief"]:
        yield f"{told['asked']} is a copy; the belief is {told['belief']}."


def _extraction(told: Data) -> Iterator[str]:
    made = told["extracted"]
    yield f"It was extracted {by_whom(made)}."


def _endings(told: Data) -> Iterator[str]:
    endings, expired = told["endings"], told["expired_ms"]
    if told["status"] == "expired":
        yield (
            f"It expired at {clock_text(expired)}: two half-lives passed without an affirmation."
            f" An affirmation brings it back{' once its endings are undone' if endings else ''}."
        )
    for place, ending in enumerate(endings):
        first = place == 0 and told["status"] != "expired"
        lead = "It ended" if first else "Another ending is in force"
        successor = f", replaced by {belief(ending['replaced_by'])}" if ending["replaced_by"] else ""
        detail = f" ({ending['cause']})" if ending.get("cause") else ""
        since = ending["since_ms"]
        later = f", in force since {clock_text(since)}" if since != ending.get("at_ms") else ""
        why = f"{later}{successor}{because(ending)} ({ending['event']})"
        yield f"{lead} as {ending['as']}{detail} {by_whom(ending)}{why}."
    if len(endings) > 1:
        yield from _precedence(endings)
    if endings:
        yield "It stays ended until a reinstatement undoes every ending in force."
    if told["survivor"] is not None:
        yield f"What is said of it now counts for {belief(told['survivor'])}."


def _precedence(endings: list[dict[str, Any]]) -> Iterator[str]:
    if endings[0]["since_hlc"] == endings[1]["since_hlc"]:
        yield f"Both began at one place; there the order {' > '.join(ENDINGS)} decides which one names the status."
    else:
        yield "The first ending in force names the status; the later ones are kept."


def _maturity(told: Data) -> Iterator[str]:
    maturity = told["maturity"]
    checks = "; ".join(_check(check) for check in maturity["entry"])
    where = "as reclassified" if told["classified"]["reclassified"] else "as extracted"
    if maturity["passes_entry"]:
        yield f"Entry gate, {where}: passed ({checks})."
    else:
        yield f"Entry gate, {where}: not passed, so by itself it is a candidate ({checks})."
    last = maturity["last_change"]
    if last is not None:
        verb = "promoted" if last["promoted"] else "demoted"
        yield f"It was {verb} {by_whom(last)} ({last['type']}{_how(last)}){because(last)}."
    if not maturity["mature"]:
        yield (
            f"A confirmation, a review or a promotion would make it active, or recurrence:"
            f" {maturity['recurrences']} of {maturity['recurrences_needed']} distinct (agent, session) so far."
        )


def _how(last: Data) -> str:
    how = last.get("how") or last.get("outcome")
    return f", {how}" if how else ""


def _check(check: Data) -> str:
    name, value, needed = check["field"], check["value"], check["needed"]
    if isinstance(needed, int):
        return f"{name} {value} {'≥' if check['passed'] else '<'} {needed}"
    if check["passed"]:
        return f"{name} {value}"
    return f"{name} {value or 'none'}, needs {'one of ' if ', ' in needed else ''}{needed}"


def _half_life(told: Data) -> Iterator[str]:
    age, classified = told["half_life"], told["classified"]
    if age["unknown_policy"]:
        yield f"It names the policy {age['unknown_policy']}, which is not defined: it ages as if it named none."
    if classified["unsure"]:
        yield (
            f"Its speech act is {classified['speech_act']} at {per_mille(classified['speech_act_confidence'])}, below"
            f" {classified['certain_from']}: for its half-life it reads as {classified['ages_as']}"
            f"{', or as stated where that is shorter' if classified['fail_closed'] else ''}."
        )
    if age["days"] is None:
        yield f"It doesn't age: {_why(told)}."
        return
    yield f"Half-life {days(age['days'])}: {_why(told)}."
    counted = {
        "extraction": "its extraction",
        "affirmation": "the last affirmation",
        "duplicate": "what was last said of its duplicate",
        "change": "where its half-life last changed",
    }[age["counts_from"]]
    again = "" if age["counts_from"] != "change" else f" (last affirmed {clock_text(age['affirmed_ms'])})"
    yield f"It counts from {counted}, {clock_text(age['counts_from_ms'])}{again}."
    if told["status"] in {"candidate", "active"}:
        yield _bound("becomes stale", age["stale_ms"], age["days_to_stale"], "stale")
        yield _bound("expires", age["expires_ms"], age["days_to_expiry"], "expired")


def _why(told: Data) -> str:
    age = told["half_life"]
    name = age["name"]
    match age["by"]:
        case "policy":
            return f"by the policy {name} ({age['policy']['summary'].rstrip('.')})"
        case "profile":
            return f"by the profile {age['profile']} for {name}"
        case "act":
            return f"by the speech act {name}"
        case "kind":
            return f"by the kind {name}, since {told['classified']['ages_as']} has none of its own"
        case "timeless":
            return f"the kind {name} doesn't come from utterances and has no half-life"
        case _:
            of = "; ".join(
                f"{belief(item)} has {'none' if item['days'] is None else days(item['days'])}"
                for item in age["corrects"]
            )
            return f"it is a correction and takes the half-life of what it corrects, of several the shortest ({of})"


def _bound(verb: str, at_ms: int, left: int, word: str) -> str:
    if left > 0:
        return f"It {verb} at {clock_text(at_ms)}, in {days(left)}, unless it is affirmed before."
    return f"It is {word} since {clock_text(at_ms)}."


def _waiting(told: Data) -> Iterator[str]:
    for wait in told["waiting"]:
        reason = _WAITS[wait["waits_for"]].format(belief(wait["replacer"]))
        rule = ", and what has never been active ends no active belief" if wait["waits_for"] == "ever_active" else ""
        contests = "; meanwhile it is contested" if wait["contests"] else ""
        whom = f"its duplicate {belief(wait['duplicate'])}" if wait["duplicate"] else "it"
        yield (
            f"A replacement waits: {whom} would end as {wait['as']} {by_whom(wait)}, but {reason}{rule}"
            f"{contests} ({wait['event']})."
        )


def _fork(told: Data) -> Iterator[str]:
    fork = told["fork"]
    if not fork:
        return
    yield f"It is forked: {len(fork)} revisions give it different fates, and no author had read the other's."
    for revision in fork:
        other = f" {belief(revision['other'])}" if revision["other"] else ""
        yield f"  · {revision['type']}{other} {by_whom(revision)}{because(revision)} ({revision['event']})"
    yield "A revision whose author has read both ends the fork."


def _contest(told: Data) -> Iterator[str]:
    for one in told["contradictions"]:
        sides = " and ".join("something not known here" if side is None else belief(side) for side in one["sides"])
        state = "contested by an open contradiction between" if one["contests"] else "part of a contradiction between"
        yield f"It is {state} {sides}, raised {by_whom(one)} ({one['event']})."
        if one["open"] and not one["contests"]:
            yield "That is open, but contests nothing while one side isn't live."
        for resolution in one["resolutions"]:
            yield f"  · resolved {by_whom(resolution)}: {resolution.get('outcome')} holds{because(resolution)}."


def _conclusion(told: Data) -> Iterator[str]:
    conclusion = told["conclusion"]
    if conclusion is None:
        return
    counts = f"{len(conclusion['essential'])} essential and {len(conclusion['supporting'])} supporting input(s)"
    yield f"It is a conclusion with {counts}; together they carry {conclusion['authority']} ‰."
    for item in conclusion["lacking"]:
        yield f"It is a candidate while this essential input is not live: {belief(item)}."


def _replaces(told: Data) -> Iterator[str]:
    for edge in told["replaces"]:
        if edge["in_force"]:
            yield f"It took the place of {belief(edge['target'])} ({edge['as']}) {by_whom(edge)}."
        else:
            reason = _WAITS[edge["waits_for"]].format("it")
            yield f"It would take the place of {belief(edge['target'])} ({edge['as']}), which waits: {reason}."


def _remarks(told: Data) -> Iterator[str]:
    if told["incoherence"]:
        yield f"Coherence warning: {told['incoherence']}."
    for event in told["without_effect"]:
        if event["why"] == "replacement_waits":
            continue
        about = f" {event['about']}" if event["about"] else ""
        yield f"No effect: {event['type']} {by_whom(event)}: {event['why']}{about} ({event['event']})."
