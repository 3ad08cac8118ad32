"""Folds random logs and facts that are wrong, and prints what comes of it, a line each, as JSON.

Run by interpreters with different builds of the package, whose output has to be the same:
``python -P tests/packaging/folded.py LOGS`` (test_compiled.py).
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "beliefs"))

from random_facts import RULES, Draws, key

from beliefbase.beliefs import fold as folding
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import FOREVER

STRONG = {"speech_act": "directive", "confidence": 900, "assertion_class": "durable_fact", "kind": "rule"}


def plain(value):
    """Bytes as hex, tuples as lists with what they are, maps as lists of pairs: JSON that tells types apart."""
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, dict):
        return {"map": [[plain(name), plain(one)] for name, one in value.items()]}
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, map(plain, value)))
    return value if value is None or isinstance(value, (bool, int, str)) else repr(value)


def told_of(life):
    return (
        life.id, life.faces, life.born, life.intervals, life.spells, life.endings, life.half_life, life.aged, life.span,
        life.attributes, life.classes, life.affirmed, life.promotions, life.inputs, life.live, life.active, life.mature,
        life.stale_at, life.expires_at, life.falsified, life.policy and life.policy.name, life.profile.name,
        [[edge.event, edge.kind, edge.state.value, edge.began, edge.over] for edge in (life.on or {}).values()],
        [[known.event, known.what] for known in life.forks.rivals(life)] if life.forks is not None else None,
    )  # fmt: skip


def told(folded):
    return (
        {belief: told_of(life) for belief, life in folded.lives.items()},
        folded.acted, folded.entity, folded.waiting, folded.void, folded.notes, sorted(folded.policies),
        {event: [life.id for life in lives] for event, lives in folded.pending.items()},
    )  # fmt: skip


def random_log(seed):
    facts = Draws(seed, events=20 + seed % 60, rule_changes=seed % 3 == 0).facts
    beliefs = [fact.id for fact in facts if fact.type == "belief.extracted"]
    erased = {beliefs[0]: (30 << 16, key(9000))} if seed % 5 == 0 else None
    until = 20 << 16 if seed % 7 == 0 else FOREVER - 1
    return told(fold(facts, RULES, erased=erased, until=until))


def fact(number, kind, payload):
    return Fact(number << 16, key(1), number, key(number), kind, payload, (), None, key(1))


BELIEF = fact(1, "belief.extracted", STRONG)
WRONG = {
    "no facts": None,
    "a number for facts": 7,
    "none among them": [BELIEF, None],
    "a text for a fact": [BELIEF, "fact"],
    "too short a tuple": [BELIEF, (1, 2)],
    "no payload": [BELIEF, fact(2, "belief.affirmed", None)],
    "a field is missing": [BELIEF, fact(2, "belief.affirmed", {"belief_id": key(1)})],
    "the presupposed id is missing": [BELIEF, fact(2, "belief.affirmed", {"how": "review"})],
    "no successor": [BELIEF, fact(2, "belief.superseded", {"superseded_id": key(1)})],
    "a text for a confidence": [fact(1, "belief.extracted", {**STRONG, "confidence": "high"})],
    "a policy without a base": [fact(1, "policy.defined", {"policy": "own@1"})],
    "inputs without a role": [BELIEF, fact(2, "conclusion.derived", {"belief_id": key(1), "inputs": [{"a": 1}]})],
    "an id that can't be hashed": [BELIEF, fact(2, "belief.affirmed", {"belief_id": [1], "how": "review"})],
}


def outcome(facts):
    try:
        return told(fold(facts, RULES))
    except Exception as error:  # noqa: BLE001  its type is what is compared
        return type(error).__name__


def main(logs):
    print(json.dumps({"compiled": not folding.__file__.endswith(".py")}))
    for seed in range(logs):
        print(json.dumps([f"log {seed}", plain(random_log(seed))]))
    for name, facts in WRONG.items():
        print(json.dumps([name, plain(outcome(facts))]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
