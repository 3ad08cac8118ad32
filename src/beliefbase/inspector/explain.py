"""Why a belief stands where it stands at a moment: what the fold knows, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from beliefbase.beliefs.attributes import act_of, certainty_of
from beliefbase.beliefs.coherence import incoherence
from beliefbase.beliefs.contradictions import Contradiction
from beliefbase.beliefs.edges import EFFECTIVE, MERGE, SUPERSESSION, WAITING, Replacement
from beliefbase.beliefs.intervals import STATUSES
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.reasons import Reason
from beliefbase.beliefs.rules import (
    CERTAIN_ACT,
    DAY_MS,
    FOREVER,
    RECURRENCES,
    act_for_ageing,
    entry_checks,
    timeless_kind,
)
from beliefbase.events.hlc import ms_of
from beliefbase.inspector.case import Case
from beliefbase.inspector.desk import Entry
from beliefbase.inspector.grounds import carried, grounds
from beliefbase.inspector.history import details, flags, without_effect
from beliefbase.inspector.revisions import Revisions


def explain(case: Case) -> dict[str, Any]:
    """The facts behind a belief's status at the moment of the case, JSON-ready."""
    return Explanation(case).data


class Explanation:
    """Reads one life of a fold that stopped at the moment asked about."""

    def __init__(self, case: Case) -> None:
        self._grounds = grounds(case)
        inputs = {ground.belief for ground in self._grounds}
        others = _others(case.life) | inputs
        if others:
            case.widen(others)
        self._case = case
        self._life = case.life
        self._at_ms = ms_of(case.until)
        revisions = Revisions(case)
        wanted = {self._life.id, *self._events(), *_others(self._life), *inputs}
        self._entries = case.desk.by_id(wanted) | {entry.id: entry for entry in revisions.all}
        case.desk.meet(self._entries.values())
        standing = case.standing
        extraction = self._entries[self._life.id]
        self.data: dict[str, Any] = {
            "belief": case.id.hex(),
            "asked": case.named.hex(),
            "as_of_ms": self._at_ms,
            "statement": extraction.text("statement"),
            "erased": extraction.erased,
            "status": standing.status,
            "flags": flags(standing),
            "since_ms": ms_of(standing.since),
            "extracted": {**case.desk.told(extraction), "acted_ms": ms_of(self._life.born)},
            "classified": self._classified(revisions.all),
            "maturity": self._maturity(),
            "half_life": self._half_life(),
            "endings": self._endings(),
            "expired_ms": None if self._life.expired is None else ms_of(self._life.expired),
            "survivor": None if self._life.into is None else self._belief(self._life.canon()),
            "waiting": [self._waits(edge) for edge in _waiting(self._life)],
            "replaces": [self._replaces(edge) for edge in self._life.by or () if edge.state in (WAITING, EFFECTIVE)],
            "fork": self._fork(),
            "contradictions": self._contradictions(),
            "conclusion": self._conclusion(),
            "incoherence": incoherence(self._life.attributes),
            "without_effect": without_effect(case, revisions),
            "basis": [key.hex() for key in revisions.basis],
        }

    # -- look-ups ------------------------------------------------------------------------------------------------------

    def _events(self) -> set[bytes]:
        life = self._life
        found = {event[:16] for event in life.ends} | {event for _, event, _ in life.promotions or ()}
        found |= {edge.event for edge in (*(life.on or {}).values(), *(life.by or ()), *_waiting(life))}
        found |= set(life.fates or ())
        disputes = _disputes(life)
        return found | {c.id for c in disputes} | {event for c in disputes for event in c.outcomes}

    def _event(self, event: bytes) -> dict[str, Any]:
        entry = self._entries.get(event[:16])
        if entry is None:
            return {"event": event[:16].hex()}
        return {**self._case.desk.told(entry), **details(entry)}

    def _belief(self, life: Life) -> dict[str, Any]:
        entry = self._entries.get(life.id)
        row = life.at(self._case.until)
        utterance = life.id not in self._case.fold.lives
        return {
            "belief": life.id.hex(),
            "statement": None if entry is None else entry.text("statement") or entry.text("verbatim"),
            "status": "utterance" if utterance else None if row is None else row.status,
        }

    def _named(self, id_: bytes) -> dict[str, Any]:
        life = self._case.fold.of(id_)
        if life is not None:
            return self._belief(life)
        return {"belief": id_.hex(), "statement": None, "status": None}

    # -- class and maturity --------------------------------------------------------------------------------------------

    def _classified(self, revisions: Iterable[Entry]) -> dict[str, Any]:
        attributes = self._life.attributes
        certainty = certainty_of(attributes)
        timeless = timeless_kind(attributes)
        return {
            "kind": attributes.get("kind"),
            "timeless_kind": timeless,
            "speech_act": act_of(attributes),
            "speech_act_confidence": certainty,
            "ages_as": act_for_ageing(attributes),
            "unsure": timeless is None and certainty < CERTAIN_ACT,
            "certain_from": CERTAIN_ACT,
            "fail_closed": self._life.profile.fail_closed,
            "reclassified": [self._event(entry.id) for entry in revisions if entry.type == "belief.reclassified"],
        }

    def _maturity(self) -> dict[str, Any]:
        life = self._life
        last = life.promotions[-1] if life.promotions else None
        checks = entry_checks(life.attributes)
        return {
            "mature": life.mature,
            "entry": [check._asdict() for check in checks],
            "passes_entry": all(check.passed for check in checks),
            "promoted": life.promoted,
            "last_change": None if last is None else {**self._event(last[1]), "promoted": last[2]},
            "recurrences": len(life.recurred) if life.recurred is not None else 1,
            "recurrences_needed": RECURRENCES,
            "ever_active": life.ever,
        }

    # -- age -----------------------------------------------------------------------------------------------------------

    def _half_life(self) -> dict[str, Any]:
        life = self._life
        reason, _, name = life.half_life.reason.partition(":")
        policy = life.policy
        return {
            "days": life.half_life.days,
            "by": reason,
            "name": name or None,
            "policy": None if policy is None else {"name": policy.name, "summary": policy.summary},
            "unknown_policy": life.attributes.get("policy") if self._has_unknown_policy() else None,
            "profile": life.profile.name,
            "corrects": [
                {**self._belief(edge.target), "days": edge.target.half_life.days}
                for edge in life.by or ()
                if edge.kind == SUPERSESSION and edge.state is EFFECTIVE
            ]
            if reason == "correction"
            else [],
            "counts_from_ms": ms_of(life.base),
            "counts_from": self._counts_from(),
            "affirmed_ms": ms_of(life.anchor),
            "affirmed": bool(life.affirmed),
            "stale_ms": self._bound(life.stale_at),
            "expires_ms": self._bound(life.expires_at),
            "days_to_stale": self._days_to(life.stale_at),
            "days_to_expiry": self._days_to(life.expires_at),
        }

    def _has_unknown_policy(self) -> bool:
        notes = self._case.fold.notes
        return any(note.reason is Reason.UNKNOWN_POLICY and note.event == self._life.id for note in notes)

    def _counts_from(self) -> str:
        life = self._life
        if life.base != life.anchor:
            return "change"
        if life.affirmed and life.anchor in life.affirmed:
            return "affirmation"
        return "extraction" if life.anchor == life.born else "duplicate"

    @staticmethod
    def _bound(bound: int) -> int | None:
        return None if bound == FOREVER else ms_of(bound)

    def _days_to(self, bound: int) -> int | None:
        """Whole days from the moment to a bound, rounded up; 0 or less once it has come."""
        return None if bound == FOREVER else -((self._at_ms - ms_of(bound)) // DAY_MS)

    # -- ends ----------------------------------------------------------------------------------------------------------

    def _endings(self) -> list[dict[str, Any]]:
        life = self._life
        found = []
        for since, precedence, event, code in life.endings:
            edge = (life.on or {}).get(event)
            by = None if edge is None or edge.replacer is None else self._belief(edge.replacer)
            found.append(
                {
                    **self._event(event),
                    "as": STATUSES[code],
                    "since_ms": ms_of(since),
                    "since_hlc": since,
                    "precedence": precedence,
                    "replaced_by": by,
                }
            )
        return found

    def _waits(self, edge: Replacement) -> dict[str, Any]:
        replacer = edge.replacer
        return {
            **self._event(edge.event),
            "as": STATUSES[edge.kind],
            "waits_for": waits_for(edge),
            "contests": edge.bites,
            "duplicate": None if edge.target is self._life else self._belief(edge.target),
            "replacer": self._named(edge.named) if replacer is None else self._belief(replacer),
        }

    def _replaces(self, edge: Replacement) -> dict[str, Any]:
        in_force = edge.state is EFFECTIVE
        return {
            **self._event(edge.event),
            "as": STATUSES[edge.kind],
            "in_force": in_force,
            "waits_for": None if in_force else waits_for(edge),
            "target": self._belief(edge.target),
        }

    # -- flags ---------------------------------------------------------------------------------------------------------

    def _fork(self) -> list[dict[str, Any]]:
        life = self._life
        if life.forks is None or not self._case.standing.forked:
            return []
        return [
            {
                **self._event(fate.event),
                "axis": fate.axis,
                "other": None if fate.named is None else self._named(fate.named),
                "basis": [key.hex() for key in self._entries[fate.event].skeleton.basis_ids],
            }
            for fate in life.forks.rivals(life)
        ]

    def _contradictions(self) -> list[dict[str, Any]]:
        return [
            {
                **self._event(contradiction.id),
                "open": contradiction.open,
                "contests": contradiction.bites,
                "sides": [None if side is None else self._belief(side) for side in contradiction.sides],
                "resolutions": [self._event(event) for event in contradiction.outcomes],
            }
            for contradiction in _disputes(self._life)
        ]

    def _conclusion(self) -> dict[str, Any] | None:
        if self._life.inputs is None:
            return None
        lacking = self._case.fold.lacking(self._life)
        return {
            "essential": [self._named(named) for named in self._life.inputs],
            "lacking": [self._named(named) for named in lacking],
            "supporting": [self._named(ground.belief) for ground in self._grounds if not ground.essential],
            "authority": carried(self._case, self._grounds),
        }


def _others(life: Life) -> set[bytes]:
    """The beliefs and utterances that the explanation of a life tells of."""
    edges = [*(life.on or {}).values(), *_waiting(life)]
    near = [life.canon(), *(edge.replacer for edge in edges), *(edge.target for edge in (*edges, *(life.by or ())))]
    near += [side for contradiction in _disputes(life) for side in contradiction.sides]
    found = {other.id for other in near if other is not None and other is not life} | set(life.inputs or ())
    return found | {fate.named for fate in (life.fates or {}).values() if fate.named is not None}


def _waiting(life: Life) -> list[Replacement]:
    """Replacements that wait to end a belief, and those of duplicates merged into it, which count for it as well."""
    return [edge for member in life.family() for edge in (member.on or {}).values() if edge.state is WAITING]


def _disputes(life: Life) -> list[Contradiction]:
    """Contradictions of a belief, and of duplicates merged into it while they are open."""
    found = list(life.disputes or ())
    merged = [c for member in life.family() if member is not life for c in member.disputes or () if c.open]
    return found + [contradiction for contradiction in merged if contradiction not in found]


def waits_for(edge: Replacement) -> str:
    """What a waiting replacement waits for: known, live, active, or ever_active, said of its replacer."""
    if edge.replacer is None:
        return "known"
    if edge.kind == MERGE:
        return "active" if edge.replacer.canon().live else "live"
    if edge.kind == SUPERSESSION:
        return "ever_active"
    return "active" if edge.target.mature else "live"
