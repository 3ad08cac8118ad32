"""Other policies for the same log, as a file tells them: what `diff --policy` and `replay --policy` read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from beliefbase.beliefs.attributes import act_of
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.policies import BUILT_IN, versioned
from beliefbase.events.catalog import CATALOG
from beliefbase.events.catalog.beliefs import Kind, SpeechAct
from beliefbase.events.envelope import FORMAT, Event, Skeleton
from beliefbase.events.errors import BeliefbaseError, InvalidEvent
from beliefbase.events.ids import ID_BYTES, ZERO_HASH

_PARTS: Final = ("policies", "profile", "assign")
_KNOWN: Final = {
    "kind": get_args(Kind),
    "speech_act": tuple(act for act in get_args(SpeechAct) if act != "question"),  # never a belief
}


class InvalidAlternative(BeliefbaseError):
    """A file that describes no policy to compare with; ``data`` names the part."""

    code = "invalid_alternative"
    exit_code = 2


class Alternative(NamedTuple):
    """Other rules for the same events."""

    events: tuple[Event, ...] = ()
    """Definitions and a profile, of a writer of their own that came before everybody."""
    facts: tuple[Fact, ...] = ()
    """The same, as the rules read them."""
    replaces_profiles: bool = False
    """Whether the profiles that the log activates are left out."""
    assigned: Mapping[tuple[str, str], str] = {}
    """Policy by kind and speech act, for beliefs that name none themselves."""

    @property
    def told(self) -> list[str]:
        """For people."""
        named = [fact.payload.get("policy") or fact.payload["profile"] for fact in self.facts]
        told = [f"with {name} from the beginning" for name in named]
        return told + [f"with {policy} for {act} {kind}s" for (kind, act), policy in self.assigned.items()]

    def apply(self, facts: list[Fact]) -> list[Fact]:
        """The facts as they would be under these rules."""
        kept = (fact for fact in facts if not (self.replaces_profiles and fact.type == "profile.activated"))
        return [*self.facts, *map(self._assign, kept)] if self.assigned else [*self.facts, *kept]

    def _assign(self, fact: Fact) -> Fact:
        if fact.type != "belief.extracted" or fact.payload.get("policy") is not None:
            return fact
        payload = fact.payload
        policy = self.assigned.get((payload["kind"], act_of(payload)))
        return fact if policy is None else fact._replace(payload={**payload, "policy": policy})


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
    rules = [("policies", "policy.defined", fields) for fields in _listed(policies, "policies")]
    rules += [] if profile is None else [("profile", "profile.activated", profile)]
    events = _events([(type_name, _payload(part, type_name, fields)) for part, type_name, fields in rules])
    facts = tuple(_fact(event.skeleton, event.id) for event in events)
    return Alternative(tuple(events), facts, profile is not None, dict(_assignments(assigned, facts)))


def _payload(part: str, type_name: str, fields: Any) -> tuple[dict[str, Any], tuple[bytes, ...], int]:
    """Payload, touches and version of an event that is never stored."""
    if not isinstance(fields, dict):
        raise _invalid(f"{part} has {fields!r} where the fields of {type_name} belong")
    try:
        draft = CATALOG.draft(type_name, fields)
    except InvalidEvent as error:
        raise InvalidAlternative(f"{part}: {error}", hint=error.hint, part=part) from None
    return draft.payload, draft.touches, draft.version


def _events(rules: Sequence[tuple[str, tuple[dict[str, Any], tuple[bytes, ...], int]]]) -> list[Event]:
    told = repr([(type_name, payload) for type_name, (payload, _, _) in rules])
    writer = hashlib.sha256(told.encode()).digest()[:ID_BYTES]
    events: list[Event] = []
    prev = ZERO_HASH
    for seq, (type_name, (payload, touches, version)) in enumerate(rules, 1):
        skeleton = Skeleton(FORMAT, writer, seq, prev, seq, 0, type_name, version, touches, (), None, payload, (), None)
        events.append(Event.build(skeleton, None, None))
        prev = events[-1].hash
    return events


def _fact(skeleton: Skeleton, event_id: bytes) -> Fact:
    return Fact(
        skeleton.hlc,
        skeleton.writer,
        skeleton.seq,
        event_id,
        skeleton.type,
        skeleton.payload,
        (),
        None,
        skeleton.writer,
    )


def _assignments(told: Any, facts: Iterable[Fact]) -> Iterator[tuple[tuple[str, str], str]]:
    known = set(BUILT_IN) | {versioned(fact.payload["policy"]) for fact in facts if fact.type == "policy.defined"}
    for one in _listed(told, "assign"):
        if not isinstance(one, dict) or set(one) != {"kind", "speech_act", "policy"}:
            raise _invalid(f"assign has {one!r} where kind, speech_act and policy belong")
        for field, known_ones in _KNOWN.items():
            if one[field] not in known_ones:
                raise _invalid(f"assign has the {field} {one[field]!r}; there are: {', '.join(known_ones)}")
        policy = versioned(str(one["policy"]))
        if policy not in known:
            raise _invalid(f"assign names {policy}, which is neither built in nor among the policies of the file")
        yield (one["kind"], one["speech_act"]), policy


def _listed(told: Any, part: str) -> list[Any]:
    if told is not None and not isinstance(told, list):
        raise _invalid(f"{part} must be a list")
    return told or []


def _invalid(problem: str) -> InvalidAlternative:
    return InvalidAlternative(problem, hint="beliefbase policies suggest --write FILE makes a file of this form")
