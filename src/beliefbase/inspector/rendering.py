"""Histories, explanations, policies and questions as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from beliefbase.inspector.phrases import because, by_whom, days, quoted
from beliefbase.writing import clock_text

Data = Mapping[str, Any]


def head(told: Data) -> list[str]:
    """The belief as a title."""
    lines = [
        f"{told['belief']}  {'(words erased or not here)' if told['erased'] else told['statement'] or ''}".rstrip()
    ]
    if told["asked"] != told["belief"]:
        lines.append(f"  asked by its copy {told['asked']}")
    return lines


def history_text(told: Data) -> str:
    """Every interval as a line, with what began it below."""
    lines = head(told)
    lines += [f"  copy {copy}" for copy in told["copies"]]
    for row in told["intervals"]:
        until = "…" if row["until_ms"] is None else clock_text(row["until_ms"])
        flags = "".join(f" {flag}" for flag in row["flags"])
        soon = "  (to come, unless something happens before)" if row["to_come"] else ""
        lines += [f"{clock_text(row['from_ms'])} – {until:<19}  {row['status']}{flags}{soon}", f"    {_cause(row)}"]
    if told["without_effect"]:
        lines.append("Without effect:")
        lines += [f"  {line}" for line in map(_void, told["without_effect"])]
    return "\n".join(lines)


def _cause(row: Data) -> str:
    by = row["by"]
    if by is None:
        if row["status"] == "expired":
            return "by time: two half-lives without an affirmation"
        return "by time: one half-life without an affirmation" if "stale" in row["flags"] else "by time"
    acted = f", acting from {clock_text(row['from_ms'])}" if by["at_ms"] != row["from_ms"] else ""
    return f"{event_text(by)}{acted}"


def event_text(told: Data) -> str:
    """What an event says, who wrote it, when, and why."""
    parts = [str(told.get("type", "an event"))]
    parts += [f"({told[name]})" for name in ("how", "cause", "outcome") if isinstance(told.get(name), str)]
    if told.get("condition_key"):
        parts.append(f"for the condition {told['condition_key']}")
    if told.get("superseding_id"):
        parts.append(f"replaced by {told['superseding_id']},")
    if told.get("surviving_id"):
        parts.append(f"into {told['surviving_id']},")
    if told.get("changes"):
        parts.append(", ".join(f"{name}={value}" for name, value in told["changes"].items()))
    if told.get("undoes"):
        parts.append("undoing " + ", ".join(told["undoes"]))
    return f"{' '.join(parts)} {by_whom(told)}{because(told)} ({told['event']})"


def _void(told: Data) -> str:
    about = f" {told['about']}" if told["about"] else ""
    return f"{told['why']}{about}: {event_text(told)}"


def explanation_text(told: Data) -> str:
    """The sentences, one a line."""
    return "\n".join(told["sentences"])


def policies_text(told: Iterable[Data]) -> str:
    """One line for each policy."""
    rows = list(told)
    width = max(len(row["policy"]) for row in rows)
    return "\n".join(f"{row['policy']:<{width}}  {_ageing(row):<18}  {_origin(row)}" for row in rows)


def policy_text(row: Data) -> str:
    """All about one policy."""
    lines = [f"{row['policy']}  ({'built in' if row['built_in'] else 'defined by an event'})", f"  {row['summary']}"]
    lines.append(f"  ageing: {_ageing(row)}")
    lines.append(f"  ends when its condition is met: {'yes' if row['ends_on_condition'] else 'no'}")
    if row["defined"]:
        lines.append(f"  base {row['base']}, defined {by_whom(row['defined'])}{because(row['defined'])}")
    lines += [f"  refused, since the first one counts: {event_text(one)}" for one in row["refused_definitions"]]
    return "\n".join([*lines, f"  fingerprint {row['fingerprint']}"])


def _ageing(row: Data) -> str:
    match row["decay"]:
        case "none":
            return "none"
        case "days":
            return f"half-life {days(row['half_life_days'])}"
        case _:
            return "by speech act"


def _origin(row: Data) -> str:
    if row["built_in"]:
        return str(row["summary"])
    return f"Like {row['base']}; defined {by_whom(row['defined'])}." if row["defined"] else str(row["summary"])


def profile_text(told: Data) -> str:
    """The profile in force as a table of half-lives."""
    activated = told["activated"]
    since = f"activated {by_whom(activated)}{because(activated)}" if activated else "built in, nothing was activated"
    lines = [
        f"{told['profile']}  ({since})",
        f"newer wins: {'yes' if told['newer_wins'] else 'no'}   fail closed: {'yes' if told['fail_closed'] else 'no'}",
    ]
    for title, rows in (("Half-life by speech act", told["speech_acts"]), ("Half-life by kind", told["kinds"])):
        lines.append(title)
        for row in rows:
            length = days(row["days"]) if row["days"] is not None else "none" if row["by"] != "its kind" else "by kind"
            lines.append(f"  {row['name']:<25} {length}{'  (this profile)' if row['by'] == 'profile' else ''}")
    return "\n".join(lines)


def question_text(told: Data) -> str:
    """A question with its answers."""
    words = "(words erased or not here)" if told["erased"] else quoted(told["question"])
    topic = f", topic {told['topic']}" if told["topic"] else ""
    lines = [f"{told['event']}  {'open' if told['open'] else 'answered'}  {words}  asked {by_whom(told)}{topic}"]
    for answer in told["answers"]:
        source = answer["answer_id"]
        said = answer["answer"] or (source and (source.get("verbatim") or source.get("statement")))
        lines.append(f"    answered {by_whom(answer)}: {quoted(said)}")
    return "\n".join(lines)
