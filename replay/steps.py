"""A belief's life, event by event: what each event did to it, and what time did."""

from __future__ import annotations

from typing import Any, Final

from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.rules import FOREVER, RULES_VERSION
from beliefbase.beliefs.slices import Slice
from beliefbase.events.catalog import Role
from beliefbase.events.errors import UnknownId
from beliefbase.events.log import EventLog
from beliefbase.projections.reading import Reader
from beliefbase.projections.source import LogSource
from beliefbase.replay.differences import clock

_ABOUT: Final = (Role.SELF, Role.STATE, Role.LINK, Role.INPUT)


def steps(log: EventLog, belief: bytes) -> dict[str, Any]:
    """What became of a belief, in the order in which it became: JSON-ready.

    Each step is an event about the belief, or a bound that time passed: when it acted, and the stretches that began.

    Raises:
        UnknownId: no belief has this id.
    """
    source = LogSource(log, Reader(log))
    facts = Slice(source, (belief,)).facts
    erased = log.erased()
    folded = fold(facts, erased={fact.id: erased[fact.id] for fact in facts if fact.id in erased})
    life = folded.of(belief)
    if life is None:
        raise UnknownId(f"no belief has the id {belief.hex()}", hint="`beliefbase active` prints ids of beliefs")
    reasons: dict[bytes, list[str]] = {}
    for note in folded.notes:
        reasons.setdefault(note.event, []).append(note.reason.value)
    begun: dict[bytes | None, list[Interval]] = {}
    for row in life.intervals:
        maker = row.by[:16] if row.by else None
        begun.setdefault(maker, []).append(row)
    about = {event.id: event for event in log.naming(life.faces, _ABOUT)}
    makers = [maker for maker in begun if maker is not None and maker not in about]
    about.update((event.id, event) for event in log.by_id(makers))
    told = []
    for event in about.values():
        skeleton = event.skeleton
        acted = folded.acted.get(event.id)
        rows = begun.get(event.id, [])
        effect = [_shown(row) for row in rows]
        at = acted if acted is not None else skeleton.hlc
        told.append(
            (
                (at, skeleton.hlc, skeleton.writer, skeleton.seq),
                {
                    "event": event.id.hex(),
                    "type": skeleton.type,
                    "writer": skeleton.writer.hex(),
                    "stamped": clock(skeleton.hlc >> 16),
                    "acts": None if acted is None else clock(acted >> 16),
                    "reasons": reasons.get(event.id, []),
                    "effect": effect,
                },
            )
        )
    for row in begun.get(None, []):
        step = {"event": None, "type": "time", "acts": clock(row.since >> 16), "reasons": [], "effect": [_shown(row)]}
        told.append(((row.since, 0, b"", 0), step))
    return {
        "belief": life.id.hex(),
        "copies": [face.hex() for face in life.faces if face != life.id],
        "rules": RULES_VERSION,
        "steps": [step for _, step in sorted(told, key=lambda pair: pair[0])],
    }


def steps_text(told: dict[str, Any]) -> str:
    """For people."""
    lines = [f"belief {told['belief']}, rules {told['rules']}"]
    for number, step in enumerate(told["steps"], 1):
        acts = step["acts"]
        late = f", stamped {step['stamped']}" if step.get("stamped") not in {None, acts} else ""
        lines.append(f"{number:3}. {acts or 'does not act'}{late}  {step['type']}  {step['event'] or ''}".rstrip())
        lines += [f"       → {effect}" for effect in step["effect"]]
        lines += [f"       no effect: {reason}" for reason in step["reasons"]]
        if not step["effect"] and not step["reasons"]:
            lines.append("       changes no stretch of this belief's life")
    return "\n".join(lines)


def _shown(row: Interval) -> str:
    flags = [name for name, on in (("stale", row.stale), ("contested", row.contested), ("forked", row.forked)) if on]
    until = "on" if row.until == FOREVER else f"until {clock(row.until >> 16)}"
    return " ".join([row.status, *flags, f"from {clock(row.since >> 16)} {until}"])
