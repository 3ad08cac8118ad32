"""What a store keeps beside its events decides answers too: types of columns, branches, settings, notes, pointers."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import AS_OF_MS, open_log
from tests.replay.tampering import many_writers, project, tamper, world

from beliefbase.replay.audit import audit
from beliefbase.replay.integrity import Integrity
from beliefbase.replay.report import AuditReport

pytestmark = pytest.mark.usefixtures("every_reading")

EVENTS = many_writers(4, 8)
FAR = 1 << 62
"""A stamp that no wall reaches in these tests: an erasure that waits."""


def spoken(author, subject):
    said = author.said(f"{subject}'s words", subjects=(subject,))
    return said, author.extracted(f"What {subject} said.", evidence=(said.id,))


def erasures():
    """An erasure that was carried out, one that waits, and somebody whom none covers."""
    ann, owner = Author("ann"), Author("owner", ms=1_750_000_000_000)
    events = [ann.joined(), *spoken(ann, "kim"), *spoken(ann, "lee"), *spoken(ann, "sam"), owner.joined()]
    events.append(owner.write("subject.erased", {"subject": "kim"}))
    return [*events, owner.write("subject.erased", {"subject": "lee"}, hlc=FAR)]


def forked():
    """A writer with a branch from the middle, and one that forked at its first event."""
    ann, bob = Author("ann"), Author("bob")
    shared, twin = [ann.joined(), ann.said("1")], Author("bob", mark="twin")
    other = ann.fork()
    return [*shared, ann.said("2"), ann.said("3"), other.said("two"), other.said("three"), bob.joined(), twin.joined()]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    made = {"plain": EVENTS, "erased": erasures(), "forked": forked()}
    for name, events in made.items():
        (folder / name).mkdir()
        with closing(open_log(folder / name)) as log:
            assert log.merge(events).stored == len(events)
        project(folder / name)
    return {name: folder / name for name in made}


@pytest.fixture
def copy(stores, tmp_path):
    return lambda name: Path(shutil.copytree(stores[name], tmp_path / name))


def audited(folder):
    with closing(open_log(folder)) as log:
        return audit(log, folder / "read", as_of_ms=AS_OF_MS)


def checked(folder):
    """The log against itself, without its read models."""
    report = AuditReport()
    with closing(open_log(folder)) as log:
        Integrity(log, report, lambda _what, _done: None, indexed=True).check()
    return report


def damage(report):
    assert report.exit_code == 4, report.as_text()
    return [finding for finding in report.findings if finding.severity == "damage"]


@pytest.mark.parametrize("name", ["plain", "erased", "forked"])
def test_untouched_stores_raise_no_alarm(copy, name):
    report = audited(copy(name))
    assert report.exit_code == 0, report.as_text()


@pytest.mark.parametrize("seed", range(6))
def test_what_worlds_note_raises_no_alarm(tmp_path, seed):
    open_log(tmp_path, world(seed)).close()
    assert [finding for finding in checked(tmp_path).findings if finding.severity == "damage"] == []


# ---------------------------------------------------------------------- types of columns


@pytest.mark.parametrize(
    "column", ["topic AS blob", "originator_id AS blob", "state AS text", "originator_version AS blob"]
)
def test_a_column_of_another_type_is_damage_of_that_event(copy, column):
    folder = copy("plain")
    event = next(event for event in EVENTS if event.skeleton.type == "belief.superseded")
    name = column.split()[0]
    tamper(folder, (f"UPDATE events SET {name} = CAST({column}) WHERE state = ?", event.raw))
    assert event.id.hex() in {finding.event for finding in damage(checked(folder))}


@pytest.mark.parametrize("column", ["salt", "body", "event_id"])
def test_words_of_another_type_are_damage_of_their_event(copy, column):
    folder = copy("plain")
    event = next(event for event in EVENTS if event.body is not None)
    tamper(folder, (f"UPDATE words SET {column} = CAST({column} AS text) WHERE event_id = ?", event.id))
    assert event.id.hex() in {finding.event for finding in damage(checked(folder))}


def test_a_type_that_is_no_text_is_damage_of_that_event(copy):
    folder = copy("plain")
    tamper(folder, ("UPDATE events SET topic = CAST(x'fffe' AS text) WHERE state = ?", EVENTS[9].raw))
    assert EVENTS[9].id.hex() in {finding.event for finding in damage(checked(folder))}


# ---------------------------------------------------------------------- branches


@pytest.mark.parametrize("name", ["plain", "forked"])
@pytest.mark.parametrize(
    "change",
    [
        "first = first + 1",
        "first = CAST(first AS blob)",
        "parent = 'zzz'",
        "parent = stream",
        "writer = x'00'",
        "writer = CAST(writer AS text)",
        "writer = zeroblob(16)",
        "hash = 'x'",
        "seq = -1",
        "seq = 'x'",
        "stream = CAST(stream AS blob)",
    ],
)
def test_whatever_is_changed_about_a_branch_is_damage_of_its_writer(copy, name, change):
    folder = copy(name)
    newest = "stream = (SELECT max(stream) FROM heads)"
    with closing(open_log(folder)) as log, log.filing() as filing:
        writer = max(filing.heads())[:32]
    tamper(folder, (f"UPDATE heads SET {change} WHERE {newest}",))
    assert writer in {finding.writer for finding in damage(checked(folder))}


def test_a_branch_that_forgets_what_it_leaves_is_damage(copy):
    folder = copy("forked")
    tamper(folder, ("UPDATE heads SET parent = NULL WHERE parent IS NOT NULL",))
    (finding,) = damage(checked(folder))
    assert (finding.check, finding.seq) == ("heads", 3)


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE settings SET value = 'abc'", "store_id"),
        ("DELETE FROM settings", "store_id"),
        ("INSERT OR REPLACE INTO settings VALUES ('reworded', 'abc')", "reworded"),
        ("INSERT OR REPLACE INTO settings VALUES ('buckets', x'aabb')", "buckets"),
        ("INSERT INTO buckets VALUES (4096, NULL)", "row 4096"),
        ("INSERT INTO buckets VALUES (100000, NULL)", "row 100000"),
        ("UPDATE buckets SET hash = 'x'", "table buckets"),
    ],
)
def test_settings_that_no_log_keeps_are_damage_and_named(copy, statement, named):
    folder = copy("plain")
    tamper(folder, (statement,))
    assert named in " ".join(finding.what for finding in damage(audited(folder)))


# ---------------------------------------------------------------------- notes of erasures


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE erasures SET subject = zeroblob(16)",
        "UPDATE erasures SET hlc = hlc + 1",
        "UPDATE erasures SET writer = zeroblob(16)",
        "UPDATE erasures SET seq = seq + 1",
        "UPDATE erasures SET event_id = CAST(substr(event_id, 1, 15) AS blob)",
        "UPDATE erasures SET pending = 0",
        "UPDATE erasures SET pending = 'no'",
        "DELETE FROM erasures",
        "INSERT INTO erasures VALUES (zeroblob(16), zeroblob(16), 1, zeroblob(16), 1, 0)",
        "UPDATE covered SET hlc = hlc + 1",
        "UPDATE covered SET erasure = zeroblob(16)",
        "UPDATE covered SET position = position + 1000",
        "DELETE FROM covered WHERE position = (SELECT min(position) FROM covered)",
        "INSERT INTO covered SELECT 1, hlc, erasure FROM covered LIMIT 1",
        "INSERT INTO wanted VALUES (1)",
        "INSERT INTO wanted SELECT min(position) FROM words",
        "INSERT INTO wanted SELECT min(position) FROM covered",
        "INSERT INTO wanted VALUES (1000)",
    ],
)
def test_notes_of_erasures_that_the_events_do_not_give_are_damage(copy, statement):
    folder = copy("erased")
    tamper(folder, (statement,))
    assert damage(checked(folder))


def test_words_that_are_put_back_after_their_erasure_are_damage(copy):
    folder, erased = copy("erased"), erasures()[1]
    put_back = "INSERT INTO words SELECT rowid, ?, ?, ? FROM events WHERE state = ?"
    tamper(folder, (put_back, erased.id, erased.salt, erased.body, erased.raw))
    assert [(finding.check, finding.event) for finding in damage(checked(folder))] == [("erasures", erased.id.hex())]


def test_an_erasure_that_is_made_pending_again_is_carried_out_when_the_store_is_opened(copy):
    folder = copy("erased")
    tamper(folder, ("UPDATE erasures SET pending = 1",))
    assert audited(folder).exit_code == 0
    with closing(sqlite3.connect(folder / "log.db")) as connection:
        assert connection.execute("SELECT sum(pending) FROM erasures").fetchone() == (1,)


# ---------------------------------------------------------------------- what was published


def drift(report):
    assert report.exit_code == 1, report.as_text()
    return [finding for finding in report.findings if finding.severity == "drift"]


def snapshot_of(folder):
    return folder / "read" / json.loads((folder / "read" / "current.json").read_text())["snapshot"]


@pytest.mark.parametrize(
    "change", ["as_of_ms = as_of_ms - 86400000", "reworded = reworded + 1", "rules = 'other'", "projections = '{}'"]
)
def test_a_snapshot_that_says_another_moment_or_origin_is_drift(copy, change):
    folder = copy("plain")
    with closing(duckdb.connect(str(snapshot_of(folder)))) as connection:
        connection.execute(f"UPDATE meta SET {change}")
    (finding,) = drift(audited(folder))
    assert finding.table == "meta"


@pytest.mark.parametrize(
    "content", ["garbage", "", "[]", "{}", '{"snapshot": "../../log.db", "number": 1, "state": {}, "clean_from": 1}']
)
def test_a_pointer_that_cannot_be_used_is_drift_and_projecting_mends_it(copy, content):
    folder = copy("plain")
    (folder / "read" / "current.json").write_text(content)
    (finding,) = drift(audited(folder))
    assert "beliefbase project" in finding.what and "current.json" in finding.what
    project(folder)
    assert audited(folder).exit_code == 0


def test_a_pointer_to_a_snapshot_that_is_gone_is_drift_and_projecting_mends_it(copy):
    folder = copy("plain")
    snapshot_of(folder).unlink()
    (finding,) = drift(audited(folder))
    assert "beliefbase project" in finding.what
    project(folder)
    assert audited(folder).exit_code == 0


def test_an_error_of_the_system_is_told_plainly(monkeypatch, copy):
    def refuse(*_arguments, **_named):
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr("beliefbase.store.BeliefStore.audit", refuse)
    done = beliefbase(monkeypatch, "-s", copy("plain"), "audit")
    assert done.code == 3
    assert "/somewhere: Permission denied" in done.err and "Traceback" not in done.err
