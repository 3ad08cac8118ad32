"""``beliefbase sync`` and ``bundle``: stores come to the same events, whoever meets whom, in whatever order."""

import shutil

import pytest
from tests.cli.world import DAY, World
from tests.scale import scaled

from beliefbase.erasing import forget
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


def small_bundle(tmp_path):
    """A store that has something, and a small bundle of another with a bit of everything in it."""
    with at(tmp_path, "b") as other:
        other.writer("owner", role="owner").append("subject.erased", {"subject": "nobody"})
        other.writer("ben").record_utterance("Ben says so", speaker="ben")
        write_bundle(other, tmp_path / "x.bundle")
    here = at(tmp_path, "a")
    tell(here, "ann")
    return here, tmp_path / "x.bundle"


def assert_nothing_is_taken(here, path, damaged, before):
    """The damaged file is named, with where; the store and the file stay as they are, whichever way it is given."""
    path.write_bytes(damaged)
    for take in (take_bundle, sync):
        with pytest.raises(BundleDamaged) as raised:
            take(here, path)
        assert raised.value.data["path"] == str(path)
        assert str(path) in str(raised.value)
        assert 0 <= raised.value.data["offset"]
        assert (here.log.last_position(), here.log.gaps()) == before
    assert path.read_bytes() == damaged


EVERY = [pytest.param(23, id="some"), pytest.param(1 if scaled(50) == 50 else 5, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("every", EVERY)
def test_of_a_bundle_that_is_cut_anywhere_nothing_is_merged_and_it_is_named(tmp_path, every):
    here, path = small_bundle(tmp_path)
    whole, contents, before = path.read_bytes(), everything(here), (here.log.last_position(), here.log.gaps())
    for size in range(0, len(whole), every):
        assert_nothing_is_taken(here, path, whole[:size], before)
    assert everything(here) == contents
    path.write_bytes(whole)
    assert take_bundle(here, path)["stored"] == 4
    here.close()


@pytest.mark.parametrize("every", EVERY)
def test_of_a_bundle_with_any_bit_flipped_nothing_is_merged_and_it_is_named(tmp_path, every):
    here, path = small_bundle(tmp_path)
    whole, contents, before = path.read_bytes(), everything(here), (here.log.last_position(), here.log.gaps())
    for bit in range(0, 8 * len(whole), every):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        assert_nothing_is_taken(here, path, bytes(damaged), before)
    assert everything(here) == contents
    here.close()


def holding(folder, text):
    return [str(file) for file in folder.rglob("*") if file.is_file() and text in file.read_bytes()]


def test_a_quote_written_elsewhere_with_a_later_stamp_loses_its_words_in_every_store_and_file(tmp_path):
    """Neither store knows of what the other does: one quotes, later by its stamp; the other has erased by then."""
    now = 1_800_000_000_000
    walls = {"here": now, "there": now}
    opened = {
        name: BeliefStore.open(tmp_path / name, create=True, durability="process", wall=lambda name=name: walls[name])
        for name in walls
    }
    here, there = opened["here"], opened["there"]
    said = here.writer("ann").record_utterance("canary-bird in the hedge", speaker="will")
    sync(here, tmp_path / "there")
    walls["here"], walls["there"] = now + 10_000, now + 40_000
    sure = {"kind": "fact", "assertion_class": "durable_fact", "confidence": 900}
    quote = there.writer("ben").extract("will saw a canary-bird", evidence=[said], subjects=["zoe"], **sure)
    onward = there.writer("ben").extract("a canary-bird, he said", evidence=[quote], **sure)
    zoes = there.writer("ben").extract("Zoe walks.", evidence=[], subjects=["zoe"], **sure)
    there.project()
    here.project()
    forget(here, "will", owner="mara")
    (erasure,) = here.log.of_types(["subject.erased"])
    quoted = {key: there.log.get(bytes.fromhex(key)) for key in (quote, onward, zoes)}
    assert all(event.skeleton.hlc > erasure.skeleton.hlc for event in quoted.values())
    walls["here"] = now + 60_000
    done = sync(here, tmp_path / "there")
    assert (done.same, done.there["words_erased"]) == (True, 3)  # so it has none to send
    for store in (here, there):
        store.project()
        assert [store.log.get(bytes.fromhex(key)).body is None for key in (quote, onward, zoes)] == [True, True, False]
        assert store.belief(quote)["status"] == store.belief(onward)["status"] == "erased"
        assert store.audit().exit_code == 0
    assert here.digest() == there.digest()
    for store in (here, there):
        store.close()
    assert holding(tmp_path, b"canary-bird") == []


def test_an_old_bundle_and_a_restored_backup_bring_no_erased_words_back(tmp_path):
    with at(tmp_path, "a") as here:
        tell(here, "canary-bird")
        here.project()
        write_bundle(here, tmp_path / "old.bundle")
        here.log.checkpoint()
        shutil.copytree(tmp_path / "a", tmp_path / "backup")
        forget(here, "canary-bird", owner="mara")
        got = take_bundle(here, tmp_path / "old.bundle")
        assert (got["stored"], got["words_filled"]) == (0, 0)
        assert got["words_refused"] > 0
        assert holding(tmp_path / "a", b"canary-bird thinks") == []
        assert holding(tmp_path / "backup", b"canary-bird thinks") != []
        done = sync(here, tmp_path / "backup")
        assert done.same
        assert done.here["words_filled"] == 0
        assert here.audit().exit_code == 0
    assert holding(tmp_path / "a", b"canary-bird thinks") == []
    assert holding(tmp_path / "backup", b"canary-bird thinks") == []


def test_clones_that_both_went_on_end_as_two_branches_everywhere(tmp_path):
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
