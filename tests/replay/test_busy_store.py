"""Audits of a store that is in use: whatever arrives meanwhile is no finding."""

import os
from contextlib import closing

from tests.events.processes import Child
from tests.projections.worlds import AS_OF_MS, open_log
from tests.replay.tampering import many_writers, store

from beliefbase.projections.projector import Projector
from beliefbase.replay.audit import Request, audit
from beliefbase.store import BeliefStore


def test_while_others_write_an_audit_finds_nothing(tmp_path):
    store(tmp_path, many_writers(3, 8))

    def write(pipe):
        with BeliefStore.open(tmp_path, durability="process") as open_store:
            ann = open_store.writer("ann")
            os.write(pipe, b"on\n")
            for number in range(100_000):
                ann.record_utterance(f"Sentence {number}.", speaker="will")

    child = Child(write)
    try:
        with closing(open_log(tmp_path)) as log:
            while log.last_position() < 40:
                pass
            reports = [audit(log, tmp_path / "read", Request(quick=number == 2)) for number in range(3)]
            assert log.last_position() > reports[0].events
    finally:
        child.kill()
    assert [report.as_text() for report in reports if report.exit_code] == []


def test_while_somebody_asks_the_snapshot_an_audit_compares_it(tmp_path):
    store(tmp_path, many_writers(2, 6))
    (snapshot,) = (tmp_path / "read").glob("snapshot-*")

    def ask(pipe):
        import duckdb

        with duckdb.connect(str(snapshot), read_only=True) as connection:
            connection.execute("SELECT count(*) FROM active_set").fetchall()
            os.write(pipe, b"open\n")
            os.read(held[0], 1)

    held = os.pipe()
    child = Child(ask)
    try:
        with closing(open_log(tmp_path)) as log:
            report = audit(log, tmp_path / "read")
        assert (report.exit_code, report.not_checked) == (0, [])
    finally:
        os.write(held[1], b"x")
        child.succeed()


def test_after_an_audit_the_projector_goes_on_where_it_was(tmp_path):
    store(tmp_path, many_writers(2, 6))
    with closing(open_log(tmp_path)) as log:
        audit(log, tmp_path / "read", Request(shuffles=1))
        with Projector(log, tmp_path / "read") as projector:
            assert projector.refresh(AS_OF_MS).how == "unchanged"
    assert sorted(path.name for path in (tmp_path / "read").iterdir() if path.is_dir()) == []
