"""One log, one digest: whatever the threads, the hash seed, the time zone and the locale."""

import itertools
import os
import subprocess
import sys

import pytest
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.projections.digest import digest, digests
from beliefbase.projections.projector import Projector

SCRIPT = """
import sys
from pathlib import Path
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector

log = SQLiteLog(sys.argv[1], create=False)
with Projector(log, Path(sys.argv[2]), threads=int(sys.argv[3])) as projector:
    projector.rebuild(int(sys.argv[4]))
    print(projector.digest())
    print(projector.rows("SELECT count(*), min(began_ms), max(ended_ms) FROM beliefs_at('2023-11-14 22:30:00')"))
"""


def answer(folder, number, threads, **environment):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder / "log.db", folder / f"read-{number}", str(threads), str(AS_OF_MS)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.slow
def test_digest_does_not_depend_on_the_environment(tmp_path):
    open_log(tmp_path, World(11, 300).events).close()
    variants = [
        {"threads": 1, "PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
        {"threads": 2, "PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8"},
        {"threads": 4, "PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8"},
    ]
    answers = {answer(tmp_path, number, **variant) for number, variant in enumerate(variants)}
    assert len(answers) == 1


def test_digest_is_the_same_for_every_number_of_threads_and_every_chunking(tmp_path, monkeypatch):
    log = open_log(tmp_path, World(12, 200).events)
    found = set()
    for number, (threads, chunk) in enumerate(itertools.product((1, 2, 4), (1 << 20, 10))):
        monkeypatch.setattr("beliefbase.projections.digest.CHUNK_ROWS", chunk)
        with Projector(log, tmp_path / f"read-{number}", threads=threads) as projector:
            projector.rebuild(AS_OF_MS)
            found.add(projector.digest())
    log.close()
    assert len(found) == 1


@pytest.fixture
def projector(tmp_path):
    log = open_log(tmp_path, World(13, 150).events)
    with Projector(log, tmp_path / "read") as projector:
        projector.rebuild(AS_OF_MS)
        yield projector
    log.close()


def changes(projector, *statements):
    """The tables whose digest some statements change; they are rolled back."""
    connection = projector._work.connection
    before = digests(connection), digest(connection)
    connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    after = digests(connection), digest(connection)
    connection.execute("ROLLBACK")
    changed = {name for name in before[0] if before[0][name] != after[0][name]}
    assert (before[1] != after[1]) == bool(changed)
    return changed


def test_digest_sees_every_change_of_a_row(projector):
    pick = "belief_id = (SELECT min(belief_id) FROM belief_facts)"
    assert changes(projector, f"UPDATE belief_facts SET confidence = confidence + 1 WHERE {pick}") == {"belief_facts"}
    assert changes(projector, f"DELETE FROM belief_facts WHERE {pick}") == {"belief_facts"}
    assert changes(projector, f"INSERT INTO belief_facts SELECT * FROM belief_facts WHERE {pick}") == {"belief_facts"}
    assert changes(projector, "UPDATE use_facts SET outcome = NULL") == {"use_facts"}
    assert changes(projector, "UPDATE belief_facts SET policy = '' WHERE policy IS NULL") == {"belief_facts"}


def test_digest_does_not_run_fields_together(projector):
    move = "UPDATE verdicts SET relation = relation || '1:x', confidence = NULL"
    back = "UPDATE verdicts SET relation = 'unrelated'"
    assert changes(projector, move) == {"verdicts"}
    assert changes(projector, move, back) == set()


def test_digest_sees_neither_words_nor_order_nor_the_moment_asked_about(projector):
    assert (
        changes(
            projector,
            "DELETE FROM belief_texts",
            "DELETE FROM names",
            "UPDATE meta SET as_of_ms = 0, position = 0",
            "CREATE TEMP TABLE kept AS FROM belief_facts ORDER BY confidence, belief_id DESC",
            "DELETE FROM belief_facts",
            "INSERT INTO belief_facts FROM kept",
        )
        == set()
    )
