"""What would be believed under another policy over the same log: two folds, compared; no event is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.policies import BUILT_IN, versioned
from beliefbase.events.catalog import CATALOG
from beliefbase.events.errors import BeliefbaseError, InvalidEvent
from beliefbase.events.hlc import stamp
from beliefbase.events.log import EventLog
from beliefbase.projections.partition import KEPT, Partition
from beliefbase.projections.reading import Reader
from beliefbase.projections.source import LogSource

Progress = Callable[[str, int], None]
_PAGE: Final = 5_000
_COUNTER: Final = 0xFFFF
_NOBODY: Final = bytes(16)
_PARTS: Final = ("policies", "profile", "assign")


class InvalidAlternative(BeliefbaseError):
    """A file that describes no policy to compare with; ``data`` names the part."""

    code = "invalid_alternative"
    exit_code = 2


class Alternative(NamedTuple):
    """Other rules for the same events."""

    facts: tuple[Fact, ...]
    """Definitions and a profile, in force from the beginning of time."""
    replaces_profiles: bool
    """Whether the profiles that the log activates are left out."""
    assigned: Mapping[tuple[str, str], str]
    """Policy by kind and speech act, for beliefs that name none themselves."""

    def apply(self, facts: list[Fact]) -> list[Fact]:
        """The facts as they would be under these rules."""
        kept = (fact for fact in facts if not (self.replaces_profiles and fact.type == "profile.activated"))
        return [*self.facts, *map(self._assign, kept)] if self.assigned else [*self.facts, *kept]

    def _assign(self, fact: Fact) -> Fact:
        if fact.type != "belief.extracted" or fact.payload.get("policy") is not None:
            return fact
        payload = fact.payload
        policy = self.assigned.get((payload["kind"], payload.get("speech_act", "direct_assertion")))
        return fact if policy is None else fact._replace(payload={**payload, "policy": policy})


class Difference(NamedTuple):
    """A belief that would stand otherwise; ids as they are shown, None for the one that isn't there."""

    belief_id: str
    before: Interval
    after: Interval


def read_alternative(path: Path) -> Alternative:
    """Read a JSON file with any of: ``policies``, ``profile``, ``assign``.

    ``policies`` is a list of the fields of policy.defined, ``profile`` the fields of profile.activated (it replaces
    those of the log), ``assign`` a list of {kind, speech_act, policy}. ``policies suggest --write`` makes such a file.

    Raises:
        InvalidAlternative: it is none.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _invalid(f"can't read {path} as JSON: {error}") from None
    if not isinstance(told, dict) or not told or told.keys() - set(_PARTS):
        raise _invalid(f"{path} must be an object with {', '.join(_PARTS)}, or some of them")
    policies, profile, assigned = (told.get(part) for part in _PARTS)
    facts = [
        _fact("policy.defined", fields, "policies", number)
        for number, fields in enumerate(_listed(policies, "policies"))
    ]
    if profile is not None:
        facts.append(_fact("profile.activated", profile, "profile", len(facts)))
    return Alternative(tuple(facts), profile is not None, dict(_assignments(assigned, facts)))


def differences(
    log: EventLog, other: Alternative, *, as_of_ms: int, progress: Progress = lambda _what, _done: None
) -> list[Difference]:
    """The beliefs whose status or flags at a moment would be others, by id.

    Raises:
        StoreUnavailable: the log can't be read.
    """
    until = stamp(as_of_ms, _COUNTER)
    reader, partition = Reader(log), Partition()
    read = 0
    for page in log.read(0, limit=_PAGE, words=False):
        for batch in reader.read([event for _, event in page]).batches:
            if batch.type in KEPT:
                partition.add(batch.facts())
        read += len(page)
        progress("reading", read)
    found: list[Difference] = []
    folded, by_erasure = 0, log.erased()
    for facts, context in partition.sets(LogSource(log, reader)):
        erased = {fact.id: by_erasure[fact.id] for fact in facts if fact.id in by_erasure}
        before = fold(facts + context, erased=erased, until=until)
        after = fold(other.apply(facts + context), erased=erased, until=until)
        for key, life in before.lives.items():
            old, new = life.at(until), after.lives[key].at(until)
            if old is not None and new is not None and _standing(old) != _standing(new):
                found.append(Difference(key.hex(), old, new))
        folded += len(before.lives)
        progress("folding", folded)
    return sorted(found, key=lambda one: one.belief_id)


def _standing(interval: Interval) -> tuple[str, bool, bool, bool]:
    return interval.status, interval.stale, interval.contested, interval.forked


def _fact(type_name: str, fields: Any, part: str, number: int) -> Fact:
    if not isinstance(fields, dict):
        raise _invalid(f"{part} has {fields!r} where the fields of {type_name} belong")
    try:
        payload = CATALOG.draft(type_name, fields).payload
    except InvalidEvent as error:
        raise InvalidAlternative(f"{part}: {error}", hint=error.hint, part=part) from None
    event_id = hashlib.sha256(f"alternative {type_name} {number}".encode()).digest()[:16]
    return Fact(0, _NOBODY, number, event_id, type_name, payload, (), None, _NOBODY)


def _assignments(told: Any, facts: list[Fact]) -> Iterator[tuple[tuple[str, str], str]]:
    known = set(BUILT_IN) | {versioned(fact.payload["policy"]) for fact in facts if fact.type == "policy.defined"}
    for one in _listed(told, "assign"):
        if not isinstance(one, dict) or set(one) != {"kind", "speech_act", "policy"}:
            raise _invalid(f"assign has {one!r} where kind, speech_act and policy belong")
        policy = versioned(str(one["policy"]))
        if policy not in known:
            raise _invalid(f"assign names {policy}, which is neither built in nor among the policies of the file")
        yield (str(one["kind"]), str(one["speech_act"])), policy


def _listed(told: Any, part: str) -> list[Any]:
    if told is not None and not isinstance(told, list):
        raise _invalid(f"{part} must be a list")
    return told or []


def _invalid(problem: str) -> InvalidAlternative:
    return InvalidAlternative(problem, hint="beliefbase policies suggest --write FILE makes a file of this form")
