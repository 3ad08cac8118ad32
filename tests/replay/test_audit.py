"""The audit by its command: what it says and how it ends, over stores that are whole, behind, edited or damaged."""

import json
import shutil
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import (
    FIELDS,
    edit,
    erase,
    field_ends,
    flipped,
    many_writers,
    project,
    store,
    tamper,
    world,
)
from tests.scale import scaled

from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import FORMAT
from beliefbase.events.erasure import covered
from beliefbase.replay.audit import audit
from beliefbase.replay.integrity import Integrity
from beliefbase.replay.report import AuditReport
from beliefbase.store import BeliefStore


@pytest.fixture
def run(monkeypatch):
    def run(folder, *arguments, code=0):
        done = beliefbase(monkeypatch, "-s", folder, "--json", *arguments)
        assert done.code == code, done.out + done.err
        return json.loads(done.out) if done.out.startswith("{") else done

    return run


@pytest.fixture(scope="module")
def events():
    return many_writers(4, 12)


@pytest.fixture(scope="module")
def made(tmp_path_factory, events):
    return store(tmp_path_factory.mktemp("made"), events)


@pytest.fixture
def whole(tmp_path, made):
    return Path(shutil.copytree(made, tmp_path / "store"))


def located(report, severity="damage"):
    return {(found.get("writer"), found.get("seq")) for found in report["findings"] if found["severity"] == severity}


def place(event):
    return event.skeleton.writer.hex(), event.skeleton.seq


# ---------------------------------------------------------------------- whole stores


def test_a_whole_store_is_the_same(run, whole, events):
    report = run(whole, "audit")
    assert (report["outcome"], report["exit"], report["findings"], report["not_checked"]) == ("same", 0, [], [])
    assert report["digest"] == run(whole, "digest")["digest"]
    assert report["checked"]["events"] == len(events)
    assert report["checked"]["tables"] > 50 and report["checked"]["rows"] > 100


def test_an_empty_store_is_never_green(run, tmp_path):
    open_log(tmp_path / "store").close()
    report = run(tmp_path / "store", "audit", code=5)
    assert report["outcome"] == "nothing_checked"


def test_a_store_that_is_not_there_is_unavailable(run, tmp_path):
    run(tmp_path / "nowhere", "audit", code=3)


def test_what_was_not_checked_is_said(run, tmp_path, events):
    open_log(tmp_path, events).close()
    report = run(tmp_path, "audit")
    assert len(report["not_checked"]) == 2 and all("published" in s or "projected" in s for s in report["not_checked"])


def test_read_models_behind_the_log_are_compared_with_what_they_were_made_from(run, tmp_path, events):
    store(tmp_path, events[:40])
    with closing(open_log(tmp_path)) as log:
        log.append(events[40:])
    report = run(tmp_path, "audit")
    assert (report["outcome"], report["not_checked"]) == ("same", [])
    edit(tmp_path, "UPDATE belief_intervals SET status = 'retracted'")
    assert run(tmp_path, "audit", code=1)["outcome"] == "drift"


def test_an_audit_changes_no_read_model(run, whole):
    before = {path.name: path.read_bytes() for path in (whole / "read").iterdir() if path.suffix == ".duckdb"}
    edit(whole, "UPDATE belief_intervals SET status = 'retracted'")
    edited = (whole / "read" / "work.duckdb").read_bytes()
    run(whole, "audit", code=1)
    assert (whole / "read" / "work.duckdb").read_bytes() == edited
    assert set(before) == {p.name for p in (whole / "read").iterdir() if p.suffix == ".duckdb"}


def test_while_another_process_projects_the_audit_says_so(run, whole):
    with BeliefStore.open(whole) as open_store, open_store.projector():
        done = run(whole, "audit", code=3)
    assert "projects" in done.err


def test_clean_logs_raise_no_alarm(tmp_path):
    for seed in range(50):
        assert_no_alarm(tmp_path / str(seed), seed, replayed=seed % 10 == 0)


@pytest.mark.slow
def test_a_thousand_clean_logs_raise_no_alarm(tmp_path):
    for seed in range(50, 50 + scaled(950)):
        assert_no_alarm(tmp_path / str(seed), seed, replayed=seed % 5 == 0)


def assert_no_alarm(folder, seed, *, replayed):
    """Random logs with forks, events kept aside, unknown types and erased words; projected half way and again."""
    events = world(seed, 60)
    author = Author(f"forked {seed}")
    said = author.said if seed % 2 else author.extracted
    events += [author.joined(), said("kim's words", subjects=("kim",)), author.said("one")]
    twin = author.fork()
    late = [author.said("left"), twin.said("right"), twin.said("more")]
    stranger = Author(f"aside {seed}")
    stranger.joined()
    late += [stranger.said("kept aside"), twin.write("thing.new", {}, payload={"a": 1}, version=7)]
    erasing = Author(f"erasing {seed}")
    late += [erasing.joined(), erasing.write("subject.erased", {"subject": "kim"}, hlc=(1 << 62))]
    with closing(open_log(folder, events)) as log:
        if replayed:
            project(folder, publish=bool(seed % 2))
        log.merge(late)
        erased = covered(log)
        assert erased
        erase(folder, erased)
        if replayed and seed % 3:
            project(folder)
        if replayed:
            report = audit(log, folder / "read")
        else:
            report = AuditReport()
            Integrity(log, report, lambda _what, _done: None).check()
        assert report.exit_code == 0, (seed, report.as_text())
        assert {"forks", "gaps"} <= {finding.check for finding in report.findings}


def test_a_log_of_a_newer_release_is_the_same_and_what_it_cannot_use_is_listed(run, tmp_path, events):
    new = Author("newer")
    newer = [
        new.joined(),
        new.write("belief.imagined", {}, payload={"dream": 1}),
        new.write("belief.retracted", {}, payload={"belief_id": b"b" * 16}, version=9),
        new.write("belief.affirmed", {}, payload={"belief_id": b"b" * 16, "mood": "good"}),
    ]
    foreign = new.write("belief.affirmed", {}, payload={"belief_id": b"c" * 16}, format=FORMAT + 1)
    with closing(open_log(tmp_path, events)) as log:
        assert log.merge([*newer, foreign]).stored == 5
    project(tmp_path)
    report = run(tmp_path, "audit")
    assert report["outcome"] == "same"
    assert {row["reason"] for row in report["dropped"]} == {
        "unknown_type", "unknown_version", "unknown_field", "unknown_format"
    }  # fmt: skip
    assert report["dropped_total"] == 4


# ---------------------------------------------------------------------- edited read models


def test_an_edited_interval_is_named_with_belief_interval_events_and_rule(run, whole, events):
    edit(
        whole,
        "UPDATE belief_intervals SET status = 'retracted' WHERE (belief_id, since_hlc) IN"
        " (SELECT belief_id, since_hlc FROM belief_intervals ORDER BY belief_id DESC LIMIT 1)",
    )
    report = run(whole, "audit", code=1)
    first = report["findings"][0]
    assert (report["outcome"], first["severity"], first["table"]) == ("drift", "drift", "belief_intervals")
    with closing(open_log(whole)) as log:
        makers = [log.get(bytes.fromhex(event)) for event in first["events"]]
    assert first["belief"] in {event.id.hex() for event in makers}
    assert first["interval"].startswith("from 20")
    assert first["rule"].split()[0] in {"active", "candidate", "superseded"}


@pytest.mark.parametrize(
    "statement, table",
    [
        ("UPDATE belief_texts SET statement = 'another'", "belief_texts"),
        ("DELETE FROM belief_facts WHERE belief_id = (SELECT min(belief_id) FROM belief_facts)", "belief_facts"),
        ("INSERT INTO revision_facts SELECT * FROM revision_facts LIMIT 1", "revision_facts"),
        ("UPDATE names SET name = 'somebody else'", "names"),
        ("DROP TABLE use_facts", "use_facts"),
        ("CREATE OR REPLACE VIEW active_set AS SELECT * FROM beliefs", "active_set"),
        ("CREATE OR REPLACE MACRO active_at(ts) AS TABLE SELECT * FROM beliefs_at(ts)", "active_at"),
    ],
)
def test_whatever_is_edited_in_the_read_models_is_named(run, whole, statement, table):
    edit(whole, statement)
    report = run(whole, "audit", code=1)
    assert table in {finding["table"] for finding in report["findings"]}


def test_words_are_not_repeated_in_a_report(run, whole):
    edit(whole, "UPDATE belief_texts SET statement = 'a canary'")
    assert "canary" not in json.dumps(run(whole, "audit", code=1))


def test_an_edited_snapshot_is_drift(run, whole):
    (snapshot,) = (whole / "read").glob("snapshot-*.duckdb")
    with duckdb.connect(str(snapshot)) as connection:
        connection.execute("UPDATE belief_intervals SET status = 'retracted'")
    report = run(whole, "audit", code=1)
    assert all("snapshot" in finding["what"] for finding in report["findings"])


def test_read_models_that_claim_another_frontier_are_drift(run, whole):
    edit(whole, f"UPDATE meta SET root = '{'0' * 64}'")
    assert "frontier" in run(whole, "audit", code=1)["findings"][0]["what"]


def test_a_file_that_is_no_database_is_drift(run, whole):
    (whole / "read" / "work.duckdb").write_bytes(b"nothing of the kind" * 1000)
    assert "can't be read" in run(whole, "audit", code=1)["findings"][0]["what"]


# ---------------------------------------------------------------------- damaged logs


@pytest.mark.parametrize("field", FIELDS)
def test_a_flip_in_a_field_is_damage_of_that_event(run, whole, events, field):
    event = events[len(events) // 2]
    changed = flipped(event.raw, 8 * field_ends(event.raw)[field])
    tamper(whole, ("UPDATE events SET state = ? WHERE state = ?", changed, event.raw))
    report = run(whole, "audit", code=4)
    assert (report["outcome"], report["digest"]) == ("damaged", None)
    assert located(report) == {place(event)}


@pytest.mark.parametrize("column", ["salt", "body", "event_id"])
def test_a_flip_in_words_is_damage_of_that_event(run, whole, events, column):
    event = next(event for event in events if event.skeleton.type == "belief.extracted")
    value = {"salt": event.salt, "body": event.body, "event_id": event.id}[column]
    changed = flipped(value, 3)
    tamper(whole, (f"UPDATE words SET {column} = ? WHERE event_id = ?", changed, event.id))
    assert located(run(whole, "audit", code=4)) == {place(event)}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET topic = 'belief.demoted/1' WHERE state = ?",
        "UPDATE events SET originator_version = originator_version + 100 WHERE state = ?",
        "DELETE FROM events WHERE state = ?",
    ],
)
def test_a_row_that_is_moved_or_deleted_is_damage(run, whole, events, statement):
    event = events[len(events) // 2]
    tamper(whole, (statement, event.raw))
    found = located(run(whole, "audit", code=4))
    assert event.skeleton.writer.hex() in {writer for writer, _ in found}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE heads SET seq = seq + 1",
        "UPDATE heads SET seq = seq - 1",
        "UPDATE heads SET hash = zeroblob(32)",
        "DELETE FROM heads",
        "UPDATE buckets SET hash = zeroblob(32)",
        "INSERT INTO words VALUES (1000000, zeroblob(16), zeroblob(16), zeroblob(3))",
        "DELETE FROM words WHERE position = (SELECT max(position) FROM words)",
    ],
)
def test_whatever_is_changed_around_the_events_is_damage(run, whole, statement):
    tamper(whole, (statement,))
    run(whole, "audit", code=4)


def test_with_both_edited_the_log_is_damaged_and_the_drift_is_listed(run, whole, events):
    event = next(event for event in events if event.skeleton.type == "belief.extracted")
    tamper(
        whole, ("UPDATE words SET body = ? WHERE event_id = ?", flipped(event.body, 8 * len(event.body) - 8), event.id)
    )
    edit(whole, "UPDATE belief_intervals SET status = 'retracted'")
    report = run(whole, "audit", code=4)
    assert located(report) == {place(event)}
    assert {"belief_intervals"} <= {found["table"] for found in report["findings"] if found["severity"] == "drift"}
    assert report["findings"][0]["severity"] == "damage"


def test_a_file_that_sqlite_calls_malformed_is_damage(run, whole):
    with closing(sqlite3.connect(whole / "log.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count"))
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()[0]
    with (whole / "log.db").open("r+b") as file:
        file.seek((root - 1) * page)
        file.write(b"\xff" * page)
    assert size > root
    run(whole, "audit", code=4)


def test_the_newest_event_with_its_head_changed_as_well_needs_more_than_the_log(run, whole, events):
    """The read models still know better: they were made from an event that the log no longer has."""
    last = events[-1]
    writer = last.skeleton.writer
    before = next(e for e in events if e.skeleton.writer == writer and e.skeleton.seq == last.skeleton.seq - 1)
    tamper(
        whole,
        ("DELETE FROM events WHERE state = ?", last.raw),
        ("DELETE FROM words WHERE event_id = ?", last.id),
        ("UPDATE heads SET seq = ?, hash = ? WHERE writer = ?", before.skeleton.seq, before.hash, writer),
        ("UPDATE buckets SET hash = NULL",),
        ("UPDATE settings SET value = 0 WHERE name = 'index_version'",),  # so that the index is made anew
    )
    report = run(whole, "audit", code=4)
    assert located(report) == {place(last)}
    for path in (whole / "read").iterdir():
        path.unlink()
    assert run(whole, "audit")["outcome"] == "same"


# ---------------------------------------------------------------------- reports


def test_reports_for_ci_say_the_same(run, whole, tmp_path, events):
    junit, markdown = tmp_path / "junit.xml", tmp_path / "summary.md"
    run(whole, "audit", "--junit", junit, "--markdown", markdown)
    suite = ET.parse(junit).getroot()[0]
    assert (suite.get("failures"), suite.get("tests")) == ("0", "1")
    assert "1 passed, 0 failed" in markdown.read_text("utf-8")
    event = events[7]
    tamper(whole, ("UPDATE events SET state = ? WHERE state = ?", flipped(event.raw, 700), event.raw))
    run(whole, "audit", "--junit", junit, "--markdown", markdown, code=4)
    suite = ET.parse(junit).getroot()[0]
    assert "damage" in {failure.get("type") for failure in suite.iter("failure")}
    assert "0 passed, 1 failed" in markdown.read_text("utf-8") and place(event)[0] in markdown.read_text("utf-8")


def test_annotations_for_github(run, whole, monkeypatch, events):
    done = beliefbase(monkeypatch, "-s", whole, "audit", "--github")
    assert done.out.splitlines()[-1].startswith("::notice title=beliefbase::same")
    event = events[7]
    tamper(whole, ("UPDATE events SET state = ? WHERE state = ?", flipped(event.raw, 700), event.raw))
    done = beliefbase(monkeypatch, "-s", whole, "audit", "--github")
    assert done.code == 4 and "::error title=beliefbase damage::" in done.out


def test_every_type_of_the_catalogue_is_in_some_clean_log():
    assert set(CATALOG.models) - {"writer.closed", "subject.erased"} <= {
        event.skeleton.type for seed in range(3) for event in world(seed, 400)
    }


def test_a_store_that_notes_other_erasures_than_its_events_say_is_damaged(run, tmp_path):
    ann, owner = Author("ann"), Author("owner")
    said = [ann.joined(), ann.said("kim's words", subjects=("kim",))]
    read = ann.extracted("What kim said.", evidence=(said[1].id,))
    with closing(open_log(tmp_path)) as log:
        log.merge([*said, read, owner.joined(), owner.write("subject.erased", {"subject": "kim"}, hlc=1 << 58)])
        assert set(log.erased()) == {read.id}
    project(tmp_path)
    assert run(tmp_path, "audit")["outcome"] == "same"
    tamper(tmp_path, ("DELETE FROM covered",))
    assert "erasures" in {finding["check"] for finding in run(tmp_path, "audit", code=4)["findings"]}
