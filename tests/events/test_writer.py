"""Writers and batches: streams, stamps, salts, chains, bases, subjects and source_refs, all or nothing."""

import os

import pytest
from tests.events.build import Author

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import Event
from beliefbase.events.errors import InvalidEvent, InvalidStamp, StoreUnavailable, UsedAfterFork
from beliefbase.events.hlc import Clock, SourceClock, counter_of, ms_of, stamp
from beliefbase.events.ids import ZERO_HASH, name_hash
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.events.writer import Batch, Pen, Writer

NOW = 1_800_000_000_000


class Wall:
    """A wall clock that stands where it is put."""

    def __init__(self, ms=NOW):
        self.ms = ms

    def __call__(self):
        return self.ms


class Desk:
    """A log, a pen on a wall that stands still, and writers by name."""

    def __init__(self, log, *, clock=None, wall=None):
        self.log = log
        self.wall = wall or Wall()
        self.pen = Pen(clock or Clock(self.wall), wall=self.wall)
        self.writers = {}

    def writer(self, agent="ann", **who):
        return self.writers.setdefault(agent, Writer(self.pen, agent=agent, **who))

    def batch(self):
        return Batch(self.log, self.pen)

    def add(self, type_name, fields, *, agent="ann", at=None):
        """One event in a commit of its own."""
        with self.batch() as batch:
            return batch.add(self.writer(agent), CATALOG.draft(type_name, fields), at=at)

    def events(self):
        return [stored.event for page in self.log.read() for stored in page]

    def skeleton(self, appended):
        return self.log.get(appended.id).skeleton


@pytest.fixture
def log(tmp_path):
    with_log = SQLiteLog(tmp_path / "log.db")
    yield with_log
    with_log.close()


@pytest.fixture
def desk(log):
    return Desk(log)


@pytest.fixture
def source(log):
    return Desk(log, clock=SourceClock())


SAID = {"speaker": "will", "verbatim": "It rains."}
BELIEF = {"statement": "It rains.", "kind": "fact"}


def said(**more):
    return CATALOG.draft("utterance.recorded", {**SAID, **more})


def extracted(**more):
    return CATALOG.draft("belief.extracted", {**BELIEF, **more})


def spoiled(desk, *adds):
    """A batch that ends in an exception."""
    with desk.batch() as batch:
        for writer, draft in adds:
            batch.add(writer, draft)
        raise RuntimeError


class TestStreams:
    def test_the_first_event_brings_the_one_with_which_its_writer_joins(self, desk):
        first = desk.add("utterance.recorded", SAID)
        joined, event = desk.events()
        assert (joined.skeleton.type, joined.skeleton.seq, joined.skeleton.prev) == ("writer.joined", 1, ZERO_HASH)
        assert joined.words == {"agent": "ann"}
        assert joined.skeleton.payload["max_drift"] == 60_000
        assert (event.id, event.skeleton.seq, event.skeleton.prev) == (first.id, 2, joined.hash)
        assert first[:5] == (event.id, "utterance.recorded", event.skeleton.writer, 2, event.skeleton.hlc)

    def test_a_writer_that_says_nothing_is_stored_nowhere(self, desk):
        desk.writer()
        with desk.batch():
            pass
        assert desk.events() == []

    def test_each_goes_on_over_commits_and_within_them(self, desk):
        for _ in range(2):
            with desk.batch() as batch:
                for agent in ("ann", "bob", "ann"):
                    batch.add(desk.writer(agent), said())
        streams = {}
        for event in desk.events():
            streams.setdefault(event.skeleton.writer, []).append(event)
        assert sorted(len(stream) for stream in streams.values()) == [3, 5]
        for stream in streams.values():
            assert [event.skeleton.seq for event in stream] == list(range(1, len(stream) + 1))
            assert [event.skeleton.prev for event in stream] == [ZERO_HASH, *(event.hash for event in stream[:-1])]

    def test_two_writers_of_one_agent_are_two_streams(self, desk):
        with desk.batch() as batch:
            for _ in range(2):
                batch.add(Writer(desk.pen, agent="ann"), said())
        assert len({event.skeleton.writer for event in desk.events()}) == 2

    def test_stamps_strictly_increase_over_all_writers_of_a_handle(self, desk):
        with desk.batch() as batch:
            for number in range(20):
                batch.add(desk.writer("ann" if number % 3 else "bob"), said())
        stamps = [event.skeleton.hlc for event in desk.events()]
        assert stamps == sorted(set(stamps))
        assert {ms_of(hlc) for hlc in stamps} == {NOW}

    def test_a_stamp_comes_after_all_that_is_stored_and_not_too_far_ahead(self, desk, log):
        log.append([Author(ms=NOW + 30_000).joined()])
        assert desk.skeleton(desk.add("utterance.recorded", SAID)).hlc > stamp(NOW + 30_000)
        log.append([Author("far", ms=NOW + 3_600_000).joined()])
        assert ms_of(desk.skeleton(desk.add("utterance.recorded", SAID)).hlc) < NOW + 31_000
        desk.wall.ms = NOW + 3_600_000
        assert desk.skeleton(desk.add("utterance.recorded", SAID)).hlc > stamp(NOW + 3_600_000)

    def test_every_event_has_salt_of_its_own_and_words_that_it_commits_to(self, desk):
        with desk.batch() as batch:
            batch.add_all(desk.writer(), [said(), said()])
        _, one, two = desk.events()
        assert one.salt != two.salt
        assert one.skeleton.commitment != two.skeleton.commitment
        bare = desk.add("belief.retracted", {"belief_id": one.id})
        assert desk.skeleton(bare).commitment is None

    def test_what_is_built_is_what_a_reader_verifies(self, desk, tmp_path):
        with desk.batch() as batch:
            batch.add_all(desk.writer(), [said(), extracted(tags=["a"], session="s", confidence=900), said(turn=3)])
        other = SQLiteLog(tmp_path / "other.db")
        assert other.merge(desk.events()).stored == 4
        other.close()


class TestAllOrNothing:
    def test_an_exception_in_the_block_stores_nothing_and_leaves_the_writers_where_they_were(self, desk):
        desk.add("utterance.recorded", SAID)
        writer = desk.writer()
        before = (writer.id, writer.seq, writer.prev)
        with pytest.raises(RuntimeError):
            spoiled(desk, (writer, said()), (desk.writer("bob"), said()))
        assert before == (writer.id, writer.seq, writer.prev)
        assert len(desk.events()) == 2
        desk.add("utterance.recorded", SAID)
        desk.add("utterance.recorded", SAID, agent="bob")
        assert [event.skeleton.seq for event in desk.events()] == [1, 2, 3, 1, 2]

    def test_the_log_is_free_again_after_a_batch_that_could_not_begin(self, desk, log):
        """A clock that refuses what it is shown must not keep the lock."""
        desk.pen.clock = Clock(desk.wall)
        desk.pen.clock._pid = -1
        with pytest.raises(UsedAfterFork), desk.batch():
            pass
        with Desk(log).batch():
            pass

    def test_an_event_that_cannot_be_built_leaves_no_trace_in_its_batch(self, source):
        with source.batch() as batch:
            with pytest.raises(InvalidStamp):
                batch.add(source.writer(), said(), at=1 << 60)
            batch.add(source.writer(), said(), at=NOW)
            with pytest.raises(InvalidStamp):
                batch.add(source.writer(), said(), at=-5)
        assert [event.skeleton.type for event in source.events()] == ["writer.joined", "utterance.recorded"]

    def test_after_a_commit_that_failed_every_writer_goes_on_under_a_new_id(self, desk, tmp_path):
        desk.add("utterance.recorded", SAID)
        writer, idle = desk.writer(), desk.writer("idle")
        before, idle_before = writer.id, idle.id
        (tmp_path / "log.db").rename(tmp_path / "moved.db")
        with pytest.raises(StoreUnavailable), desk.batch() as batch:
            batch.add(writer, said())
        assert before == writer.id  # nothing was begun
        (tmp_path / "moved.db").rename(tmp_path / "log.db")
        with pytest.raises(StoreUnavailable):
            self.cut_off(desk, writer)
        assert (before != writer.id, writer.seq, idle_before == idle.id) == (True, 0, True)
        desk.add("utterance.recorded", SAID)
        joined = [event for event in desk.events() if event.skeleton.type == "writer.joined"]
        assert len(joined) == 2

    def cut_off(self, desk, writer):
        """A batch whose transaction is gone when it is to be stored."""
        with desk.batch() as batch:
            batch.add(writer, said())
            batch._transaction.end()


class TestBasis:
    """A command that brings no basis gets the store's at append (DESIGN 5)."""

    def revise(self, desk, belief, **more):
        return desk.add("belief.retracted", {"belief_id": belief.id, **more})

    def test_is_empty_for_the_first_revision_and_then_names_the_latest(self, desk):
        belief = desk.add("belief.extracted", BELIEF)
        one = self.revise(desk, belief)
        two = self.revise(desk, belief)
        three = self.revise(desk, belief)
        assert [desk.skeleton(found).basis for found in (belief, one, two, three)] == [(), (), (one.id,), (two.id,)]

    def test_what_the_author_read_stands_as_it_is(self, desk):
        belief = desk.add("belief.extracted", BELIEF)
        one = self.revise(desk, belief)
        two = self.revise(desk, belief, basis=[])
        assert desk.skeleton(two).basis == ()
        assert desk.skeleton(self.revise(desk, belief)).basis == tuple(sorted([one.id, two.id]))

    def test_is_kept_up_within_a_batch(self, desk):
        with desk.batch() as batch:
            writer = desk.writer()
            belief = batch.add(writer, extracted())
            one = batch.add(writer, CATALOG.draft("belief.retracted", {"belief_id": belief.id}))
            two = batch.add(writer, CATALOG.draft("belief.reinstated", {"belief_id": belief.id, "undoes": [one.id]}))
            affirmed = batch.add(writer, CATALOG.draft("belief.affirmed", {"belief_id": belief.id}))
            three = batch.add(writer, CATALOG.draft("belief.retracted", {"belief_id": belief.id}))
        bases = [desk.skeleton(found).basis for found in (one, two, affirmed, three)]
        assert bases == [(), (one.id,), (two.id,), (two.id,)]

    def test_within_a_batch_and_over_commits_it_is_the_same(self, desk, tmp_path):
        """The batch's own bookkeeping is that of the log, for a random walk of revisions."""
        other = Desk(SQLiteLog(tmp_path / "other.db"))
        for one in (desk, other):
            one.pen.entropy = lambda count: b"e" * count
        drafts = [lambda ids, n=n: walk(ids, n) for n in range(40)]
        with desk.batch() as batch:
            together = run(lambda draft: batch.add(desk.writer(), draft), drafts)
        other.writer()
        apart = run(lambda draft: add_alone(other, draft), drafts)
        assert [desk.skeleton(found).basis for found in together] == [other.skeleton(found).basis for found in apart]
        other.log.close()

    def test_a_supersession_and_a_merge_revise_both_beliefs(self, desk):
        old, new, third = (desk.add("belief.extracted", BELIEF) for _ in range(3))
        superseded = desk.add("belief.superseded", {"superseded_id": old.id, "superseding_id": new.id})
        merged = desk.add("belief.merged", {"duplicate_id": third.id, "surviving_id": old.id})
        assert desk.skeleton(merged).basis == (superseded.id,)
        assert desk.skeleton(self.revise(desk, new)).basis == (superseded.id,)
        assert desk.skeleton(self.revise(desk, third)).basis == (merged.id,)

    @pytest.mark.parametrize("one_batch", [True, False])
    def test_a_resolution_revises_both_sides_of_its_contradiction(self, desk, one_batch):
        left, right = (desk.add("belief.extracted", BELIEF) for _ in range(2))
        earlier = self.revise(desk, right)

        def resolve(add):
            raised = add("contradiction.raised", {"left": left.id, "right": right.id})
            return raised, add("contradiction.resolved", {"contradiction_id": raised.id, "outcome": "left"})

        if one_batch:
            with desk.batch() as batch:
                raised, resolved = resolve(lambda name, fields: batch.add(desk.writer(), CATALOG.draft(name, fields)))
        else:
            raised, resolved = resolve(desk.add)
        assert [desk.skeleton(found).basis for found in (raised, resolved)] == [(earlier.id,), (earlier.id,)]
        assert desk.skeleton(self.revise(desk, left)).basis == (resolved.id,)
        again = desk.add("contradiction.resolved", {"contradiction_id": raised.id, "outcome": "right"})
        assert resolved.id in desk.skeleton(again).basis

    def test_of_more_than_64_the_least_are_named_and_it_says_so(self, desk):
        belief = desk.add("belief.extracted", BELIEF)
        with desk.batch() as batch:
            fields = {"belief_id": belief.id, "basis": []}
            ids = [batch.add(desk.writer(), CATALOG.draft("belief.retracted", fields)).id for _ in range(70)]
        basis = desk.skeleton(self.revise(desk, belief)).basis
        assert basis == (*sorted(ids)[: limits.BASIS_IDS], True)
        given = self.revise(desk, belief, basis=ids)
        assert desk.skeleton(given).basis == basis

    def test_events_that_revise_nothing_have_none(self, desk):
        belief = desk.add("belief.extracted", BELIEF)
        self.revise(desk, belief)
        used = desk.add("memory.injected", {"cards": [{"belief_id": belief.id}]})
        assert desk.skeleton(used).basis == ()


def walk(ids, number):
    belief = ids[number % 3]
    names = ("belief.retracted", "belief.affirmed", "belief.superseded", "belief.merged")
    name = names[(number * 7) % 4]
    if name == "belief.superseded":
        return CATALOG.draft(name, {"superseded_id": belief, "superseding_id": ids[(number + 1) % 3]})
    if name == "belief.merged":
        return CATALOG.draft(name, {"duplicate_id": belief, "surviving_id": ids[(number + 2) % 3]})
    return CATALOG.draft(name, {"belief_id": belief})


def run(add, drafts):
    found = [add(extracted()) for _ in range(3)]
    ids = [appended.id for appended in found]
    return found + [add(make(ids)) for make in drafts]


def add_alone(desk, draft):
    with desk.batch() as batch:
        return batch.add(desk.writer(), draft)


class TestSubjects:
    """Whose words are in the body: the author's, and those of everyone it cites (DESIGN 1)."""

    def subjects(self, desk, appended):
        return desk.skeleton(appended).subjects

    def test_an_utterance_is_its_speakers(self, desk):
        assert self.subjects(desk, desk.add("utterance.recorded", SAID)) == (name_hash("will"),)

    def test_a_belief_is_the_speakers_of_its_evidence(self, desk):
        cited = [desk.add("utterance.recorded", {**SAID, "speaker": name}).id for name in ("will", "mara")]
        belief = desk.add("belief.extracted", {**BELIEF, "evidence": cited})
        both = tuple(sorted([name_hash("will"), name_hash("mara")]))
        assert self.subjects(desk, belief) == both
        shown = desk.add("memory.injected", {"cards": [{"belief_id": belief.id}], "rendered": "It rains."})
        assert self.subjects(desk, shown) == both

    def test_evidence_counts_by_source_ref_and_within_a_batch(self, desk):
        with desk.batch() as batch:
            batch.add(desk.writer(), said(source_ref="chat:1"))
            belief = batch.add(desk.writer(), extracted(evidence=[name_hash("chat:1")]))
            own = batch.add(desk.writer(), extracted(evidence=[belief.id]))
        assert self.subjects(desk, belief) == self.subjects(desk, own) == (name_hash("will"),)

    def test_a_person_who_writes_is_a_subject_of_their_texts_and_an_agent_is_not(self, desk):
        desk.writer("mara", kind="human")
        by_person = desk.add("belief.extracted", BELIEF, agent="mara")
        assert self.subjects(desk, by_person) == (name_hash("mara"),)
        assert self.subjects(desk, desk.add("belief.extracted", BELIEF, agent="robot")) == ()
        joined = {event.words["agent"]: event for event in desk.events() if event.skeleton.type == "writer.joined"}
        assert joined["mara"].skeleton.subjects == (name_hash("mara"),)
        assert joined["robot"].skeleton.subjects == ()

    def test_what_has_no_words_has_no_subjects_and_what_is_said_stands(self, desk):
        belief = desk.add("belief.extracted", {**BELIEF, "subjects": ["zoe", "abe"]})
        assert self.subjects(desk, belief) == tuple(sorted([name_hash("abe"), name_hash("zoe")]))
        assert self.subjects(desk, desk.add("belief.extracted", {**BELIEF, "subjects": []})) == ()
        assert self.subjects(desk, desk.add("belief.retracted", {"belief_id": belief.id})) == ()
        assert self.subjects(desk, desk.add("belief.retracted", {"belief_id": belief.id, "reason": "wrong"})) == ()

    def test_evidence_that_dangles_adds_nobody(self, desk):
        belief = desk.add("belief.extracted", {**BELIEF, "evidence": [b"?" * 16]})
        assert self.subjects(desk, belief) == ()

    def test_more_than_a_list_holds_are_cut(self, desk):
        with desk.batch() as batch:
            cited = [batch.add(desk.writer(), said(subjects=[f"s{n}-{m}" for m in range(200)])).id for n in range(2)]
            belief = batch.add(desk.writer(), extracted(evidence=cited))
        assert len(self.subjects(desk, belief)) == limits.LIST_ITEMS


class TestSourceRefs:
    """An item that is stored is not stored again (DESIGN 3), whatever its type."""

    CASES = (
        ("utterance.recorded", SAID),
        ("belief.extracted", BELIEF),
        ("belief.retracted", {"belief_id": b"b" * 16}),
        ("memory.injected", {"cards": [{"belief_id": b"b" * 16}]}),
        ("policy.defined", {"policy": "p@1", "base": "half_life"}),
    )

    @pytest.mark.parametrize(("name", "fields"), CASES)
    def test_a_second_append_gives_the_first_ones_place_and_stores_nothing(self, desk, name, fields):
        first = desk.add(name, {**fields, "source_ref": "s:1"})
        again = desk.add(name, {**fields, "source_ref": "s:1"}, agent="bob")
        assert again == first._replace(existing=True)
        assert len(desk.events()) == 2

    def test_it_holds_within_a_batch_and_within_one_call(self, desk):
        with desk.batch() as batch:
            first = batch.add(desk.writer(), said(source_ref="s:1"))
            second = batch.add(desk.writer("bob"), said(source_ref="s:1"))
            third, fourth = batch.add_all(desk.writer(), [said(source_ref="s:2"), said(source_ref="s:2")])
        assert [first.existing, second.existing, third.existing, fourth.existing] == [False, True, False, True]
        assert (first.id, third.id) == (second.id, fourth.id)
        assert len(desk.events()) == 3

    def test_one_name_may_stand_for_things_of_two_types(self, desk):
        assert desk.add("utterance.recorded", {**SAID, "source_ref": "s:1"}).id != (
            desk.add("belief.extracted", {**BELIEF, "source_ref": "s:1"}).id
        )

    def test_of_merged_copies_the_earliest_is_the_one(self, desk, log):
        late, early = Author("late", ms=NOW - 1000), Author("early", ms=NOW - 2000)
        for author in (late, early):
            log.merge([author.joined(), author.said(source_ref="s:1")])
        assert desk.add("utterance.recorded", {**SAID, "source_ref": "s:1"}).writer == early.writer

    def test_a_rolled_back_item_is_not_there(self, desk):
        with pytest.raises(RuntimeError):
            spoiled(desk, (desk.writer(), said(source_ref="s:1")))
        assert not desk.add("utterance.recorded", {**SAID, "source_ref": "s:1"}).existing

    def test_the_name_is_in_the_words_and_its_hash_in_the_skeleton(self, desk):
        event = desk.log.get(desk.add("belief.retracted", {"belief_id": b"b" * 16, "source_ref": "s:1"}).id)
        assert (event.skeleton.source_ref, event.words) == (name_hash("s:1"), {"source_ref": "s:1"})


class TestImporters:
    def test_stamps_are_the_sources_times_and_recorded_says_how_late(self, source):
        found = source.skeleton(source.add("utterance.recorded", SAID, at=NOW - 86_400_000))
        assert (ms_of(found.hlc), found.recorded) == (NOW - 86_400_000, 86_400_000)

    def test_without_a_time_it_stands_directly_after_the_one_before(self, source):
        one = source.add("utterance.recorded", SAID, at=1000)
        two = source.add("utterance.recorded", SAID)
        assert two.hlc == one.hlc + 1

    def test_an_item_of_an_earlier_time_sorts_after_its_parent_all_the_same(self, source):
        parent = source.add("utterance.recorded", SAID, at=5000)
        child = source.add("utterance.recorded", SAID, at=4000)
        assert (child.hlc > parent.hlc, ms_of(child.hlc)) == (True, 5000)

    def test_it_observes_nothing_but_its_source(self, source):
        source.log.append([Author(ms=NOW).joined()])
        assert ms_of(source.add("utterance.recorded", SAID, at=1000).hlc) == 1000

    def test_a_grown_source_goes_on_after_what_is_stored_of_it(self, source, log):
        """A child with its parent's millisecond sorts after it, though the parent came with an earlier import."""
        for number in range(5):
            parent = source.add("utterance.recorded", {**SAID, "source_ref": f"s:{number}"}, at=1000)
        later = Desk(log, clock=SourceClock())
        again = later.add("utterance.recorded", {**SAID, "source_ref": "s:4"}, at=1000)
        child = later.add("utterance.recorded", {**SAID, "source_ref": "s:5"}, at=1000)
        assert (again.hlc, again.existing) == (parent.hlc, True)
        assert child.hlc > parent.hlc
        assert counter_of(child.hlc) > 0

    def test_within_a_batch_too(self, source, log):
        parent = source.add("utterance.recorded", {**SAID, "source_ref": "s:1"}, at=9000)
        later = Desk(log, clock=SourceClock())
        with later.batch() as batch:
            batch.add(later.writer(), said(source_ref="s:0"), at=1000)
            batch.add(later.writer(), said(source_ref="s:1"), at=9000)
            child = batch.add(later.writer(), said(source_ref="s:2"), at=8000)
        assert child.hlc > parent.hlc

    def test_only_importers_may_say_when(self, desk):
        with pytest.raises(InvalidEvent) as caught:
            desk.add("utterance.recorded", SAID, at=NOW)
        assert caught.value.data["field"] == "at"
        assert desk.events() == []

    def test_its_writers_joined_says_that_no_drift_counts(self, source):
        source.add("utterance.recorded", SAID, at=1000)
        assert source.events()[0].skeleton.payload["max_drift"] == 0


class TestAWallSteppedBack:
    def test_the_writer_goes_on_under_a_new_id_with_stamps_of_the_new_wall(self, desk):
        before = desk.add("utterance.recorded", SAID)
        desk.wall.ms = NOW - 3_600_000
        after = desk.add("utterance.recorded", SAID)
        assert (before.writer != after.writer, after.seq, ms_of(after.hlc)) == (True, 2, NOW - 3_600_000)
        again = desk.add("utterance.recorded", SAID)
        assert (again.writer, again.seq) == (after.writer, 3)

    def test_so_do_all_writers_of_the_handle_and_in_the_middle_of_a_batch(self, desk):
        old = {agent: desk.add("utterance.recorded", SAID, agent=agent).writer for agent in ("ann", "bob")}
        with desk.batch() as batch:
            one = batch.add(desk.writer("ann"), said())
            desk.wall.ms = NOW - 3_600_000
            two = batch.add(desk.writer("ann"), said())
            three = batch.add(desk.writer("bob"), said())
        assert one.writer == old["ann"]
        assert not {two.writer, three.writer} & set(old.values())
        assert [found.seq for found in (one, two, three)] == [3, 2, 2]
        assert desk.add("utterance.recorded", SAID, agent="bob").seq == 3

    def test_a_small_step_back_changes_nothing(self, desk):
        before = desk.add("utterance.recorded", SAID)
        desk.wall.ms = NOW - 50_000
        after = desk.add("utterance.recorded", SAID)
        assert (before.writer, after.seq, after.hlc > before.hlc) == (after.writer, 3, True)


def test_a_forked_child_cannot_write(desk):
    desk.add("utterance.recorded", SAID)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            desk.add("utterance.recorded", SAID)
        except UsedAfterFork:
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(desk.events()) == 2
    assert desk.add("utterance.recorded", SAID).seq == 3


def test_what_was_built_equals_what_is_stored(desk):
    """The skeleton that a built event carries along is the one that its bytes give."""
    with desk.batch() as batch:
        batch.add_all(desk.writer(), [said(), extracted(tags=["x"], spans=[{"evidence": 0, "start": 1, "end": 2}])])
        built = list(batch._events)
    assert built == desk.events()
    assert [event.skeleton for event in built] == [Event(event.raw).skeleton for event in built]
