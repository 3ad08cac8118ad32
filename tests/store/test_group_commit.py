"""``store.group_commit()``: the ordinary methods of writers, from many threads, with shared commits."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from beliefbase.events.errors import InvalidEvent, StoreUnavailable
from beliefbase.store import BeliefStore


@pytest.fixture
def store(tmp_path):
    with BeliefStore.open(tmp_path / "store", create=True, durability="process") as store:
        yield store


def events(store):
    return [stored.event for page in store.log.read() for stored in page]


def test_threads_write_as_ever_and_each_gets_its_own_answer(store):
    def work(number):
        writer = store.writer(f"agent {number}")
        said = [writer.record_utterance(f"{number} {turn}", speaker="will") for turn in range(10)]
        with pytest.raises(InvalidEvent):
            writer.append("subject.erased", {"subject": "will"})
        return [*said, writer.extract(f"belief {number}", kind="fact", evidence=said)]

    with store.group_commit() as group, ThreadPoolExecutor(8) as pool:
        acknowledged = [key for ids in pool.map(work, range(8)) for key in ids]
    assert 0 < group.commits <= 88
    written = [event.id.hex() for event in events(store) if event.skeleton.type != "writer.joined"]
    assert sorted(written) == sorted(acknowledged)
    assert store.audit().exit_code == 0


def test_a_batch_is_still_one_commit_and_others_wait_for_its_end(store):
    writer, other = store.writer("ann"), store.writer("ben")
    with store.group_commit() as group, ThreadPoolExecutor(1) as pool:
        with suppress(KeyError), store.batch():
            writer.record_utterance("never stored", speaker="ann")
            raise KeyError
        with store.batch():
            writer.record_utterance("one", speaker="ann")
            waiting = pool.submit(other.record_utterance, "three", speaker="ben")
            writer.record_utterance("two", speaker="ann")
        waiting.result()
        assert group.commits == 1
    said = [event.words["verbatim"] for event in events(store) if event.skeleton.type == "utterance.recorded"]
    assert said == ["one", "two", "three"]


def test_newer_wins_brings_its_resolution_into_the_shared_commit(store):
    writer = store.writer("owner", role="owner")
    writer.append("profile.activated", {"profile": "quick@1", "newer_wins": True})
    older = writer.extract("It rains.", kind="fact")
    newer = writer.extract("It is dry.", kind="fact")
    with store.group_commit():
        raised = writer.raise_contradiction(older, newer)
    resolution = events(store)[-1]
    assert resolution.skeleton.type == "contradiction.resolved"
    assert resolution.skeleton.payload["outcome"] == "right"
    assert resolution.skeleton.touches == (bytes.fromhex(raised),)


def test_afterwards_writers_commit_by_themselves_again(store):
    writer = store.writer("ann")
    with store.group_commit():
        writer.record_utterance("one", speaker="ann")
        with pytest.raises(InvalidEvent, match="open already"), store.group_commit():
            pass
    writer.record_utterance("two", speaker="ann")
    with store.group_commit():
        writer.record_utterance("three", speaker="ann")
    assert [event.skeleton.seq for event in events(store)] == [1, 2, 3, 4]


def test_inside_a_batch_none_is_opened_for_others_to_wait_for(store):
    with store.batch(), pytest.raises(InvalidEvent, match="a batch is open"), store.group_commit():
        pass
    with store.group_commit() as group:
        store.writer("ann").record_utterance("one", speaker="ann")
    assert group.commits == 1


def test_closing_the_store_stores_what_was_handed_over(tmp_path):
    store = BeliefStore.open(tmp_path / "store", create=True, durability="process")
    writers = [store.writer(f"agent {number}") for number in range(5)]
    answers, refusals, started = [], [], threading.Barrier(6)

    def work(writer):
        started.wait()
        for turn in range(200):
            try:
                answers.append(writer.record_utterance(f"{turn}", speaker="will"))
            except StoreUnavailable as error:
                refusals.append(str(error))
                return

    with store.group_commit():
        threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
        for thread in threads:
            thread.start()
        started.wait()
        store.close()
        for thread in threads:
            thread.join()
    assert all("closed" in refusal for refusal in refusals)
    with BeliefStore.open(tmp_path / "store") as store:
        assert set(answers) == {e.id.hex() for e in events(store) if e.skeleton.type != "writer.joined"}
