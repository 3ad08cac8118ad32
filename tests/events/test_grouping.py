"""Group commit: threads share commits, each hears what became of its own event, nothing handed over is forgotten."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.events.build import Author
from tests.events.processes import Child

from beliefbase.events.catalog import CATALOG
from beliefbase.events.errors import InvalidEvent, StoreUnavailable, UsedAfterFork
from beliefbase.events.grouping import GroupCommit
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.events.writer import Batch, Pen, Writer


@pytest.fixture
def log(tmp_path):
    log = SQLiteLog(tmp_path / "log.db", durability="process")
    yield log
    log.close()


@pytest.fixture
def pen():
    return Pen()


@pytest.fixture
def group(log, pen):
    with GroupCommit(lambda: Batch(log, pen)) as group:
        yield group


def said(text, **fields):
    return CATALOG.draft("utterance.recorded", {"speaker": "will", "verbatim": text, **fields})


def stored(log):
    return [event.id for page in log.read(words=False) for _, event in page if event.skeleton.type != "writer.joined"]


def test_whoever_is_answered_finds_the_event_stored(log, pen, group):
    other = SQLiteLog(log.path, create=False)

    def work(number):
        writer = Writer(pen, agent=f"agent {number}")
        ids = []
        for count in range(15):
            done = group.append(writer, said(f"{number}: {count}"))
            assert other.get(done.id).skeleton.seq == done.seq == count + 2
            ids.append(done.id)
        return ids

    with ThreadPoolExecutor(6) as pool:
        acknowledged = [key for ids in pool.map(work, range(6)) for key in ids]
    assert sorted(acknowledged) == sorted(stored(log))
    assert len(acknowledged) == 90
    other.close()


def test_what_gathers_while_the_log_is_busy_is_stored_in_one_commit(log, pen, group):
    writers = [Writer(pen, agent=f"agent {number}") for number in range(20)]
    with log.transaction():
        futures = [group.submit(writer, said(f"{turn}")) for turn in range(10) for writer in writers]
        assert not any(future.done() for future in futures)
    assert [future.result().seq for future in futures] == [turn + 2 for turn in range(10) for _ in writers]
    assert group.commits <= 2  # what the thread had taken before, and all the rest


def test_one_refused_event_is_refused_to_its_caller_alone(log, pen, group):
    writers = [Writer(pen, agent=f"agent {number}") for number in range(3)]
    erasure = CATALOG.draft("subject.erased", {"subject": "will"})
    no_draft = said("x")._replace(payload={"speaker": object()})
    with log.transaction():
        good = [group.submit(writer, said("before")) for writer in writers]
        refused = group.submit(writers[0], erasure)
        broken = group.submit(writers[1], no_draft)
        good += [group.submit(writer, said("after")) for writer in writers]
    with pytest.raises(InvalidEvent, match="only an owner"):
        refused.result()
    assert not isinstance(broken.exception(), StoreUnavailable | None)
    assert sorted(future.result().id for future in good) == sorted(stored(log))
    assert len(good) == 6


def test_an_event_that_fails_half_way_leaves_nothing_and_the_others_are_stored(log, pen):
    class Picky(Batch):
        """Refuses, too late, what it has added."""

        def add(self, writer, draft, *, at=None):
            done = super().add(writer, draft, at=at)
            if draft.words["verbatim"] == "half":
                raise InvalidEvent("too late")
            return done

    with GroupCommit(lambda: Picky(log, pen)) as group:
        writers = [Writer(pen, agent=f"agent {number}") for number in range(3)]
        with log.transaction():
            futures = [group.submit(writer, said(text)) for writer in writers for text in ("whole", "half", "again")]
        for future in futures[1::3]:
            with pytest.raises(InvalidEvent, match="too late"):
                future.result()
        good = [future.result().id for number, future in enumerate(futures) if number % 3 != 1]
        assert sorted(good) == sorted(stored(log))


def test_a_commit_that_fails_is_told_to_all_whose_events_were_in_it_and_the_next_one_works(log, pen, group):
    writers = [Writer(pen, agent=f"agent {number}") for number in range(3)]
    away = log.path.with_name("away.db")
    log.path.rename(away)
    futures = [group.submit(writer, said("lost")) for writer in writers]
    errors = [future.exception() for future in futures]
    assert all(isinstance(error, StoreUnavailable) and "removed or replaced" in str(error) for error in errors)
    assert all(error.hint and error.data["path"] == str(log.path) for error in errors)
    assert len({id(error) for error in errors}) == 3
    away.rename(log.path)
    assert [group.append(writer, said("kept")).id for writer in writers] == stored(log)


def test_a_stream_that_a_copy_went_on_with_is_left_and_the_others_go_on(log, pen, group):
    mine, other = Writer(pen, agent="cloned"), Writer(pen, agent="other")
    group.append(mine, said("before"))
    clone = Author(writer=mine.id, seq=mine.seq, prev=mine.prev)
    log.merge([clone.said("a copy wrote this")])
    left = mine.id
    with log.transaction():
        futures = [group.submit(mine, said("after")), group.submit(other, said("after"))]
    done, others = (future.result() for future in futures)
    assert done.writer == mine.id != left
    assert {done.id, others.id} < set(stored(log))


def test_closing_stores_what_was_handed_over_and_refuses_the_rest(log, pen):
    group = GroupCommit(lambda: Batch(log, pen))
    writer = Writer(pen, agent="ann")
    with log.transaction():
        futures = [group.submit(writer, said(f"{number}")) for number in range(2500)]
        closing = threading.Thread(target=group.close)
        closing.start()
    closing.join()
    assert all(future.done() for future in futures)
    assert [future.result().id for future in futures] == stored(log)
    with pytest.raises(StoreUnavailable, match="closed"):
        group.append(writer, said("late"))
    group.close()


def test_what_is_handed_over_can_not_be_taken_back(log, pen, group):
    with log.transaction():
        future = group.submit(Writer(pen, agent="ann"), said("x"))
        assert not future.cancel()
    assert [future.result().id] == stored(log)


def test_a_forked_child_is_refused_and_its_parent_goes_on(log, pen, group):
    writer = Writer(pen, agent="ann")
    group.append(writer, said("x"))

    def work(_pipe):
        with pytest.raises(UsedAfterFork):
            group.append(writer, said("y"))
        group.close()

    Child(work).succeed()
    group.append(writer, said("z"))
    assert len(stored(log)) == 2


def test_a_source_ref_that_is_stored_or_comes_twice_at_once_is_one_event(log, pen, group):
    writers = [Writer(pen, agent=f"agent {number}") for number in range(4)]
    with log.transaction():
        futures = [group.submit(writer, said("x", source_ref="chat:1")) for writer in writers]
    found = [future.result() for future in futures]
    assert len({one.id for one in found}) == 1
    assert sorted(one.existing for one in found) == [False, True, True, True]
    assert stored(log) == [found[0].id]
