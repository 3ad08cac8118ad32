"""``beliefbase sync`` and ``bundle``: stores come to the same events, whoever meets whom, in whatever order."""

import pytest
from tests.cli.world import DAY, World

from beliefbase.events.bundle import BundleDamaged
from beliefbase.events.sync import Receiver, union
from beliefbase.store import BeliefStore
from beliefbase.syncing import sync, take_bundle, write_bundle


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path / "a", monkeypatch)


def at(tmp_path, name):
    return BeliefStore.open(tmp_path / name, create=True, durability="process")


def tell(store, agent, count=3, **more):
    """A little of everything; returns the beliefs."""
    writer = store.writer(agent)
    said = writer.record_utterance(f"{agent} says so", speaker=agent, conversation="c")
    sure = {"kind": "fact", "assertion_class": "durable_fact", "confidence": 900}
    beliefs = [writer.extract(f"{agent} thinks {n}", evidence=[said], **sure, **more) for n in range(count)]
    writer.supersede(beliefs[0], by=beliefs[-1])
    return beliefs


def everything(store):
    return sorted((e.raw, e.salt, e.body) for page in store.log.read() for _, e in page)


def test_three_stores_in_a_ring_that_all_write_come_to_the_digest_of_all_events_in_one(tmp_path):
    names = ["a", "b", "c"]
    stores = {name: at(tmp_path, name) for name in names}
    shared = None
    for turn in range(3):
        for name, other in zip(names, [*names[1:], names[0]], strict=True):
            beliefs = tell(stores[name], f"{name}{turn}")
            if shared is not None:
                stores[name].writer(name).retract(shared) if turn == 1 else stores[name].writer(name).affirm(shared)
            sync(stores[name], tmp_path / other)
            shared = shared or beliefs[1]
    for name, other in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "b")):
        done = sync(stores[name], tmp_path / other)
        assert done.same
    digests = {name: store.digest() for name, store in stores.items()}
    whole = at(tmp_path, "whole")
    for store in stores.values():
        whole.log.merge(event for page in store.log.read() for _, event in page)
    assert set(digests.values()) == {whole.digest()}
    assert everything(stores["a"]) == everything(stores["b"]) == everything(stores["c"]) == everything(whole)
    assert stores["b"].audit().exit_code == 0
    for store in (*stores.values(), whole):
        store.close()


def test_only_what_differs_is_sent_and_nothing_the_second_time(tmp_path):
    with at(tmp_path, "a") as here, at(tmp_path, "b") as there:
        for number in range(30):
            tell(here, f"early{number}")
        assert sync(here, tmp_path / "b").there["stored"] == 30 * 6
        beliefs = tell(there, "late")
        first = sync(here, tmp_path / "b")
        assert (first.here["sent"], first.here["stored"], first.there["sent"]) == (6, 6, 0)
        again = sync(here, tmp_path / "b")
        assert (again.here["sent_bytes"], again.there["sent_bytes"]) == (0, 0)
        assert here.belief(beliefs[1])["statement"] == "late thinks 1"


def test_a_sync_that_is_cut_goes_on_where_it_was(tmp_path):
    with at(tmp_path, "a") as here, at(tmp_path, "b") as there:
        tell(here, "ann", 40)
        receiver = Receiver(there.log, wall=there.wall(), max_drift_ms=60_000)

        class Cut(Exception):
            """The line went dead."""

        def some():
            for page in here.log.since(()):
                yield page[:25]
                raise Cut

        with pytest.raises(Cut):
            receiver.take(some())
        done = sync(here, tmp_path / "b")
        assert done.same
        assert done.there["sent"] == 43 - 25
        assert everything(here) == everything(there)


def test_words_that_one_lacks_come_from_the_other(tmp_path):
    with at(tmp_path, "a") as here, at(tmp_path, "b") as there:
        beliefs = tell(here, "ann")
        sync(here, tmp_path / "b")
        with there.log.transaction() as transaction:
            transaction.erase_words([bytes.fromhex(beliefs[1])])
        there.project()
        assert there.belief(beliefs[1])["statement"] is None
        assert there.audit().exit_code == 4
        done = sync(here, tmp_path / "b")
        assert (done.same, done.there["words_filled"]) == (True, 1)
        assert there.belief(beliefs[1])["statement"] == "ann thinks 1"
        assert there.audit().exit_code == 0


def test_stamps_ahead_are_parked_and_late_and_backdated_ones_are_named(tmp_path):
    now = 1_800_000_000_000
    ahead = BeliefStore.open(tmp_path / "ahead", create=True, durability="process", wall=lambda: now + DAY)
    tell(ahead, "fast clock", 1)
    late = BeliefStore.open(tmp_path / "late", create=True, durability="process", wall=lambda: now - 3 * DAY)
    tell(late, "was offline", 1)
    old = BeliefStore.open(tmp_path / "old", create=True, importing=True, wall=lambda: now)
    old.writer("importer", kind="importer").record_utterance("long ago", speaker="will", at=now - 400 * DAY)
    with BeliefStore.open(tmp_path / "here", create=True, durability="process", wall=lambda: now) as here:
        tell(here, "ann", 1)
        got = sync(here, tmp_path / "ahead").here
        assert (got["parked"], got["late"]) == (4, 0)
        got = sync(here, tmp_path / "late").here
        assert (got["parked"], got["late"]) == (0, 4)
        assert 2 * DAY < got["late_by_ms"] <= 3 * DAY
        got = sync(here, tmp_path / "old").here
        assert [(one["agent"], one["events"]) for one in got["backdated"]] == [("importer", 2)]
        assert got["backdated"][0]["late_by_ms"] == 400 * DAY
        assert any("importer" in note for note in got["notes"])
        written = here.writer("ann").record_utterance("now", speaker="ann")
        assert here.log.get(bytes.fromhex(written)).skeleton.hlc >> 16 < now + 60_000
    for store in (ahead, late, old):
        store.close()


def test_an_erasure_travels_and_takes_the_words_from_the_other_stores_read_models(tmp_path):
    with at(tmp_path, "a") as here, at(tmp_path, "b") as there:
        tell(here, "canary-bird")
        sync(here, tmp_path / "b")
        there.project()
        from beliefbase.erasing import forget

        forget(here, "canary-bird", owner="mara")
        quote = there.writer("ben").extract("canary-bird is quoted", kind="fact", evidence=[tell(there, "ben")[0]])
        done = sync(here, tmp_path / "b")
        assert done.same
        assert done.there["words_erased"] > 0
        assert here.digest() == there.digest()
        assert here.audit().exit_code == there.audit().exit_code == 0
        assert there.log.get(bytes.fromhex(quote)).body is not None  # nobody's words that were erased
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert [file for file in files if b"canary-bird thinks" in file.read_bytes()] == []


def test_two_peers_of_which_one_erased_first_agree_in_either_order(tmp_path):
    with at(tmp_path, "a") as here, at(tmp_path, "b") as there, at(tmp_path, "c") as third:
        tell(here, "will")
        sync(here, tmp_path / "b")
        from beliefbase.erasing import forget

        forget(here, "will", owner="mara")
        sync(third, tmp_path / "a")
        assert third.log.wanted() == []
        got = sync(third, tmp_path / "b")
        assert got.same
        assert got.here["words_filled"] == 0
        assert there.log.wanted() == []
        assert everything(here) == everything(there) == everything(third)


def test_stores_that_never_met_are_shown_and_need_a_yes(world, tmp_path):
    with world.store() as store:
        tell(store, "ann")
    with at(tmp_path, "b") as store:
        tell(store, "ben")
    refused = world.run("sync", tmp_path / "b")
    assert refused.code == 2
    assert "ann" in refused.err
    assert "ben" in refused.err
    with BeliefStore.open(tmp_path / "b") as store:
        assert len(everything(store)) == 6
    done = world.run("sync", tmp_path / "b", "--yes")
    assert done.code == 0, done.err
    assert "both hold the same events" in done.out
    assert world.run("sync", tmp_path / "b").code == 0  # they know each other now
    nowhere = world.run("sync", tmp_path / "nowhere" / "x.bundle", "--yes")
    assert nowhere.code == 3


def test_a_bundle_carries_a_store_to_another_and_back(world, tmp_path):
    with world.store() as store:
        tell(store, "ann")
    told = world.ok("--json", "bundle", "export", tmp_path / "x.bundle").json
    assert told["events"] == 6
    assert world.ok("--json", "bundle", "verify", tmp_path / "x.bundle").json["root"] == told["root"]
    with at(tmp_path, "b") as other:
        tell(other, "ben")
        assert take_bundle(other, tmp_path / "x.bundle")["stored"] == 6
        back = sync(other, tmp_path / "x.bundle")
        assert (back.same, back.there["stored"]) == (True, 6)
        both = everything(other)
    done = world.ok("--json", "sync", tmp_path / "x.bundle", "--yes").json
    assert done["here"]["stored"] == 6
    with world.store() as store:
        assert everything(store) == both


def test_of_a_damaged_bundle_nothing_is_merged(world, tmp_path):
    path = tmp_path / "x.bundle"
    with at(tmp_path, "b") as other:
        tell(other, "ben", 200)
        write_bundle(other, path)
    whole = path.read_bytes()
    with world.store() as store:
        tell(store, "ann")
        before = everything(store)
        for damaged in (whole[: len(whole) // 2], whole[:-1], whole[:-40] + b"x" + whole[-39:]):
            path.write_bytes(damaged)
            with pytest.raises(BundleDamaged):
                take_bundle(store, path)
            assert everything(store) == before
    done = world.run("bundle", "import", path, "--yes")
    assert done.code == 4
    assert str(path) in done.err


def test_clones_that_both_went_on_end_as_two_branches_everywhere(tmp_path):
    import shutil

    with at(tmp_path, "a") as here:
        writer = here.writer("ann")
        writer.record_utterance("before", speaker="ann")
        here.log.checkpoint()
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        one = writer.record_utterance("one way", speaker="ann")
        inner = writer._writer
        with BeliefStore.open(tmp_path / "b") as there:
            clone = there.writer("ann")
            clone._writer.id, clone._writer.seq = inner.id, 2
            clone._writer.prev = there.log.frontier()[0].hash
            other = clone.record_utterance("another", speaker="ann")
            done = sync(here, tmp_path / "b")
            assert done.same
            assert done.here["forks"] == [inner.id.hex()]
            assert everything(here) == everything(there)
            assert here.digest() == there.digest()
            assert {one, other} <= {e.id.hex() for page in there.log.read() for _, e in page}


def test_union_ends_where_events_wait_for_what_neither_has(tmp_path):
    with at(tmp_path, "a") as here, at(tmp_path, "b") as there, at(tmp_path, "c") as third:
        tell(third, "ann", 2)
        events = [event for page in third.log.read() for _, event in page]
        here.log.merge(events[:2] + events[3:4])
        there.log.merge(events[4:])
        mine, theirs = (Receiver(s.log, wall=s.wall(), max_drift_ms=60_000) for s in (here, there))
        assert union(mine, theirs)
        assert len(everything(here)) == len(everything(there)) == 2
        here.log.merge(events)
        assert sync(here, tmp_path / "b").same
        assert everything(there) == everything(third)
