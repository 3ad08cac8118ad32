"""The executable reading of the lifecycle rules in ../shared/spec, and how its events become facts.

The reading is kept outside this repository; where it is absent, the tests that need it are skipped.
One millisecond of a fact is one day of the reading (``RULES.day_ms == 1``).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.rules import Rules

SPEC = Path(__file__).resolve().parents[3] / "shared" / "spec"
needs_spec = pytest.mark.skipif(not SPEC.is_dir(), reason="../shared/spec is not there")

View = tuple[int, str, str, bool, bool, bool]
"""since, status, cause, stale, contested, forked: a row in the reading's terms."""

TYPES = {
    "extract": "belief.extracted",
    "affirm": "belief.affirmed",
    "promote": "belief.promoted",
    "demote": "belief.demoted",
    "reclass": "belief.reclassified",
    "supersede": "belief.superseded",
    "merge": "belief.merged",
    "retract": "belief.retracted",
    "reinstate": "belief.reinstated",
    "cond": "condition.met",
    "raise": "contradiction.raised",
    "resolve": "contradiction.resolved",
    "inject": "memory.injected",
    "conclude": "conclusion.derived",
    "profile": "profile.activated",
}
_ATTRIBUTES = {
    "act": "speech_act",
    "sac": "speech_act_confidence",
    "conf": "confidence",
    "cls": "assertion_class",
    "kind": "kind",
    "policy": "policy",
}


def spec(name: str) -> Any:
    """A module of the reading (``lifecycle_model``, ``random_worlds``, ``cases``)."""
    if str(SPEC) not in sys.path:
        sys.path.insert(0, str(SPEC))
    sys.dont_write_bytecode = True
    with contextlib.redirect_stdout(io.StringIO()):
        return importlib.import_module(name)


def rules() -> Rules:
    """The shortened tables of the reading's random worlds."""
    worlds = spec("random_worlds")
    return Rules(day_ms=1, half_lives=worlds.HLs, kinds=worlds.KD)


def reload(name: str) -> Any:
    """A module of the reading, run anew."""
    sys.modules.pop(name, None)
    return spec(name)


def key(text: str) -> bytes:
    """A short name of the reading as 16 bytes that sort the same way."""
    return text.encode().ljust(16, b"\0")


def name(raw: bytes | None) -> str:
    """The short name again."""
    return raw.rstrip(b"\0").decode() if raw else ""


def _extraction(p: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {_ATTRIBUTES[field]: p[field] for field in _ATTRIBUTES if field in p}
    return payload | _session(p) | ({"condition_key": key(p["key"])} if "key" in p else {})


def _session(p: dict[str, Any]) -> dict[str, Any]:
    return {"session": key(p["session"])} if "session" in p else {}


def _payload(kind: str, p: dict[str, Any]) -> dict[str, Any]:
    if kind == "extract":
        return _extraction(p)
    if kind in ("supersede", "merge"):
        names = ("superseded_id", "superseding_id") if kind == "supersede" else ("duplicate_id", "surviving_id")
        return {names[0]: key(p["b"]), names[1]: key(p["s"])}
    if kind == "raise":
        return {"left": key(p["l"]), "right": key(p["r"])}
    if kind == "resolve":
        return {"contradiction_id": key(p["k"]), "outcome": p["out"]}
    if kind == "inject":
        return {"cards": tuple({"belief_id": key(i)} for i in p["bs"])} | _session(p)
    if kind == "profile":
        return {"profile": "test@1", "half_lives": p["hl"]}
    if kind == "cond" and "key" in p:
        return {"condition_key": key(p["key"])}
    payload: dict[str, Any] = {"belief_id": key(p["b"])}
    if kind == "affirm":
        payload |= {"how": p["how"]} | _session(p)
    elif kind == "reclass":
        payload |= {_ATTRIBUTES[field]: value for field, value in p["set"].items()}
    elif kind == "reinstate":
        payload["undoes"] = tuple(key(i) for i in p["undoes"])
    elif kind == "conclude":
        payload["inputs"] = tuple({"belief_id": key(i), "role": "essential"} for i in p["ins"])
    return payload


def fact(e: Any) -> Fact:
    """An event of the reading as a fact."""
    agent = e.p.get("agent", e.w)
    return Fact(
        e.h,
        key(e.w),
        e.seq,
        key(e.id),
        TYPES[e.type],
        _payload(e.type, e.p),
        tuple(key(i) for i in e.basis),
        key(e.ref) if e.ref else None,
        key(agent),
    )


def facts(events: list[Any]) -> list[Fact]:
    """A world of the reading as facts."""
    return [fact(e) for e in events]


def told(world: Any) -> dict[str, list[View]]:
    """What the reading says: the rows of every belief."""
    return {
        belief: [(since, view[0], view[1], view[2], view[3], view[4]) for since, view in line]
        for belief, line in world.line.items()
    }


def lived(folded: Fold) -> dict[str, list[View]]:
    """What the fold says, in the same terms."""
    rows: dict[str, list[View]] = {}
    for belief, life in folded.lives.items():
        rows[name(belief)] = [
            (row.since, row.status, name(row.cause), row.stale, row.contested, row.forked) for row in life.intervals
        ]
    return rows


def exact(model: Any) -> Any:
    """The reading, exact in two points of forks that it leaves to chance.

    It writes rows where events act and bounds pass. A fork may also end at the stamp of an event that waits or acts
    later, and then the reading's row would begin wherever anything else happens next. And a copy of a void event is
    as void as the event.
    """

    class Exact(model.World):  # type: ignore[misc]
        def advance(self, to: int) -> None:
            for stamp in sorted({e.h for e in self.by.values() if self.now < e.h < to}):
                super().advance(stamp)
                self.now = stamp
                self.snap(stamp)
            super().advance(to)

        def decides(self, g: Any) -> bool:
            return self.rep[g.id] not in self.void and bool(super().decides(g))

    return Exact


def last_stands(model: Any) -> Any:
    """The exact reading with the rule of docs/adr/0013-the-last-resolution-stands.md.

    A resolution doesn't wait for a side that nothing but earlier resolutions had ended: it undoes those endings. In
    the reading as it is, it waits for ever.
    """

    class LastStands(exact(model)):  # type: ignore[misc]
        def ready(self, d: Any) -> bool:
            winner = self.alias.get(d.s)
            if d.kind != "contra" or winner not in self.b:
                return bool(super().ready(d))
            undone = self.earlier(d)
            lifted = [(self.b[o.t].end, o.e.id, self.b[o.t].end.pop(o.e.id)) for o in undone]
            fit = self.isactive if self.b[d.t].mature else self.live
            stands = any(fit(belief) for belief in self.reach(winner, undone) - {d.t})
            for endings, event, ending in lifted:
                endings[event] = ending
            return stands

    return LastStands


def difference(events: list[Any], lengths: dict[str, Any] | None = None) -> str:
    """The first difference between the reading and the fold of one world; empty if they agree."""
    model = spec("lifecycle_model")
    tables = spec("random_worlds").K if lengths is None else lengths
    world = last_stands(model)(events, **tables)
    ours = fold(
        facts(events),
        Rules(day_ms=1, half_lives=tables["hl"], kinds=tables["kinds"]) if tables else Rules(day_ms=1),
    )
    theirs, mine = told(world), lived(ours)
    for belief in sorted(theirs.keys() | mine.keys()):
        if theirs.get(belief) != mine.get(belief):
            return f"{belief}: reading {theirs.get(belief)}\n     fold {mine.get(belief)}"
    marks = (
        ("void", set(world.void), {name(i) for i in ours.void}),
        ("waits", set(world.waits), {name(i) for i in ours.waiting}),
        ("pending", {d.e.id for d in world.edges if d.st == "wait"}, {name(i) for i in ours.pending}),
    )
    for what, theirs_set, mine_set in marks:
        if theirs_set != mine_set:
            return f"{what}: reading {sorted(theirs_set)} fold {sorted(mine_set)}"
    if {name(i): h for i, h in ours.acted.items()} != {i: key[0][0] for i, key in world.key.items()}:
        return "acting stamps differ"
    return ""
