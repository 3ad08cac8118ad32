"""Six processes on one file: nobody starves, nobody is told that the database is locked."""

import os
import sqlite3
import threading
import time
from collections import Counter

import pytest
from tests.events.build import Author
from tests.events.processes import Child
from tests.events.test_sqlite_log import assert_whole
from tests.scale import scaled

from beliefbase.events.sqlite import SQLiteLog
from beliefbase.store import BeliefStore

WRITERS = 6


def at_once(works):
    """Run each in a process of its own, all beginning together once all are ready; what they wrote.

    A work gets ready when it is called, and gives what it then does.
    """
    start_read, start_write = os.pipe()
    ready_read, ready_write = os.pipe()

    def waiting(work):
        def run(pipe):
            os.close(start_write)
            begin = work()
            os.write(ready_write, b".")
            os.read(start_read, 1)  # returns for all at once when the parent closes its end
            begin(pipe)

        return run

    children = [Child(waiting(work)) for work in works]
    os.close(ready_write)
    for _ in works:
        os.read(ready_read, 1)
    for end in (start_read, start_write, ready_read):
        os.close(end)
    return [child.succeed() for child in children]


@pytest.mark.slow
def test_no_writer_starves(tmp_path):
    path, each = tmp_path / "log.db", max(60, scaled(1000))
    SQLiteLog(path).close()

    def writing(number):
        def work():
            log, author = SQLiteLog(path), Author(f"{number}")

            def write(pipe):
                longest = 0.0
                for _ in range(each):
                    started = time.monotonic()
                    log.append([author.said()])
                    longest = max(longest, time.monotonic() - started)
                os.write(pipe, f"{longest * 1000:.0f}".encode())

            return write

        return work

    def reading():
        log = SQLiteLog(path)

        def read(_pipe):
            while len(log.frontier()) < WRITERS or min(head.seq for head in log.frontier()) < each:
                sum(len(page) for page in log.read())
                time.sleep(0.05)

        return read

    longest = at_once([*(writing(number) for number in range(WRITERS)), reading])[:WRITERS]
    log = SQLiteLog(path, create=False)
    assert_whole(log)
    assert sum(head.seq for head in log.frontier()) == WRITERS * each
    shares = shares_at_first_end(log, each)
    print(f"when the first had its {each} commits the others had {shares}: max/min {max(shares) / min(shares):.2f};")
    print(f"longest wait of each, ms: {[int(ms) for ms in longest]}; 0 errors")
    if each == 1000:  # of a short run, a machine that is busy with other things makes anything
        assert len(shares) == WRITERS
        assert max(shares) <= 2 * min(shares)


def shares_at_first_end(log, each):
    """How many events every writer had when the first of them was done; a commit holds one event."""
    shares = Counter()
    for page in log.read(words=False):
        for stored in page:
            shares[stored.event.skeleton.writer] += 1
            if shares[stored.event.skeleton.writer] == each:
                return sorted(shares.values())
    raise AssertionError


def test_a_program_that_knows_nothing_of_the_turns_delays_writers_and_no_more(tmp_path):
    path = tmp_path / "log.db"
    log, author = SQLiteLog(path), Author()
    log.append([author.joined()])
    outsider = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    outsider.execute("BEGIN IMMEDIATE")
    appended = []
    writer = threading.Thread(target=lambda: appended.append(log.append([author.said()])))
    writer.start()
    writer.join(0.3)
    assert writer.is_alive() and appended == []
    outsider.execute("ROLLBACK")
    writer.join()
    assert len(appended) == 1
    outsider.close()


def test_many_processes_make_the_same_store_at_once(tmp_path):
    path = tmp_path / "not" / "there yet"

    def making(number):
        def make(pipe):
            with BeliefStore.open(path, create=True) as store:
                os.write(pipe, store.writer(f"agent {number}").record_utterance("first", speaker="will").encode())

        return lambda: make

    said = at_once([making(number) for number in range(WRITERS)])
    with BeliefStore.open(path) as store:
        stored = {stored.event.id.hex().encode() for page in store.log.read() for stored in page}
        assert set(said) < stored
        assert len(stored) == 2 * WRITERS
        assert_whole(store.log)
