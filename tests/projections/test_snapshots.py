"""Snapshots: what analysts open while the projector goes on, in processes of their own."""

import json
import subprocess
import sys
import time

import duckdb
import pytest
from tests.events.build import Author
from tests.projections.worlds import AS_OF_MS, World, open_log
from tests.scale import scaled

from beliefbase.projections import publish as publishing
from beliefbase.projections import query as queries
from beliefbase.projections.errors import ProjectorBusy
from beliefbase.projections.projector import Projector

READER = """
import sys, time
from pathlib import Path
from beliefbase.projections.query import query

folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
sql = '''SELECT meta.root, meta.events, (SELECT count(*) FROM utterances), (SELECT count(*) FROM utterance_texts),
    (SELECT sum(seq) FROM frontier) FROM meta'''
print("ready", flush=True)
end, seen, count = time.monotonic() + seconds, set(), 0
while time.monotonic() < end or (len(seen) < 2 and time.monotonic() < end + 60):  # on a busy machine
    (root, events, said, texts, seqs), = query(folder, sql).rows
    assert events == seqs and said == texts == events - 1, (root, events, said, texts, seqs)
    seen.add(root)
    count += 1
    time.sleep(0.05)
print(len(seen), count)
"""
HOLDER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
before = connection.execute("FROM meta").fetchall()
print("open", flush=True)
sys.stdin.readline()
assert connection.execute("FROM meta").fetchall() == before
assert connection.execute("SELECT count(*) FROM beliefs").fetchall()[0][0] > 0
"""


def python(script, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def store(tmp_path):
    log = open_log(tmp_path, World(4, 80).events)
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        yield log, projector, tmp_path / "read"
    log.close()


def snapshots(folder):
    return sorted(path.name for path in folder.glob("snapshot-*"))


def test_publishing_again_without_a_change_writes_nothing(store):
    _, projector, folder = store
    first, again = projector.publish(), projector.publish()
    assert (first.published, again.published) == (True, False)
    assert first.path == again.path
    assert snapshots(folder) == [first.path.name]
    assert first.path.name.startswith(f"snapshot-00000001-{first.root[:12]}")


def test_another_moment_or_frontier_is_another_snapshot(store):
    log, projector, _ = store
    first = projector.publish()
    projector.refresh(AS_OF_MS + 1)
    second = projector.publish()
    log.append([Author("late").said()])
    projector.refresh(AS_OF_MS + 1)
    third = projector.publish()
    assert [snapshot.published for snapshot in (first, second, third)] == [True] * 3
    assert first.root == second.root != third.root
    assert [snapshot.number for snapshot in (first, second, third)] == [1, 2, 3]


def test_a_snapshot_holds_tables_views_macros_and_comments(store):
    _, projector, folder = store
    path = projector.publish().path
    with queries.connect(folder) as connection:
        assert connection.execute("SELECT as_of_ms FROM meta").fetchall() == [(AS_OF_MS,)]
        counted = "SELECT count(*) FROM beliefs"
        assert connection.execute(counted).fetchall() == projector.rows(counted)
        assert connection.execute(f"SELECT count(*) FROM live_at({AS_OF_MS})").fetchall()[0][0] > 0
        comment = "SELECT comment FROM duckdb_columns() WHERE table_name = 'beliefs' AND column_name = 'status'"
        assert connection.execute(comment).fetchall()[0][0]
    assert not path.with_name(path.name + ".wal").exists()


def test_a_snapshot_attached_to_another_database_answers(store):
    """An analyst may attach it beside tables of their own."""
    _, projector, _ = store
    path = projector.publish().path
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{path}' AS beliefs_of_the_team (READ_ONLY)")
    counted = connection.execute("SELECT count(*) FROM beliefs_of_the_team.belief_facts").fetchall()
    connection.execute("USE beliefs_of_the_team")
    assert connection.execute("SELECT count(*) FROM beliefs").fetchall()[0][0] > 0
    assert counted == projector.rows("SELECT count(*) FROM belief_facts")
    connection.close()


def test_old_snapshots_go_but_never_under_a_reader(store):
    _, projector, folder = store
    oldest = projector.publish().path
    holder = python(HOLDER, oldest)
    assert holder.stdout.readline() == "open\n"
    for step in range(1, 5):
        projector.refresh(AS_OF_MS + step)
        newest = projector.publish().path
    kept = snapshots(folder)
    assert oldest.name in kept
    assert newest.name in kept
    assert len(kept) == 1 + publishing.KEPT
    out, err = holder.communicate("\n", timeout=60)
    assert (holder.returncode, err) == (0, ""), out
    projector.refresh(AS_OF_MS + 9)
    projector.publish()
    assert len(snapshots(folder)) == publishing.KEPT


def test_leftovers_of_a_publication_that_was_cut_short_go(store):
    _, projector, folder = store
    (folder / "snapshot-00000007-0123456789ab.duckdb.tmp").write_bytes(b"half")
    projector.publish()
    assert not list(folder.glob("*.tmp"))


def test_a_lost_pointer_or_snapshot_is_published_anew(store):
    _, projector, folder = store
    first = projector.publish()
    first.path.unlink()
    assert projector.publish().published
    (folder / publishing.POINTER).unlink()
    third = projector.publish()
    assert third.published
    assert json.loads((folder / publishing.POINTER).read_text())["snapshot"] == third.path.name


def test_after_an_erasure_older_snapshots_go_at_once(tmp_path):
    author = Author("ann")
    joined, said = author.joined(), author.said("A secret.")
    log = open_log(tmp_path, [joined, said])
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        oldest = projector.publish().path
        holder = python(HOLDER.replace("> 0", "== 0"), oldest)
        assert holder.stdout.readline() == "open\n"
        log.append([author.write("subject.erased", {"subject": "will"})])
        with log.transaction() as transaction:
            transaction.erase_words([said.id])
        assert projector.refresh(AS_OF_MS).how == "rebuilt"
        newest = projector.publish().path
        assert snapshots(tmp_path / "read") == [newest.name]
        assert holder.communicate("\n", timeout=60)[1] == ""
        assert projector.rows("SELECT verbatim FROM utterances") == [(None,)]
    log.close()
    secret = b"A secret."
    files = [path for path in (tmp_path / "read").rglob("*") if path.is_file()]
    assert [path.name for path in files if secret in path.read_bytes()] == []


def test_the_folder_belongs_to_one_projector(store, tmp_path):
    log, _, folder = store
    with pytest.raises(ProjectorBusy) as caught:
        Projector(log, folder)
    assert caught.value.hint
    script = "import sys; from pathlib import Path; from beliefbase.events.sqlite import SQLiteLog\n"
    script += "from beliefbase.projections.projector import Projector\n"
    script += "Projector(SQLiteLog(sys.argv[1], create=False), Path(sys.argv[2]))"
    other = python(script, tmp_path / "log.db", folder)
    assert "ProjectorBusy" in other.communicate(timeout=60)[1]


def test_a_dead_projector_leaves_no_lock(store):
    log, projector, folder = store
    projector.close()
    script = "import sys, os; from pathlib import Path; from beliefbase.events.sqlite import SQLiteLog\n"
    script += "from beliefbase.projections.projector import Projector\n"
    script += "p = Projector(SQLiteLog(sys.argv[1], create=False), Path(sys.argv[2])); os.kill(os.getpid(), 9)"
    other = python(script, folder.parent / "log.db", folder)
    other.communicate(timeout=60)
    assert other.returncode == -9
    with Projector(log, folder) as again:
        assert again.refresh(AS_OF_MS).how == "unchanged"


@pytest.mark.slow
def test_readers_see_one_frontier_each_while_the_projector_publishes(tmp_path):
    author = Author("ann")
    log = open_log(tmp_path, [author.joined(), *author.utterances(200)])
    folder = tmp_path / "read"
    seconds = scaled(12)
    with Projector(log, folder) as projector:
        projector.refresh(AS_OF_MS)
        projector.publish()
        readers = [python(READER, folder, seconds) for _ in range(2)]
        for reader in readers:
            assert reader.stdout.readline() == "ready\n"
        published, end = 0, time.monotonic() + seconds
        while time.monotonic() < end or published < 3 or any(reader.poll() is None for reader in readers):
            log.append(author.utterances(20))
            projector.refresh(AS_OF_MS)
            published += projector.publish().published
        for reader in readers:
            out, err = reader.communicate(timeout=120)
            assert (reader.returncode, err) == (0, "")
            roots, queries_answered = map(int, out.split())
            assert queries_answered >= roots > 1
    log.close()
    assert published > 2
