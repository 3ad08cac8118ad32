"""What agents and people do in a simulated world: type and fields of one event, drawn from what they can see."""

from beliefbase.events.catalog.registry import FATE_CHANGING

PEOPLE = ("ines", "mara", "otto")
AGENTS = (("planner", "agent"), ("reviewer", "agent"), ("scribe", "tool"), ("mara", "human"))
ENDING = ("belief.retracted", "belief.superseded", "belief.merged", "contradiction.resolved", "condition.met")

PLAIN = {"utter": 3, "extract": 5, "affirm": 2, "promote": 2, "demote": 1, "retract": 3, "reinstate": 2, "supersede": 4}
RICH = PLAIN | {
    "merge": 3,
    "contradict": 3,
    "resolve": 3,
    "reclassify": 2,
    "condition": 2,
    "recur": 3,
    "inject": 2,
    "use": 1,
    "revalidate": 1,
    "judge": 1,
    "conclude": 2,
    "ask": 1,
    "policy": 0.3,
    "profile": 0.3,
}


class Moves:
    """Draws events for one author.

    Args:
        random: The source of all choices.
        seen: The events that the author's store holds.
        heard: Events from elsewhere that an author may name before they arrive.
        tag: Makes texts unlike all others.
    """

    def __init__(self, random, seen, heard, tag, *, plain):
        self._random = random
        self._seen = seen
        self._heard = heard
        self._tag = tag
        self._plain = plain

    def draw(self):
        """Type and fields of an event."""
        table = PLAIN if self._plain else RICH
        while True:
            name = self._random.choices(list(table), list(table.values()))[0]
            drawn = getattr(self, f"_{name}")()
            if drawn is not None:
                type_name, fields = drawn
                if "." in type_name and self._random.random() < 0.12:
                    fields["basis"] = self._some(FATE_CHANGING, 2)
                return type_name, {key: value for key, value in fields.items() if value is not None}

    # ------------------------------------------------------------------ choices

    def _chance(self, share):
        return self._random.random() < share

    def _ids(self, types):
        ids = [event.id for event in self._seen if event.skeleton.type in types]
        if self._heard and self._chance(0.1):
            ids = [event.id for event in self._heard if event.skeleton.type in types] or ids
        return ids

    def _one(self, *types):
        ids = self._ids(types)
        if not ids:
            return None
        # Mostly the newest: what happens to one belief makes the hard cases.
        return self._random.choice(ids[-4:] if self._chance(0.7) else ids).hex()

    def _some(self, types, most):
        found = {self._one(*types) for _ in range(self._random.randint(0, most))}
        return sorted(found - {None})

    def _belief(self):
        return self._one("belief.extracted")

    def _ref(self, share):
        return f"key:{self._random.randint(0, 3)}" if self._chance(share) else None

    def _session(self):
        return self._random.choice((None, "morning", "noon", "night"))

    def _text(self, what):
        return f"{what} {self._tag}-{self._random.getrandbits(40):010x}"

    # ------------------------------------------------------------------ moves

    def _utter(self):
        speaker = self._random.choice(PEOPLE)
        return "utterance.recorded", {"speaker": speaker, "verbatim": self._text("said"), "source_ref": self._ref(0.3)}

    def _extract(self):
        firm = self._chance(0.6)
        return "belief.extracted", {
            "statement": self._text("believed"),
            "kind": self._random.choice(("fact", "fact", "progress")),
            "evidence": self._some(("utterance.recorded",), 2),
            "speech_act": self._random.choice(("direct_assertion",) if firm else ("direct_assertion", "hypothetical")),
            "assertion_class": "durable_fact" if firm else None,
            "confidence": 900 if firm else 400,
            "session": self._session(),
            "source_ref": None if self._plain else self._ref(0.15),
            "policy": None
            if self._plain or self._chance(0.8)
            else self._random.choice(("conditional_expiry", "own@1")),
            "condition_key": None if self._plain or self._chance(0.7) else self._random.choice(("release", "move")),
        }

    def _affirm(self):
        return self._on_belief("belief.affirmed", how=self._random.choice(("confirmation", "review")))

    def _recur(self):
        return self._on_belief("belief.affirmed", how="recurrence", session=self._session())

    def _promote(self):
        return self._on_belief("belief.promoted")

    def _demote(self):
        return self._on_belief("belief.demoted")

    def _retract(self):
        return self._on_belief("belief.retracted", cause=self._random.choice(("wrong", "withdrawn")))

    def _revalidate(self):
        outcome = self._random.choice(("confirmed", "rejected", "changed"))
        return self._on_belief("memory.revalidated", reason=None, outcome=outcome)

    def _reclassify(self):
        change = self._random.choice(({"speech_act": "correction"}, {"kind": "note"}, {"condition_key": "move"}))
        return self._on_belief("belief.reclassified", **change)

    def _on_belief(self, type_name, **fields):
        belief = self._belief()
        reason = self._text("because") if self._chance(0.3) else None
        return None if belief is None else (type_name, {"belief_id": belief, "reason": reason} | fields)

    def _reinstate(self):
        belief = self._belief()
        undoes = self._some(ENDING, 2)
        if belief is None or not undoes:
            return None
        if self._chance(0.8):
            ended = bytes.fromhex(undoes[0])
            on = [event.skeleton.touches for event in (*self._seen, *self._heard) if event.id == ended]
            known = {event.id for event in self._seen if event.skeleton.type == "belief.extracted"}
            belief = next((key.hex() for key in on[0] if key in known), belief)
        return "belief.reinstated", {"belief_id": belief, "undoes": undoes}

    def _supersede(self):
        old, new = self._belief(), self._belief()
        cause = self._random.choice(("update", "correction"))
        fields = {"superseded_id": old, "superseding_id": new, "cause": cause}
        return None if old is None or new is None else ("belief.superseded", fields)

    def _merge(self):
        duplicate, survivor = self._belief(), self._belief()
        fields = {"duplicate_id": duplicate, "surviving_id": survivor}
        return None if duplicate is None or survivor is None else ("belief.merged", fields)

    def _contradict(self):
        left, right = self._belief(), self._one("belief.extracted", "utterance.recorded")
        fields = {"left": left, "right": right, "source_ref": self._ref(0.1)}
        return None if left is None or right is None else ("contradiction.raised", fields)

    def _resolve(self):
        raised = self._one("contradiction.raised")
        outcome = self._random.choice(("left", "right", "both_hold", "neither"))
        return None if raised is None else ("contradiction.resolved", {"contradiction_id": raised, "outcome": outcome})

    def _condition(self):
        if self._chance(0.5):
            return self._on_belief("condition.met")
        return "condition.met", {"condition_key": self._random.choice(("release", "move"))}

    def _inject(self):
        cards = [{"belief_id": belief} for belief in self._some(("belief.extracted",), 3)]
        fields = {"cards": cards, "session": self._session(), "query": self._text("asked")}
        return ("memory.injected", fields) if cards else None

    def _use(self):
        injection, belief = self._one("memory.injected"), self._belief()
        outcome = self._random.choice(("used", "ignored", "corrected"))
        fields = {"injection_id": injection, "belief_id": belief, "outcome": outcome}
        return None if injection is None or belief is None else ("memory.used", fields)

    def _judge(self):
        about, other = self._belief(), self._belief()
        verdicts = [{"other": other, "relation": self._random.choice(("contradicts", "unrelated"))}]
        fields = {"about": about, "judge": "rules@1", "verdicts": verdicts}
        return None if about is None or other is None else ("judgement.recorded", fields)

    def _conclude(self):
        belief, inputs = self._belief(), self._some(("belief.extracted",), 2)
        roles = ("essential", "essential", "supporting")
        named = [{"belief_id": one, "role": self._random.choice(roles)} for one in inputs]
        return ("conclusion.derived", {"belief_id": belief, "inputs": named}) if belief and named else None

    def _ask(self):
        return "question.raised", {
            "question": self._text("whether"),
            "evidence": self._some(("utterance.recorded",), 1),
        }

    def _policy(self):
        return "policy.defined", {"policy": "own@1", "base": "half_life", "half_life_days": self._random.randint(1, 60)}

    def _profile(self):
        return "profile.activated", {"profile": "calm@1", "half_lives": {"hypothetical": self._random.randint(1, 60)}}
