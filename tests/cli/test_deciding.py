"""Commands for people: one event each, with author, reason and the basis that its author has read; and newer_wins."""

import json

import pytest
from tests.cli.world import DURABLE, World

from beliefbase.beliefs.fold import fold
from beliefbase.inspector.desk import Desk


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path / "store", monkeypatch)


def extracted(world, ago=100.0, statement="Always cite the primary source", *, agent="planner", **more):
    with world.store(ago) as store:
        fields = {"kind": "rule", "speech_act": "directive", **DURABLE, **more}
        return store.writer(agent).extract(statement, **fields)


def event(world, event_id):
    with world.store() as store:
        return Desk(store.log).get(bytes.fromhex(event_id))


def status(world, belief):
    return world.explain(belief)["status"]


def decide(world, *arguments):
    return world.ok("--json", *arguments, "--as", "Mara").json


# -- author, reason, basis --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["affirm", "promote", "demote", "retract", "reinstate"])
def test_a_decision_needs_an_author(world, command):
    belief = extracted(world)

    done = world.run(command, belief)

    assert done.code == 2
    assert "Give --as NAME, or set BELIEFBASE_AGENT" in done.err


def test_the_author_comes_from_the_environment_and_is_a_person(world):
    belief = extracted(world, confidence=300)

    done = world.ok("--json", "promote", belief, "--reason", "house style", env={"BELIEFBASE_AGENT": "Mara"}).json

    stored = event(world, done["event"])
    assert (stored.type, stored.text("reason")) == ("belief.promoted", "house style")
    with world.store() as store:
        told = Desk(store.log).told(stored)
    assert (told["agent"], told["agent_kind"]) == ("Mara", "human")
    assert (done["status"], done["agent"]) == ("active", "Mara")


def test_the_basis_is_what_the_command_has_read(world):
    belief = extracted(world)
    with world.store(50) as store:
        writer = store.writer("planner")
        first = writer.reclassify(belief, policy="amendable_persistent")
        second = writer.reclassify(belief, kind="fact")

    done = decide(world, "retract", belief)

    assert done["basis"] == [second]
    assert [key.hex() for key in event(world, done["event"]).skeleton.basis_ids] == [second]
    chosen = decide(world, "retract", belief, "--basis", first)
    assert chosen["basis"] == [first]


def test_a_belief_that_superseded_another_was_revised_by_that(world):
    old, new = extracted(world), extracted(world, 90, "Cite what was read")
    with world.store(50) as store:
        supersession = store.writer("planner").supersede(old, by=new)

    assert decide(world, "retract", new)["basis"] == [supersession]


def test_the_basis_names_a_condition_that_ended_the_belief_through_its_key(world):
    belief = extracted(world, policy="conditional_expiry", condition_key="merge of #12")
    with world.store(50) as store:
        met = store.writer("planner").meet_condition(key="merge of #12")

    done = decide(world, "reinstate", belief)

    assert (done["basis"], done["status"], done["flags"]) == ([met], "active", [])


# -- what each one does -----------------------------------------------------------------------------------------------


def test_affirming_starts_the_half_life_anew_and_makes_active(world):
    belief = extracted(world, 30, speech_act="casual_characterization")

    done = world.ok("affirm", belief, "--as", "Mara", "--reason", "still so")

    assert "is now active; stale at" in done.out
    told = world.explain(belief)
    assert told["half_life"]["counts_from"] == "affirmation"
    assert told["maturity"]["last_change"]["reason"] == "still so"


def test_affirming_an_expired_belief_brings_it_back(world):
    belief = extracted(world, 100, speech_act="casual_characterization")
    assert status(world, belief) == "expired"

    assert decide(world, "affirm", belief)["status"] == "active"


def test_a_recurrence_has_a_session_and_evidence(world):
    belief = extracted(world)
    with world.store(3) as store:
        said = store.writer("planner").record_utterance("Always cite", speaker="Mara")

    done = decide(world, "affirm", belief, "--how", "recurrence", "--session", "s1", "--evidence", said)

    stored = event(world, done["event"])
    assert (stored.payload["how"], stored.name("session")) == ("recurrence", "s1")
    assert [key.hex() for key in stored.payload["evidence"]] == [said]


def test_demoting_makes_a_candidate(world):
    belief = extracted(world)

    assert decide(world, "demote", belief)["status"] == "candidate"


def test_retracting_ends_with_a_cause(world):
    belief = extracted(world)

    done = decide(world, "retract", belief, "--cause", "wrong")

    assert done["status"] == "retracted"
    assert event(world, done["event"]).payload["cause"] == "wrong"
    assert "kept beside those in force" in decide(world, "retract", belief)["notes"][0]


def test_reinstating_undoes_all_endings_in_force(world):
    belief = extracted(world)
    with world.store(5) as store:
        writer = store.writer("planner")
        endings = [writer.retract(belief), writer.meet_condition(belief=belief)]

    done = decide(world, "reinstate", belief, "--reason", "both were mistaken")

    assert done["status"] == "active"
    assert [key.hex() for key in event(world, done["event"]).payload["undoes"]] == endings


def test_reinstating_can_undo_one_ending_or_one_that_waits(world):
    belief = extracted(world)
    with world.store(5) as store:
        writer = store.writer("planner")
        retraction = writer.retract(belief)
        writer.meet_condition(belief=belief)

    assert decide(world, "reinstate", belief, "--undoes", retraction)["status"] == "obsolete"

    other = extracted(world, 50, "Tea is at four")
    with world.store(4) as store:
        waiting = store.writer("planner").supersede(other, by="ab" * 16)
    assert waiting in world.run("reinstate", other, "--as", "Mara").err
    assert world.explain(other)["flags"] == ["contested"]
    assert decide(world, "reinstate", other, "--undoes", waiting)["flags"] == []


def test_reclassifying_changes_only_what_is_given(world):
    belief = extracted(world, 20)

    done = decide(world, "reclassify", belief, "--speech-act", "humor_or_irony", "--reason", "he laughed")

    assert (done["status"], done["flags"]) == ("expired", [])
    stored = event(world, done["event"])
    assert {name: value for name, value in stored.payload.items() if name != "belief_id"} == {
        "speech_act": "humor_or_irony"
    }
    told = world.explain(belief)["classified"]
    assert (told["speech_act"], told["kind"]) == ("humor_or_irony", "rule")
    assert world.run("reclassify", belief, "--as", "Mara").code == 2
    assert world.run("reclassify", belief, "--as", "Mara", "--speech-act", "shout").code == 2


def test_reclassifying_into_an_incoherent_class_is_noted(world):
    belief = extracted(world)

    done = world.ok("reclassify", belief, "--as", "Mara", "--speech-act", "casual_characterization")

    assert "note: casual_characterization with durable_fact" in done.out


def test_reclassifying_under_a_policy_that_is_not_defined_is_noted(world):
    belief = extracted(world)

    done = world.ok("reclassify", belief, "--as", "Mara", "--policy", "fast_decay")

    assert "note: the policy fast_decay is not defined" in done.out
    assert "not defined" not in world.ok("reclassify", belief, "--as", "Mara", "--policy", "fast_decay_status").out


def test_resolving_says_what_holds(world):
    left, right = extracted(world), extracted(world, 90, "Never cite")
    with world.store(5) as store:
        raised = store.writer("judge").raise_contradiction(left, right)

    done = decide(world, "resolve", raised, "right", "--reason", "house style changed")

    assert [(side["belief"], side["status"]) for side in done["sides"]] == [(left, "contradicted"), (right, "active")]
    assert event(world, done["event"]).text("reason") == "house style changed"
    later = decide(world, "resolve", raised, "both_hold")
    assert later["basis"] == [done["event"]]
    assert (status(world, left), status(world, right)) == ("active", "active")


def test_a_resolution_for_a_side_that_has_ended_waits_and_says_so(world):
    left, right = extracted(world), extracted(world, 90, "Never cite")
    with world.store(5) as store:
        writer = store.writer("judge")
        raised = writer.raise_contradiction(left, right)
        writer.retract(left)

    done = world.ok("resolve", raised, "left", "--as", "Mara")

    assert "note: it waits" in done.out
    assert status(world, right) == "active"


# -- what would have no effect ----------------------------------------------------------------------------------------


def test_an_ended_belief_is_not_affirmed_and_the_hint_says_what_to_do(world):
    belief, successor = extracted(world), extracted(world, 50, "Cite what was read")
    with world.store(5) as store:
        store.writer("planner").supersede(belief, by=successor)

    for command in ("affirm", "promote", "demote"):
        done = world.run(command, belief, "--as", "Mara")
        assert done.code == 2
        assert "has ended as superseded" in done.err
        assert f"beliefbase reinstate {belief}" in done.err
        assert successor in done.err
    assert [row["type"] for row in world.ok("--json", "log").lines if row["agent"] == "Mara"] == []


def test_an_expired_belief_is_affirmed_and_not_promoted_or_reinstated(world):
    belief = extracted(world, 100, speech_act="casual_characterization")

    for command in ("promote", "reinstate"):
        done = world.run(command, belief, "--as", "Mara")
        assert done.code == 2
        assert "has expired" in done.err
        assert f"beliefbase affirm {belief}" in done.err


def test_a_live_belief_has_nothing_to_reinstate(world):
    belief = extracted(world)

    done = world.run("reinstate", belief, "--as", "Mara")
    assert done.code == 2 and "no ending in force" in done.err
    named = world.run("--json", "reinstate", belief, "--as", "Mara", "--undoes", "ab" * 16)
    assert json.loads(named.err)["error"] == "nothing_to_do"


def test_a_duplicate_stands_for_its_survivor(world):
    duplicate, survivor = extracted(world), extracted(world, 90, "Cite the primary source, always", confidence=300)
    with world.store(50) as store:
        writer = store.writer("planner")
        writer.promote(survivor)
        writer.merge(duplicate, into=survivor)

    done = decide(world, "affirm", duplicate)

    assert (done["status"], status(world, survivor)) == ("duplicate", "active")
    assert survivor in done["notes"][0]
    assert world.explain(survivor)["half_life"]["counts_from"] == "affirmation"


def test_a_question_is_no_belief(world):
    with world.store(5) as store:
        question = store.writer("planner").ask("Which licence?")

    done = world.run("affirm", question, "--as", "Mara")

    assert done.code == 2
    assert "its type is question.raised" in done.err and "beliefbase questions" in done.err


def test_a_belief_is_no_contradiction_and_its_contradictions_are_named(world):
    left, right = extracted(world), extracted(world, 90, "Never cite")
    with world.store(5) as store:
        raised = store.writer("judge").raise_contradiction(left, right)

    done = world.run("resolve", left, "left", "--as", "Mara")

    assert done.code == 2
    assert raised in done.err
    assert world.run("resolve", "ab" * 16, "left", "--as", "Mara").code == 2


# -- newer_wins -------------------------------------------------------------------------------------------------------


def newer_wins(world, ago=60.0, **more):
    with world.store(ago) as store:
        fields = {"profile": "lab@1", "newer_wins": True, **more}
        store.writer("owner", kind="human").append("profile.activated", fields)


def resolutions(world):
    return world.ok("--json", "log", "--type", "contradiction.resolved").lines


def test_the_newer_side_wins_where_the_profile_says_so(world):
    newer_wins(world)
    older, newer = extracted(world, 50), extracted(world, 40, "Never cite")
    with world.store(30) as store:
        raised = store.writer("judge").raise_contradiction(newer, older)

    (resolution,) = resolutions(world)

    assert resolution["payload"] == {"contradiction_id": raised, "outcome": "left"}
    assert (resolution["agent"], resolution["words"]) == ("judge", {"reason": "newer_wins, profile lab@1"})
    assert (status(world, newer), status(world, older)) == ("active", "contradicted")


def test_nothing_is_resolved_without_the_switch_or_after_another_profile(world):
    one, two = extracted(world, 50), extracted(world, 40, "Never cite")
    with world.store(30) as store:
        store.writer("judge").raise_contradiction(one, two)
    newer_wins(world, 20)
    with world.store(10) as store:
        writer = store.writer("owner", kind="human")
        writer.append("profile.activated", {"profile": "calm@1"})
        writer.raise_contradiction(one, two)

    assert resolutions(world) == []


def test_the_append_command_resolves_what_it_has_just_stored(world):
    """Profile, beliefs and contradiction stand in one batch: nothing of it is in the log before."""
    lines = [
        {"type": "profile.activated", "agent": "a", "profile": "lab@1", "newer_wins": True},
        {"type": "belief.extracted", "agent": "a", "ref": "old", "statement": "Tea is at four", "kind": "fact"},
        {"type": "belief.extracted", "agent": "b", "ref": "new", "statement": "Tea is at five", "kind": "fact"},
        {"type": "contradiction.raised", "agent": "judge", "ref": "c", "left": "$old", "right": "$new"},
    ]

    done = world.ok("--json", "append", "--create", given="\n".join(map(json.dumps, lines)))

    (resolution,) = resolutions(world)
    told = done.lines[-1]
    assert resolution["payload"] == {"contradiction_id": told["id"], "outcome": "right"}
    assert told["notes"] == [f"the profile says newer_wins: resolved by {resolution['id']}"]


def test_a_contradiction_that_is_stored_already_is_not_resolved_again(world):
    newer_wins(world)
    one, two = extracted(world, 50), extracted(world, 40, "Never cite")
    for ago in (30, 20):
        with world.store(ago) as store:
            store.writer("judge").raise_contradiction(one, two, source_ref="judge:1")

    assert len(resolutions(world)) == 1


def test_an_unknown_side_or_one_belief_twice_is_not_resolved(world):
    newer_wins(world)
    belief = extracted(world, 50)
    with world.store(30) as store:
        writer = store.writer("judge")
        writer.raise_contradiction(belief, "ab" * 16)
        writer.raise_contradiction(belief, belief)

    assert resolutions(world) == []


def test_extractions_of_one_stamp_go_by_the_order_of_events(world):
    newer_wins(world)
    with world.store(importing=True) as one, world.store(importing=True) as two:
        left = one.writer("a", kind="importer").extract("Tea is at four", kind="fact", at=world.ms(50))
        right = two.writer("b", kind="importer").extract("Tea is at five", kind="fact", at=world.ms(50))
    first, second = event(world, left), event(world, right)
    assert first.skeleton.hlc == second.skeleton.hlc
    with world.store(30) as store:
        store.writer("judge").raise_contradiction(left, right)

    (resolution,) = resolutions(world)

    assert resolution["payload"]["outcome"] == ("left" if first.order > second.order else "right")


def test_one_resolution_per_store_is_normal_and_the_copies_agree(world, tmp_path):
    """Two stores with the same beliefs each raise the contradiction, each resolves its own; together one side lives."""
    newer_wins(world)
    older, newer = extracted(world, 50), extracted(world, 40, "Never cite")
    with world.store() as store, world.store(path=tmp_path / "other") as other:
        other.log.merge(stored.event for page in store.log.read() for stored in page)
    for path, ago in ((world.path, 30), (tmp_path / "other", 29)):
        with world.store(ago, path=path) as store:
            store.writer("judge").raise_contradiction(older, newer)
    with world.store() as store, world.store(path=tmp_path / "other") as other:
        store.log.merge(stored.event for page in other.log.read() for stored in page)

    assert [row["payload"]["outcome"] for row in resolutions(world)] == ["right", "right"]
    assert (status(world, older), status(world, newer)) == ("contradicted", "active")


def test_the_fold_itself_knows_no_winner(world):
    """Without the resolution event both sides live, whatever the profile says."""
    newer_wins(world)
    older, newer = extracted(world, 50), extracted(world, 40, "Never cite")
    with world.store(30) as store:
        store.writer("judge").raise_contradiction(older, newer)
        events = [stored.event for page in store.log.read() for stored in page]
        facts = Desk(store.log).source._reader.facts(
            one for one in events if one.skeleton.type != "contradiction.resolved"
        )

    lives = fold(facts).lives
    assert [lives[bytes.fromhex(one)].endings for one in (older, newer)] == [[], []]
