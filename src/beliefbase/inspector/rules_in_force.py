"""The policies and the profile that hold at a moment: the built-in ones, and what events said since."""

from __future__ import annotations

from typing import Any, get_args

from beliefbase.beliefs.fold import Fold, fold
from beliefbase.beliefs.policies import BUILT_IN, Policy, versioned
from beliefbase.beliefs.rules import DEFAULT, MOST_CONSERVATIVE_FIRST, own_half_life
from beliefbase.events.catalog.beliefs import Kind
from beliefbase.events.errors import UnknownId
from beliefbase.events.hlc import stamp
from beliefbase.inspector.case import COUNTER
from beliefbase.inspector.desk import Desk, Entry


class RulesInForce:
    """What was defined and activated up to a moment."""

    def __init__(self, desk: Desk, as_of_ms: int) -> None:
        self._desk = desk
        self._until = stamp(as_of_ms, COUNTER)
        self.fold: Fold = fold(desk.source.everywhere(), until=self._until)

    def policies(self) -> list[dict[str, Any]]:
        """Every policy by name, with who defined it; refused definitions of a name are listed with it."""
        definitions: dict[str, list[Entry]] = {}
        for entry in self._entries("policy.defined"):
            definitions.setdefault(versioned(entry.payload["policy"]), []).append(entry)
        return [self._policy(policy, definitions.get(name, [])) for name, policy in sorted(self.fold.policies.items())]

    def policy(self, name: str) -> dict[str, Any]:
        """One policy by ``name`` (version 1) or ``name@version``.

        Raises:
            UnknownId: it is neither built in nor defined up to the moment.
        """
        for told in self.policies():
            if told["policy"] == versioned(name):
                return told
        known = ", ".join(sorted(self.fold.policies))
        raise UnknownId(
            f"there is no policy {versioned(name)}",
            hint=f"known are {known}; a policy.defined event makes one",
            policy=name,
        )

    def profile(self) -> dict[str, Any]:
        """The profile in force, the half-life it gives every speech act and kind, and its switches."""
        profile = self.fold.profile
        activations = self._entries("profile.activated")
        entry = activations[-1] if activations else None
        return {
            "profile": profile.name,
            "activated": None if entry is None else self._desk.told(entry),
            "newer_wins": entry is not None and bool(entry.payload.get("newer_wins")),
            "fail_closed": profile.fail_closed,
            "speech_acts": [self._half_life({"speech_act": act, "kind": None}, act) for act in MOST_CONSERVATIVE_FIRST],
            "kinds": [
                self._half_life({"speech_act": "direct_assertion", "kind": kind}, kind) for kind in get_args(Kind)
            ],
            "activations": [{**self._desk.told(one), "profile": one.payload["profile"]} for one in activations],
        }

    def _half_life(self, attributes: dict[str, Any], name: str) -> dict[str, Any]:
        """A half-life as the rules give it; ``days`` is None where there is none, or where the kind decides."""
        found = own_half_life(attributes, None, self.fold.profile, DEFAULT)
        by = found.reason.partition(":")[0]
        by_kind = by == "kind" and attributes["kind"] is None
        return {"name": name, "days": None if by_kind else found.days, "by": "its kind" if by_kind else by}

    def _policy(self, policy: Policy, definitions: list[Entry]) -> dict[str, Any]:
        built_in = policy.name in BUILT_IN
        counts = None if built_in or not definitions else definitions[0]
        refused = definitions if built_in else definitions[1:]
        return {
            "policy": policy.name,
            "built_in": built_in,
            "summary": policy.summary,
            "decay": policy.decay,
            "half_life_days": policy.days,
            "ends_on_condition": policy.ends_on_condition,
            "fingerprint": policy.fingerprint(),
            "base": None if counts is None else counts.payload["base"],
            "defined": None if counts is None else self._desk.told(counts),
            "refused_definitions": [self._desk.told(entry) for entry in refused],
        }

    def _entries(self, type_name: str) -> list[Entry]:
        return [entry for entry in self._desk.of_types(type_name) if entry.skeleton.hlc <= self._until]
