"""The projector: its file is a cache, and the log is the only truth."""

import shutil

import duckdb
import numpy as np
import pytest
from tests.events.build import START_MS, Author
from tests.projections.test_contract import contents
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.events.errors import InvalidEvent, StoreUnavailable
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections import projector as module
from beliefbase.projections import refresh, registry
from beliefbase.projections.projector import Projector
from beliefbase.projections.work import WorkDatabase


@pytest.fixture
def store(tmp_path):
    author = Author("ann")
    log = open_log(tmp_path, [author.joined(), *author.utterances(3)])
    yield log, author, tmp_path / "read"
    log.close()


def refreshed(log, folder, as_of_ms=AS_OF_MS):
    with Projector(log, folder) as projector:
        return projector.refresh(as_of_ms)


def test_what_was_done_is_kept_from_one_projector_to_the_next(store):
    log, author, folder = store
    assert refreshed(log, folder)[:2] == ("rebuilt", 4)
    assert refreshed(log, folder)[:2] == ("unchanged", 0)
    log.append(author.utterances(2))
    assert refreshed(log, folder)[:2] == ("refreshed", 2)


def test_the_report_names_the_frontier(store):
    log, _, folder = store
    report = refreshed(log, folder)
    assert (report.root, report.position, report.as_of_ms) == (log.root().hex(), log.last_position(), AS_OF_MS)


@pytest.mark.parametrize("content", [b"", b"not a database" * 1000])
def test_a_damaged_work_file_is_made_anew(store, content):
    log, _, folder = store
    refreshed(log, folder)
    (folder / module.WORK).write_bytes(content)
    assert refreshed(log, folder).how == "rebuilt"


def test_a_deleted_folder_is_made_anew(store):
    log, _, folder = store
    refreshed(log, folder)
    shutil.rmtree(folder)
    assert refreshed(log, folder).how == "rebuilt"


def test_a_half_finished_rebuild_is_no_trouble(store):
    log, _, folder = store
    refreshed(log, folder)
    (folder / "fresh.duckdb").write_bytes(b"half of a database")
    with Projector(log, folder) as projector:
        assert projector.rebuild(AS_OF_MS).how == "rebuilt"
        assert not (folder / "fresh.duckdb").exists()


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A log with a candidate for which ten active beliefs wait, what promotes it, and a refresh that soon gives up."""
    author = Author("ann")
    joined = author.joined()
    active = {"speech_act": "directive", "assertion_class": "durable_fact", "confidence": 900}
    candidate = author.extracted("a guess", speech_act="hypothetical")
    others = [author.extracted(f"rule {number}", **active) for number in range(10)]
    edges = [author.superseded(other.id, candidate.id) for other in others]
    log = open_log(tmp_path, [joined, candidate, *others, *edges])
    monkeypatch.setattr(refresh, "_MANY", 8)
    yield log, tmp_path, author.write("belief.promoted", {"belief_id": candidate.id})
    log.close()


def test_a_refresh_on_which_much_hangs_becomes_a_rebuild_with_the_same_tables(hub):
    log, folder, promotion = hub
    refreshed(log, folder / "read")
    log.append([promotion])
    with Projector(log, folder / "read") as projector, Projector(log, folder / "anew") as anew:
        assert projector.refresh(AS_OF_MS).how == "rebuilt"
        anew.rebuild(AS_OF_MS)
        assert contents(projector) == contents(anew)
        assert projector.refresh(AS_OF_MS).how == "unchanged"


def test_what_arrives_during_a_rebuild_is_caught_up_with_however_much_hangs_on_it(hub, monkeypatch):
    log, folder, promotion = hub
    rebuilds = []

    def rebuild_and_append(*arguments):
        rebuilds.append(module_rebuild(*arguments))
        log.append([promotion])
        return rebuilds[-1]

    module_rebuild = module.rebuild
    monkeypatch.setattr(module, "rebuild", rebuild_and_append)
    with Projector(log, folder / "read") as projector:
        assert projector.rebuild(AS_OF_MS).how == "rebuilt"
        assert len(rebuilds) == 1
        found = contents(projector)
    monkeypatch.undo()
    with Projector(log, folder / "anew") as anew:
        anew.rebuild(AS_OF_MS)
        assert found == contents(anew)


def test_a_refresh_that_fails_leaves_everything_as_it_was(store, monkeypatch):
    log, author, folder = store
    with Projector(log, folder) as projector:
        projector.refresh(AS_OF_MS)
        before = projector.digest(), projector.rows("FROM meta")
        log.append(author.utterances(2))

        def fail(*_arguments, **_more):
            raise RuntimeError("in the middle")

        with monkeypatch.context() as patched:
            patched.setattr("beliefbase.projections.refresh.refold", fail)
            with pytest.raises(RuntimeError):
                projector.refresh(AS_OF_MS)
        assert (projector.digest(), projector.rows("FROM meta")) == before
        assert projector.refresh(AS_OF_MS)[:2] == ("refreshed", 2)


def test_another_log_in_the_same_place_is_rebuilt(store, tmp_path):
    log, _, folder = store
    refreshed(log, folder)
    other = Author("bob")
    another = open_log(tmp_path / "another", [other.joined("bob"), *other.utterances(5)])
    assert refreshed(another, folder)[:2] == ("rebuilt", 6)
    another.close()


def test_a_log_from_a_backup_that_went_on_otherwise_is_rebuilt(tmp_path):
    """Same store, same positions, other events: the position alone would believe that nothing is missing."""
    author = Author("ann")
    log = open_log(tmp_path, [author.joined(), *author.utterances(3)])
    log.checkpoint()
    log.close()
    shutil.copy(tmp_path / "log.db", tmp_path / "backup.db")
    once, twice = author.fork("first"), author.fork("second")
    log = SQLiteLog(tmp_path / "log.db", create=False)
    log.append(once.utterances(2))
    refreshed(log, tmp_path / "read")
    log.close()
    for more in (0, 3):
        restored = SQLiteLog(tmp_path / "backup.db", create=False)
        restored.append(twice.utterances(2 + more))
        report = refreshed(restored, tmp_path / "read")
        assert (report.how, report.root) == ("rebuilt" if more == 0 else "refreshed", restored.root().hex())
        restored.close()


@pytest.mark.parametrize("name", ["RULES_VERSION"])
def test_other_rules_are_rebuilt(store, monkeypatch, name):
    log, _, folder = store
    refreshed(log, folder)
    monkeypatch.setattr(module, name, "lifecycle@next")
    assert refreshed(log, folder).how == "rebuilt"


def test_a_policy_is_rebuilt_and_an_affirmation_is_not(store):
    log, author, folder = store
    refreshed(log, folder)
    log.append([belief := author.extracted(), author.affirmed(belief.id)])
    assert refreshed(log, folder).how == "refreshed"
    log.append([author.write("policy.defined", {"policy": "team@1", "base": "half_life", "half_life_days": 3})])
    assert refreshed(log, folder).how == "rebuilt"


def test_a_second_first_event_may_rename_the_writer(tmp_path):
    """A forged stream under a writer's id: of two first events the earlier one names the agent of both branches."""
    author = Author("ann")
    log = open_log(tmp_path, [author.joined("ann"), author.said()])
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        forger = Author(writer=author.writer, ms=START_MS - 100, mark="forged")
        log.merge([forger.joined("mallory")])
        projector.refresh(AS_OF_MS)
        live = projector.digest()
        projector.rebuild(AS_OF_MS)
        assert projector.digest() == live
    log.close()


@pytest.mark.parametrize("as_of_ms", [-1, 1 << 47])
def test_a_moment_out_of_range_is_refused(store, as_of_ms):
    log, _, folder = store
    with Projector(log, folder) as projector, pytest.raises(InvalidEvent):
        projector.refresh(as_of_ms)


def test_a_folder_that_cannot_be_made_is_reported(store, tmp_path):
    log, _, _ = store
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable) as caught:
        Projector(log, tmp_path / "file" / "read")
    assert caught.value.hint


PLANTED = '''
"""Counts letters."""

from beliefbase.projections.base import Column, Owner, Projection, Table


class Letters(Projection):
    NAME = "letters"
    TYPES = ("utterance.recorded",)
    TABLES = (
        Table(
            "letters",
            "Lengths of utterances",
            Owner.EVENT,
            (Column("utterance_id", "VARCHAR", "Id"), Column("letters", "BIGINT", "Length")),
            ("utterance_id",),
            digested=False,
        ),
    )

    def of_events(self, events):
        lengths = [len(text or "") for text in events.text("verbatim")]
        return {"letters": {"row_key": events.keys, "utterance_id": events.ids, "letters": lengths}}


PROJECTION = Letters()
'''


def test_a_new_projection_is_one_new_file(store, tmp_path, monkeypatch):
    log, author, folder = store
    refreshed(log, folder)
    (tmp_path / "letters.py").write_text(PLANTED)
    caches = (registry.registered, registry.tables, registry.scripts)
    from beliefbase import projections

    monkeypatch.setattr(projections, "__path__", [*projections.__path__, str(tmp_path)])
    for cache in caches:
        cache.cache_clear()
    try:
        with Projector(log, folder) as projector:
            assert projector.refresh(AS_OF_MS).how == "rebuilt"
            assert projector.rows("SELECT count(*), min(letters) > 5 FROM letters") == [(3, True)]
            log.append(author.utterances(1))
            assert projector.refresh(AS_OF_MS).how == "refreshed"
            assert projector.rows("SELECT count(*) FROM letters") == [(4,)]
    finally:
        monkeypatch.undo()
        for cache in caches:
            cache.cache_clear()


def test_events_that_arrive_during_a_rebuild_are_in_it(tmp_path):
    world = World(6, 60).events
    log = open_log(tmp_path, world[:30])
    with Projector(
        log, tmp_path / "read", progress=lambda what, _n: what == "reading" and log.append(world)
    ) as projector:
        report = projector.rebuild(AS_OF_MS)
        assert (report.events, report.root) == (60, log.root().hex())
    log.close()


def test_what_fails_in_a_transaction_is_told_as_it_is(tmp_path):
    """An interrupt is no full disk: nothing that only cleans up takes its place."""
    work = WorkDatabase(tmp_path / "work.duckdb")
    work.create()
    with (
        pytest.raises(duckdb.ConversionException),
        work.transaction(),
        work.registered("batch", {"number": np.arange(3)}),
    ):
        work.rows("SELECT CAST('x' AS INTEGER) FROM batch")
    with work.transaction(), work.registered("batch", {"number": np.arange(2)}):
        assert work.rows("SELECT count(*) FROM batch") == [(2,)]
    work.close()
