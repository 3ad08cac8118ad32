"""What analysts read, told as given events / when asked at a moment / then rows."""

import datetime as dt

import pytest
from tests.events.build import START_MS, Author
from tests.projections.worlds import open_log

from beliefbase.events.ids import name_hash
from beliefbase.projections.projector import Projector

DAY = 86_400_000
SURE = {"assertion_class": "durable_fact", "confidence": 900}


class Store:
    """Writers, a log and a projector."""

    def __init__(self, folder):
        self.log = open_log(folder)
        self.projector = Projector(self.log, folder / "read")
        self.ann, self.bob = Author("ann"), Author("bob")
        self.given(self.ann.joined("planner"), self.bob.joined("reviewer"))

    def given(self, *events):
        self.log.append(events)

    def asked_at(self, ms, sql, *parameters):
        self.projector.refresh(ms)
        return self.projector.rows(sql, list(parameters))

    def close(self):
        self.projector.close()
        self.log.close()


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    yield store
    store.close()


def at(ms):
    return ms << 16


def test_a_belief_shows_who_said_what_and_how_it_was_meant(store):
    said = store.ann.said("I'd call it roughly 75% hobby.", speaker="Will", conversation="scope", topic="project")
    belief = store.ann.extracted(
        "The project is 75% hobby.", evidence=(said.id,), session="monday", topic="project", **SURE
    )
    store.given(said, belief)
    shown = "statement, status, kind, speech_act, agent, session, topic, evidence_count, ended_ms, ended_cause"
    sql = f"SELECT {shown} FROM beliefs"
    assert store.asked_at(START_MS + DAY, sql) == [
        (
            "The project is 75% hobby.",
            "active",
            "fact",
            "direct_assertion",
            "planner",
            "monday",
            "project",
            1,
            None,
            None,
        )
    ]
    sql = "SELECT utterance_id, speaker, verbatim, conversation, topic, said_ms FROM utterances"
    [row] = store.asked_at(START_MS + DAY, sql)
    said_ms = said.skeleton.hlc >> 16
    assert row == (said.id.hex(), "Will", "I'd call it roughly 75% hobby.", "scope", "project", said_ms)
    [row] = store.asked_at(START_MS + DAY, "SELECT belief_id, utterance_id, dangling, speaker FROM evidence")
    assert row == (belief.id.hex(), said.id.hex(), False, "Will")


def test_an_ended_belief_says_when_and_of_what(store):
    old, new = (store.ann.write("belief.extracted", {"statement": s, "kind": "fact", **SURE}) for s in ("old", "new"))
    over = store.bob.write(
        "belief.superseded",
        {"superseded_id": old.id, "superseding_id": new.id, "reason": "corrected"},
        hlc=at(START_MS + DAY),
    )
    store.given(old, new, over)
    sql = "SELECT statement, status, began_ms, ended_ms, ended_cause, ended_by FROM beliefs ORDER BY began_ms"
    began, later = old.skeleton.hlc >> 16, new.skeleton.hlc >> 16
    assert store.asked_at(START_MS + 2 * DAY, sql) == [
        ("old", "superseded", began, START_MS + DAY, "superseded", over.id.hex()),
        ("new", "active", later, None, None, None),
    ]
    assert store.asked_at(START_MS + DAY - 1, sql) == [
        ("old", "active", began, None, None, None),
        ("new", "active", later, None, None, None),
    ]
    assert store.asked_at(START_MS, sql) == []
    [row] = store.asked_at(START_MS + DAY, "SELECT type, how, reason, agent, revised_ms FROM revisions")
    assert row == ("belief.superseded", "update", "corrected", "reviewer", START_MS + DAY)


def test_expiry_to_come_is_no_end_yet(store):
    belief = store.ann.write("belief.extracted", {"statement": "x", "kind": "progress", **SURE}, hlc=at(START_MS))
    store.given(belief)
    sql = "SELECT status, stale, ended_ms, ended_cause, ended_by FROM beliefs"
    assert store.asked_at(START_MS + 14 * DAY - 1, sql) == [("active", False, None, None, None)]
    assert store.asked_at(START_MS + 14 * DAY, sql) == [("active", True, None, None, None)]
    assert store.asked_at(START_MS + 28 * DAY, sql) == [("expired", False, START_MS + 28 * DAY, "expired", None)]


def test_a_reclassification_counts_from_its_place_on(store):
    belief = store.ann.write("belief.extracted", {"statement": "x", "kind": "fact", **SURE}, hlc=at(START_MS))
    corrected = {"belief_id": belief.id, "speech_act": "humor_or_irony", "kind": "note", "condition_key": "party"}
    store.given(belief, store.bob.write("belief.reclassified", corrected, hlc=at(START_MS + DAY)))
    sql = "SELECT kind, speech_act, status, condition_key, confidence FROM beliefs"
    assert store.asked_at(START_MS + DAY - 1, sql) == [("fact", "direct_assertion", "active", None, 900)]
    assert store.asked_at(START_MS + DAY, sql) == [("note", "humor_or_irony", "candidate", "party", 900)]
    [row] = store.asked_at(START_MS + DAY, "SELECT type, changes, condition_key FROM revisions")
    assert row == ("belief.reclassified", "kind=note,speech_act=humor_or_irony", "party")


def test_moving_the_moment_rewrites_no_table(store):
    store.given(store.ann.extracted(**SURE))
    before = store.projector.refresh(START_MS + DAY), store.projector.digest()
    after = store.projector.refresh(START_MS + 9_000 * DAY), store.projector.digest()
    assert after[0].how == "unchanged"
    assert before[1] == after[1]
    assert store.projector.rows("SELECT status FROM beliefs") == [("expired",)]


def test_candidates_are_live_but_not_in_the_active_set(store):
    store.given(store.ann.extracted("maybe", confidence=100), store.ann.extracted("surely", **SURE))
    moment = START_MS + DAY
    assert store.asked_at(moment, "SELECT statement FROM active_set") == [("surely",)]
    assert store.asked_at(moment, "SELECT statement FROM active_at(?)", moment) == [("surely",)]
    assert store.asked_at(moment, "SELECT statement FROM live_at(?) ORDER BY 1", moment) == [("maybe",), ("surely",)]


def test_the_macros_have_the_columns_of_the_view(store):
    columns = [row[0] for row in store.asked_at(START_MS, "DESCRIBE beliefs")]
    for source in ("active_set", "active_at(0)", "live_at(0)", "beliefs_at(0)"):
        assert [row[0] for row in store.projector.rows(f"DESCRIBE FROM {source}")] == columns
    wanted = "belief_id statement status kind speech_act agent began_ms ended_ms ended_cause"
    assert columns[:9] == wanted.split()


MOMENT = START_MS + DAY
UTC = dt.datetime.fromtimestamp(MOMENT / 1000, dt.UTC).replace(tzinfo=None)


@pytest.mark.parametrize(
    "moment",
    [
        MOMENT,
        str(MOMENT),
        UTC,
        str(UTC),
        UTC.isoformat(),
        UTC.isoformat() + "Z",
        UTC.isoformat(" ") + "+00",
        (UTC + dt.timedelta(hours=5, minutes=45)).isoformat() + "+05:45",
        (UTC - dt.timedelta(hours=3, minutes=30)).isoformat() + "-03:30",
        UTC + dt.timedelta(microseconds=999),
    ],
    ids=str,
)
def test_a_moment_can_be_said_in_many_ways_and_takes_in_its_millisecond(store, moment):
    last = store.ann.write("belief.extracted", {"statement": "in", "kind": "fact"}, hlc=at(MOMENT) | 0xFFFF)
    first = store.ann.write("belief.extracted", {"statement": "after", "kind": "fact"}, hlc=at(MOMENT + 1))
    store.given(last, first)
    assert store.asked_at(0, "SELECT statement FROM live_at(?)", moment) == [("in",)]


def test_the_ends_of_time(store):
    for_ever = {"kind": "fact", "policy": "amendable_persistent", **SURE}
    store.given(store.ann.write("belief.extracted", {"statement": "x", **for_ever}))
    assert store.asked_at(0, "SELECT status FROM beliefs_at(-5)") == []
    assert store.asked_at(0, "SELECT status FROM beliefs_at(NULL)") == []
    for far in (2**47 - 1, 2**47, 2**59, str(2**47)):
        assert store.asked_at(0, "SELECT status FROM beliefs_at(?)", far) == [("active",)]
    assert store.asked_at(2**47 - 1, "SELECT status FROM beliefs") == [("active",)]


def test_a_name_that_is_not_known_shows_as_its_hash(store):
    said = store.ann.said(speaker="Will")
    store.log.merge([type(said)(said.raw)])
    assert store.asked_at(START_MS, "SELECT speaker, verbatim, agent FROM utterances") == [
        (name_hash("Will").hex(), None, "planner")
    ]


def test_a_name_is_shown_only_where_it_fits_its_hash(store):
    """Words are bound to their event, but not to the hashes in its payload: a foreign writer may pretend."""
    liar = store.bob.write("utterance.recorded", {}, payload={"speaker": name_hash("Will")})
    store.given(liar)
    assert store.asked_at(START_MS, "SELECT speaker FROM utterances") == [(name_hash("Will").hex(),)]


def test_copies_are_one_entity_under_the_earliest_id(store):
    late = store.ann.write(
        "belief.extracted", {"statement": "x", "kind": "fact", "source_ref": "notes:7", **SURE}, hlc=at(START_MS + 50)
    )
    shown = store.ann.write("memory.injected", {"cards": ({"belief_id": late.id},)}, hlc=at(START_MS + 60))
    store.given(late, shown)
    assert store.asked_at(START_MS + DAY, "SELECT belief_id FROM beliefs") == [(late.id.hex(),)]
    early = store.bob.write(
        "belief.extracted", {"statement": "y", "kind": "fact", "source_ref": "notes:7", **SURE}, hlc=at(START_MS + 40)
    )
    store.given(early)
    assert store.asked_at(START_MS + DAY, "SELECT belief_id, statement, agent FROM beliefs") == [
        (early.id.hex(), "y", "reviewer")
    ]
    assert store.projector.rows("SELECT belief_id FROM injection_cards") == [(early.id.hex(),)]
    assert store.projector.rows("SELECT copy_id, entity_id FROM copies") == [(late.id.hex(), early.id.hex())]
    other = "SELECT event_id, about_id FROM anomalies WHERE reason = 'copy_by_another_agent'"
    assert store.projector.rows(other) == [(late.id.hex(), early.id.hex())]


def test_evidence_that_is_not_there_is_kept_and_listed(store):
    missing, named = b"m" * 16, store.ann.said(source_ref="chat:7")
    belief = store.ann.extracted(evidence=(missing, name_hash("chat:7")))
    store.given(named, belief)
    moment = START_MS + DAY
    assert store.asked_at(moment, "SELECT position, utterance_id, dangling FROM evidence ORDER BY position") == [
        (0, None, True),
        (1, named.id.hex(), False),
    ]
    listed = "SELECT event_id, reason, about_id FROM anomalies WHERE state = 'noted'"
    assert store.projector.rows(listed) == [(belief.id.hex(), "dangling_evidence", missing.hex())]


def test_what_cannot_be_used_is_listed_with_a_reason(store):
    newer = store.ann.write("belief.dreamt", {}, payload={"x": 1})
    other = store.ann.write("belief.retracted", {}, version=2, payload={"belief_id": b"b" * 16})
    format_ = store.bob.write("belief.retracted", {}, format=2, payload={})
    store.given(newer, other, format_)
    sql = "SELECT event_id, writer_id, seq, reason, detail FROM dropped ORDER BY reason"
    assert store.asked_at(START_MS, sql) == [
        (format_.id.hex(), store.bob.writer.hex(), 2, "unknown_format", "2"),
        (newer.id.hex(), store.ann.writer.hex(), 2, "unknown_type", "belief.dreamt"),
        (other.id.hex(), store.ann.writer.hex(), 3, "unknown_version", "belief.retracted/2"),
    ]


def test_what_has_no_effect_or_waits_is_listed(store):
    belief = store.ann.extracted()
    lost = store.ann.affirmed(b"n" * 16)
    done = store.ann.retracted(belief.id)
    void = store.ann.affirmed(belief.id)
    store.given(belief, lost, done, void)
    assert store.asked_at(START_MS, "SELECT event_id, state, reason, about_id FROM anomalies ORDER BY state") == [
        (void.id.hex(), "void", "affirms_ended", belief.id.hex()),
        (lost.id.hex(), "waiting", "missing", (b"n" * 16).hex()),
    ]


def test_writers_show_their_names_and_when_they_left(store):
    store.given(store.bob.write("writer.closed", {}, hlc=at(START_MS + DAY)))
    sql = "SELECT writer_id, agent, kind, role, closed_ms FROM writers ORDER BY agent"
    assert store.asked_at(START_MS, sql) == [
        (store.ann.writer.hex(), "planner", "agent", "member", None),
        (store.bob.writer.hex(), "reviewer", "agent", "member", START_MS + DAY),
    ]


def test_text_comes_back_as_it_was_written(store):
    odd = 'line\none\x00two\x1f "quoted" 😀 \u2028 end'
    said = store.ann.said(odd, entities=(odd[:40], 'a, "b"'), channel=odd)
    store.given(said)
    assert store.asked_at(START_MS, "SELECT verbatim, entities, channel FROM utterances") == [
        (odd, [odd[:40], 'a, "b"'], odd)
    ]
