"""An audit that replays in another process while it looks at the log says what one says that does both itself."""

import subprocess
import sys
import time
from contextlib import closing

import pytest
from tests.projections.worlds import AS_OF_MS, World, open_log
from tests.replay.tampering import edit, store, tamper

from beliefbase.replay import ahead
from beliefbase.replay.audit import audit


@pytest.fixture
def made(tmp_path):
    return store(tmp_path / "store", World(4, 300).events)


def audited(folder, monkeypatch, *, beside, told=lambda *_: None):
    monkeypatch.setattr(ahead, "LARGE", 1 if beside else 1_000_000)
    monkeypatch.setattr("beliefbase.projections.beside.LARGE", 1 if beside else 1_000_000)
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1})
    before = set((folder / "read").iterdir())
    with closing(open_log(folder)) as log:
        report = audit(log, folder / "read", as_of_ms=AS_OF_MS, progress=told)
    assert {path.name for path in (folder / "read").iterdir()} - {path.name for path in before} <= {"audited.json"}
    return report.as_dict()


def test_a_whole_store(made, monkeypatch):
    done, ends, stages = ahead.Ahead.done, [], []
    monkeypatch.setattr(ahead.Ahead, "done", lambda self, progress: ends.append(done(self, progress)) or ends[-1])
    found = audited(made, monkeypatch, beside=True, told=lambda what, _number: stages.append(what))
    assert (ends, "reading" in stages or "folding" in stages) == ([True], True)
    assert found == audited(made, monkeypatch, beside=False)
    assert found["exit"] == 0


def test_edited_read_models(made, monkeypatch):
    edit(made, "UPDATE belief_facts SET kind = 'other' WHERE rowid = (SELECT min(rowid) FROM belief_facts)")
    found = audited(made, monkeypatch, beside=True)
    assert found == audited(made, monkeypatch, beside=False)
    assert found["exit"] == 1


@pytest.mark.parametrize("field", ["words", "state"])
def test_damage_ends_the_other_process(made, monkeypatch, field):
    table, column = ("words", "body") if field == "words" else ("events", "state")
    longer = f"UPDATE {table} SET {column} = CAST({column} || x'00' AS BLOB)"
    tamper(made, (f"{longer} WHERE rowid = (SELECT max(rowid) FROM {table})",))
    started = []
    begun = ahead.Ahead
    monkeypatch.setattr(ahead, "Ahead", lambda *arguments: started.append(begun(*arguments)) or started[-1])
    found = audited(made, monkeypatch, beside=True)
    assert found == audited(made, monkeypatch, beside=False)
    assert found["exit"] == 4
    (other,) = started
    assert other._process.returncode is not None and not other.folder.exists()


def test_a_process_that_comes_to_nothing(made, monkeypatch):
    whole = audited(made, monkeypatch, beside=False)
    monkeypatch.setattr(ahead.sys, "executable", "/bin/false")
    monkeypatch.setattr("beliefbase.projections.beside.Beside.of", lambda *_: None)
    assert audited(made, monkeypatch, beside=True) == whole


def test_a_process_ends_with_the_one_that_it_works_for():
    work = "from beliefbase.projections.orphans import end_with_parent; end_with_parent(); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE) as process:
        time.sleep(0.2)
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(20) == 1
