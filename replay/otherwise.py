"""What would be believed if: without a writer or a source, under other policies, or with nothing after a moment."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import FORMAT, Event, Skeleton
from beliefbase.events.errors import InvalidEvent
from beliefbase.events.hlc import stamp
from beliefbase.events.ids import ID_BYTES, ZERO_HASH
from beliefbase.events.log import EventLog
from beliefbase.projections.projector import WORK, Projector
from beliefbase.replay.integrity import Progress
from beliefbase.replay.rebuild import quoted
from beliefbase.replay.selection import select
from beliefbase.replay.suspects import of_source, resting_on, writers_of

LISTED: Final = 1000
"""Beliefs that a difference lists; the rest is counted."""
_COUNTER: Final = (1 << 16) - 1


class Change(NamedTuple):
    """What is different from what happened."""

    without_writers: Sequence[str] = ()
    """Names of agents, or ids of writers."""
    without_sources: Sequence[str] = ()
    """Names of persons, agents, conversations, sessions or source_refs."""
    rules: Sequence[Mapping[str, Any]] = ()
    """Fields of policy.defined and profile.activated, with their type; in force from the beginning."""
    until_ms: int | None = None
    """Nothing stamped after this."""

    @property
    def told(self) -> list[str]:
        """For people."""
        told = [f"without writer {name}" for name in self.without_writers]
        told += [f"without source {name}" for name in self.without_sources]
        told += [f"with {rule.get('policy') or rule.get('profile')} from the beginning" for rule in self.rules]
        return told + ([] if self.until_ms is None else [f"with nothing after {self.until_ms} ms"])


def read_rules(path: Path) -> list[Mapping[str, Any]]:
    """Policies and a profile out of a JSON file of the form that `beliefbase diff --policy` reads.

    Raises:
        InvalidEvent: it can't be read, or holds something else.
    """
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidEvent(f"{path}: can't be read as JSON ({error})", hint="check the file") from None
    if not isinstance(told, dict) or not told or told.keys() - {"policies", "profile"}:
        hint = (
            "give policies, a list of the fields of policy.defined; profile, the fields of profile.activated; or both"
        )
        raise InvalidEvent(f"{path}: neither policies nor a profile, or something else", hint=hint)
    policies, profile = told.get("policies", []), told.get("profile")
    rules = [("policy.defined", fields) for fields in policies] if isinstance(policies, list) else [("", policies)]
    rules += [] if profile is None else [("profile.activated", profile)]
    if any(not type_name or not isinstance(fields, dict) for type_name, fields in rules):
        raise InvalidEvent(f"{path}: policies is no list of objects, or profile is none", hint="docs/events.md")
    return [{"type": type_name, **fields} for type_name, fields in rules]


def changed(log: EventLog, change: Change) -> EventLog:
    """The log as it would be.

    Extractions that rest on nothing but left-out utterances go with them. Under a given profile the log's own
    activations are left out.

    Raises:
        UnknownId: there is no such writer.
        InvalidEvent: a policy or profile is malformed.
    """
    writers = frozenset[bytes]().union(*(writers_of(log, name) for name in change.without_writers))
    gone = {event.id: event for name in change.without_sources for event in of_source(log, name)}
    if writers:
        for page in log.read(words=False):
            gone.update((event.id, event) for _, event in page if event.skeleton.writer in writers)
    left_out = gone.keys() | {event.id for event in resting_on(log, gone.values())}
    last = None if change.until_ms is None else stamp(change.until_ms, _COUNTER)
    own_profile = any(rule["type"] == "profile.activated" for rule in change.rules)

    def keeps(event: Event) -> bool:
        skeleton = event.skeleton
        if event.id in left_out or (last is not None and skeleton.hlc > last):
            return False
        return not (own_profile and skeleton.type == "profile.activated")

    return select(log, keeps, _ruled(change.rules))


def otherwise(log: EventLog, folder: Path, change: Change, *, as_of_ms: int, progress: Progress) -> dict[str, Any]:
    """Replay the log as it is and as it would be, and tell the difference at a moment, JSON-ready."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="otherwise-", dir=folder) as scratch:
        places = Path(scratch, "is"), Path(scratch, "would-be")
        with Projector(log, places[0], progress=progress) as fresh:
            fresh.rebuild(as_of_ms)
            digest = fresh.digest()
        with Projector(changed(log, change), places[1], progress=progress) as other:
            other.rebuild(as_of_ms)
            other_digest = other.digest()
            other.rows(f"ATTACH {quoted(places[0] / WORK)} AS was (READ_ONLY)")
            rows = other.rows(_DIFFERENCE, [stamp(as_of_ms, _COUNTER)])
    names = ("belief_id", "statement", "is", "would_be")
    return {
        "change": change.told,
        "as_of_ms": as_of_ms,
        "digest": digest,
        "changed_digest": other_digest,
        "differing": len(rows),
        "beliefs": [dict(zip(names, row, strict=True)) for row in rows[:LISTED]],
    }


_DIFFERENCE: Final = """
WITH
    moment AS (SELECT CAST(? AS BIGINT) AS hlc),
    a AS (FROM was.belief_intervals, moment WHERE since_hlc <= hlc AND hlc < until_hlc),
    b AS (FROM work.belief_intervals, moment WHERE since_hlc <= hlc AND hlc < until_hlc)
SELECT belief_id, coalesce(t.statement, u.statement), a.status, b.status
FROM a FULL JOIN b USING (belief_id)
LEFT JOIN was.belief_texts t USING (belief_id)
LEFT JOIN work.belief_texts u USING (belief_id)
WHERE a.status IS DISTINCT FROM b.status
ORDER BY coalesce(a.status, b.status), belief_id
"""


def _ruled(rules: Sequence[Mapping[str, Any]]) -> list[Event]:
    """Policies and profiles as events of a writer of their own that came before everybody."""
    writer = hashlib.sha256(json.dumps(list(rules), sort_keys=True).encode()).digest()[:ID_BYTES]
    events: list[Event] = []
    prev = ZERO_HASH
    for seq, rule in enumerate(rules, 1):
        type_name = rule["type"]
        draft = CATALOG.draft(type_name, {name: value for name, value in rule.items() if name != "type"})
        skeleton = Skeleton(
            FORMAT,
            writer,
            seq,
            prev,
            seq,
            0,
            type_name,
            draft.version,
            draft.touches,
            (),
            None,
            draft.payload,
            (),
            None,
        )
        events.append(Event.build(skeleton, None, None))
        prev = events[-1].hash
    return events
