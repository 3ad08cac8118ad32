"""Erasures at the doors of a log: what one covers loses its words, whatever arrives first, and nothing else does."""

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.events.build import START_MS, Author
from tests.scale import scaled

from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.envelope import Event
from beliefbase.events.erasure import coverage, covered
from beliefbase.events.sqlite import SQLiteLog

LATER = START_MS + 1_000_000
CANARY = "canary-" * 300
PEOPLE = ("will", "zoe")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.db"


def everything(log):
    return {stored.event.id: stored.event for page in log.read() for stored in page}


def holds_canary(folder):
    return [file.name for file in sorted(folder.rglob("*")) if file.is_file() and b"canary-canary" in file.read_bytes()]


def by_definition(events):
    """Covered events with the least erasure that covers each, straight from the rule's words."""
    found = {}
    for erasure in events:
        if erasure.skeleton.type != "subject.erased":
            continue
        subject, place = erasure.skeleton.payload["subject"], order(erasure)
        inside = {e.id for e in events if subject in e.skeleton.subjects and order(e) < place}
        while True:
            names = {e.id for e in events if e.id in inside}
            names |= {e.skeleton.source_ref for e in events if e.id in inside and e.skeleton.source_ref}
            kin = {(e.skeleton.type, e.skeleton.source_ref) for e in events if e.id in inside and e.skeleton.source_ref}
            more = {e.id for e in events if names & named(e) or (e.skeleton.type, e.skeleton.source_ref) in kin}
            if more <= inside:
                break
            inside |= more
        for event_id in inside:
            by = (erasure.skeleton.hlc, erasure.id)
            found[event_id] = min(by, found.get(event_id, by))
    return found


def order(event):
    return event.skeleton.hlc, event.skeleton.writer, event.skeleton.seq, event.id


def named(event):
    roles = {Role.STATE, Role.LINK, Role.SHOWN, Role.CITED, Role.INPUT}
    return {key for key, role in CATALOG.references(event.skeleton, event.id) if role in roles}


@st.composite
def histories(draw):
    """Events of a few writers about two people, with erasures of either at any time."""
    authors = [Author(name) for name in "ab"]
    events = []
    moves = st.sampled_from(["said", "extracted", "affirmed", "retracted", "superseded", "injected", "erased"])
    for number, move in enumerate(draw(st.lists(moves, min_size=1, max_size=14))):
        author = draw(st.sampled_from(authors))
        hlc = (START_MS + draw(st.integers(0, 12))) << 16
        subjects = sorted(draw(st.sets(st.sampled_from(PEOPLE), max_size=2)))
        ref = draw(st.sampled_from([None, None, "import:x:1", "import:x:2"]))
        refs = {} if ref is None else {"source_ref": ref}
        said = [e.id for e in events if e.skeleton.type == "utterance.recorded"]
        beliefs = [e.id for e in events if e.skeleton.type == "belief.extracted"]
        pick = st.sampled_from
        if move == "erased":
            fields = {"subject": draw(pick(PEOPLE)), "reason": "asked"}
            events.append(author.write("subject.erased", fields, hlc=hlc))
        elif move == "said":
            fields = {"speaker": "s", "verbatim": f"words {number}", "subjects": subjects, **refs}
            events.append(author.write("utterance.recorded", fields, hlc=hlc))
        elif move == "extracted" or not beliefs:
            evidence = draw(st.lists(pick(said), max_size=2, unique=True)) if said else []
            fields = {"statement": f"s {number}", "kind": "fact", "evidence": evidence, "subjects": subjects, **refs}
            events.append(author.write("belief.extracted", fields, hlc=hlc))
        elif move == "superseded":
            fields = {"superseded_id": draw(pick(beliefs)), "superseding_id": draw(pick(beliefs)), "reason": "new"}
            events.append(author.write("belief.superseded", fields, hlc=hlc))
        elif move == "injected":
            fields = {"cards": [{"belief_id": draw(pick(beliefs))}], "rendered": f"card {number}"}
            events.append(author.write("memory.injected", fields, hlc=hlc))
        else:
            fields = {"belief_id": draw(pick(beliefs)), "reason": f"because {number}"}
            events.append(author.write(f"belief.{move}", fields, hlc=hlc))
    return events


@settings(max_examples=scaled(60), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_in_any_order_of_arrival_the_same_words_go(data):
    """A log that got the events in any order, split and repetition covers what the definition says, and drops that."""
    events = data.draw(histories())
    expected = by_definition(events)
    arrivals = data.draw(st.permutations(events))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(events)), max_size=3)))
    with tempfile.TemporaryDirectory() as folder:
        log = SQLiteLog(Path(folder) / "log.db", durability="process", wall=lambda: LATER)
        for start, end in itertools.pairwise([0, *cuts, len(events)]):
            log.merge(arrivals[start:end])
        stored = everything(log)
        assert len(stored) == len(events)
        assert {key: tuple(by) for key, by in coverage(log).items()} == expected
        for event in events:
            words = None if event.id in expected else event.body
            assert stored[event.id].body == words, event.skeleton.type
        beliefs = {e.id for e in events if e.skeleton.type == "belief.extracted"}
        assert log.erased() == {key: by for key, by in expected.items() if key in beliefs}
        assert log.wanted() == []
        log.close()


def test_a_later_quote_written_elsewhere_loses_its_words_wherever_it_arrives(path, tmp_path):
    here, there = SQLiteLog(path), SQLiteLog(tmp_path / "other.db")
    will, zoe, owner = Author("will"), Author("zoe", ms=START_MS + 1000), Author("owner")
    said = will.said(CANARY, subjects=["will"])
    for log in (here, there):
        log.merge([said])
    quote = zoe.extracted(CANARY, evidence=[said.id], subjects=["zoe"])
    there.append([quote])
    erased = owner.write("subject.erased", {"subject": "will"}, hlc=said.skeleton.hlc + 1)
    assert erased.skeleton.hlc < quote.skeleton.hlc
    here.append([erased])
    report = here.merge([quote])
    assert (report.stored, report.words_refused) == (1, 1)
    report = there.merge([erased])
    assert report.words_erased == 2
    for log in (here, there):
        assert set(covered(log)) == {said.id, quote.id}
        assert log.get(quote.id).body is None
        log.close()
    assert holds_canary(tmp_path) == []


def test_two_peoples_words_in_one_belief_go_with_either(path):
    log = SQLiteLog(path)
    ann = Author()
    both = ann.extracted(CANARY, subjects=["will", "zoe"])
    other = ann.extracted("stays", subjects=["zoe"])
    log.append([both, other, ann.write("subject.erased", {"subject": "will"})])
    assert log.get(both.id).body is None
    assert log.get(other.id) == other
    assert holds_canary(path.parent) == []


def test_words_said_after_the_erasure_stay(path):
    log = SQLiteLog(path)
    ann = Author()
    before = ann.said("a", subjects=["will"])
    erased = ann.write("subject.erased", {"subject": "will"})
    after = ann.said("b", subjects=["will"])
    log.append([before, erased, after])
    assert (log.get(before.id).body, log.get(after.id)) == (None, after)


def test_an_erasure_ahead_of_the_wall_waits_until_the_wall_gets_there(path):
    wall = START_MS + 500
    log = SQLiteLog(path, wall=lambda: wall)
    ann = Author()
    said = ann.said(CANARY, subjects=["will"])
    future = Author("peer").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1000) << 16)
    log.merge([said, future])
    assert log.get(said.id) == said
    wall = START_MS + 999
    assert log.carry_out_erasures() == 0
    wall = START_MS + 1000
    assert log.carry_out_erasures() == 1
    assert log.get(said.id).body is None
    assert log.wanted() == []
    assert holds_canary(path.parent) == []


def test_a_pending_erasure_is_carried_out_when_the_log_is_opened_or_written(path):
    ann = Author()
    said = ann.said(CANARY, subjects=["will"])
    future = Author("peer").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1000) << 16)
    log = SQLiteLog(path, wall=lambda: START_MS)
    log.merge([said, future])
    log.close()
    log = SQLiteLog(path, wall=lambda: START_MS + 1000)
    assert log.get(said.id).body is None
    log.close()
    assert holds_canary(path.parent) == []


def test_an_erasure_written_here_acts_at_once_even_if_a_peers_clock_drew_its_stamp_ahead(path):
    log = SQLiteLog(path, wall=lambda: START_MS - 30_000)
    ann = Author()
    said = ann.said(CANARY, subjects=["will"])
    log.append([said, ann.write("subject.erased", {"subject": "will"})])
    assert log.get(said.id).body is None


def test_a_peer_that_erased_first_sends_skeletons_without_words_and_nothing_is_wanted_in_the_end(path, tmp_path):
    here, there = SQLiteLog(path), SQLiteLog(tmp_path / "other.db")
    will, owner = Author("will"), Author("owner")
    said = will.said(CANARY, subjects=["will"])
    there.append([said])
    erased = owner.write("subject.erased", {"subject": "will"}, hlc=said.skeleton.hlc + 1)
    there.append([erased])
    here.merge([there.get(said.id)])
    assert here.wanted() == [said.id]
    here.merge([there.get(erased.id)])
    assert here.wanted() == []
    report = here.merge([said])
    assert (report.known, report.words_filled, report.words_refused) == (1, 0, 1)
    assert holds_canary(tmp_path) == []


def test_words_that_are_kept_aside_go_as_well(path):
    log = SQLiteLog(path)
    will, zoe = Author("will"), Author("zoe")
    first, aside = will.said("first", subjects=["will"]), will.said(CANARY, subjects=["will"])
    zoe.said("never comes")
    quote = zoe.extracted(CANARY, evidence=[aside.id], subjects=[])
    log.merge([aside, quote])
    assert holds_canary(path.parent) != []
    log.append([Author("owner").write("subject.erased", {"subject": "will"}, hlc=LATER << 16)])
    assert holds_canary(path.parent) == []
    report = log.merge([zoe_late := zoe.extracted(CANARY, evidence=[aside.id], subjects=[])])
    assert report.words_refused == 1
    log.merge([first])
    stored = everything(log)
    assert stored[aside.id].body is None
    assert zoe_late.id not in stored
    assert holds_canary(path.parent) == []


def test_a_copy_of_a_covered_item_goes_with_it_whenever_it_comes(path):
    log = SQLiteLog(path)
    ann, ben = Author("ann"), Author("ben")
    said = ann.said(CANARY, subjects=["will"], source_ref="import:chat:1")
    erased = ann.write("subject.erased", {"subject": "will"})
    copy = ben.said(CANARY, subjects=[], source_ref="import:chat:1")
    log.append([said, erased])
    assert log.merge([copy]).words_refused == 1
    assert holds_canary(path.parent) == []


def test_an_index_made_anew_covers_the_same(path):
    log = SQLiteLog(path)
    ann = Author()
    said = ann.said("a", subjects=["will"])
    belief = ann.extracted("b", evidence=[said.id])
    log.append([said, belief, erased := ann.write("subject.erased", {"subject": "will"})])
    with log.transaction() as transaction:
        transaction.tables.change_setting("index_version", 0)
    log.close()
    log = SQLiteLog(path)
    assert log.erased() == {belief.id: (erased.skeleton.hlc, erased.id)}


def test_what_becomes_of_stored_words_is_counted_and_new_words_are_not(path):
    log = SQLiteLog(path)
    ann = Author()
    said = ann.said(subjects=["will"])
    log.merge([Event(said.raw)])
    assert (log.reworded(), log.wanted()) == (0, [said.id])
    log.merge([said])
    filled = log.reworded()
    assert filled > 0
    log.append([ann.write("subject.erased", {"subject": "zoe"})])
    assert log.reworded() == filled
    log.append([ann.write("subject.erased", {"subject": "will"})])
    assert log.reworded() > filled
    erased = log.reworded()
    log.append([ann.extracted(evidence=[said.id])])
    assert log.reworded() == erased


def test_what_waits_under_the_source_ref_of_a_covered_event_of_another_type_keeps_its_words(path):
    log = SQLiteLog(path)
    will, zoe, owner = Author("will"), Author("zoe"), Author("owner", ms=START_MS + 1000)
    zoe.joined("zoe")
    will.joined("will")
    waiting = will.extracted(CANARY, subjects=["will"], source_ref="import:chat:1")
    of_another_type = zoe.said("stays", source_ref="import:chat:1", subjects=["zoe"])
    log.merge([waiting, of_another_type])
    log.append([owner.write("subject.erased", {"subject": "will"})])
    assert {event.id: event.body is None for event in _aside(log)} == {waiting.id: True, of_another_type.id: False}


def _aside(log):
    with log.transaction() as transaction:
        return transaction.tables.aside()


def test_an_erasure_that_waits_is_carried_out_with_a_later_one_that_is_made_here(path):
    log = SQLiteLog(path, wall=lambda: START_MS)
    said = Author().said(CANARY, subjects=["will"])
    pending = Author("peer").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1000) << 16)
    log.merge([said, pending])
    assert log.get(said.id) == said
    log.append([Author("owner").write("subject.erased", {"subject": "somebody"}, hlc=(START_MS + 1001) << 16)])
    assert log.get(said.id).body is None
    assert log.checkpoint()
    assert holds_canary(path.parent) == []


def test_an_earlier_erasure_that_arrives_after_one_that_was_made_here_lets_nothing_in_again(path):
    log = SQLiteLog(path, wall=lambda: START_MS)
    said = Author().said(CANARY, subjects=["will"])
    made_here = Author("owner").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1001) << 16)
    log.append([made_here])
    log.merge([Author("peer").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1000) << 16)])
    log.merge([said])
    assert log.get(said.id).body is None
    assert log.merge([said]).words_filled == 0
    assert holds_canary(path.parent) == []
