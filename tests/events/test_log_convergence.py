"""Whatever the order, the split and the repetitions in which events arrive, a log ends up the same.

Histories are made of a few writers that say, extract, revise and contradict, and that fork now and then. A log that
got them any other way must have the same frontier, root, tips and words; the tips are also compared with their
definition on the plain set of events.
"""

import itertools
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.events.build import Author
from tests.scale import scaled

from beliefbase.events.catalog.registry import FATE_CHANGING
from beliefbase.events.envelope import Event
from beliefbase.events.frontier import frontier_root
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.log import Head
from beliefbase.events.sqlite import SQLiteLog

MOVES = ("said", "extracted", "retracted", "superseded", "merged", "affirmed", "raised", "resolved", "fork")


@st.composite
def histories(draw):
    """A list of events in an order in which they could have been written."""
    authors = [Author(name) for name in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))]
    events = []

    def some(type_names):
        found = [event.id for event in events if event.skeleton.type in type_names]
        return draw(st.sampled_from(found)) if found else None

    def basis():
        found = [event.id for event in events if event.skeleton.type in FATE_CHANGING]
        return draw(st.lists(st.sampled_from(found), max_size=2, unique=True)) if found else []

    for move in draw(st.lists(st.sampled_from(MOVES), max_size=14)):
        author = draw(st.sampled_from(authors))
        belief, other = some({"belief.extracted"}), some({"belief.extracted"})
        contradiction = some({"contradiction.raised"})
        if move == "fork":
            authors.append(author.fork(str(len(authors))))
        elif move in {"said", "extracted"} or belief is None:
            events.append(author.said() if move == "said" else author.extracted())
        elif move == "raised":
            events.append(author.raised(belief, other))
        elif move == "resolved":
            if contradiction is not None:
                events.append(author.resolved(contradiction, basis=basis()))
        elif move in {"superseded", "merged"}:
            events.append(getattr(author, move)(belief, other, basis=basis()))
        else:
            events.append(getattr(author, move)(belief, basis=basis()))
    return list({event.id: event for event in events}.values())  # two forks may say the same


def arrivals(draw, events):
    """The events in another order, some twice, some first without their words, in batches."""
    stripped = [Event(event.raw) for event in draw(st.lists(st.sampled_from(events), max_size=5))]
    order = draw(st.permutations([*events, *stripped]))
    cuts = sorted(draw(st.sets(st.integers(0, len(order)), max_size=4)))
    return [order[a:b] for a, b in itertools.pairwise([0, *cuts, len(order)])]


def frontier_of(events):
    continued = {event.skeleton.prev for event in events}
    heads = (Head(e.skeleton.writer, e.skeleton.seq, skeleton_hash(e.raw)) for e in events)
    return tuple(sorted(head for head in heads if head.hash not in continued))


def tips_of(events):
    """The definition: revisions of a belief that no other revision of it has in its basis."""
    sides = {e.id: set(e.skeleton.payload.values()) for e in events if e.skeleton.type == "contradiction.raised"}
    revised = {
        e.id: set(e.skeleton.touches).union(*(sides.get(key, ()) for key in e.skeleton.touches))
        if e.skeleton.type == "contradiction.resolved"
        else set(e.skeleton.touches)
        for e in events
        if e.skeleton.type in FATE_CHANGING
    }
    basis = {e.id: set(e.skeleton.basis_ids) for e in events}
    found = {}
    for key in set().union(*revised.values()):
        revisions = {event_id for event_id in revised if key in revised[event_id]}
        found[key] = revisions - set().union(*(basis[event_id] for event_id in revisions))
    return {key: tips for key, tips in found.items() if tips}


def tips_in(log, events):
    keys = {key for event in events for key in (event.id, *event.skeleton.touches)}
    with log.transaction() as transaction:
        return {key: set(tips) for key, tips in transaction.tips(keys).items()}


def contents(log):
    return {(s.event.raw, s.event.salt, s.event.body) for page in log.read() for s in page}


def forks_of(events):
    found = {}
    for event in events:
        found.setdefault((event.skeleton.writer, event.skeleton.seq), set()).add(event.id)
    return {place: ids for place, ids in found.items() if len(ids) > 1}


@settings(max_examples=scaled(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_any_order_split_and_repetition_gives_the_same_log(data):
    events = data.draw(histories())
    if not events:
        return
    with tempfile.TemporaryDirectory() as folder:
        log = SQLiteLog(Path(folder) / "log.db", durability="process")
        reports = [log.merge(batch) for batch in arrivals(data.draw, events)]
        assert contents(log) == {(event.raw, event.salt, event.body) for event in events}
        assert log.frontier() == frontier_of(events)
        assert log.root() == frontier_root(frontier_of(events))
        assert tips_in(log, events) == tips_of(events)
        assert log.gaps() == []
        assert {(fork.writer, fork.seq): set(fork.event_ids) for fork in log.forks()} == forks_of(events)
        assert sum(report.stored for report in reports) == len(events)
        assert all(bool(report.aside) == bool(report.gaps) for report in reports)
        log.close()


@settings(max_examples=scaled(40), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_two_logs_that_exchange_what_they_lack_end_up_the_same(data):
    events = data.draw(histories())
    mine = [event for event in events if data.draw(st.booleans())]
    theirs = [event for event in events if data.draw(st.booleans())]
    with tempfile.TemporaryDirectory() as folder:
        here = SQLiteLog(Path(folder) / "here.db", durability="process")
        there = SQLiteLog(Path(folder) / "there.db", durability="process")
        here.merge(mine)
        there.merge(theirs)
        both = contents(here) | contents(there)
        for _ in range(2 + len(events) // 2):  # what comes may let in what was kept aside: the other gets that next
            there.merge(itertools.chain(*here.since(there.frontier())))
            here.merge(itertools.chain(*there.since(here.frontier())))
        assert both <= contents(here) == contents(there)
        assert here.root() == there.root() and here.frontier() == there.frontier()
        assert tips_in(here, events) == tips_in(there, events)
        assert list(here.since(there.frontier())) == [] == list(there.since(here.frontier()))
        here.close()
        there.close()


@settings(max_examples=scaled(25), suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 60), st.randoms(use_true_random=False), st.sampled_from([1, 3, 1000]))
def test_a_chain_that_arrives_in_any_order_is_taken_in_whole(length, shuffled, batch):
    author = Author()
    events = [author.joined(), *author.utterances(length)]
    shuffled.shuffle(events)
    with tempfile.TemporaryDirectory() as folder:
        log = SQLiteLog(Path(folder) / "log.db", durability="process")
        for start in range(0, len(events), batch):
            log.merge(events[start : start + batch])
        assert len(contents(log)) == length + 1
        assert [head.seq for head in log.frontier()] == [length + 1]
        log.close()
