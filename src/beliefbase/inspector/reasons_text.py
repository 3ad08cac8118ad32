"""``why`` as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from beliefbase.beliefs.attributes import act_of, certainty_of, confidence_of
from beliefbase.inspector.phrases import belief, by_whom, late, per_mille, quoted
from beliefbase.inspector.rendering import event_text, head
from beliefbase.writing import clock_text

Data = Mapping[str, Any]
SHOWN: Final = 20
"""Injections printed as text, the newest ones; JSON has all."""


def why_text(told: Data) -> str:
    """Everything that speaks for, against and about a belief."""
    flags = "".join(f", {flag}" for flag in told["flags"])
    lines = [*head(told), f"  {told['status']}{flags}; {_class(told['classified'])}"]
    lines.append(f"  epistemic status: {told['epistemic']}")
    if told["policy"]:
        lines.append(f"  policy {told['policy']['name']}: {told['policy']['summary']}")
    if told["incoherence"]:
        lines.append(f"  coherence warning: {told['incoherence']}")
    for extraction in told["extractions"]:
        lines += _extraction(extraction, copies=len(told["extractions"]) > 1)
    lines += _section("Judged", map(_verdict, told["verdicts"]))
    lines += _section("Contradictions", (line for one in told["contradictions"] for line in _contradiction(one)))
    lines += _section("Revised", (line for one in told["revisions"] for line in _revision(one, told)))
    lines += _shown(told)
    return "\n".join(lines)


def _section(title: str, lines: Iterator[str]) -> list[str]:
    found = [f"  {line}" for line in lines]
    return [title, *found] if found else [f"{title}: nothing recorded"]


def _class(classified: Data) -> str:
    said = {name: value for name, value in classified.items() if value is not None}
    return (
        f"{classified['kind']}, {act_of(said)} at {per_mille(certainty_of(said))}, assertion class"
        f" {classified['assertion_class'] or 'none'}, confidence {per_mille(confidence_of(said))}"
    )


def _extraction(told: Data, *, copies: bool) -> list[str]:
    session = f", session {told['session']}" if told["session"] else ""
    copy = f" ({told['event']})" if copies else ""
    lines = [
        f"Extracted {by_whom(told)}, extractor {told['extractor'] or 'not said'}{session}{copy}",
        f"  as {_class(told['classified'])}",
    ]
    if told["erased"]:
        lines.append("  its words are erased or not here")
    lines += [f"  {name}: {told[name]}" for name in ("topic", "subject", "predicate") if told[name]]
    lines += [f"  observed only, {name}: {_observed(value)}" for name, value in told["observed"].items()]
    if told["malformed"]:
        lines.append(f"  came malformed and were left out: {', '.join(told['malformed'])}")
    lines += [f"  {line}" for cited in told["evidence"] for line in evidence_lines(cited)]
    if not told["evidence"]:
        lines.append("  no evidence is cited")
    return lines


def _observed(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else quoted(str(value))


def evidence_lines(told: Data) -> list[str]:
    """One citation: the speaker's words, and where and when they were said."""
    if told["dangling"]:
        return [f"evidence {told['cited']}: not known here (dangling)"]
    when = f"{clock_text(told['at_ms'])}{late(told['recorded_late_ms'])}"
    if told["type"] != "utterance.recorded":
        return [f"evidence {told['event']}: a {told['type']} by {told['recorded_by']} at {when}, no utterance"]
    words = "(words erased or not here)" if told["erased"] else f'"{told["verbatim"]}"'
    where = [f"{name} {told[name]}" for name in ("topic", "conversation", "turn", "channel") if told[name] is not None]
    by_ref = ", cited by source_ref" if told["by_source_ref"] else ""
    said = ", ".join([f"{told['speaker']} at {when}", *where])
    lines = [words, f"    {said}{by_ref} ({told['event']})"]
    return lines + [f"    passage: {quoted(passage)}" for passage in told.get("passages", ())]


def _other(told: Data) -> str:
    if told["dangling"]:
        return f"{told['cited']} (not known here)"
    return belief({"belief": told["cited"], "status": "", "statement": told.get("statement") or told.get("verbatim")})


def _verdict(told: Data) -> str:
    lanes = [f"{name} {told[name]}" for name in ("lexical_rank", "vector_rank") if told[name] is not None]
    kind = f" ({told['judge_kind']})" if told["judge_kind"] else ""
    direction = "" if told["judged"] == "this" else ", judged from the other side"
    details = "".join(f", {lane}" for lane in [f"confidence {per_mille(told['confidence'])}", *lanes])
    return (
        f"{told['relation']} {_other(told['other'])}{details}, by {told['judge']}{kind}{direction},"
        f" recorded {by_whom(told)}"
    )


def _contradiction(told: Data) -> Iterator[str]:
    state = {True: "open", False: "resolved", None: "without effect yet"}[told["open"]]
    yield f"{state}: with {_other(told['other'])}, this is the {told['this_side']} side; {event_text(told)}"
    for resolution in told["resolutions"]:
        yield f"    {event_text(resolution)}"


def _revision(told: Data, whole: Data) -> Iterator[str]:
    void = {one["event"]: one["why"] for one in whole["without_effect"]}
    note = f"  [no effect: {void[told['event']]}]" if told["event"] in void else ""
    target = told.get("superseded_id") or told.get("duplicate_id")
    of = f"  of {target}" if target and target != whole["belief"] else ""
    yield f"{event_text(told)}{of}{note}"
    for cited in told["evidence"]:
        yield from (f"    {line}" for line in evidence_lines(cited))


def _shown(told: Data) -> list[str]:
    injections = told["injections"]
    newest = injections[-SHOWN:]
    title = f"Shown {len(injections)} time(s)" if injections else "Never shown"
    if len(newest) < len(injections):
        title += f", the newest {len(newest)} (--json has all)"
    lines = [title, *(f"  {_injection(one)}" for one in newest)]
    lines += [f"  contradicted live by {one['utterance']}, found {by_whom(one)}" for one in told["live_contradictions"]]
    for prompt in told["revalidation_prompts"]:
        answers = "; ".join(f"{one['outcome']} {by_whom(one)}" for one in prompt["answers"]) or "no answer yet"
        lines.append(f"  asked whether it still holds ({prompt['cause']}) {by_whom(prompt)}: {answers}")
    lines += [
        f"  {use['outcome']} {by_whom(use)}, after an injection not known here ({use['injection']})"
        for use in told["uses_of_unknown_injections"]
    ]
    return lines


def _injection(told: Data) -> str:
    where = [f"{name} {told[name]}" for name in ("session", "conversation", "turn") if told[name] is not None]
    how = [str(told[name]) for name in ("tag", "applicability") if told[name]]
    how += [f"force {per_mille(told['force'])}"] if told["force"] is not None else []
    became = ", ".join(f"{use['outcome']} {by_whom(use)}" for use in told["outcomes"]) or "no outcome recorded"
    return "; ".join(
        [by_whom(told), *([", ".join(where)] if where else []), *([", ".join(how)] if how else []), became]
    )
