"""What every event log promises, on every backend.

A failure here means that stores of different kinds, or one store before and after a sync, would give different
answers, lose an event, or pass over a forged one. Nothing in here may be relaxed for one backend.
"""

import itertools

import pytest
from tests.contract.backends import BACKENDS
from tests.events.build import Author, writer_id

from beliefbase.events.catalog import Role
from beliefbase.events.envelope import Event
from beliefbase.events.errors import (
    BrokenChain,
    Equivocation,
    InvalidEvent,
    LimitExceeded,
    NotCanonical,
    StoreUnavailable,
)
from beliefbase.events.frontier import EMPTY_ROOT, frontier_root
from beliefbase.events.ids import name_hash, skeleton_hash
from beliefbase.events.index import key_of
from beliefbase.events.log import Fork, Gap, Head, Known

ALWAYS = (1 << 63) - 1


@pytest.fixture(params=BACKENDS)
def new_log(request, tmp_path):
    opened = []

    def make():
        opened.append(BACKENDS[request.param](tmp_path, f"log{len(opened)}"))
        return opened[-1]

    yield make
    for log in opened:
        log.close()


@pytest.fixture
def log(new_log):
    return new_log()


def everything(log):
    return [stored.event for page in log.read() for stored in page]


def contents(log):
    return {(event.raw, event.salt, event.body) for event in everything(log)}


def flat(pages):
    return [event for page in pages for event in page]


def head(event):
    return Head(event.skeleton.writer, event.skeleton.seq, skeleton_hash(event.raw))


def known(event):
    skeleton = event.skeleton
    return Known(skeleton.hlc, skeleton.writer, skeleton.seq, event.id)


def tips(log, *keys):
    with log.transaction() as transaction:
        return transaction.tips(keys)


# ---------------------------------------------------------------------- append


def test_an_empty_log(log):
    assert everything(log) == []
    assert log.frontier() == ()
    assert log.root() == EMPTY_ROOT
    assert log.last_position() == 0
    assert log.gaps() == [] and log.forks() == [] and list(log.since(())) == []
    with log.filing() as filing:
        assert dict(filing.heads()) == {} and list(filing.streams()) == []
    with log.transaction() as transaction:
        assert transaction.max_hlc(ALWAYS) == 0
        assert transaction.head(writer_id("ann")) is None


def test_what_was_appended_is_read_back_byte_for_byte(log):
    ann = Author()
    events = [ann.joined(), ann.said("Es regnet. 雨"), ann.extracted()]
    assert log.append(events) == [event.id for event in events]
    assert everything(log) == events
    assert [log.get(event.id) for event in events] == events
    assert log.frontier() == (head(events[-1]),)


def test_appending_the_same_events_again_changes_nothing(log):
    ann = Author()
    first, second = ann.joined(), ann.said()
    log.append([first, second])
    third = ann.said("And on.")
    assert log.append([second, third]) == [second.id, third.id]
    assert log.append([first, second, third]) == [first.id, second.id, third.id]
    assert everything(log) == [first, second, third]


def test_an_event_twice_in_one_batch_is_stored_once(log):
    first = Author().joined()
    assert log.append([first, first]) == [first.id, first.id]
    assert everything(log) == [first]


def test_an_empty_batch_is_no_event(log):
    assert log.append([]) == []
    assert log.last_position() == 0


def test_a_batch_is_stored_whole_or_not_at_all(log):
    ann, bob = Author("ann"), Author("bob")
    bob.joined()
    with pytest.raises(BrokenChain) as raised:
        log.append([ann.joined(), ann.said(), bob.said("Without the event before it.")])
    assert (raised.value.data["writer"], raised.value.data["seq"]) == (bob.writer, 2)
    assert everything(log) == [] and log.frontier() == () and log.root() == EMPTY_ROOT
    assert log.naming([ann.writer], list(Role)) == []


@pytest.mark.parametrize("wrong", ["gap", "prev", "first"])
def test_an_append_must_continue_its_stream(log, wrong):
    ann = Author()
    log.append([ann.joined()])
    other = Author()
    if wrong == "gap":
        ann.said()
        event = ann.said()
    elif wrong == "prev":
        ann.prev = bytes(range(32))
        event = ann.said()
    else:
        other = Author("bob", prev=bytes(range(32)))
        event = other.joined()
    with pytest.raises(BrokenChain):
        log.append([event])
    assert log.last_position() == 1


def test_other_bytes_under_the_same_seq_are_refused_and_leave_nothing(log):
    ann = Author()
    first = ann.joined()
    twin = ann.fork()
    second = ann.said("Mine.")
    log.append([first, second])
    with pytest.raises(Equivocation) as raised:
        log.append([Author("bob").joined(), twin.said("Not mine.")])
    assert raised.value.data["seq"] == 2
    assert everything(log) == [first, second]


def test_a_stream_that_a_foreign_branch_overtook_can_not_be_continued_by_an_append(log):
    ann = Author()
    log.append([ann.joined()])
    twin = ann.fork()
    log.merge([twin.said("Forged.")])
    with pytest.raises(Equivocation):
        log.append([ann.said("Mine.")])


def test_an_append_may_not_add_a_second_event_of_one_seq_to_another_branch(log):
    ann = Author()
    log.append([ann.joined()])
    twin = ann.fork()
    log.append([ann.said("2")])
    log.merge([twin.said("2"), twin.said("3")])
    with pytest.raises(Equivocation):
        log.append([ann.said("3")])
    assert log.append([twin.said("4")])  # the longest branch is free to go on


def test_words_that_the_skeleton_does_not_commit_to_are_refused(log):
    event = Author().joined()
    with pytest.raises(InvalidEvent):
        log.append([Event(event.raw, event.salt, Author("bob").joined("bob").body)])
    assert log.last_position() == 0


def test_an_exception_rolls_a_transaction_back(log):
    def transact():
        with log.transaction() as transaction:
            transaction.insert([Author().joined()])
            raise KeyError

    with pytest.raises(KeyError):
        transact()
    assert log.last_position() == 0 and log.frontier() == ()


def test_a_transaction_sees_what_it_stored(log):
    ann = Author()
    first, second = ann.joined(), ann.extracted(source_ref="import:chat:1")
    with log.transaction() as transaction:
        transaction.insert([first])
        assert transaction.head(ann.writer) == head(first)
        transaction.insert([second])
        assert transaction.head(ann.writer) == head(second)
        assert transaction.max_hlc(ALWAYS) == second.skeleton.hlc
        assert transaction.find_refs([("belief.extracted", name_hash("import:chat:1"))]) != {}
    assert everything(log) == [first, second]


def test_a_transaction_can_not_be_used_after_its_end(log):
    with log.transaction() as transaction:
        pass
    with pytest.raises(StoreUnavailable):
        transaction.insert([Author().joined()])
    assert log.last_position() == 0


def test_a_closed_log_says_so(new_log):
    log = new_log()
    log.close()
    for use in (log.frontier, log.last_position, lambda: log.append([Author().joined()]), lambda: list(log.read())):
        with pytest.raises(StoreUnavailable):
            use()


# ---------------------------------------------------------------------- what a writer asks before it stamps


def test_the_largest_stamp_up_to_a_bound(log):
    ann = Author()
    events = [
        ann.joined(),
        ann.said(),
        ann.write("utterance.recorded", {"speaker": "w", "verbatim": "2099"}, hlc=1 << 62),
    ]
    log.append(events)
    with log.transaction() as transaction:
        assert transaction.max_hlc(ALWAYS) == 1 << 62
        assert transaction.max_hlc((1 << 62) - 1) == events[1].skeleton.hlc
        assert transaction.max_hlc(events[1].skeleton.hlc) == events[1].skeleton.hlc
        assert transaction.max_hlc(events[1].skeleton.hlc - 1) == events[0].skeleton.hlc
        assert transaction.max_hlc(0) == 0


def test_a_source_ref_finds_the_earliest_of_its_type(log):
    ann, bob = Author("ann", ms=5_000), Author("bob", ms=1_000)
    late = ann.extracted(source_ref="import:chat:1")
    early = bob.extracted(source_ref="import:chat:1")
    said = bob.said(source_ref="import:chat:1")
    log.append([late])
    log.merge([early, said])
    ref = name_hash("import:chat:1")
    asked = [
        ("belief.extracted", ref),
        ("utterance.recorded", ref),
        ("belief.affirmed", ref),
        ("belief.extracted", b"x" * 16),
    ]
    with log.transaction() as transaction:
        found = transaction.find_refs(asked)
        assert found == {
            pair: (event.skeleton.hlc, event.skeleton.writer, event.skeleton.seq, event.id)
            for pair, event in ((asked[0], early), (asked[1], said))
        }
        assert transaction.find_refs([]) == {}


def test_subjects_are_found_by_id_and_by_source_ref(log):
    ann = Author()
    first = ann.said(source_ref="import:chat:1", subjects=["will", "zoe"])
    copy = ann.said(source_ref="import:chat:1", subjects=["will", "eve"])
    log.append([first, copy])
    ref = name_hash("import:chat:1")
    with log.transaction() as transaction:
        assert transaction.subjects([first.id, ref, b"?" * 16]) == {
            first.id: tuple(sorted(map(name_hash, ["will", "zoe"]))),
            ref: tuple(sorted(map(name_hash, ["will", "zoe", "eve"]))),
        }


def test_the_sides_of_a_contradiction(log):
    ann = Author()
    left, right = ann.extracted("a"), ann.extracted("b")
    raised = ann.raised(right.id, left.id)
    log.append([left, right, raised])
    with log.transaction() as transaction:
        assert transaction.sides(raised.id) == (right.id, left.id)
        assert transaction.sides(left.id) is None
        assert transaction.sides(b"?" * 16) is None


# ---------------------------------------------------------------------- tips


def test_a_revision_replaces_the_tips_that_it_names_and_no_others(log):
    ann = Author()
    belief = ann.extracted()
    one, two = ann.retracted(belief.id), ann.retracted(belief.id)
    log.append([belief, one])
    assert tips(log, belief.id) == {belief.id: {one.id}}
    log.append([two])
    assert tips(log, belief.id) == {belief.id: {one.id, two.id}}
    log.append([three := ann.retracted(belief.id, basis=[one.id])])
    assert tips(log, belief.id) == {belief.id: {two.id, three.id}}


def test_affirmations_are_no_tips_and_remove_none(log):
    ann = Author()
    belief = ann.extracted()
    ended = ann.retracted(belief.id)
    affirmed = ann.affirmed(belief.id, basis=[ended.id])
    log.append([belief, ended, affirmed])
    assert tips(log, belief.id) == {belief.id: {ended.id}}


def test_a_supersession_and_a_merge_are_revisions_of_both_beliefs(log):
    ann = Author()
    a, b, c = (ann.extracted(text) for text in "abc")
    superseded = ann.superseded(a.id, b.id)
    merged = ann.merged(b.id, c.id, basis=[superseded.id])
    log.append([a, b, c, superseded, merged])
    assert tips(log, a.id, b.id, c.id) == {a.id: {superseded.id}, b.id: {merged.id}, c.id: {merged.id}}


def test_a_resolution_is_a_revision_of_both_sides_in_whatever_order_it_arrives(new_log):
    ann, bob, eve = Author("ann"), Author("bob"), Author("eve")
    left, right = ann.extracted("a"), ann.extracted("b")
    ended = ann.retracted(left.id)
    raised = bob.raised(left.id, right.id)
    resolved = eve.resolved(raised.id, basis=[ended.id])
    again = Author("zoe").resolved(raised.id, "right", basis=[resolved.id])
    expected = {left.id: {again.id}, right.id: {again.id}, raised.id: {again.id}}
    for order in itertools.permutations([ended, raised, resolved, again]):
        log = new_log()
        for event in (left, right, *order):
            log.merge([event])
        assert tips(log, left.id, right.id, raised.id) == expected, [event.skeleton.type for event in order]
        log.close()


# ---------------------------------------------------------------------- merge


def test_merge_is_idempotent_and_reports_what_it_did(log):
    ann = Author()
    events = [ann.joined(), ann.said(), ann.extracted()]
    report = log.merge([events[0], events[2], events[1]])
    assert (report.stored, report.known, report.aside, report.forks, report.gaps) == (3, 0, 0, [], [])
    report = log.merge(reversed(events))
    assert (report.stored, report.known, report.words_filled) == (0, 3, 0)
    assert sorted(everything(log), key=lambda event: event.skeleton.seq) == events


def test_an_event_without_its_predecessor_is_kept_aside_until_that_comes(log):
    ann = Author()
    one, two, three, four = ann.joined(), ann.said("2"), ann.said("3"), ann.said("4")
    report = log.merge([four, three])
    gap = Gap(ann.writer, 3, skeleton_hash(two.raw), three.id)
    assert (report.stored, report.aside, report.gaps) == (0, 2, [gap])
    assert log.gaps() == [gap]
    assert everything(log) == [] and log.frontier() == () and log.root() == EMPTY_ROOT and log.get(four.id) is None
    assert log.merge([four]).known == 1
    report = log.merge([one])
    assert (report.stored, report.aside, report.gaps) == (1, 0, [])
    report = log.merge([two])
    assert (report.stored, report.gaps, log.gaps()) == (3, [], [])
    assert log.frontier() == (head(four),)
    assert contents(log) == {(event.raw, event.salt, event.body) for event in (one, two, three, four)}


def test_an_append_does_not_strand_what_is_kept_aside(log):
    ann = Author()
    one, two, three = ann.joined(), ann.said("2"), ann.said("3")
    log.merge([three])
    log.append([one, two])
    assert log.merge([three]).stored == 1
    assert log.gaps() == []


def test_a_prev_that_belongs_to_another_seq_or_writer_never_matches(new_log):
    ann = Author("ann")
    one, two = ann.joined(), ann.said()
    skipped = Author(writer=ann.writer, seq=2, prev=skeleton_hash(one.raw)).said("seq 3 on top of seq 1")
    strange = Author("bob", seq=2, prev=skeleton_hash(two.raw)).said("on top of another writer's")
    for order in [*itertools.permutations([[one, two], [skipped], [strange]]), [[one, two, skipped, strange]]]:
        log = new_log()
        for events in order:
            log.merge(events)
        assert everything(log) == [one, two] and log.forks() == []
        assert [gap.event_id for gap in log.gaps()] == [
            e.id for e in sorted([skipped, strange], key=lambda e: e.skeleton.writer)
        ]


def test_an_equivocation_is_kept_as_a_branch_and_both_count(log):
    ann = Author()
    one = ann.joined()
    twin = ann.fork()
    mine, theirs = [ann.said("2"), ann.said("3")], [twin.said("2"), twin.said("3"), twin.said("4")]
    log.append([one, *mine])
    report = log.merge(theirs)
    forks = [Fork(ann.writer, seq, tuple(sorted((mine[seq - 2].id, theirs[seq - 2].id)))) for seq in (2, 3)]
    assert (report.stored, report.forks) == (3, forks)
    assert log.forks() == forks
    assert log.frontier() == tuple(sorted([head(mine[-1]), head(theirs[-1])]))
    assert set(everything(log)) == {one, *mine, *theirs}
    with log.filing() as filing:
        streams = {name: list(filing.stream(name)) for name in filing.streams()}
        assert filing.heads() == {name: head(rows[0].event) for name, rows in streams.items()}
        assert (filing.root(), filing.loose_words()) == (log.root(), [])
        assert {name: [row for stream, row in filing.newest_first() if stream == name] for name in streams} == streams
    assert [[row.event for row in rows] for rows in streams.values()] == [[*mine[::-1], one], theirs[::-1]]
    assert [[row.seq for row in rows] for rows in streams.values()] == [[3, 2, 1], [4, 3, 2]]
    assert all(name.startswith(ann.writer.hex()) for name in streams)
    rows = [row for rows in streams.values() for row in rows]
    assert {row.topic for row in rows} == {"writer.joined/1", "utterance.recorded/1"}
    assert all(row.words_of == row.event.id for row in rows)


def test_what_is_filed_is_one_snapshot(log):
    ann = Author()
    log.append([ann.joined(), ann.said("2")])
    with log.filing() as filing:
        (stream,) = filing.streams()
        log.append([ann.said("3")])
        assert filing.heads()[stream].seq == 2
        assert [row.seq for row in filing.stream(stream)] == [2, 1]
        assert filing.root() == frontier_root(filing.heads().values()) != log.root()


def test_branches_of_branches_and_forks_at_the_first_event(log):
    ann = Author()
    other = Author(mark="other first")
    one, other_one = ann.joined(), other.joined()
    left = ann.fork("left")
    two, left_two = ann.said("2"), left.said("2")
    lefter = left.fork("lefter")
    left_three, lefter_three = left.said("3"), lefter.said("3")
    events = [lefter_three, left_three, other_one, two, left_two, one]
    report = log.merge(events)
    assert report.stored == 6 and log.gaps() == []
    assert log.frontier() == tuple(sorted(map(head, [two, left_three, lefter_three, other_one])))
    assert [fork.seq for fork in log.forks()] == [1, 2, 3]
    assert log.merge(events).known == 6
    with log.filing() as filing:
        kept = dict(filing.branches())
        assert {stream: branch.head for stream, branch in kept.items()} == filing.heads()
        assert list(filing.unusable()) == []
        for stream, branch in kept.items():
            oldest = list(filing.stream(stream))[-1]
            assert (branch.first, branch.misstored, oldest.misstored) == (oldest.seq, "", "")
            assert (branch.parent is None) == (oldest.seq == 1)
            if branch.parent is not None:
                assert skeleton_hash(filing.skeleton(branch.parent, oldest.seq - 1)) == oldest.event.skeleton.prev
        assert filing.skeleton("nobody", 1) is None
    assert list(log.misnoted()) == []


def test_bodies_that_come_later_are_filled_in(log):
    ann = Author()
    one, two = ann.said("1"), ann.said("2")
    log.merge([Event(one.raw), Event(two.raw)])
    assert log.get(one.id).wants_words
    report = log.merge([one, Event(two.raw)])
    assert (report.known, report.words_filled) == (2, 1)
    assert log.get(one.id) == one and log.get(two.id).wants_words
    assert log.merge([one]).words_filled == 0


def test_bodies_that_come_later_reach_what_is_kept_aside(log):
    ann = Author()
    one, two = ann.said("1"), ann.said("2")
    log.merge([Event(two.raw)])
    log.merge([two])
    log.merge([one])
    assert log.get(two.id) == two


def test_words_kept_aside_are_not_lost_when_a_copy_without_them_comes_with_the_predecessor(log):
    ann = Author()
    one, two = ann.said("1"), ann.said("2")
    log.merge([two])
    log.merge([one, Event(two.raw)])
    assert log.get(two.id) == two


def test_of_two_copies_in_one_merge_the_one_with_words_counts(log):
    one = Author().said()
    assert log.merge([Event(one.raw), one, Event(one.raw)]).stored == 1
    assert log.get(one.id) == one


def forged(event, **changes):
    return Event(event.skeleton._replace(**changes).encode())


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda e: Event(e.raw + b"\0", e.salt, e.body), NotCanonical),
        (lambda e: Event(b"\xc1" + e.raw), NotCanonical),
        (lambda e: Event(e.raw, e.salt, e.body + b"\0"), NotCanonical),
        (lambda e: Event(e.raw, bytes(16), e.body), NotCanonical),
        (lambda e: Event(e.raw, None, e.body), NotCanonical),
        (lambda e: forged(e, seq=1), NotCanonical),
        (lambda e: forged(e, prev=bytes(32)), NotCanonical),
        (lambda e: forged(e, hlc=1 << 63), NotCanonical),
        (lambda e: Event(e.raw, e.salt, bytes(300_000)), LimitExceeded),
    ],
)
def test_what_no_release_may_change_is_checked_and_nothing_after_it_is_stored(log, wrong, error):
    ann = Author()
    one, two, three = ann.joined(), ann.said("2"), ann.said("3")
    with pytest.raises(error):
        log.merge([one, wrong(two), three])
    assert everything(log) == [one]
    assert log.merge([two, three]).stored == 2


def test_a_refused_event_is_named_where_it_can_be_read(log):
    ann = Author()
    ann.joined()
    bad = ann.said()
    with pytest.raises(NotCanonical) as raised:
        log.merge([Event(bad.raw, bad.salt, bad.body + b"\0")])
    assert (raised.value.data["writer"], raised.value.data["seq"]) == (ann.writer, 2)
    assert ann.writer.hex() in str(raised.value)


def test_what_this_release_does_not_understand_is_stored_and_passed_on(new_log):
    ann = Author()
    events = [
        ann.joined(),
        ann.write("belief.weighed", {}, payload={"weight": 3}),
        ann.write("belief.extracted", {}, version=9, payload={"kind": "fact"}),
        ann.write("belief.retracted", {}, payload={"nonsense": True}),
        ann.write("?", {}, format=2, payload={}),
    ]
    here, there = new_log(), new_log()
    assert here.merge(events).stored == 5
    assert there.merge(flat(here.since(()))).stored == 5
    assert here.root() == there.root()
    assert [event.raw for event in everything(there)] == [event.raw for event in events]
    assert here.of_types(["belief.weighed"]) == [events[1]]


def test_another_skeleton_under_a_stored_id_is_found(log):
    ann = Author()
    one, two = ann.joined(), ann.said()
    log.append([one])
    two.id = one.id  # no real skeleton with this id is known
    with log.transaction() as transaction:
        assert transaction.clashing([two]) == [two]
        assert transaction.clashing([ann.said()]) == []


# ---------------------------------------------------------------------- reading


def test_pages_have_the_asked_size_and_start_behind_a_position(log):
    ann = Author()
    events = [ann.joined(), *ann.utterances(6)]
    log.append(events)
    pages = list(log.read(limit=3))
    assert [len(page) for page in pages] == [3, 3, 1]
    positions = [stored.position for page in pages for stored in page]
    assert positions == sorted(set(positions))
    assert log.last_position() == positions[-1]
    assert [stored.event for page in log.read(after=positions[3]) for stored in page] == events[4:]
    assert list(log.read(after=positions[-1])) == []
    assert all(stored.event.body is None for page in log.read(words=False) for stored in page)


def test_a_read_gives_the_log_as_it_was_when_it_began(log):
    ann = Author()
    log.append([ann.joined(), ann.said()])
    pages = log.read(limit=1)
    next(pages)
    log.append([ann.said("Later.")])
    assert len(list(pages)) == 1


def test_naming_finds_by_role(log):
    ann = Author()
    said = ann.said(source_ref="import:chat:1")
    a, b = ann.extracted("a", evidence=[said.id], source_ref="key:ann:a"), ann.extracted("b", condition_key="release")
    superseded = ann.superseded(a.id, b.id)
    reinstated = ann.write("belief.reinstated", {"belief_id": a.id, "undoes": [superseded.id]}, basis=[superseded.id])
    shown = ann.write("memory.injected", {"cards": [{"belief_id": a.id}]})
    met = ann.write("condition.met", {"condition_key": "release"})
    policy = ann.write("policy.defined", {"policy": "notes@1", "base": "no_decay"})
    log.append([said, a, b, superseded, reinstated, shown, met, policy])

    def named(keys, *roles):
        return log.naming(keys, roles, words=True)

    assert named([a.id], Role.SELF) == [a]
    assert named([name_hash("key:ann:a")], Role.SELF) == [a]
    assert named([a.id], Role.STATE) == [superseded, reinstated]
    assert named([b.id], Role.LINK) == [superseded]
    assert named([superseded.id], Role.LINK, Role.BASIS) == [reinstated]
    assert named([a.id], Role.SHOWN) == [shown]
    assert named([said.id], Role.CITED) == [a]
    assert named([name_hash("release")], Role.STATE) == [b, met]
    assert named([name_hash("notes@1")], Role.STATE) == [policy]
    assert named([a.id, b.id], Role.SELF, Role.STATE) == [a, b, superseded, reinstated]
    assert named([], Role.SELF) == [] and named([a.id]) == [] and named([b"?" * 16], *Role) == []


def test_what_several_events_name_in_some_roles_is_found_by_key(log):
    ann = Author()
    a, b = ann.extracted("a", source_ref="key:ann:a"), ann.extracted("b")
    superseded = ann.superseded(a.id, b.id)
    log.append([a, b, superseded])
    place = {stored.event.id: stored.position for page in log.read() for stored in page}
    in_roles = [
        *((name, Role.SELF, a) for name in (a.id, name_hash("key:ann:a"))),
        *((event.id, Role.SELF, event) for event in (b, superseded)),
        (a.id, Role.STATE, superseded),
        (b.id, Role.LINK, superseded),
    ]
    for roles in ([Role.SELF], [Role.STATE, Role.LINK], [Role.SELF, Role.STATE], list(Role)):
        naming = {}
        for name, role, event in in_roles:
            if role in roles:
                naming.setdefault(key_of(name), []).append(place[event.id])
        for limit in (1, 2, 1000):
            pages = list(log.shared(roles, limit=limit))
            found = [sorted(map(int, positions.split(","))) for positions in flat(pages)]
            assert found == [sorted(positions) for _, positions in sorted(naming.items()) if len(positions) > 1]
            assert all(0 < len(page) <= limit for page in pages)
        for names in ([a.id], [a.id, b.id, b"?" * 16], []):
            naming_them = {}
            for name in names:
                for position in naming.get(key_of(name), ()):
                    naming_them.setdefault(position, set()).add(name)
            found = log.positions_naming(names, roles)
            assert {position: set(named) for position, named in found.items()} == naming_them
    assert list(log.shared([])) == list(log.shared([Role.SHOWN])) == list(log.positions_naming([a.id], [])) == []


def test_events_of_some_types_are_found_at_their_positions_without_their_words(log):
    ann = Author()
    events = [ann.joined(), ann.said("one"), belief := ann.extracted(), ann.said("two"), ann.retracted(belief.id)]
    log.append(events)
    stored = {one.position: one.event for page in log.read() for one in page}
    places = sorted(stored)
    assert log.positions({"utterance.recorded", "belief.retracted"}) == [places[1], places[3], places[4]]
    assert log.positions(["belief"]) == log.positions([]) == []
    wanted = [places[4], places[0], places[2]]
    assert flat(log.scan_at(wanted, limit=2)) == [(place, stored[place].raw, None) for place in wanted]
    assert list(log.scan_at([])) == [] and flat(log.scan_at([places[-1] + 1])) == []


def test_names_that_begin_alike_are_told_apart(log):
    ann = Author()
    belief = ann.extracted()
    twin = belief.id[:8] + bytes(8)
    log.append([belief, about := ann.retracted(twin)])
    assert log.naming([belief.id], [Role.STATE]) == []
    assert log.naming([twin], [Role.STATE, Role.SELF], words=True) == [about]
    assert log.by_id([twin]) == [] and log.get(twin) is None
    assert log.naming([belief.id, twin], [Role.SELF, Role.STATE], words=True) == [belief, about]
    log.append([both := ann.raised(belief.id, twin)])
    assert log.naming([belief.id], [Role.STATE]) == [both]
    assert log.naming([twin], [Role.STATE], words=True) == [about, both]


def test_thousands_of_keys_are_asked_for_at_once(log):
    ann = Author()
    events = [ann.joined(), *ann.utterances(3000)]
    log.append(events)
    ids = [event.id for event in events]
    assert len(log.by_id([*ids, b"?" * 16])) == 3001
    assert log.by_id(ids[5:6], words=True) == [events[5]]
    assert log.by_id(ids[5:6])[0].body is None


def test_events_of_a_type(log):
    ann = Author()
    said, extracted = ann.said(), ann.extracted()
    old = ann.write("belief.extracted", {}, version=7, payload={})
    log.append([said, extracted, old])
    assert set(log.of_types(["belief.extracted"])) == {Event(extracted.raw), old}
    assert log.of_types(["utterance.recorded"], words=True) == [said]
    assert log.of_types(["belief"]) == [] and log.of_types([]) == []


def test_agents_are_named_by_the_first_event_of_their_writers(log):
    ann, bob, eve = Author("1"), Author("2"), Author("3")
    log.append([ann.joined("ann"), ann.said(), bob.joined("bob"), eve.said()])
    writers = [ann.writer, bob.writer, eve.writer, b"?" * 16]
    assert log.agents(writers) == {ann.writer: name_hash("ann"), bob.writer: name_hash("bob")}


def test_the_first_events_of_writers_come_with_their_words(log):
    ann, twin, bob = Author("1"), Author("1", mark="twin"), Author("2")
    firsts = [ann.joined("ann"), twin.joined("ann"), bob.joined("bob")]
    log.merge([*firsts, ann.said(), bob.said()])
    assert set(log.firsts([ann.writer, b"?" * 16])) == set(firsts[:2])
    assert log.firsts([bob.writer]) == [firsts[2]] and log.firsts([]) == []


def test_the_agent_of_a_forked_writer_does_not_depend_on_the_order_of_arrival(new_log):
    one, two = Author("1", ms=5).joined("ann"), Author("1", ms=4).joined("bob")
    for order in ([one, two], [two, one]):
        log = new_log()
        log.merge(order)
        assert log.agents([writer_id("1")]) == {writer_id("1"): name_hash("bob")}


# ---------------------------------------------------------------------- frontier and exchange


def test_the_root_says_whether_two_logs_hold_the_same(new_log):
    here, there = new_log(), new_log()
    ann, bob = Author("ann"), Author("bob")
    here.append([ann.joined(), ann.said()])
    there.append([bob.joined()])
    assert here.root() != there.root()
    here.merge(flat(there.since(here.frontier())))
    there.merge(flat(here.since(there.frontier())))
    assert here.frontier() == there.frontier()
    assert here.root() == there.root() == frontier_root(here.frontier())


def test_the_root_follows_every_change(log):
    authors = [Author(str(number)) for number in range(300)]
    seen = {log.root()}
    for number, author in enumerate(authors):
        log.append([author.joined()])
        if number % 50 == 0:
            seen.add(log.root())
    assert log.root() == frontier_root(log.frontier())
    log.append([authors[0].said()])
    assert log.root() == frontier_root(log.frontier())
    assert log.root() not in seen and len(seen) == 7


def test_a_peer_gets_what_it_lacks_and_no_more(new_log):
    ann, bob = Author("ann"), Author("bob")
    first, rest = [ann.joined(), ann.said("1")], ann.utterances(2500)
    here = new_log()
    here.append([*first, *rest, other := bob.joined()])
    assert flat(here.since(here.frontier())) == []
    pages = list(here.since([head(other), head(first[-1])]))
    assert flat(pages) == rest
    assert [len(page) for page in pages] == [1000, 1000, 500]
    assert set(flat(here.since(()))) == set(everything(here))


def test_a_peer_with_an_unknown_head_gets_the_writer_from_where_nothing_is_proven(log):
    ann = Author()
    one, two = ann.joined(), ann.said()
    log.append([one, two])
    twin = ann.fork()
    ahead = head(twin.said("ahead"))
    assert flat(log.since([ahead])) == [one, two]
    assert flat(log.since([ahead, head(one)])) == [two]


def test_a_peer_gets_the_branches_that_it_lacks(log):
    ann = Author()
    one = ann.joined()
    twin = ann.fork()
    mine, theirs = [ann.said("2"), ann.said("3")], [twin.said("2"), twin.said("3")]
    log.merge([one, *mine, *theirs])
    assert flat(log.since([head(mine[1])])) == theirs
    assert flat(log.since([head(theirs[1])])) == mine
    assert flat(log.since([head(theirs[0])])) in ([mine[0], mine[1], theirs[1]], [mine[0], theirs[1], mine[1]])
    assert flat(log.since([head(mine[1]), head(theirs[1])])) == []
    assert flat(log.since([head(one)]))[2:] in ([mine[1], theirs[1]], [theirs[1], mine[1]])


# ---------------------------------------------------------------------- erasing words


def test_erased_words_are_gone_and_the_facts_stay(log):
    ann = Author()
    one, two, aside = ann.said("secret"), ann.said("public"), Author("bob", seq=4, prev=b"?" * 32).said("secret too")
    log.append([one, two])
    log.merge([aside])
    root = log.root()
    with log.transaction() as transaction:
        assert transaction.erase_words([one.id, aside.id, b"?" * 16]) == 2
    assert log.get(one.id) == Event(one.raw) and log.get(two.id) == two
    assert log.root() == root
    with log.transaction() as transaction:
        assert transaction.erase_words([one.id, aside.id]) == 0
