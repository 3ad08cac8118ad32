"""Policies are released once and for all, one to a file; what extractors merely observe is read by no rule."""

import ast
import importlib
from pathlib import Path

import pytest
from tests.beliefs.drafted import Log, rows, stamp
from tests.beliefs.random_facts import RULES, Draws

import beliefbase.beliefs
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.policies import BUILT_IN, Policy, versioned
from beliefbase.beliefs.rules import FOREVER
from beliefbase.events.catalog import CATALOG

BELIEFS = Path(beliefbase.beliefs.__file__).parent
FILES = sorted(path for path in (BELIEFS / "policies").glob("*.py") if path.stem not in ("__init__", "base"))

RELEASED = {
    "amendable_persistent@1": "1b639fc81edcc0cb1c7ab364d86cc9e7f328ac0f72d17a451ce3b572a0336639",
    "conditional_expiry@1": "6113a2c95585d78273cfed4ad306e0b07406e717613b5f15568e51a3d046295d",
    "fast_decay_status@1": "29d64f1ceac5789b3490eef7e41d1a85ba8ff76143a6fd7320d1468cf394254c",
    "half_life@1": "46d64d29fb7c0cbe6c329cb71a0928b2e4fc450224081cb3e0a8b02d9bd81c4a",
}
"""Fingerprints of what was released. A line here is never changed and never removed: a change is a new version."""

OBSERVED = frozenset().union(*(model.OBSERVE_ONLY for model in CATALOG.models.values()))


# -- policies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_one_file_holds_one_policy_under_its_own_name(path):
    module = importlib.import_module(f"beliefbase.beliefs.policies.{path.stem}")
    held = [value for value in vars(module).values() if isinstance(value, Policy)]
    assert held == [module.POLICY]
    assert module.POLICY.name.partition("@")[0] in (path.stem, path.stem.rpartition("_v")[0])
    assert BUILT_IN[module.POLICY.name] is module.POLICY


def test_every_policy_is_found_and_every_name_has_a_version():
    assert len(BUILT_IN) == len(FILES)
    assert all(versioned(name) == name for name in BUILT_IN)
    assert versioned("half_life") == "half_life@1"


def test_a_released_policy_is_never_changed():
    assert {name: policy.fingerprint() for name, policy in BUILT_IN.items()} == RELEASED


@pytest.mark.parametrize(
    "change", [{"name": "half_life@2"}, {"days": 3}, {"decay": "none"}, {"ends_on_condition": True}]
)
def test_a_fingerprint_changes_with_whatever_the_rules_read(change):
    released = BUILT_IN["half_life@1"]
    told = {"name": released.name, "summary": "Otherwise.", "decay": released.decay, "days": released.days, **change}
    assert Policy(**told).fingerprint() != released.fingerprint()


def test_how_a_policy_is_described_is_no_part_of_its_fingerprint():
    assert Policy("half_life@1", "In other words.", "by_act").fingerprint() == RELEASED["half_life@1"]


def test_a_policy_can_not_be_changed_while_the_program_runs():
    with pytest.raises(AttributeError):
        BUILT_IN["half_life@1"].days = 3


@pytest.mark.parametrize(
    ("policy", "stale", "expired"),
    [
        ("half_life", 90, 180),
        ("half_life@1", 90, 180),
        ("fast_decay_status", 7, 14),
        ("amendable_persistent", None, None),
        ("conditional_expiry", None, None),
    ],
)
def test_what_the_released_policies_do_to_a_note(policy, stale, expired):
    log = Log()
    belief = log.durable(on=0, kind="note", policy=policy)
    life = log.fold.lives[belief]
    assert life.stale_at == (FOREVER if stale is None else stamp(stale))
    assert life.expires_at == (FOREVER if expired is None else stamp(expired))


# -- what is only observed ------------------------------------------------------------------------------------------


class Watched(dict):
    """A payload that remembers which of its keys were asked for."""

    def __init__(self, fields):
        super().__init__(fields)
        self.asked = set()

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        self.asked.add(key)
        return super().__contains__(key)

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)


def poisoned(fact, poison):
    return fact._replace(payload=Watched({**fact.payload, **dict.fromkeys(OBSERVED, poison), "malformed": poison}))


@pytest.mark.parametrize("poison", [True, 0, "", ("expired",), {"status": "active"}, object()])
def test_poison_in_what_is_only_observed_changes_no_life(poison):
    for seed in range(30):
        facts = Draws(seed, rule_changes=seed % 2 == 0).facts
        whole = fold(facts, RULES)
        told = [poisoned(fact, poison) for fact in facts]
        again = fold(told, RULES)
        assert rows(again) == rows(whole)
        assert again.notes == whole.notes
        assert not set().union(*(fact.payload.asked for fact in told)) & (OBSERVED | {"malformed"})


def test_no_rule_names_what_is_only_observed():
    assert {"obsolete_when", "kind_misfit", "kind_misfit_reason", "supersedes_note", "tags", "raw_reply"} <= OBSERVED
    read = {path.name: OBSERVED & keys(ast.parse(path.read_text("utf-8"))) for path in BELIEFS.rglob("*.py")}
    assert {name: found for name, found in read.items() if found} == {}


def keys(tree):
    """All by which a module could read a field: strings that are no docstrings, attributes, arguments' names."""
    nodes = list(ast.walk(tree))
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    found |= {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    strings = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return found | {node.value for node in strings if id(node) not in docs}


def test_what_is_only_observed_stays_in_the_words_but_for_one_flag():
    fields = {"statement": "So.", "kind": "note", "obsolete_when": "then", "kind_misfit": True, "tags": ("a",)}
    draft = CATALOG.draft("belief.extracted", fields)
    assert OBSERVED & draft.payload.keys() == {"kind_misfit"}
    assert OBSERVED & draft.words.keys() == {"obsolete_when", "tags"}


@pytest.mark.parametrize("field", sorted(OBSERVED))
def test_a_malformed_observation_becomes_absent_with_a_note_and_never_fails_the_extraction(field):
    draft = CATALOG.draft("belief.extracted", {"statement": "So.", "kind": "note", field: {"not": "like this"}})
    assert field not in draft.payload
    assert field not in draft.words
    assert draft.payload["malformed"] == (field,)
    assert draft.notes == (f"{field} was malformed and is left out",)
