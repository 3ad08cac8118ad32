"""The SQLite log under real processes, real locks and real disks' errors."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent
from tests.events.build import Author
from tests.events.processes import Child, error_in_child
from tests.scale import scaled

from beliefbase.events.catalog import Role
from beliefbase.events.errors import LogDamaged, StoreUnavailable, UsedAfterFork
from beliefbase.events.frontier import frontier_root
from beliefbase.events.index import INDEX_VERSION
from beliefbase.events.locks import WriteLock
from beliefbase.events.sqlite import SQLiteLog


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.db"


def everything(log):
    return [stored.event for page in log.read() for stored in page]


def raw_connection(path):
    return sqlite3.connect(path, isolation_level=None)


def assert_whole(log):
    """Every stream is contiguous and chained, and the heads are those of the streams."""
    heads = set()
    with log.filing() as filing:
        streams = [list(filing.stream(stream)) for stream in filing.streams()]
    for stream in streams:
        prev, seq = bytes(32), 0
        for filed in reversed(stream):
            skeleton = filed.event.skeleton
            assert (skeleton.seq, skeleton.prev, filed.seq) == (seq + 1, prev, seq + 1)
            seq, prev = skeleton.seq, filed.event.hash
        heads.add((seq, prev))
    assert {(head.seq, head.hash) for head in log.frontier()} == heads
    assert log.root() == frontier_root(log.frontier())


# ---------------------------------------------------------------------- opening


@pytest.mark.parametrize("round_", range(3))
def test_many_processes_make_the_same_log_at_once(path, round_):
    start_read, start_write = os.pipe()

    def open_and_append(number):
        def work(pipe):
            os.close(start_write)
            os.read(start_read, 1)  # returns for all at once when the parent closes its end
            log = SQLiteLog(path)
            author = Author(f"{round_} {number}")
            log.append([author.joined(), author.said()])
            log.close()

        return work

    children = [Child(open_and_append(number)) for number in range(8)]
    os.close(start_read)
    os.close(start_write)
    for child in children:
        child.succeed()
    log = SQLiteLog(path, create=False)
    assert len(everything(log)) == 16
    assert_whole(log)


def test_a_missing_log_is_only_made_when_asked(path):
    with pytest.raises(StoreUnavailable, match="no log") as raised:
        SQLiteLog(path, create=False)
    assert "init" in raised.value.hint
    assert not path.exists()
    path.touch()
    with pytest.raises(StoreUnavailable, match="empty"):
        SQLiteLog(path, create=False)
    SQLiteLog(path).close()
    SQLiteLog(path, create=False).close()


def test_a_missing_directory(path):
    with pytest.raises(StoreUnavailable, match="directory") as raised:
        SQLiteLog(path / "deeper" / "log.db")
    assert raised.value.data["path"].endswith("deeper/log.db")


def test_a_file_that_is_no_database(path):
    path.write_bytes(b"minutes of the last meeting\n" * 500)
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="not an SQLite database") as raised:
        SQLiteLog(path)
    assert raised.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE guests (name)", "PRAGMA application_id = 7", "PRAGMA user_version = 7"]
)
def test_a_database_of_something_else_is_left_untouched(path, statement):
    with raw_connection(path) as connection:
        connection.execute(statement)
        connection.execute("VACUUM")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="not a beliefbase log"):
        SQLiteLog(path)
    assert path.read_bytes() == before


def test_a_log_of_a_newer_format_is_refused(path):
    SQLiteLog(path).close()
    raw_connection(path).execute("PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable, match="format 99") as raised:
        SQLiteLog(path)
    assert "newer" in raised.value.hint


def test_names_that_mean_something_to_sqlite_are_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a?mode=memory", "50%41", "file:x", ":memory:", "#1"):
        log = SQLiteLog(name)
        log.append([Author().joined()])
        log.close()
        assert (tmp_path / name).exists()
        assert len(everything(SQLiteLog(name, create=False))) == 1


def test_every_connection_is_set_up_as_promised(path):
    for durability, synchronous in (("power", 2), ("process", 1)):
        log = SQLiteLog(path, durability=durability)
        expected = {
            "journal_mode": "wal",
            "synchronous": synchronous,
            "busy_timeout": 30_000,
            "trusted_schema": 0,
            "secure_delete": 1,
            "cell_size_check": 1,
        }
        with log._reading() as tables:
            asked = {name: tables._cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in expected}
        assert asked == expected
        log.close()


def test_a_compacted_copy_is_a_log_again(path):
    log = SQLiteLog(path)
    log.append([Author().joined()])
    copy = path.with_name("copy.db")
    raw_connection(path).execute("VACUUM INTO ?", (str(copy),))
    other = SQLiteLog(copy, create=False)
    assert raw_connection(copy).execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert other.root() == log.root() and other.store_id() == log.store_id()


# ---------------------------------------------------------------------- what can't be changed


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET state = x'00'",
        "UPDATE events SET rowid = rowid + 100",
        "DELETE FROM events",
        "DELETE FROM events WHERE rowid = 2",
        "UPDATE words SET body = x'00'",
        "DELETE FROM words",
    ],
)
def test_the_file_itself_refuses_to_change_events_and_words(path, statement):
    log = SQLiteLog(path)
    author = Author()
    log.append([author.joined(), author.said()])
    before = everything(log)
    with pytest.raises(sqlite3.IntegrityError, match=r"never|erasure only"):
        raw_connection(path).execute(statement)
    assert everything(log) == before


def test_erased_words_leave_no_bytes_behind(path):
    author = Author()
    log = SQLiteLog(path)
    canary = "canary-" * 2000
    log.append([author.joined(), secret := author.said(canary), author.said("public")])
    log.checkpoint()
    log.append([author.said("something to have in the write-ahead file")])
    with log.transaction() as transaction:
        assert transaction.erase_words([secret.id]) == 1
    found = [file.name for file in path.parent.iterdir() if b"canary-canary" in file.read_bytes()]
    assert found == []
    with pytest.raises(sqlite3.IntegrityError, match="erasure only"):
        raw_connection(path).execute("DELETE FROM words")


def test_a_rolled_back_erasure_keeps_the_words(path):
    author = Author()
    log = SQLiteLog(path)
    log.append([secret := author.said()])

    def erase_and_fail():
        with log.transaction() as transaction:
            transaction.erase_words([secret.id])
            raise KeyError

    with pytest.raises(KeyError):
        erase_and_fail()
    assert log.get(secret.id) == secret


def test_a_log_that_contradicts_itself_is_damaged(path):
    log = SQLiteLog(path)
    author = Author()
    log.append([author.joined(), author.said()])
    raw_connection(path).execute("DELETE FROM heads")
    with pytest.raises(LogDamaged) as raised:
        log.append([Author().joined("ann")])
    assert "audit" in raised.value.hint
    assert len(everything(log)) == 2


def test_a_half_stored_batch_can_not_be_committed_by_passing_over_its_error(path):
    log = SQLiteLog(path)
    log.append([Author("ann").joined()])
    raw_connection(path).execute("DELETE FROM heads")

    def pass_over():
        with log.transaction() as transaction, suppress(sqlite3.Error):
            transaction.insert([Author("bob").joined(), Author("ann").joined("another")])

    with pytest.raises(StoreUnavailable, match="passed over"):
        pass_over()
    assert len(everything(log)) == 1


def test_an_index_of_another_version_is_made_anew(path):
    author = Author()
    belief = author.extracted()
    ended = author.retracted(belief.id)
    again = author.retracted(belief.id, basis=[ended.id])
    log = SQLiteLog(path)
    log.append([belief, ended, again])
    log.close()
    connection = raw_connection(path)
    tables = {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in ("refs", "tips")}
    for name in ("refs", "tips", "stamps"):
        connection.execute(f"DELETE FROM {name}")
    connection.execute("UPDATE settings SET value = -1 WHERE name = 'index_version'")
    log = SQLiteLog(path)
    assert log.naming([belief.id], [Role.STATE], words=True) == [ended, again]
    with log.transaction() as transaction:
        assert transaction.max_hlc(1 << 62) == again.skeleton.hlc
        assert transaction.tables.setting("index_version") == INDEX_VERSION
    assert tables == {
        name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in ("refs", "tips")
    }


# ---------------------------------------------------------------------- processes and threads


def test_no_acknowledged_append_is_lost_by_a_kill(path):
    SQLiteLog(path).close()
    for round_ in range(scaled(10)):

        def work(pipe, round_=round_):
            log = SQLiteLog(path, durability="process")
            author = Author(f"kill {round_}")
            while True:
                events = [author.said() for _ in range(5)]
                log.append(events)
                os.write(pipe, author.seq.to_bytes(4, "big"))

        child = Child(work)
        time.sleep(0.05 + 0.02 * round_)
        acknowledged = child.kill()
        log = SQLiteLog(path, create=False)
        assert_whole(log)
        last = int.from_bytes(acknowledged[-4:], "big")
        stored = [head.seq for head in log.frontier() if head.writer == Author(f"kill {round_}").writer]
        assert max(stored, default=0) >= last
        assert all(seq % 5 == 0 for seq in stored), "half a batch"
        log.close()


def test_processes_take_turns(path):
    SQLiteLog(path).close()

    def work(number):
        def run(pipe):
            log = SQLiteLog(path)
            author = Author(f"turn {number}")
            end = time.monotonic() + 1.5
            longest = 0.0
            while time.monotonic() < end:
                started = time.monotonic()
                log.append([author.said()])
                longest = max(longest, time.monotonic() - started)
            os.write(pipe, f"{author.seq} {longest}".encode())

        return run

    children = [Child(work(number)) for number in range(4)]
    counts = [child.succeed().split() for child in children]
    log = SQLiteLog(path, create=False)
    assert sorted(int(count) for count, _ in counts) == sorted(head.seq for head in log.frontier())
    assert min(int(count) for count, _ in counts) * 20 >= max(int(count) for count, _ in counts)
    assert_whole(log)


def test_threads_of_one_handle_write_and_read_at_once(path):
    log = SQLiteLog(path, durability="process")
    problems, stop = [], threading.Event()

    def write(number):
        author = Author(f"thread {number}")
        for _ in range(40):
            log.append([author.said(), author.said()])

    def read():
        while not stop.is_set():
            count = len(everything(log))
            if count % 2:
                problems.append(count)

    def guarded(function, *arguments):
        try:
            function(*arguments)
        except Exception as error:  # noqa: BLE001  reported by the test
            problems.append(error)

    writers = [threading.Thread(target=guarded, args=(write, number)) for number in range(4)]
    readers = [threading.Thread(target=guarded, args=(read,)) for _ in range(2)]
    for thread in writers + readers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert problems == []
    assert len(everything(log)) == 320
    assert_whole(log)


def test_a_child_process_must_open_its_own(path):
    log = SQLiteLog(path)
    author = Author()
    log.append([author.joined()])

    def work(pipe):
        for use in (log.frontier, lambda: log.append([author.said()]), lambda: next(log.read())):
            with pytest.raises(UsedAfterFork):
                use()
        log.close()  # leaves the parent's files alone
        own = SQLiteLog(path, create=False)
        own.append([Author("child").joined()])

    Child(work).succeed()
    log.append([author.said()])
    assert len(everything(log)) == 3
    assert_whole(log)


def test_a_write_lock_waits_in_turn_and_not_for_ever(tmp_path):
    path = tmp_path / "x.lock"
    release_read, release_write = os.pipe()

    def hold(pipe):
        with WriteLock(path, seconds=5).held():
            os.write(pipe, b"held")
            os.close(pipe)
            os.close(release_write)
            os.read(release_read, 1)

    child = Child(hold)
    assert child.read() == b"held"
    impatient, patient = WriteLock(path, seconds=0.2), WriteLock(path, seconds=20)
    with pytest.raises(StoreUnavailable, match="another process"), impatient.held():
        pass
    os.close(release_write)
    os.close(release_read)
    with patient.held():
        pass
    os.waitpid(child.pid, 0)
    with impatient.held():  # the attempt that was given up has left nothing locked
        pass


def test_who_can_do_without_the_lock_does_not_wait_for_it(tmp_path):
    holder, other = WriteLock(tmp_path / "x.lock", seconds=3600), WriteLock(tmp_path / "x.lock", seconds=3600)
    with holder.held():
        for lock in (other, other):  # the first attempt has left nothing behind
            with pytest.raises(StoreUnavailable), lock.held(wait=False):
                pass
    with other.held(wait=False):
        pass


def test_readers_keep_the_hashes_of_what_changed_unless_somebody_writes(path):
    log, other = SQLiteLog(path), SQLiteLog(path)
    log.append([Author(f"{number}").joined() for number in range(40)])

    def to_compute():
        with log._reading() as tables:
            return len(tables.buckets()[1])

    with other.transaction():
        assert log.root() == frontier_root(log.frontier())
        assert to_compute() > 30
    with log.still() as still:
        assert still.root() == frontier_root(log.frontier())
    assert to_compute() == 0
    log.append([Author("one more").joined()])
    assert to_compute() == 1
    assert log.root() == frontier_root(log.frontier())


def test_a_lock_is_not_left_to_a_forked_child(tmp_path):
    lock, other = WriteLock(tmp_path / "x.lock", seconds=5), WriteLock(tmp_path / "x.lock", seconds=0.2)
    stop_read, stop_write = os.pipe()

    def wait(pipe):
        os.close(stop_write)
        os.read(stop_read, 1)

    with lock.held():
        child = Child(wait)
    with other.held():
        pass
    os.close(stop_write)
    os.close(stop_read)
    child.succeed()


def test_a_transaction_inside_a_transaction_is_refused_and_not_waited_for(path):
    log = SQLiteLog(path)
    author = Author()
    started = time.monotonic()
    with log.transaction() as transaction:
        transaction.insert([author.joined()])
        with pytest.raises(StoreUnavailable, match="this thread"):
            log.append([Author("bob").joined()])
        assert everything(log) == []
    assert time.monotonic() - started < 25  # a wait for the lock takes 30 s
    assert len(everything(log)) == 1


def test_too_many_open_reads_are_refused_with_advice(path):
    log = SQLiteLog(path)
    log.append([Author().joined()])
    log._datastore.pool.pool_timeout = 0.2
    open_reads = []

    def open_many():
        for _ in range(100):
            open_reads.append(log.read())
            next(open_reads[-1])

    with pytest.raises(StoreUnavailable, match="too many reads"):
        open_many()
    assert len(open_reads) > 50
    for read in open_reads:
        read.close()
    assert len(everything(log)) == 1


# ---------------------------------------------------------------------- disks


def limit_file_size(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_disk_that_takes_no_more_leaves_no_half_batch(path):
    author = Author()
    log = SQLiteLog(path)
    log.append([author.joined()])
    log.close()

    def work():
        own = SQLiteLog(path, create=False)
        limit_file_size(256 * 1024)
        own.append([author.said("x" * 1000) for _ in range(1000)])

    code, text, hint = error_in_child(work)
    assert code == "store_unavailable" and str(path) in text and hint
    log = SQLiteLog(path, create=False)
    assert len(everything(log)) == 1
    assert_whole(log)
    assert log.append([Author("bob").joined()])


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a tiny file system needs root")
def test_a_full_disk_says_so(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("mounting a tiny file system isn't allowed here")
    try:
        log = SQLiteLog(small / "log.db")
        author = Author()
        log.append([author.joined()])
        with pytest.raises(StoreUnavailable, match="full") as raised:
            log.append([author.said("x" * 1000) for _ in range(2000)])
        assert "free space" in raised.value.hint
        assert len(everything(log)) == 1
        log.append([Author("bob").joined()])
        assert_whole(log)
        log.close()
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)


def test_an_outcome_that_can_not_be_looked_up_is_unknown(path):
    SQLiteLog(path).close()
    author = Author()

    def work():
        log = SQLiteLog(path, create=False)
        with log.transaction() as transaction:
            transaction.insert([author.said("x" * 1000) for _ in range(300)])
            limit_file_size(64 * 1024)
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    code, text, hint = error_in_child(work)
    assert code == "append_unknown"
    assert "looked up" in text and "again" in hint


def test_a_directory_that_may_not_be_written():
    def try_it(work):
        def as_nobody():
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            work()

        return error_in_child(as_nobody)

    # Not pytest's folder: nobody else may enter that, and to root nothing is read-only.
    folder = Path(tempfile.mkdtemp())
    SQLiteLog(folder / "log.db").close()
    (folder / "log.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        code, text, hint = try_it(lambda: SQLiteLog(folder / "new.db"))
        assert code == "store_unavailable" and "new.db" in text and "writable" in hint
        code, text, hint = try_it(lambda: SQLiteLog(folder / "log.db", create=False).append([Author().joined()]))
        assert code == "store_unavailable" and "log.db" in text and "writ" in hint
    finally:
        shutil.rmtree(folder)


def test_a_directory_that_vanished_takes_no_more_events(path):
    log = SQLiteLog(path)
    author = Author()
    log.append([author.joined()])
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    for use in (lambda: log.append([author.said()]), log.frontier):
        with pytest.raises(StoreUnavailable) as raised:
            use()
        assert raised.value.hint
    path.parent.mkdir()


def test_a_file_that_was_replaced_under_an_open_log_takes_no_more_events(path):
    log = SQLiteLog(path)
    author = Author()
    log.append([author.joined()])
    copy = path.with_name("backup.db")
    raw_connection(path).execute("VACUUM INTO ?", (str(copy),))
    copy.replace(path)
    with pytest.raises(StoreUnavailable, match="replaced"):
        log.append([author.said()])
    with pytest.raises(StoreUnavailable, match="replaced"):
        log.last_position()


def test_an_overwritten_header_is_reported_as_such(path):
    log = SQLiteLog(path)
    log.append([Author().joined()])
    log.checkpoint()
    log.close()
    with path.open("r+b") as file:
        file.write(b"\xff" * 100)
    with pytest.raises(StoreUnavailable, match="not an SQLite database") as raised:
        SQLiteLog(path)
    assert "backup" in raised.value.hint


def test_overwritten_pages_are_damage(path):
    log = SQLiteLog(path)
    author = Author()
    log.append([author.joined(), *author.utterances(500)])
    log.checkpoint()
    log.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(LogDamaged) as raised:
        everything(SQLiteLog(path, create=False))
    assert "audit" in raised.value.hint


FAILING_SYNC = """
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
static int fails(void) {
    const char *flag = getenv("SYNC_FAILS_WHILE");
    if (!flag || access(flag, F_OK)) return 0;
    if (getenv("SYNC_FAILS_ONCE")) unlink(flag);
    errno = EIO;
    return 1;
}
int fdatasync(int file) { return fails() ? -1 : syscall(SYS_fdatasync, file); }
int fsync(int file) { return fails() ? -1 : syscall(SYS_fsync, file); }
"""
APPEND_WHILE_SYNC_FAILS = """
import os, sys
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.sqlite import SQLiteLog
from tests.events.build import Author
author = Author()
log = SQLiteLog(sys.argv[1])
log.append([author.joined()])
reading = log.read()
next(reading)  # a second connection: closing the failed one doesn't clear the write-ahead file away
open(os.environ["SYNC_FAILS_WHILE"], "w").close()
try:
    log.append([author.said()])
except BeliefbaseError as error:
    print(error.code, flush=True)
os.kill(os.getpid(), 9)  # no tidying up: the next to open the log finds what is in the files
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler to make a disk that fails")
@pytest.mark.parametrize(("times", "code"), [("once", "store_unavailable"), ("for ever", "append_unknown")])
def test_what_a_failing_disk_is_said_to_have_not_stored_never_turns_up(tmp_path, path, times, code):
    """A commit whose sync fails is written in full: without being overwritten it would come back after a crash."""
    source, library, flag = tmp_path / "sync.c", tmp_path / "sync.so", tmp_path / "flag"
    source.write_text(FAILING_SYNC, "utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    root = Path(__file__).parents[2]
    environment = {"LD_PRELOAD": str(library), "SYNC_FAILS_WHILE": str(flag), "PYTHONPATH": str(root)}
    if times == "once":
        environment["SYNC_FAILS_ONCE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", APPEND_WHILE_SYNC_FAILS, path],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert (done.stdout.split(), done.returncode) == ([code], -signal.SIGKILL), done.stderr
    log = SQLiteLog(path, create=False)
    assert len(everything(log)) in ({1} if code == "store_unavailable" else {1, 2})
    assert_whole(log)


# ---------------------------------------------------------------------- the library's recorder on our table


def test_the_recorder_of_the_library_reads_the_log(path):
    author = Author()
    events = [author.joined(), author.said()]
    log = SQLiteLog(path)
    log.append(events)
    stored = log.recorder.select_events(author.writer.hex())
    assert [(s.originator_id, s.originator_version, s.state) for s in stored] == [
        (author.writer.hex(), number, event.raw) for number, event in enumerate(events, 1)
    ]
    assert [n.topic for n in log.recorder.select_notifications(1, 10)] == ["writer.joined/1", "utterance.recorded/1"]
    assert log.recorder.max_notification_id() == 2


def test_the_recorder_of_the_library_writes_rows_and_refuses_conflicts(path):
    log = SQLiteLog(path)
    row = StoredEvent("stream", 1, "topic/1", b"state")
    assert log.recorder.insert_events([row]) == [1]
    with pytest.raises(IntegrityError):
        log.recorder.insert_events([StoredEvent("other", 1, "topic/1", b"state"), row])
    assert log.recorder.select_events("stream") == [row]
    assert log.recorder.select_events("other") == []
