"""The log's own index is audited too: what it says of an event is what the event gives, and the event is named."""

from contextlib import closing

import pytest
from tests.projections.worlds import AS_OF_MS, interleaved, open_log
from tests.replay.tampering import tamper, world

from beliefbase.replay.audit import audit
from beliefbase.replay.integrity import Integrity
from beliefbase.replay.report import AuditReport

pytestmark = pytest.mark.usefixtures("every_reading")

EVENTS = world(3, 150)
POSITION = "(SELECT rowid FROM events WHERE state = ?)"
SAID = next(event for event in EVENTS if event.skeleton.type == "utterance.recorded")


def checked(folder):
    report = AuditReport()
    with closing(open_log(folder)) as log:
        Integrity(log, report, lambda _what, _done: None, indexed=True).check()
    return [finding for finding in report.findings if finding.severity == "damage"]


def made(folder):
    open_log(folder, EVENTS).close()
    return folder


EDITS = {
    "a row of what an event names deleted": (f"DELETE FROM refs WHERE position = {POSITION} AND role = 0", SAID),
    "a row moved to another role": (f"UPDATE refs SET role = 4 WHERE position = {POSITION} AND role = 0", SAID),
    "a row that no event gives": (f"INSERT INTO refs SELECT 7, 1, {POSITION}", SAID),
    "an event taken for a latest revision": ("INSERT INTO tips VALUES (zeroblob(16), ?)", SAID),
    "a stamp deleted": ("DELETE FROM stamps WHERE hlc = ?", SAID),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edited_index_is_found_and_the_event_is_named(tmp_path, kind):
    statement, event = EDITS[kind]
    value = event.raw if POSITION in statement else event.skeleton.hlc if "stamps" in statement else event.id
    tamper(made(tmp_path), (statement, value))
    found = checked(tmp_path)
    assert found and {finding.check for finding in found} == {"index"}
    place = (event.skeleton.writer.hex(), event.skeleton.seq, event.id.hex())
    assert place in {(finding.writer, finding.seq, finding.event) for finding in found}


def test_rows_without_an_event_and_stamps_beyond_every_event_are_found(tmp_path):
    tamper(made(tmp_path), ("INSERT INTO refs VALUES (7, 1, 99999)",), ("INSERT INTO stamps VALUES (1 << 62)",))
    assert [(finding.check, finding.event) for finding in checked(tmp_path)] == [("index", None)] * 2


def test_every_row_of_the_index_is_missed_when_it_is_gone(tmp_path):
    made(tmp_path)
    with closing(open_log(tmp_path)) as log, log._reading() as tables:
        rows = list(tables.index.rows())
    for row in rows[::17]:
        copy = tmp_path / "-".join(map(str, row))
        copy.mkdir()
        (copy / "log.db").write_bytes((tmp_path / "log.db").read_bytes())
        tamper(copy, ("DELETE FROM refs WHERE key = ? AND role = ? AND position = ?", *row))
        assert EVENTS[row[2] - 1].id.hex() in {finding.event for finding in checked(copy)}
    assert len(rows) > 300


def test_every_tip_is_missed_when_it_is_gone(tmp_path):
    made(tmp_path)
    with closing(open_log(tmp_path)) as log, log._reading() as tables:
        tips = list(tables.index.tips())
    for number, (key, event_id) in enumerate(tips[::3]):
        copy = tmp_path / str(number)
        copy.mkdir()
        (copy / "log.db").write_bytes((tmp_path / "log.db").read_bytes())
        tamper(copy, ("DELETE FROM tips WHERE key = ? AND event_id = ?", key, event_id))
        (finding,) = checked(copy)
        assert finding.event == event_id.hex()
    assert len(tips) > 20


@pytest.mark.parametrize("seed", range(6))
def test_an_index_that_grew_in_any_order_raises_no_alarm(tmp_path, seed):
    events = world(seed, 120)
    with closing(open_log(tmp_path)) as log:
        for event in interleaved(events, seed):
            log.merge([event])
        assert list(log.misindexed()) == []


def test_a_whole_audit_looks_at_the_index(tmp_path):
    with closing(open_log(tmp_path, EVENTS)) as log:
        heard = []
        audit(log, tmp_path / "read", as_of_ms=AS_OF_MS, progress=lambda what, done: heard.append((what, done)))
        assert ("indexed", len(EVENTS)) in heard
