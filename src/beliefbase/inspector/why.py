"""Why a belief is there: who said what, who read it how, what was judged, revised and shown."""

from __future__ import annotations

from typing import Any, Final

from beliefbase.beliefs import epistemic
from beliefbase.beliefs.attributes import CORRECTABLE
from beliefbase.beliefs.coherence import incoherence
from beliefbase.events.catalog import Role
from beliefbase.inspector.case import Case
from beliefbase.inspector.desk import Entry
from beliefbase.inspector.evidence import Evidence, passages
from beliefbase.inspector.history import details, flags, without_effect
from beliefbase.inspector.revisions import Revisions
from beliefbase.inspector.shown import shown

OBSERVED: Final = ("obsolete_when", "kind_misfit", "kind_misfit_reason", "supersedes_note", "tags", "raw_reply")
"""Fields of an extraction that no rule reads."""


def why(case: Case) -> dict[str, Any]:
    """Everything that speaks for, against and about a belief, JSON-ready."""
    desk, life = case.desk, case.life
    revisions = Revisions(case)
    extractions = [entry for _, entry in sorted(desk.by_id(case.faces).items(), key=lambda item: item[1].order)]
    verdicts = [entry for entry in desk.naming(case.faces, (Role.CITED,)) if entry.skeleton.hlc <= case.until]
    verdicts = [entry for entry in verdicts if entry.type == "judgement.recorded"]
    names = _others(case, verdicts, revisions)
    cited = [key for entry in (*extractions, *revisions.all) for key in entry.payload.get("evidence", ())]
    evidence = Evidence(desk, [*cited, *names])
    desk.meet((*extractions, *verdicts, *revisions.all))
    standing = case.standing
    return {
        "belief": case.id.hex(),
        "asked": case.named.hex(),
        "status": standing.status,
        "flags": flags(standing),
        "epistemic": _epistemic(case, extractions, evidence),
        "statement": extractions[0].text("statement"),
        "erased": extractions[0].erased,
        "classified": {name: _value(life.attributes.get(name)) for name in CORRECTABLE},
        "policy": None if life.policy is None else {"name": life.policy.name, "summary": life.policy.summary},
        "incoherence": incoherence(life.attributes),
        "extractions": [_extraction(case, entry, evidence) for entry in extractions],
        "verdicts": [told for entry in verdicts for told in _verdicts(case, entry, evidence)],
        "contradictions": [_contradiction(case, entry, revisions, evidence) for entry in revisions.contradictions],
        "revisions": [
            {
                **desk.told(entry),
                **_revised(entry),
                **details(entry),
                "evidence": [evidence.of(key) for key in entry.payload.get("evidence", ())],
            }
            for entry in revisions.all
            if entry.type not in {"contradiction.raised", "contradiction.resolved"}
        ],
        "without_effect": without_effect(case, revisions),
        **shown(case),
    }


def _epistemic(case: Case, extractions: list[Entry], evidence: Evidence) -> str:
    """Where the claim stands; a conclusion is grounded in its inputs, any other belief in evidence that is known."""
    cited = [evidence.of(key) for entry in extractions for key in entry.payload.get("evidence", ())]
    grounded = case.life.inputs is not None or any(not one["dangling"] for one in cited)
    falsified = case.life.falsified_at(case.until)
    return str(epistemic.standing(case.standing, falsified=falsified, grounded=grounded))


def _others(case: Case, verdicts: list[Entry], revisions: Revisions) -> set[bytes]:
    found = {verdict["other"] for entry in verdicts for verdict in entry.payload["verdicts"]}
    found |= {entry.payload["about"] for entry in verdicts}
    found |= {entry.payload[side] for entry in revisions.contradictions for side in ("left", "right")}
    return found - set(case.faces)


def _extraction(case: Case, entry: Entry, evidence: Evidence) -> dict[str, Any]:
    cited = [evidence.of(key) for key in entry.payload.get("evidence", ())]
    passages(entry, cited)
    observed = {name: entry.payload.get(name, _plain(entry.words.get(name))) for name in OBSERVED}
    return {
        **case.desk.told(entry),
        "statement": entry.text("statement"),
        "topic": entry.text("topic"),
        "subject": entry.text("subject"),
        "predicate": entry.text("predicate"),
        "excerpts": _plain(entry.words.get("excerpts")) or [],
        "extractor": entry.payload.get("extractor"),
        "session": entry.name("session"),
        "source_ref": entry.text("source_ref") or _value(entry.skeleton.source_ref),
        "classified": {
            name: entry.name(name) if name == "condition_key" else _value(entry.payload.get(name))
            for name in CORRECTABLE
        },
        "observed": {name: value for name, value in observed.items() if value is not None},
        "malformed": list(entry.payload.get("malformed", ())),
        "evidence": cited,
    }


def _verdicts(case: Case, entry: Entry, evidence: Evidence) -> list[dict[str, Any]]:
    """Each verdict that compares the belief with another, whichever of the two was judged."""
    faces, about = set(case.faces), entry.payload["about"]
    return [
        {
            **case.desk.told(entry),
            "judge": entry.payload["judge"],
            "judge_kind": entry.payload.get("judge_kind"),
            "judged": "this" if about in faces else "other",
            "relation": verdict["relation"],
            "confidence": verdict.get("confidence"),
            "lexical_rank": verdict.get("lexical_rank"),
            "vector_rank": verdict.get("vector_rank"),
            "other": evidence.of(verdict["other"] if about in faces else about),
        }
        for verdict in entry.payload["verdicts"]
        if about in faces or verdict["other"] in faces
    ]


def _contradiction(case: Case, entry: Entry, revisions: Revisions, evidence: Evidence) -> dict[str, Any]:
    faces = set(case.faces)
    left, right = entry.payload["left"], entry.payload["right"]
    side = "left" if left in faces else "right"
    known = next((one for one in case.life.disputes or () if one.id == entry.id), None)
    return {
        **case.desk.told(entry),
        "this_side": side,
        "other": evidence.of(right if side == "left" else left),
        "open": None if known is None else known.open,
        "resolutions": [
            {**case.desk.told(one), **details(one)}
            for one in revisions.resolutions
            if one.payload["contradiction_id"] == entry.id
        ],
    }


def _revised(entry: Entry) -> dict[str, Any]:
    """Both ends of a revision that names two beliefs."""
    named = ("superseded_id", "duplicate_id", "belief_id")
    return {name: entry.payload[name].hex() for name in named if name in entry.payload}


def _value(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
