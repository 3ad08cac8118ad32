"""Pins hold a store to what it answered once; a quick audit holds it to the last full one."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import AS_OF_MS, open_log
from tests.replay.tampering import flipped, many_writers, project, store, tamper

from beliefbase.replay.audit import AUDITED
from beliefbase.replay.pin import BadPin, Pin


@pytest.fixture
def run(monkeypatch):
    def run(folder, *arguments, code=0):
        done = beliefbase(monkeypatch, "-s", folder, "--json", *arguments)
        assert done.code == code, done.out + done.err
        return json.loads(done.out) if done.out.startswith(("{", "[")) else done

    return run


@pytest.fixture(scope="module")
def events():
    return many_writers(3, 10)


@pytest.fixture(scope="module")
def made(tmp_path_factory, events):
    return store(tmp_path_factory.mktemp("made"), events)


@pytest.fixture
def folder(tmp_path, made):
    return Path(shutil.copytree(made, tmp_path / "store"))


def append(folder, events):
    with closing(open_log(folder)) as log:
        log.append(list(events))


def more():
    late = Author("late")
    return [late.joined(), late.extracted("later", speech_act="directive"), late.said("later still")]


def test_a_pin_holds_whatever_is_appended_later(run, folder, tmp_path, events):
    pin = tmp_path / "pin.json"
    made = run(folder, "pin", "--out", pin, "--as-of", AS_OF_MS)
    assert (made["events"], made["digest"]) == (len(events), run(folder, "digest")["digest"])
    append(folder, more())
    report = run(folder, "audit", "--pin", pin)
    assert (report["outcome"], report["checked"]["pins"]) == ("same", 1) and report["digest"] != made["digest"]


def test_active_at_a_pin_never_changes(run, folder, tmp_path, events):
    pin = tmp_path / "pin.json"
    run(folder, "pin", "--out", pin, "--as-of", AS_OF_MS)
    then = run(folder, "active", "--as-of", AS_OF_MS, "--candidates")
    live = [row["belief_id"] for row in then]
    late = Author("late")
    append(
        folder,
        [
            late.joined(),
            *(
                late.write("belief.retracted", {"belief_id": bytes.fromhex(i)}, hlc=n + 1 << 16)
                for n, i in enumerate(live)
            ),
        ],
    )
    assert run(folder, "active", "--as-of", AS_OF_MS, "--candidates") == [] != then
    assert run(folder, "active", "--pin", pin, "--candidates") == then


@pytest.fixture
def pinned(run, folder, tmp_path):
    """A pin, and a store in which every belief was retracted late, with stamps from before it."""
    pin = tmp_path / "pin.json"
    run(folder, "pin", "--out", pin, "--as-of", AS_OF_MS)
    live = [row["belief_id"] for row in run(folder, "active", "--as-of", AS_OF_MS, "--candidates")]
    late = Author("late")
    ids = enumerate(map(bytes.fromhex, live), 1)
    append(
        folder,
        [late.joined(), *(late.write("belief.retracted", {"belief_id": one}, hlc=n << 16) for n, one in ids)],
    )
    return pin, live


ASKED = (
    ("active", "--candidates"),
    ("curves", "--by", "speech_act"),
    ("report",),
    ("query", "SELECT belief_id, status FROM beliefs ORDER BY belief_id"),
)


@pytest.mark.parametrize("command", ASKED, ids=lambda command: " ".join(command)[:20])
def test_commands_answer_at_a_pin_as_they_did_then(run, folder, made, pinned, tmp_path, command):
    pin, _ = pinned
    then = Path(shutil.copytree(made, tmp_path / "then"))
    run(then, "project", "--as-of", AS_OF_MS)
    moment = ("--as-of", AS_OF_MS) if command[0] in ("active", "curves") else ()
    expected = run(then, *command, *moment)
    assert expected
    assert run(folder, *command, "--pin", pin) == expected
    assert run(folder, *command, *moment) != expected or command[0] == "query"  # which asks what was published


def test_a_pin_and_another_moment_ask_what_was_known_then_about_that_moment(run, folder, made, pinned):
    pin, _ = pinned
    early = AS_OF_MS - 5_000_000
    for command in (("active", "--candidates"), ("curves",)):
        expected = run(made, *command, "--as-of", early)
        assert run(folder, *command, "--pin", pin, "--as-of", early) == expected


def test_diff_on_both_axes(run, folder, made, pinned):
    pin, live = pinned
    learnt = run(folder, "diff", "--pin", pin)
    assert {row["belief_id"] for row in learnt} == set(live)
    assert {row["status_after"] for row in learnt} == {"retracted"}
    assert {row["status_before"] for row in learnt} <= {"active", "candidate"}
    moments = (AS_OF_MS - 10_000_000, AS_OF_MS)
    assert run(folder, "diff", *moments, "--pin", pin) == run(made, "diff", *moments) != run(folder, "diff", *moments)
    assert run(made, "diff", "--pin", pin) == []


def test_curves_at_a_pin_are_drawn(run, folder, pinned, tmp_path):
    run(folder, "curves", "--pin", pinned[0], "--plot", tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").stat().st_size > 5000


@pytest.mark.parametrize(
    "arguments", [("--pin", "{}", "--policy", "{}"), ("2026-01-01", "--as-of", "2026-01-01"), ("--as-of", "2026-01-01")]
)
def test_diffs_that_make_no_sense_are_usage_errors(run, folder, pinned, arguments):
    run(folder, "diff", *(part.format(pinned[0]) for part in arguments), code=2)


def test_export_at_a_pin(run, folder, made, pinned, tmp_path):
    told = run(folder, "export", "--parquet", tmp_path / "then", "--pin", pinned[0])
    assert told["root"] == Pin.read(pinned[0]).root


def test_a_pin_of_a_frontier_with_forks_is_replayed_from_its_branches(run, tmp_path):
    ann = Author()
    first = [ann.joined(), ann.extracted("one")]
    twin = ann.fork()
    store(tmp_path / "store", first)
    with closing(open_log(tmp_path / "store")) as log:
        log.merge([ann.extracted("two"), twin.extracted("three")])
        run(tmp_path / "store", "pin", "--out", tmp_path / "pin.json")
        log.merge([twin.extracted("four"), ann.extracted("five")])
    assert run(tmp_path / "store", "audit", "--pin", tmp_path / "pin.json")["outcome"] == "same"


def test_another_rules_version_is_said_and_is_no_drift(run, folder, tmp_path):
    pin = tmp_path / "pin.json"
    run(folder, "pin", "--out", pin)
    values = json.loads(pin.read_text("utf-8"))
    pin.write_text(json.dumps({**values, "rules": "lifecycle@0", "digest": "0" * 64}), "utf-8")
    report = run(folder, "audit", "--pin", pin)
    assert [finding["severity"] for finding in report["findings"]] == ["note"]
    assert "lifecycle@0" in report["findings"][0]["what"]


def test_another_digest_under_the_same_rules_is_drift_and_names_the_table(run, folder, tmp_path):
    pin = tmp_path / "pin.json"
    run(folder, "pin", "--out", pin)
    values = json.loads(pin.read_text("utf-8"))
    values["tables"]["belief_intervals"] = values["digest"] = "0" * 64
    pin.write_text(json.dumps(values), "utf-8")
    report = run(folder, "audit", "--pin", pin, code=1)
    assert [finding["table"] for finding in report["findings"]] == ["belief_intervals"]


def test_nothing_is_pinned_unless_all_is_in_order(run, folder, tmp_path, events):
    tamper(folder, ("UPDATE events SET state = ? WHERE state = ?", flipped(events[5].raw, 900), events[5].raw))
    run(folder, "pin", "--out", tmp_path / "pin.json", code=4)
    open_log(tmp_path / "empty").close()
    run(tmp_path / "empty", "pin", "--out", tmp_path / "pin.json", code=5)
    assert not (tmp_path / "pin.json").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"heads": "AAAA"},
        {"root": "0" * 64},
        {"beliefbase_pin": 2},
        {"tables": None},
        {"heads": "no base64"},
    ],
)
def test_a_pin_that_was_changed_is_refused(run, folder, tmp_path, change):
    pin = tmp_path / "pin.json"
    run(folder, "pin", "--out", pin)
    pin.write_text(json.dumps(json.loads(pin.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(BadPin):
        Pin.read(pin)
    run(folder, "audit", "--pin", pin, code=2)


def test_a_pin_is_written_and_read_back(tmp_path, folder):
    with closing(open_log(folder)) as log:
        pin = Pin(5, 30, log.frontier(), "d" * 64, {"a": "e" * 64})
    pin.write(tmp_path / "pin.json")
    assert Pin.read(tmp_path / "pin.json") == pin


# ---------------------------------------------------------------------- quick


def test_a_quick_audit_reads_only_what_is_new(run, folder, events):
    assert "so this is one" in run(folder, "audit", "--quick")["notes"][0]
    report = run(folder, "audit", "--quick")
    assert (report["outcome"], report["checked"]["events"], report["digest"]) == ("same", 0, None)
    assert len(report["not_checked"]) == 2
    append(folder, more())
    assert run(folder, "audit", "--quick")["checked"]["events"] == 3
    ours = Author(
        "writer 0", seq=10, prev=[e for e in events if e.skeleton.writer == events[0].skeleton.writer][-1].hash
    )
    append(folder, [ours.write("utterance.recorded", {"speaker": "will", "verbatim": "x"}, hlc=1 << 60)])
    assert run(folder, "audit", "--quick")["checked"]["events"] == 5  # the new ones, and the one that vouches for them


def test_a_quick_audit_finds_damage_in_what_is_new_and_lost_heads_in_what_is_old(run, folder, events):
    run(folder, "audit")
    new = more()
    append(folder, new)
    tamper(folder, ("UPDATE events SET state = ? WHERE state = ?", flipped(new[1].raw, 900), new[1].raw))
    report = run(folder, "audit", "--quick", code=4)
    assert {found["seq"] for found in report["findings"] if found["severity"] == "damage"} == {2}


def test_a_quick_audit_finds_a_cut_tail(run, folder, events):
    run(folder, "audit")
    last = events[-1]
    before = next(e for e in events if e.hash == last.skeleton.prev)
    tamper(
        folder,
        ("DELETE FROM events WHERE state = ?", last.raw),
        ("UPDATE heads SET seq = ?, hash = ? WHERE writer = ?", before.skeleton.seq, before.hash, last.skeleton.writer),
        ("UPDATE buckets SET hash = NULL",),
        ("DELETE FROM words WHERE event_id = ?", last.id),
    )
    (finding,) = run(folder, "audit", "--quick", code=4)["findings"]
    assert (finding["writer"], finding["seq"]) == (last.skeleton.writer.hex(), last.skeleton.seq)


def test_an_audit_that_finds_something_does_not_move_the_start_of_quick_ones(run, folder):
    run(folder, "audit")
    kept = (folder / "read" / AUDITED).read_text("utf-8")
    append(folder, more())
    project(folder)
    (folder / "read" / "work.duckdb").write_bytes(b"broken" * 1000)
    run(folder, "audit", code=1)
    assert (folder / "read" / AUDITED).read_text("utf-8") == kept


# ---------------------------------------------------------------------- shuffles


def test_other_arrival_orders_give_the_same_digest(run, folder):
    report = run(folder, "audit", "--shuffles", "3", "--seed", "7")
    assert (report["outcome"], report["checked"]["shuffles"]) == ("same", 3)
    assert [path.name for path in (folder / "read").iterdir() if path.is_dir()] == []
