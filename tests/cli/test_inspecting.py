"""The memory inspector, as an agent's owner uses it: history, why, explain, policies, profile, questions."""

import json
import re

import pytest
from tests.cli.world import DAY, DURABLE, World

from beliefbase.beliefs.slices import Slice
from beliefbase.events.ids import name_hash
from beliefbase.inspector.desk import Desk


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path / "store", monkeypatch)


def offhand(world, ago=100.0, **more):
    """The remark of scenario 1: "I'd describe it as roughly 50% hobby and 50% professional aspiration"."""
    with world.store(ago) as store:
        planner = store.writer("planner")
        said = planner.record_utterance(
            "I'd describe it as roughly 50% hobby and 50% professional aspiration",
            speaker="Mara",
            conversation="kick-off",
            topic="why the project exists",
            turn=7,
        )
        extraction = {"speech_act": "casual_characterization", "confidence": 700, "extractor": "reader@2", **more}
        return said, planner.extract("The project is half hobby", kind="fact", evidence=[said], **extraction)


def rule(world, ago=100.0, statement="Always cite the primary source", **more):
    with world.store(ago) as store:
        fields = {"kind": "rule", "speech_act": "directive", **DURABLE, **more}
        return store.writer("planner").extract(statement, **fields)


# -- history ----------------------------------------------------------------------------------------------------------


def test_history_tells_each_interval_with_who_when_and_why(world):
    _, belief = offhand(world, ago=10)
    with world.store(4) as store:
        end = store.writer("Jon", kind="human").retract(belief, cause="wrong", reason="it never was")

    told = world.ok("--json", "history", belief).json

    assert [row["status"] for row in told["intervals"]] == ["candidate", "retracted"]
    first, second = told["intervals"]
    assert (first["by"]["agent"], first["by"]["type"]) == ("planner", "belief.extracted")
    assert second["cause"] == second["by"]["event"] == end
    assert (second["by"]["agent"], second["by"]["agent_kind"], second["by"]["reason"]) == (
        "Jon",
        "human",
        "it never was",
    )
    assert (second["from_ms"], second["by"]["at_ms"]) == (world.ms(4), world.ms(4))
    assert (first["until_hlc"], second["until_hlc"]) == (second["from_hlc"], None)
    text = world.ok("history", belief).out
    assert "belief.retracted (wrong) by Jon" in text
    assert 'because "it never was"' in text


def test_history_shows_what_time_will_do_as_still_to_come(world):
    _, belief = offhand(world, ago=40)

    rows = world.ok("--json", "history", belief).json["intervals"]

    shown = [(row["status"], row["flags"], row["to_come"], row["by_time"]) for row in rows]
    assert shown == [
        ("candidate", [], False, False),
        ("candidate", ["stale"], False, True),
        ("expired", [], True, True),
    ]
    assert "to come" in world.ok("history", belief).out.splitlines()[-2]


def test_history_can_be_asked_by_the_id_of_a_copy(world, tmp_path):
    ids = []
    for name, ago in (("one", 5), ("two", 4)):
        with world.store(ago, path=tmp_path / name) as store:
            ids.append(store.writer(name).extract("Tea is at four", kind="fact", source_ref="notes:17"))
    with world.store() as store:
        for name in ("two", "one"):
            with world.store(path=tmp_path / name) as other:
                store.log.merge(stored.event for page in other.log.read() for stored in page)

    told = world.ok("--json", "history", ids[1]).json

    assert (told["belief"], told["asked"], told["copies"]) == (ids[0], ids[1], [ids[1]])
    assert [one["agent"] for one in world.ok("--json", "why", ids[1]).json["extractions"]] == ["one", "two"]
    assert f"{ids[1]} is a copy" in world.told(ids[1])


def test_history_says_how_late_an_event_was_recorded(world):
    with world.store(importing=True) as store:
        belief = store.writer("scribe", kind="importer").extract("Tea is at four", kind="fact", at=world.ms(3))

    assert world.ok("--json", "history", belief).json["intervals"][0]["by"]["recorded_late_ms"] == 3 * DAY
    assert "(recorded 3 d late)" in world.ok("history", belief).out


def test_history_lists_what_had_no_effect_with_the_reason(world):
    belief = rule(world)
    with world.store(5) as store:
        writer = store.writer("planner")
        writer.retract(belief)
        void = writer.affirm(belief)

    (listed,) = world.ok("--json", "history", belief).json["without_effect"]

    assert (listed["event"], listed["why"]) == (void, "affirms_ended")
    assert "affirms_ended" in world.ok("history", belief).out


def test_a_replacement_that_acted_later_or_was_undone_is_not_said_to_have_had_no_effect(world):
    old = rule(world)
    with world.store(5) as store:
        writer = store.writer("planner")
        new = writer.extract("Perhaps never.", kind="rule", speech_act="hypothetical")
        edge = writer.supersede(old, by=new)
        writer.promote(new)
        deferred = world.ok("--json", "history", old).json
        writer.reinstate(old, undoes=[edge])
    undone = world.ok("--json", "history", old).json

    assert [row["status"] for row in deferred["intervals"]][-1:] != ["active"]
    assert (deferred["without_effect"], undone["without_effect"]) == ([], [])


def test_one_belief_is_inspected_without_a_projection_and_at_a_cost_of_its_own(world):
    _, belief = offhand(world, ago=3)

    def looked_at():
        with world.store() as store:
            return len(Slice(Desk(store.log).source, [bytes.fromhex(belief)]).lookups.facts)

    before = looked_at()
    with world.store(2) as store, store.batch():
        writer = store.writer("other")
        for number in range(500):
            writer.extract(f"Something else {number}", kind="note")

    for command in ("history", "why", "explain"):
        world.ok(command, belief)
    assert looked_at() == before
    assert not (world.path / "read").exists()


# -- why --------------------------------------------------------------------------------------------------------------


def test_why_gives_the_evidence_in_the_speakers_own_words(world):
    said, belief = offhand(world, speech_act_confidence=910)

    (extraction,) = world.ok("--json", "why", belief).json["extractions"]

    (evidence,) = extraction["evidence"]
    assert evidence["verbatim"] == "I'd describe it as roughly 50% hobby and 50% professional aspiration"
    assert (evidence["speaker"], evidence["topic"], evidence["conversation"], evidence["turn"]) == (
        "Mara",
        "why the project exists",
        "kick-off",
        7,
    )
    assert (evidence["event"], evidence["dangling"], evidence["at_ms"]) == (said, False, world.ms(100))
    assert (extraction["extractor"], extraction["agent"]) == ("reader@2", "planner")
    assert extraction["classified"]["speech_act_confidence"] == 910
    text = world.ok("why", belief).out
    assert '"I\'d describe it as roughly 50% hobby and 50% professional aspiration"' in text
    assert "Mara at" in text


def test_why_finds_evidence_by_source_ref_and_says_what_is_missing(world):
    with world.store(3) as store:
        writer = store.writer("planner")
        writer.record_utterance("Tea is at four", speaker="Mara", source_ref="chat:1")
        missing = name_hash("chat:2").hex()
        belief = writer.extract("Tea is at four", kind="fact", evidence=[name_hash("chat:1").hex(), missing])

    (extraction,) = world.ok("--json", "why", belief).json["extractions"]

    found, dangling = extraction["evidence"]
    assert (found["verbatim"], found["by_source_ref"]) == ("Tea is at four", True)
    assert dangling == {"cited": missing, "dangling": True}
    text = world.ok("why", belief).out
    assert "cited by source_ref" in text
    assert f"{missing}: not known here (dangling)" in text


def test_why_shows_the_passages_that_spans_mark(world):
    with world.store(3) as store:
        writer = store.writer("planner")
        said = writer.record_utterance("Well, tea is at four, I think", speaker="Mara")
        spans = [{"evidence": 0, "start": 6, "end": 20}, {"evidence": 3, "start": 0, "end": 1}]
        fields = {"statement": "Tea is at four", "kind": "fact", "evidence": [said], "spans": spans}
        belief = writer.append("belief.extracted", fields)

    (extraction,) = world.ok("--json", "why", belief).json["extractions"]

    assert extraction["evidence"][0]["passages"] == ["tea is at four"]


def test_why_says_which_words_are_erased(world):
    said, belief = offhand(world)
    with world.store() as store, store.log.transaction() as transaction:
        transaction.erase_words([bytes.fromhex(said), bytes.fromhex(belief)])

    told = world.ok("--json", "why", belief).json

    assert told["erased"] and told["statement"] is None
    assert told["extractions"][0]["erased"] and told["extractions"][0]["evidence"][0]["erased"]
    text = world.ok("why", belief).out
    assert "hobby" not in text
    assert "(words erased or not here)" in text
    assert "(its words are not here)" in world.told(belief)
    assert "(words erased or not here)" in world.ok("history", belief).out


def test_why_lists_verdicts_whichever_side_was_judged_and_contradictions(world):
    one, two = rule(world, 9), rule(world, 8, "Never cite secondary commentary")
    with world.store(7) as store:
        judge = store.writer("judge")
        judgement = judge.judge(
            two,
            judge="rules@1",
            verdicts=[{"other": one, "relation": "contradicts", "confidence": 812, "lexical_rank": 2}],
        )
        raised = judge.raise_contradiction(one, two, judgement=judgement)
        judge.resolve(raised, "both_hold", reason="they go together")

    told = world.ok("--json", "why", one).json

    (verdict,) = told["verdicts"]
    assert (verdict["judge"], verdict["relation"], verdict["confidence"], verdict["judged"]) == (
        "rules@1",
        "contradicts",
        812,
        "other",
    )
    assert verdict["other"]["statement"] == "Never cite secondary commentary"
    (contradiction,) = told["contradictions"]
    assert (contradiction["event"], contradiction["this_side"], contradiction["open"]) == (raised, "left", False)
    assert contradiction["resolutions"][0]["outcome"] == "both_hold"
    text = world.ok("why", one).out
    assert "confidence 812 ‰" in text
    assert "they go together" in text
    assert "judged from the other side" not in world.ok("why", two).out


def test_why_lists_revisions_with_author_and_reason_and_what_shows_them(world):
    _, belief = offhand(world, 50)
    with world.store(20) as store:
        writer = store.writer("Jon", kind="human")
        again = writer.record_utterance("Half hobby, as I said", speaker="Mara")
        writer.affirm(belief, how="recurrence", evidence=[again], reason="said again", session="s9")

    (revision,) = world.ok("--json", "why", belief).json["revisions"]

    assert (revision["agent"], revision["reason"], revision["how"]) == ("Jon", "said again", "recurrence")
    assert revision["evidence"][0]["verbatim"] == "Half hobby, as I said"


def test_why_tells_whom_it_was_shown_to_and_what_became_of_it(world):
    said, belief = offhand(world, 9)
    with world.store(8) as store:
        writer = store.writer("assistant")
        card = {"belief_id": belief, "tag": "recall", "applicability": "cross_context", "force": 700, "rank": 1}
        shown = writer.inject([card], session="s1", conversation="audit", turn=2, query="timing")
        writer.use(shown, belief, "corrected")
        writer.inject([belief], session="s2")
        writer.append("memory.live_contradiction_detected", {"belief_id": belief, "utterance_id": said})
        prompt = writer.append("memory.requires_revalidation_prompt", {"belief_id": belief, "cause": "stale"})
        answer = {"belief_id": belief, "outcome": "confirmed", "prompt_id": prompt}
        store.writer("Mara", kind="human").append("memory.revalidated", answer)

    told = world.ok("--json", "why", belief).json

    first, second = told["injections"]
    assert (first["session"], first["conversation"], first["turn"], first["tag"]) == ("s1", "audit", 2, "recall")
    assert (first["applicability"], first["force"], first["query"]) == ("cross_context", 700, "timing")
    assert [use["outcome"] for use in first["outcomes"]] == ["corrected"]
    assert second["outcomes"] == []
    assert told["live_contradictions"][0]["utterance"] == said
    assert told["revalidation_prompts"][0]["answers"][0]["outcome"] == "confirmed"
    text = world.ok("why", belief).out
    assert "Shown 2 time(s)" in text
    assert "no outcome recorded" in text
    assert "(stale) by assistant" in text


def test_why_shows_observe_only_fields_and_what_came_malformed(world):
    with world.store(5) as store:
        fields = {
            "statement": "Merges need the full check",
            "kind": "rule",
            "obsolete_when": "after the merge",
            "tags": ["ci"],
            "kind_misfit": "maybe",
        }
        belief = store.writer("planner").append("belief.extracted", fields)

    (extraction,) = world.ok("--json", "why", belief).json["extractions"]

    assert extraction["observed"] == {"obsolete_when": "after the merge", "tags": ["ci"]}
    assert extraction["malformed"] == ["kind_misfit"]
    assert 'observed only, obsolete_when: "after the merge"' in world.ok("why", belief).out


def test_an_offhand_remark_called_durable_is_a_warning_and_no_error(world):
    _, belief = offhand(world, assertion_class="durable_fact")

    assert "no durable fact" in world.ok("--json", "why", belief).json["incoherence"]
    assert "Coherence warning" in world.told(belief)
    line = {"type": "belief.extracted", "agent": "a", "kind": "fact", "statement": "x"}
    line |= {"speech_act": "casual_characterization", "assertion_class": "durable_fact"}
    appended = world.ok("append", given=json.dumps(line))
    assert "note: line 1: casual_characterization with durable_fact" in appended.err
    assert world.ok("--json", "append", given=json.dumps(line)).json["notes"]


# -- explain ----------------------------------------------------------------------------------------------------------


def test_an_offhand_remark_grows_stale_and_expires_unless_it_is_reaffirmed(world):
    _, belief = offhand(world, ago=100)

    fresh, stale, expired = (world.explain(belief, ago=ago) for ago in (71, 69, 39))

    assert (fresh["status"], fresh["flags"], fresh["half_life"]["days_to_stale"]) == ("candidate", [], 1)
    assert (fresh["half_life"]["days"], fresh["half_life"]["by"], fresh["half_life"]["name"]) == (
        30,
        "act",
        "casual_characterization",
    )
    assert (stale["status"], stale["flags"], stale["half_life"]["days_to_expiry"]) == ("candidate", ["stale"], 29)
    assert (expired["status"], expired["expired_ms"]) == ("expired", world.ms(40))
    assert "two half-lives passed" in world.told(belief, ago=39)

    with world.store(60) as store:
        store.writer("Mara", kind="human").affirm(belief)

    again = world.explain(belief, ago=39)
    assert (again["status"], again["flags"], again["half_life"]["counts_from"]) == ("active", [], "affirmation")
    assert again["half_life"]["stale_ms"] == world.ms(30)
    assert world.explain(belief, ago=69) == stale


def test_the_entry_gate_is_told_with_its_numbers(world):
    _, candidate = offhand(world, speech_act_confidence=910)
    active = rule(world)

    assert "confidence 700 < 850" in world.told(candidate)
    assert "speech_act casual_characterization, needs one of" in world.told(candidate)
    assert "assertion_class none, needs durable_fact" in world.told(candidate)
    assert "passed (assertion_class durable_fact; confidence 900 ≥ 850; speech_act_confidence 950 ≥ 600" in world.told(
        active
    )
    failed = [check["field"] for check in world.explain(candidate)["maturity"]["entry"] if not check["passed"]]
    assert failed == ["assertion_class", "confidence", "speech_act"]


def test_promotion_and_demotion_are_told_with_their_author(world):
    belief = rule(world, assertion_class="opinion")
    with world.store(9) as store:
        store.writer("Jon", kind="human").promote(belief, reason="it is house style")
    promoted = world.told(belief)
    with world.store(5) as store:
        store.writer("Ada", kind="human").demote(belief)

    assert "promoted by Jon" in promoted and "it is house style" in promoted
    assert "demoted by Ada" in world.told(belief)
    assert "promoted by Jon" in world.told(belief, ago=7)


def test_recurrences_are_counted(world):
    belief = rule(world, confidence=300)
    with world.store(9) as store:
        planner = store.writer("planner")
        for session in ("s1", "s1", "s2"):
            planner.affirm(belief, how="recurrence", session=session)

    told = world.explain(belief)["maturity"]
    assert (told["recurrences"], told["recurrences_needed"], told["mature"]) == (3, 3, True)
    with world.store(8) as store:
        store.writer("planner").demote(belief)
    assert "recurrence: 0 of 3" in world.told(belief)


def test_an_unsure_speech_act_reads_as_a_direct_assertion(world):
    _, belief = offhand(world, speech_act_confidence=430)

    told = world.explain(belief)

    assert (told["half_life"]["days"], told["half_life"]["by"], told["classified"]["unsure"]) == (365, "kind", True)
    assert "casual_characterization at 430 ‰, below 600: for its half-life it reads as direct_assertion" in world.told(
        belief
    )


def test_a_correction_tells_whose_half_life_it_takes(world):
    _, belief = offhand(world, 100)
    with world.store(98) as store:
        writer = store.writer("planner")
        corrected = writer.extract("It is 50/50", kind="fact", speech_act="correction", **DURABLE)
        writer.supersede(belief, by=corrected, cause="correction")

    told = world.explain(corrected, ago=90)

    assert (told["half_life"]["days"], told["half_life"]["by"]) == (30, "correction")
    assert [target["belief"] for target in told["half_life"]["corrects"]] == [belief]
    assert "It is a correction" not in world.told(belief)
    assert f'of several the shortest ("The project is half hobby" ({belief}) has 30 days)' in world.told(
        corrected, ago=90
    )


def test_an_ended_belief_names_the_first_ending_in_force_and_the_others(world):
    belief = rule(world)
    successor = rule(world, 50, "Cite what was read")
    with world.store(30) as store:
        writer = store.writer("planner")
        supersession = writer.supersede(belief, by=successor, cause="refinement")
    with world.store(20) as store:
        retraction = store.writer("Jon", kind="human").retract(belief, cause="wrong")

    told = world.explain(belief)

    assert told["status"] == "superseded"
    assert [(ending["event"], ending["as"]) for ending in told["endings"]] == [
        (supersession, "superseded"),
        (retraction, "retracted"),
    ]
    assert told["endings"][0]["replaced_by"]["belief"] == successor
    text = world.told(belief)
    assert "It ended as superseded (refinement) by planner" in text
    assert "Another ending is in force as retracted (wrong) by Jon" in text
    assert "The first ending in force names the status" in text


def test_endings_at_one_place_go_by_precedence(world):
    """Both wait for the extraction, which comes from another machine, and act directly after it."""
    with world.store(5, path=world.path / "elsewhere") as other:
        belief = other.writer("late").extract("Tea is at four", kind="fact")
        events = [stored.event for page in other.log.read() for stored in page]
    with world.store(30) as store:
        writer = store.writer("planner")
        met = writer.meet_condition(belief=belief)
        retraction = writer.retract(belief)
        store.log.merge(events)

    told = world.explain(belief)

    assert [ending["event"] for ending in told["endings"]] == [retraction, met]
    assert told["status"] == "retracted"
    assert "erased > retracted > duplicate > superseded > contradicted > obsolete" in world.told(belief)


def test_a_joke_waits_to_replace_a_rule_and_the_explanation_says_for_what(world):
    belief = rule(world, 50)
    with world.store(40) as store:
        writer = store.writer("planner")
        joke = writer.extract("Never cite anything", kind="rule", speech_act="humor_or_irony", confidence=200)
        writer.supersede(belief, by=joke)

    told = world.explain(belief, ago=39)

    assert (told["status"], told["flags"]) == ("active", ["contested"])
    (wait,) = told["waiting"]
    assert (wait["waits_for"], wait["contests"], wait["replacer"]["belief"]) == ("ever_active", True, joke)
    assert "has never been active" in world.told(belief, ago=39)
    with world.store(38) as store:
        store.writer("Jon", kind="human").promote(joke)
    after = world.explain(belief, ago=37)
    assert (after["status"], after["waiting"]) == ("superseded", [])
    assert after["endings"][0]["since_ms"] == world.ms(38)
    assert world.explain(belief, ago=39) == told


def test_a_replacement_by_an_unknown_belief_waits_for_it(world):
    belief = rule(world)
    with world.store(4) as store:
        store.writer("planner").supersede(belief, by="ab" * 16)

    (wait,) = world.explain(belief)["waiting"]

    assert (wait["waits_for"], wait["replacer"]["status"]) == ("known", None)
    assert "is not known here" in world.told(belief)


def test_a_fork_is_told_with_its_revisions_and_ends_when_somebody_has_read_both(world):
    belief = rule(world, 50)
    with world.store(40) as store:
        successors = [store.writer(agent).extract(f"{agent}'s", kind="rule", **DURABLE) for agent in ("ann", "bob")]
        revisions = [
            store.writer(agent).supersede(belief, by=successor, basis=[], reason=f"{agent} thinks so")
            for agent, successor in zip(("ann", "bob"), successors, strict=True)
        ]

    told = world.explain(belief)

    assert told["flags"] == ["forked"]
    assert {one["event"] for one in told["fork"]} == set(revisions)
    assert {one["other"]["belief"] for one in told["fork"]} == set(successors)
    assert "It is forked: 2 revisions" in world.told(belief)
    assert sorted(told["basis"]) == sorted(revisions)
    world.ok("retract", belief, "--as", "Jon", "--cause", "wrong")
    assert world.explain(belief)["flags"] == []


def test_what_contests_a_duplicate_contests_its_survivor_and_is_told_there(world):
    duplicate, survivor = rule(world, 50), rule(world, 49, "Primary sources are cited")
    other = rule(world, 48, "Never cite")
    with world.store(40) as store:
        writer = store.writer("planner")
        raised = writer.raise_contradiction(duplicate, other)
        joke = writer.extract("Cite a cat", kind="rule", speech_act="humor_or_irony")
        waiting = writer.supersede(duplicate, by=joke)
        writer.merge(duplicate, into=survivor)

    told = world.explain(survivor, ago=39)

    assert told["flags"] == ["contested"]
    assert [(one["event"], one["contests"]) for one in told["contradictions"]] == [(raised, True)]
    assert [(one["event"], one["duplicate"]["belief"]) for one in told["waiting"]] == [(waiting, duplicate)]
    assert "its duplicate" in world.told(survivor, ago=39)
    assert f'counts for "Primary sources are cited" ({survivor})' in world.told(duplicate, ago=39)


def test_a_survivor_that_counts_from_what_its_duplicate_brought_says_so(world):
    survivor, duplicate = rule(world, 50), rule(world, 45, "Cite sources")
    with world.store(44) as store:
        store.writer("planner").merge(duplicate, into=survivor)

    told = world.told(survivor, ago=40)

    assert "It counts from what was last said of its duplicate" in told
    assert "It counts from its extraction" in world.told(duplicate, ago=44.5)


def test_a_contested_belief_names_the_contradiction(world):
    one, two = rule(world, 9), rule(world, 8, "Never cite")
    with world.store(7) as store:
        raised = store.writer("judge").raise_contradiction(one, two, reason="opposite")

    told = world.explain(one)

    assert told["flags"] == ["contested"]
    assert [(c["event"], c["open"], c["contests"]) for c in told["contradictions"]] == [(raised, True, True)]
    assert "contested by an open contradiction" in world.told(one)


def test_a_conclusion_tells_which_essential_input_it_lacks(world):
    ground, conclusion = rule(world, 9), rule(world, 8, "So every page has a source")
    with world.store(7) as store:
        writer = store.writer("planner")
        inputs = [{"belief_id": ground, "role": "essential"}]
        writer.conclude(conclusion, inputs=inputs)
        writer.retract(ground)

    told = world.explain(conclusion)

    assert told["status"] == "candidate"
    assert [one["belief"] for one in told["conclusion"]["lacking"]] == [ground]
    assert "candidate while this essential input is not live" in world.told(conclusion)


def test_a_conclusion_tells_what_its_inputs_carry(world):
    """ADR 0011: 900, and of the missing 100 a quarter of 920 per mille of 900."""
    ground, support, conclusion = (rule(world, day, f"Rule {day}") for day in (10, 9, 8))
    inputs = [
        {"belief_id": ground, "role": "essential"},
        {"belief_id": support, "role": "supporting", "applicability": "adjacent_context"},
    ]
    with world.store(7) as store:
        store.writer("planner").conclude(conclusion, inputs=inputs)

    told = world.explain(conclusion)["conclusion"]

    assert [one["belief"] for one in told["supporting"]] == [support]
    assert told["authority"] == 900 + 100 * (900 * 920 // 1000) // 4000
    assert "together they carry 920 ‰" in world.told(conclusion)

    with world.store(6) as store:
        store.writer("planner").retract(ground)

    assert world.explain(conclusion)["conclusion"]["authority"] == 0


def test_what_is_said_of_other_beliefs_is_said_of_all_their_events(world):
    """The fold of one belief need not know the whole life of its neighbours; the explanation does."""
    belief, successor = rule(world, 9), rule(world, 8, "Cite what was read")
    with world.store(7) as store:
        writer = store.writer("planner")
        writer.supersede(belief, by=successor)
        writer.retract(successor)

    assert world.explain(belief)["endings"][0]["replaced_by"]["status"] == "retracted"


def test_policies_and_profiles_explain_the_half_life(world):
    convention = rule(world, policy="amendable_persistent")
    unknown = rule(world, policy="house@3")
    with world.store(50) as store:
        writer = store.writer("owner", kind="human")
        writer.append("profile.activated", {"profile": "lab@1", "half_lives": {"directive": 10}})
        writer.affirm(unknown)

    assert "It doesn't age: by the policy amendable_persistent@1" in world.told(convention)
    assert "names the policy house@3, which is not defined" in world.told(unknown)
    assert (
        world.explain(unknown)["half_life"] | {"by": "profile", "days": 10, "profile": "lab@1"}
        == world.explain(unknown)["half_life"]
    )


def test_explain_never_speaks_of_use_tags(world):
    belief = rule(world)

    assert not re.search(r"enforce|cite_as|low_confidence|\btag", world.told(belief))


# -- what can't be explained ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["history", "why", "explain"])
def test_an_unknown_id_is_said_with_what_to_do(world, command):
    rule(world)

    done = world.run(command, "ab" * 16)

    assert done.code == 2
    assert "nothing in this store has the id" in done.err
    assert "→" in done.err
    assert world.run(command, "nonsense").code == 2


def test_an_id_of_something_else_is_said_with_what_it_is(world):
    said, belief = offhand(world)
    with world.store(5) as store:
        writer = store.writer("planner")
        question = writer.ask("Which licence?")
        affirmation = writer.affirm(belief)

    assert "its type is utterance.recorded" in world.run("explain", said).err
    assert "beliefbase questions" in world.run("explain", question).err
    assert f"it is about the belief {belief}" in world.run("explain", affirmation).err
    done = world.run("--json", "explain", said)
    assert json.loads(done.err)["error"] == "not_a_belief"


def test_a_moment_before_the_extraction_is_said(world):
    belief = rule(world, 10)

    done = world.run("explain", belief, "--as-of", world.ms(11))

    assert done.code == 2
    assert "extracted later" in done.err


def test_a_moment_is_rfc_3339_a_date_or_milliseconds(world):
    with world.store(importing=True) as store:
        belief = store.writer("scribe", kind="importer").extract("Tea", kind="progress", at=1_700_000_000_000)

    moments = ("2023-11-20", "2023-11-20T00:00:00Z", "2023-11-20T01:00:00+01:00", "1700438400000")
    assert {world.ok("--json", "explain", belief, "--as-of", at).json["as_of_ms"] for at in moments} == {1700438400000}
    assert world.run("explain", belief, "--as-of", "yesterday").code == 2


# -- policies, profile, questions -------------------------------------------------------------------------------------


def test_policies_lists_the_built_in_and_the_defined_ones(world):
    with world.store(5) as store:
        writer = store.writer("Jon", kind="human")
        for days in (3, 9):
            fields = {"policy": "sprint_note@1", "base": "half_life", "half_life_days": days, "reason": "sprints"}
            writer.append("policy.defined", fields)

    listed = {row["policy"]: row for row in world.ok("--json", "policies").json}

    assert {"half_life@1", "conditional_expiry@1", "amendable_persistent@1", "fast_decay_status@1"} < set(listed)
    assert listed["conditional_expiry@1"]["ends_on_condition"] and listed["conditional_expiry@1"]["decay"] == "none"
    defined = world.ok("--json", "policies", "show", "sprint_note").json
    assert (defined["half_life_days"], defined["defined"]["agent"], len(defined["refused_definitions"])) == (
        3,
        "Jon",
        1,
    )
    assert "sprint_note@1" in world.ok("policies", "list").out
    assert "refused, since the first one counts" in world.ok("policies", "show", "sprint_note@1").out
    assert "sprint_note@1" not in world.ok("policies", "list", "--as-of", world.ms(6)).out
    missing = world.run("policies", "show", "sprint_note@2")
    assert missing.code == 2 and "known are" in missing.err
    assert world.run("policies", "show").code == 2


def test_profile_shows_what_is_in_force_at_a_moment(world):
    with world.store(5) as store:
        fields = {"profile": "lab@2", "half_lives": {"observation": 7}, "kinds": {"goal": 20}, "newer_wins": True}
        store.writer("Jon", kind="human").append("profile.activated", fields)

    now, before = world.ok("--json", "profile").json, world.ok("--json", "profile", "show", "--as-of", world.ms(6)).json

    assert (now["profile"], now["newer_wins"], now["activated"]["agent"]) == ("lab@2", True, "Jon")
    acts = {row["name"]: row for row in now["speech_acts"]}
    assert (acts["observation"]["days"], acts["observation"]["by"]) == (7, "profile")
    assert (acts["directive"]["days"], acts["direct_assertion"]["days"]) == (365, None)
    assert {row["name"]: row["days"] for row in now["kinds"]}["goal"] == 20
    assert (before["profile"], before["activated"], before["newer_wins"]) == ("default@1", None, False)
    assert "lab@2" in world.ok("profile", "show").out


def test_questions_are_the_curiosity_queue(world):
    said, _ = offhand(world)
    with world.store(5) as store:
        writer = store.writer("planner")
        answered = writer.ask("Who owns it?", session="s1", evidence=[said], topic="ownership")
        writer.append("question.answered", {"question_id": answered, "answer": "Mara does"})
        is_open = writer.ask("Which licence?")

    (listed,) = world.ok("--json", "questions").json

    assert (listed["event"], listed["question"], listed["open"]) == (is_open, "Which licence?", True)
    all_of_them = world.ok("--json", "questions", "--all").json
    assert [one["open"] for one in all_of_them] == [False, True]
    assert all_of_them[0]["answers"][0]["answer"] == "Mara does"
    assert all_of_them[0]["evidence"][0]["speaker"] == "Mara"
    assert "Mara does" in world.ok("questions", "--all").out
    assert world.ok("questions", "--as-of", world.ms(50)).out == "(no open questions)\n"
