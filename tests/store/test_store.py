"""The Python API: one method per thing that can be said, batches, handles, and what is believed."""

import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest

import beliefbase
from beliefbase.events.errors import InvalidEvent, StoreUnavailable
from beliefbase.events.ids import name_hash
from beliefbase.store import BeliefStore
from beliefbase.writing import clock_text, milliseconds, moment

A, B, C = ("a" * 32, "b" * 32, "c" * 32)
BYTES = {key: bytes.fromhex(key) for key in (A, B, C)}
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NOON_MS = 1_772_452_800_000


@pytest.fixture
def store(tmp_path):
    with BeliefStore.open(tmp_path / "store", create=True, durability="process") as store:
        yield store


@pytest.fixture
def writer(store):
    return store.writer("planner")


def last(store):
    return [stored.event for page in store.log.read() for stored in page][-1]


SAYINGS = [
    (
        lambda w: w.record_utterance(
            "It rains.", speaker="Will", conversation="c", turn=3, channel="mail", topic="t", entities=["x"]
        ),
        "utterance.recorded",
        {"speaker": name_hash("Will"), "conversation": name_hash("c"), "turn": 3},
        {
            "verbatim": "It rains.",
            "speaker": "Will",
            "conversation": "c",
            "channel": "mail",
            "topic": "t",
            "entities": ("x",),
        },
    ),
    (
        lambda w: w.extract(
            "It rains.", kind="fact", evidence=[A], confidence=900, tags=["t"], excerpts=["e"], session="s"
        ),
        "belief.extracted",
        {"kind": "fact", "evidence": (BYTES[A],), "confidence": 900, "session": name_hash("s")},
        {"statement": "It rains.", "tags": ("t",), "excerpts": ("e",), "session": "s"},
    ),
    (
        lambda w: w.affirm(A, how="review", session="s", evidence=[B], reason="r"),
        "belief.affirmed",
        {"belief_id": BYTES[A], "how": "review", "session": name_hash("s"), "evidence": (BYTES[B],)},
        {"reason": "r", "session": "s"},
    ),
    (lambda w: w.promote(A, reason="r"), "belief.promoted", {"belief_id": BYTES[A]}, {"reason": "r"}),
    (lambda w: w.demote(A), "belief.demoted", {"belief_id": BYTES[A]}, {}),
    (
        lambda w: w.reclassify(A, speech_act="directive", confidence=10),
        "belief.reclassified",
        {"belief_id": BYTES[A], "speech_act": "directive", "confidence": 10},
        {},
    ),
    (
        lambda w: w.supersede(A, by=B, cause="correction"),
        "belief.superseded",
        {"superseded_id": BYTES[A], "superseding_id": BYTES[B], "cause": "correction"},
        {},
    ),
    (lambda w: w.merge(A, into=B), "belief.merged", {"duplicate_id": BYTES[A], "surviving_id": BYTES[B]}, {}),
    (lambda w: w.retract(A, cause="wrong"), "belief.retracted", {"belief_id": BYTES[A], "cause": "wrong"}, {}),
    (lambda w: w.reinstate(A, undoes=[B]), "belief.reinstated", {"belief_id": BYTES[A], "undoes": (BYTES[B],)}, {}),
    (lambda w: w.meet_condition(key="k"), "condition.met", {"condition_key": name_hash("k")}, {"condition_key": "k"}),
    (
        lambda w: w.meet_condition(belief=A, evidence=[B]),
        "condition.met",
        {"belief_id": BYTES[A], "evidence": (BYTES[B],)},
        {},
    ),
    (
        lambda w: w.judge(A, judge="j@1", verdicts=[{"other": B, "relation": "refines"}]),
        "judgement.recorded",
        {"about": BYTES[A], "judge": "j@1", "verdicts": ({"other": BYTES[B], "relation": "refines"},)},
        {},
    ),
    (
        lambda w: w.raise_contradiction(A, B, judgement=C),
        "contradiction.raised",
        {"left": BYTES[A], "right": BYTES[B], "judgement": BYTES[C]},
        {},
    ),
    (lambda w: w.resolve(A, "left"), "contradiction.resolved", {"contradiction_id": BYTES[A], "outcome": "left"}, {}),
    (
        lambda w: w.conclude(A, inputs=[{"belief_id": B, "role": "essential"}]),
        "conclusion.derived",
        {"belief_id": BYTES[A], "inputs": ({"belief_id": BYTES[B], "role": "essential"},)},
        {},
    ),
    (
        lambda w: w.inject([A, {"belief_id": B, "tag": "recall"}], session="s", query="q"),
        "memory.injected",
        {"cards": ({"belief_id": BYTES[A]}, {"belief_id": BYTES[B], "tag": "recall"}), "session": name_hash("s")},
        {"query": "q", "session": "s"},
    ),
    (
        lambda w: w.use(A, B, "corrected", evidence=[C]),
        "memory.used",
        {"injection_id": BYTES[A], "belief_id": BYTES[B], "outcome": "corrected", "evidence": (BYTES[C],)},
        {},
    ),
    (lambda w: w.ask("Why?", topic="t"), "question.raised", {}, {"question": "Why?", "topic": "t"}),
]


class TestSaying:
    @pytest.mark.parametrize(
        ("say", "name", "payload", "words"), SAYINGS, ids=[f"{n} {s[1]}" for n, s in enumerate(SAYINGS)]
    )
    def test_each_method_stores_one_event_and_gives_its_id(self, store, writer, say, name, payload, words):
        found = say(writer)
        event = last(store)
        assert (event.id.hex(), event.skeleton.type) == (found, name)
        assert dict(event.skeleton.payload) == payload
        assert dict(event.words) == words

    def test_every_event_takes_source_ref_basis_and_subjects(self, store, writer):
        one = writer.retract(A, source_ref="s", basis=[B], subjects=["Will"])
        event = last(store)
        assert (event.skeleton.source_ref, event.skeleton.basis) == (name_hash("s"), (BYTES[B],))
        assert event.skeleton.subjects == (name_hash("Will"),)
        assert writer.retract(A, source_ref="s") == one

    def test_any_type_can_be_appended_by_its_fields(self, store, writer):
        writer.append("policy.defined", {"policy": "p@1", "base": "half_life", "half_life_days": 3})
        assert last(store).skeleton.payload == {"policy": "p@1", "base": "half_life", "half_life_days": 3}

    def test_what_is_malformed_is_refused_and_nothing_is_stored(self, store, writer):
        for say in (lambda: writer.retract("x"), lambda: writer.extract("x", kind="dream"), lambda: store.writer("")):
            with pytest.raises(InvalidEvent):
                say()
        assert store.log.last_position() == 0

    def test_a_writer_knows_its_name_and_stream(self, store, writer):
        writer.retract(A)
        assert (writer.agent, bytes.fromhex(writer.id)) == ("planner", last(store).skeleton.writer)


class TestBatches:
    def test_are_one_commit(self, store, writer):
        with store.batch():
            ids = [writer.extract(f"Fact {n}", kind="fact") for n in range(3)]
            assert store.log.last_position() == 0
            writer.supersede(ids[0], by=ids[1])
        assert store.log.last_position() == 5

    def test_are_nothing_where_an_exception_leaves_them(self, store, writer):
        def broken():
            with store.batch():
                writer.extract("Fact", kind="fact")
                writer.extract("Fact", kind="dream")

        with pytest.raises(InvalidEvent):
            broken()
        assert store.log.last_position() == 0
        writer.extract("Fact", kind="fact")
        assert store.log.last_position() == 2

    def test_do_not_nest(self, store, writer):
        with store.batch(), pytest.raises(InvalidEvent), store.batch():
            pass
        writer.retract(A)

    def test_of_many_threads_come_one_after_the_other(self, store):
        def work(name):
            own = store.writer(name)
            for _ in range(20):
                own.retract(A)

        threads = [threading.Thread(target=work, args=(f"agent {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.log.last_position() == 4 * 21


class TestHandles:
    def test_a_missing_store_is_not_made_by_the_way(self, tmp_path):
        with pytest.raises(StoreUnavailable) as caught:
            BeliefStore.open(tmp_path / "none")
        assert "init" in caught.value.hint
        assert not (tmp_path / "none").exists()

    def test_nothing_is_written_through_a_closed_one(self, store, writer):
        store.close()
        with pytest.raises(StoreUnavailable):
            writer.retract(A)

    def test_two_of_one_store_see_each_others_events(self, store, writer):
        with BeliefStore.open(store.path) as other:
            writer.retract(A)
            other.writer("reader").retract(B)
        assert store.log.last_position() == 4

    def test_the_class_is_loaded_on_demand_from_the_package(self):
        assert beliefbase.BeliefStore is BeliefStore
        assert {"BeliefStore", "__version__"} <= set(dir(beliefbase))
        assert beliefbase.__version__
        with pytest.raises(AttributeError):
            beliefbase.nonsense


class TestBelieving:
    DURABLE = {"assertion_class": "durable_fact", "confidence": 900}  # noqa: RUF012

    def test_active_live_and_a_belief_as_it_stands(self, store, writer):
        rule = writer.extract("Cite sources", kind="rule", speech_act="directive", **self.DURABLE)
        wish = writer.extract("A garden", kind="fact", speech_act="aspiration")
        assert [row["belief_id"] for row in store.active()] == [rule]
        assert {row["belief_id"] for row in store.live()} == {rule, wish}
        assert store.belief(rule)["status"] == "active"
        assert store.belief(C) is None
        writer.retract(rule)
        assert store.active() == []
        assert store.belief(rule)["status"] == "retracted"

    def test_at_an_earlier_moment(self, tmp_path):
        with BeliefStore.open(tmp_path / "past", create=True, importing=True) as store:
            importer = store.writer("importer", kind="importer")
            rule = importer.extract("Cite sources", kind="rule", at=NOON, **self.DURABLE)
            importer.retract(rule, at=NOON + timedelta(days=2))
            for when in (NOON + timedelta(days=1), NOON_MS + 86_400_000, datetime(2026, 3, 3, 12)):  # noqa: DTZ001
                assert [row["belief_id"] for row in store.active(as_of=when)] == [rule]
            assert store.active(as_of=NOON - timedelta(days=1)) == store.active(as_of=NOON + timedelta(days=3)) == []
            with pytest.raises(InvalidEvent):
                store.active(as_of=-1)

    def test_project_query_digest_and_audit(self, store, writer):
        writer.extract("Cite sources", kind="rule", **self.DURABLE)
        assert store.project().how == "rebuilt"
        assert store.query("SELECT statement FROM beliefs WHERE kind = $kind", {"kind": "rule"}) == [
            {"statement": "Cite sources"}
        ]
        before = store.digest()
        assert store.project(rebuild=True).how == "rebuilt"
        assert before == store.digest()
        assert store.audit().exit_code == 0


class TestTimes:
    @pytest.mark.parametrize(
        "when", [NOON_MS, NOON, NOON.astimezone(timezone(timedelta(hours=13))), NOON.replace(tzinfo=None)]
    )
    def test_are_milliseconds_or_datetimes(self, when):
        assert milliseconds(when) == NOON_MS

    @pytest.mark.parametrize("when", [-1, 1 << 47, True, 1.5, "now", NOON.replace(year=1969), NOON.replace(year=9000)])
    def test_out_of_range_or_of_another_kind_are_refused(self, when):
        with pytest.raises(InvalidEvent):
            milliseconds(when)

    @pytest.mark.parametrize(
        "text",
        [
            "2026-03-02T12:00:00Z",
            "2026-03-02T12:00:00",
            " 2026-03-02 13:00:00.000+01:00 ",
            "20260302T120000Z",
            f"{NOON_MS}",
        ],
    )
    def test_are_read_as_people_write_them(self, text):
        assert moment(text) == NOON_MS

    @pytest.mark.parametrize("text", ["", "soon", "2026", "1e9", "-1772452800000", "9" * 30, "٢٠٢٦", "2026-02-30"])
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(InvalidEvent):
            moment(text)

    def test_a_date_is_its_first_instant(self):
        assert moment("2026-03-02") == moment("20260302") == NOON_MS - 12 * 3_600_000
        assert clock_text(NOON_MS) == "2026-03-02 12:00:00"
