"""Logs for tests of projections: random ones in which everything happens that the catalogue knows."""

import random

from tests.events.build import START_MS, Author

from beliefbase.events.catalog import CATALOG
from beliefbase.events.sqlite import SQLiteLog

KINDS = ("fact", "rule", "note", "progress", "goal")
ACTS = ("direct_assertion", "correction", "casual_characterization", "observation", "directive")
POLICIES = (None, None, None, "conditional_expiry", "amendable_persistent", "team_note@1")
TAGS = ("apply", "recall", None)
AS_OF_MS = START_MS + 10_000_000


def open_log(folder, events=()):
    folder.mkdir(parents=True, exist_ok=True)
    log = SQLiteLog(folder / "log.db", durability="process")
    if events:
        log.append(list(events))
    return log


def interleaved(events, seed):
    """Another arrival order: streams in pieces, each stream's events in their own order."""
    dice = random.Random(seed)
    streams = {}
    for event in events:
        streams.setdefault(event.skeleton.writer, []).append(event)
    waiting = [iter(stream) for stream in streams.values()]
    order = []
    while waiting:
        stream = dice.choice(waiting)
        for _ in range(dice.randrange(1, 6)):
            event = next(stream, None)
            if event is None:
                waiting.remove(stream)
                break
            order.append(event)
    return order


class World:
    """Random events of several writers, with stamps out of order, copies, and names of what isn't there."""

    def __init__(self, seed, events=120, *, rules=True):
        self.dice = random.Random(seed)
        self.authors = [Author(f"writer {seed} {number}") for number in range(4)]
        self.events = [
            author.joined(agent) for author, agent in zip(self.authors, ("ann", "bob", "ann", "Zoë"), strict=True)
        ]
        self.said, self.beliefs, self.endings, self.raised = [], [], [], []
        self.injected, self.judged, self.prompted, self.asked = [], [], [], []
        self.ms = START_MS
        acts = [
            name for name in dir(self) if name.startswith("do_") and (rules or name not in ("do_policy", "do_profile"))
        ]
        while len(self.events) < events:
            getattr(self, self.dice.choice(acts))()

    # -- choices

    def one(self, ids):
        """One of these ids, or one that no event has."""
        return self.dice.choice(ids) if ids and self.dice.random() < 0.96 else self.dice.randbytes(16)

    def write(self, type_name, fields, **more):
        author = self.dice.choice(self.authors)
        self.ms += self.dice.randrange(200_000)
        hlc = (self.ms - (self.dice.random() < 0.2) * self.dice.randrange(3_000_000)) << 16 | self.dice.randrange(3)
        fields = {name: value for name, value in fields.items() if value is not None}
        event = author.write(type_name, fields, hlc=hlc, **more)
        self.events.append(event)
        return event.id

    def revise(self, type_name, fields):
        basis = self.dice.sample(self.endings, min(len(self.endings), self.dice.randrange(3)))
        self.endings.append(self.write(type_name, fields, basis=basis))

    def maybe(self, *values):
        return self.dice.choice((None, *values))

    # -- everything that can happen

    def do_say(self):
        number = len(self.events)
        ref = self.maybe(f"chat:{self.dice.randrange(12)}")
        fields = {"speaker": self.dice.choice(("will", "kim")), "verbatim": f"Sentence {number}.", "source_ref": ref}
        fields |= {"conversation": self.maybe("monday"), "turn": self.maybe(number), "topic": self.maybe("scope")}
        self.said.append(self.write("utterance.recorded", {**fields, "entities": self.maybe(("Acme", 'a "b"\x1f'))}))

    def do_extract(self):
        number = len(self.events)
        fields = {"statement": f"Statement {number}.", "kind": self.dice.choice(KINDS)}
        fields |= {"speech_act": self.dice.choice(ACTS), "confidence": self.dice.choice((500, 900))}
        fields |= {"assertion_class": self.maybe("durable_fact", "durable_fact"), "session": self.maybe("s1", "s2")}
        fields |= {"evidence": tuple(self.one(self.said) for _ in range(self.dice.randrange(3)))}
        fields |= {"policy": self.dice.choice(POLICIES), "condition_key": self.maybe("release")}
        fields |= {"source_ref": self.maybe(None, f"item:{self.dice.randrange(12)}"), "tags": self.maybe(("x", "y"))}
        self.beliefs.append(self.write("belief.extracted", fields))

    do_extract_more = do_extract

    def do_affirm(self):
        fields = {
            "belief_id": self.one(self.beliefs),
            "how": self.dice.choice(("recurrence", "confirmation", "review")),
        }
        self.write("belief.affirmed", {**fields, "session": self.maybe("s1", "s2", "s3")})

    def do_promote(self):
        kind = self.dice.choice(("belief.promoted", "belief.demoted"))
        self.write(kind, {"belief_id": self.one(self.beliefs), "reason": self.maybe("because")})

    def do_reclassify(self):
        fields = {"belief_id": self.one(self.beliefs), "speech_act": self.maybe(*ACTS), "kind": self.maybe(*KINDS)}
        self.revise("belief.reclassified", {**fields, "confidence": self.maybe(900), "condition_key": self.maybe("go")})

    def do_supersede(self):
        fields = {"superseded_id": self.one(self.beliefs), "superseding_id": self.one(self.beliefs)}
        self.revise("belief.superseded", {**fields, "reason": self.maybe("newer")})

    do_supersede_more = do_supersede

    def do_merge(self):
        fields = {"duplicate_id": self.one(self.beliefs), "surviving_id": self.one(self.beliefs)}
        if len(set(fields.values())) == 2:
            self.revise("belief.merged", fields)

    def do_retract(self):
        self.revise("belief.retracted", {"belief_id": self.one(self.beliefs)})

    def do_reinstate(self):
        self.revise("belief.reinstated", {"belief_id": self.one(self.beliefs), "undoes": (self.one(self.endings),)})

    def do_meet(self):
        key = self.maybe("release", "go")
        self.revise("condition.met", {"condition_key": key} if key else {"belief_id": self.one(self.beliefs)})

    def do_contradict(self):
        right = self.one(self.said if self.dice.random() < 0.3 else self.beliefs)
        self.raised.append(self.write("contradiction.raised", {"left": self.one(self.beliefs), "right": right}))

    def do_resolve(self):
        outcome = self.dice.choice(("left", "right", "both_hold", "neither"))
        self.revise("contradiction.resolved", {"contradiction_id": self.one(self.raised), "outcome": outcome})

    def do_judge(self):
        verdicts = ({"other": self.one(self.beliefs), "relation": "unrelated", "lexical_rank": 1},)
        fields = {"about": self.one(self.beliefs), "judge": "rule@1", "verdicts": verdicts}
        self.judged.append(self.write("judgement.recorded", fields))

    def do_inject(self):
        cards = [
            {"belief_id": self.one(self.beliefs), **({"tag": tag} if (tag := self.dice.choice(TAGS)) else {})}
            for _ in range(self.dice.randrange(1, 4))
        ]
        fields = {"cards": tuple(cards), "session": self.maybe("s1", "s2"), "query": self.maybe("what of it?")}
        self.injected.append(self.write("memory.injected", fields))

    def do_use(self):
        fields = {"injection_id": self.one(self.injected), "belief_id": self.one(self.beliefs)}
        self.write("memory.used", {**fields, "outcome": self.dice.choice(("used", "ignored", "corrected"))})

    def do_detect(self):
        fields = {"belief_id": self.one(self.beliefs), "utterance_id": self.one(self.said)}
        self.write("memory.live_contradiction_detected", fields)

    def do_prompt(self):
        fields = {
            "belief_id": self.one(self.beliefs),
            "cause": "stale",
            "injection_id": self.maybe(self.one(self.injected)),
        }
        self.prompted.append(self.write("memory.requires_revalidation_prompt", fields))

    def do_revalidate(self):
        outcome = self.dice.choice(("confirmed", "rejected", "changed"))
        fields = {
            "belief_id": self.one(self.beliefs),
            "outcome": outcome,
            "prompt_id": self.maybe(self.one(self.prompted)),
        }
        self.revise("memory.revalidated", fields)

    def do_ask(self):
        self.asked.append(self.write("question.raised", {"question": "Why?", "session": self.maybe("s1")}))

    def do_answer(self):
        fields = {"question_id": self.one(self.asked), "answer_id": self.maybe(self.one(self.beliefs))}
        self.write("question.answered", {**fields, "answer": self.maybe("So.")})

    def do_conclude(self):
        inputs = tuple(
            {"belief_id": self.one(self.beliefs), "role": self.dice.choice(("essential", "supporting"))}
            for _ in range(2)
        )
        self.write("conclusion.derived", {"belief_id": self.one(self.beliefs), "inputs": inputs})

    def do_policy(self):
        if self.dice.random() < 0.2:
            days = self.dice.choice((1, 30))
            self.write("policy.defined", {"policy": "team_note@1", "base": "half_life", "half_life_days": days})

    def do_profile(self):
        if self.dice.random() < 0.2:
            self.write(
                "profile.activated", {"profile": "quick@1", "half_lives": {"observation": 1}, "newer_wins": False}
            )

    def do_something_unknown(self):
        kind = self.dice.choice(("belief.imagined", "belief.retracted", "belief.extracted"))
        payload = {"kind": "fact", "speech_act": "question"} if kind == "belief.extracted" else {"new": 1}
        self.write(kind, {}, payload=payload)


assert {name for name in CATALOG.models if not name.startswith(("writer.", "subject."))} <= {
    event.skeleton.type for seed in range(3) for event in World(seed, 400).events
}, "a type of the catalogue never happens in these worlds"
