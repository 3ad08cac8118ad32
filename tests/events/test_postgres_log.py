"""What the log in PostgreSQL adds to the contract: side by side, across lost connections, and never a password told."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from tests.events.build import Author
from tests.events.cutting_proxy import CuttingProxy
from tests.events.processes import Child
from tests.postgres_server import address, server
from tests.scale import scaled

from beliefbase.events import postgres, postgres_pool
from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.envelope import Event
from beliefbase.events.errors import (
    AppendUnknown,
    Equivocation,
    StoreUnavailable,
    UsedAfterFork,
)
from beliefbase.events.frontier import frontier_root
from beliefbase.events.hlc import Clock
from beliefbase.events.postgres import PostgresLog
from beliefbase.events.writer import Batch, Pen, Writer


@pytest.fixture
def place():
    return address()


@pytest.fixture
def log(place):
    with closing(PostgresLog(place)) as made:
        yield made


def everything(log):
    return {event for page in log.read() for _, event in page}


def run(place, statement):
    """A statement by somebody else, committed at once."""
    schema = place.rpartition("schema=")[2]
    with psycopg.connect(place.partition("&schema")[0], autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}")
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def end_sessions(place):
    """End every session of a log, as an administrator or a restart does."""
    run(
        place,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND application_name = 'beliefbase'",
    )


def in_thread(work):
    """Run work beside the test; join() gives its result or raises its error."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future


def wait_until_blocked(place, *, more_than=0):
    """Wait until a session of this server waits for a lock; says what a sleep could only hope for."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if run(place, "SELECT count(*) FROM pg_locks WHERE NOT granted")[0][0] > more_than:
            return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


# ---------------------------------------------------------------------- opening


def test_where_there_is_no_log_none_is_made_unless_asked_for(place):
    with pytest.raises(StoreUnavailable) as raised:
        PostgresLog(place, create=False)
    assert "init" in raised.value.hint
    PostgresLog(place).close()
    PostgresLog(place, create=False).close()


def test_somebody_elses_schema_is_left_untouched(place):
    schema = place.rpartition("schema=")[2]
    run(place, f"CREATE SCHEMA {schema}")
    run(place, "CREATE TABLE settings (name text, number int, bytes bytea)")
    run(place, "CREATE TABLE events (theirs int)")
    with pytest.raises(StoreUnavailable) as raised:
        PostgresLog(place)
    assert "schema" in raised.value.hint
    names = run(place, f"SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace ORDER BY 1")
    assert names == [("events",), ("settings",)]


def test_a_log_of_a_newer_release_is_refused(place):
    PostgresLog(place).close()
    run(place, "UPDATE settings SET number = 99 WHERE name = 'format'")
    with pytest.raises(StoreUnavailable, match="format 99"):
        PostgresLog(place)


@pytest.mark.parametrize("wrong", ["schema=Team", "schema=pg_team", "schema=a;b", "schema=", "schema"])
def test_a_malformed_address_is_told_and_not_used(wrong):
    with pytest.raises(StoreUnavailable) as raised:
        PostgresLog(f"postgresql://u:geheim@localhost/db?{wrong}")
    assert "geheim" not in str(raised.value.as_dict())


@pytest.mark.parametrize(
    "unreachable",
    [
        "postgresql://eve:geheim@127.0.0.1:1/db",
        "postgresql://eve:ge%68eim@127.0.0.1:1/db?connect_timeout=1",
        "postgresql://127.0.0.1:1/db?user=eve&password=geheim",
        "postgresql://eve:geheim@/db?host=/nowhere/at/all",
        "postgresql://eve:geheim@127.0.0.1:1/db?nonsense=geheim",
        "postgresql://eve:geheim@127.0.0.1:wrong/db",
        "postgresql://eve:gehe#im@127.0.0.1:1/db",
        "postgresql://eve:geheim@[::1/db",
    ],
)
def test_a_server_that_can_not_be_reached_is_a_typed_error_with_a_next_step_and_no_password(unreachable):
    with pytest.raises(StoreUnavailable) as raised:
        PostgresLog(unreachable)
    told = [str(raised.value), repr(raised.value), raised.value.hint, str(raised.value.as_dict())]
    assert raised.value.hint
    assert not any("geheim" in text or "ge%68eim" in text or "gehe#im" in text for text in told)


def test_a_refused_login_and_a_missing_database_say_so(place):
    for wrong in (place.replace("tester@", "nobody_here:geheim@"), place.replace("/postgres?", "/no_such_db?")):
        with pytest.raises(StoreUnavailable) as raised:
            PostgresLog(wrong)
        assert raised.value.hint and "geheim" not in str(raised.value.as_dict())


def test_a_log_shows_its_address_without_the_password(place):
    with closing(PostgresLog(place.replace("tester@", "tester:geheim@"))) as log:
        assert log.name == place
        assert "geheim" not in repr(log.address)


@pytest.mark.parametrize("rounds", [2, pytest.param(scaled(20), marks=pytest.mark.slow)])
def test_processes_that_all_find_nothing_make_one_log(rounds):
    server()

    def start(places, number):
        def work(pipe):
            for place in places:
                with closing(PostgresLog(place)) as log:
                    author = Author(f"{place} {number}")
                    log.append([author.joined(), author.said()])
                    os.write(pipe, log.store_id())

        return Child(work)

    places = [address() for _ in range(rounds)]
    children = [start(places, number) for number in range(8)]
    ids = [child.succeed() for child in children]
    assert len(set(ids)) == 1 and len(ids[0]) == 16 * rounds
    for place in places:
        with closing(PostgresLog(place, create=False)) as log:
            assert len(everything(log)) == 16
            assert log.root() == frontier_root(log.frontier())


# ---------------------------------------------------------------------- side by side


def test_writers_store_side_by_side_and_nobody_waits_for_a_slow_one(log):
    slow, quick = Author("slow"), Author("quick")
    first = slow.joined()
    with log.transaction() as transaction:
        transaction.insert([first])
        assert in_thread(lambda: log.append([quick.joined(), quick.said()])).result(60)
        assert len(everything(log)) == 2
        transaction.insert([slow.said()])
    assert len(everything(log)) == 4
    assert log.root() == frontier_root(log.frontier())


def test_no_lock_on_a_table_hinders_another_writer(log, place):
    ann = Author()
    with log.transaction() as transaction:
        transaction.insert([ann.joined(), ann.said()])
        transaction.tables.last_position()
        modes = run(
            place,
            "SELECT DISTINCT mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
            f" WHERE c.relnamespace = '{log.address.schema}'::regnamespace",
        )
    assert {mode for (mode,) in modes} == {"AccessShareLock", "RowExclusiveLock"}


def test_an_event_that_becomes_visible_behind_a_greater_position_is_found_by_the_frontier(log):
    slow, quick = Author("slow"), Author("quick")
    with log.transaction() as transaction:
        transaction.insert([late := slow.joined()])
        in_thread(lambda: log.append([quick.joined()])).result(60)
        seen, position = log.frontier(), log.last_position()
    assert not log.in_order
    assert list(log.read(position)) == []
    assert [event for page in log.since(seen) for event in page] == [late]


def test_two_that_store_under_one_id_come_one_after_the_other(log, place):
    ann = Author()
    twin, same = ann.fork("twin"), ann.joined()
    with log.transaction() as transaction:
        transaction.insert([same])
        again = in_thread(lambda: log.append([same]))
        other = in_thread(lambda: log.append([twin.joined()]))
        wait_until_blocked(place, more_than=1)
    assert again.result(60) == [same.id]
    with pytest.raises(Equivocation):
        other.result(60)
    assert everything(log) == {same}


def test_a_thread_can_not_wait_for_itself(log):
    with log.transaction(), pytest.raises(StoreUnavailable, match="already holds"):
        log.append([Author().joined()])


def test_a_merge_waits_for_those_who_store_so_that_no_revision_is_overlooked(log, place):
    ann, bob = Author("ann"), Author("bob")
    belief = ann.extracted()
    log.append([belief])
    first = ann.retracted(belief.id)
    second = bob.retracted(belief.id, basis=[first.id])
    with log.transaction() as transaction:
        transaction.insert([first])
        merge = in_thread(lambda: log.merge([second]))
        wait_until_blocked(place)
    assert merge.result(60).stored == 1
    with log.transaction() as transaction:
        assert transaction.tips([belief.id]) == {belief.id: {second.id}}


def test_hashes_of_buckets_are_kept_only_while_nobody_stores(log):
    log.append([Author(str(number)).joined() for number in range(300)])
    late = Author("late")
    with log.transaction() as transaction:
        transaction.insert([late.joined()])
        roots = in_thread(lambda: [log.root() for _ in range(3)]).result(60)
        assert len(set(roots)) == 1
    assert log.root() == frontier_root(log.frontier()) != roots[0]
    for author in (late, Author("later")):
        log.append([author.said() if author is late else author.joined()])
        assert log.root() == frontier_root(log.frontier())


def test_more_writers_than_locks_are_stored_alone(log):
    authors = [Author(str(number)) for number in range(200)]
    with log.transaction() as transaction:
        transaction.insert([author.joined() for author in authors[:50]])
        transaction.insert([author.joined() for author in authors[50:]])
    assert len(everything(log)) == 200


def test_threads_of_one_handle_store_at_once(log):
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: _twenty(log, number), range(6)))
    assert len(everything(log)) == 6 * 21
    assert log.root() == frontier_root(log.frontier())


def _twenty(log, number):
    author = Author(f"writer {number}")
    log.append([author.joined()])
    for said in range(20):
        log.append([author.said(str(said))])


# ---------------------------------------------------------------------- what may not be changed


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET hlc = 0",
        "DELETE FROM events",
        "TRUNCATE events",
        "DELETE FROM words",
        "UPDATE words SET body = ''",
    ],
)
def test_events_and_words_can_not_be_changed_by_accident(log, place, statement):
    log.append([Author().joined()])
    with pytest.raises(psycopg.errors.RaiseException):
        run(place, statement)
    assert len(everything(log)) == 1


# ---------------------------------------------------------------------- connections that go


def test_a_connection_that_the_server_ended_meanwhile_is_replaced(log, place):
    ann = Author()
    log.append([ann.joined()])
    end_sessions(place)
    log.append([ann.said()])
    assert len(everything(log)) == 2


def test_a_connection_lost_in_a_transaction_leaves_nothing(log, place):
    def work():
        with log.transaction() as transaction:
            transaction.insert([Author().joined()])
            end_sessions(place)
            transaction.max_hlc(1)

    with pytest.raises(StoreUnavailable) as raised:
        work()
    assert not isinstance(raised.value, AppendUnknown)
    assert everything(log) == set()


@pytest.fixture
def proxy():
    made = CuttingProxy(server().folder / ".s.PGSQL.5432", lambda _number, _data: None)
    yield made
    made.close()


def through(proxy, place):
    return PostgresLog(proxy.address(place.rpartition("schema=")[2]))


def test_a_commit_whose_answer_was_lost_is_found_to_be_stored(proxy, place):
    lost = []

    def cut(_number, data):
        if b"COMMIT\0" in data and not lost:
            lost.append(data)
            return "reply"
        return None

    with closing(through(proxy, place)) as log:
        proxy.cut = cut
        ann = Author()
        events = [ann.joined(), ann.said()]
        assert log.append(events) == [event.id for event in events]
        assert lost
        assert everything(log) == set(events)
        log.append([ann.said("And on.")])


def test_a_commit_that_never_reached_the_server_is_found_to_be_absent(proxy, place):
    lost = []

    def cut(_number, data):
        if b"COMMIT\0" in data and not lost:
            lost.append(data)
            return "request"
        return None

    with closing(through(proxy, place)) as log:
        proxy.cut = cut
        ann = Author()
        event = ann.joined()
        with pytest.raises(StoreUnavailable) as raised:
            log.append([event])
        assert not isinstance(raised.value, AppendUnknown)
        assert everything(log) == set()
        log.append([event])
        assert everything(log) == {event}


def test_where_the_server_stays_away_the_outcome_is_unknown_and_the_same_events_may_be_appended_again(
    proxy, place, monkeypatch
):
    monkeypatch.setattr(postgres, "SECONDS", 0.3)
    with closing(through(proxy, place)) as log:

        def cut(_number, data):
            if b"COMMIT\0" in data:
                proxy.refusing = True
                return "reply"
            return None

        proxy.cut = cut
        ann = Author()
        event = ann.joined()
        with pytest.raises(AppendUnknown) as raised:
            log.append([event])
        assert raised.value.data["event_ids"] == [event.id.hex()]
        proxy.refusing, proxy.cut = False, lambda _number, _data: None
        assert log.append([event]) == [event.id]
        assert everything(log) == {event}


def test_that_a_transaction_of_this_number_was_committed_is_no_proof_of_its_events(log, place):
    """After a crash the server gives a number that it lost to somebody else."""
    ann = Author()
    log.append([kept := ann.joined()])
    number = run(place, "SELECT pg_current_xact_id()::text")[0][0]
    lost = psycopg.OperationalError("the server closed the connection")
    log._find_out(number, [kept], lost)
    with pytest.raises(StoreUnavailable) as raised:
        log._find_out(number, [kept, ann.said()], lost)
    assert not isinstance(raised.value, AppendUnknown)


def stored(log, event):
    """Whether an append says that its event is stored; it may say neither only where the server stays away."""
    try:
        log.append([event])
    except AppendUnknown:
        raise
    except StoreUnavailable:
        return False
    return True


@pytest.mark.parametrize("how", ["request", "reply"])
def test_wherever_the_connection_is_lost_what_was_acknowledged_is_stored_and_what_failed_is_not(proxy, place, how):
    with closing(through(proxy, place)) as log:
        author = Author()
        log.append([author.joined()])
        expected, failed = 1, 0
        for nth in range(1, 40):
            start, done = proxy.messages, []

            def cut(number, _data, last=start + nth, done=done):
                if number >= last and not done:
                    done.append(number)
                    return how
                return None

            proxy.cut = cut
            before = author.seq, author.prev
            if stored(log, author.said(f"{nth}")):
                expected += 1
            else:
                author.seq, author.prev = before
                failed += 1
            proxy.cut = lambda _number, _data: None
            assert len(everything(log)) == expected
            if not done:
                break
        else:
            raise AssertionError("an append takes more messages than this test looks at")
        assert failed


def test_a_child_process_may_not_use_the_log_and_leaves_the_parents_connections_alone(log):
    ann = Author()
    log.append([ann.joined()])

    def work(pipe):
        try:
            log.append([ann.said()])
        except UsedAfterFork as error:
            os.write(pipe, error.code.encode())
        log.close()

    assert Child(work).succeed() == b"used_after_fork"
    log.append([ann.said()])
    assert len(everything(log)) == 2


def test_too_many_open_reads_say_so(log, monkeypatch):
    monkeypatch.setattr(postgres_pool, "SECONDS", 0.05)
    log.append([Author().joined()])
    log._pool._free = threading.BoundedSemaphore(2)
    readings = [log.read(), log.read()]
    for reading in readings:
        next(reading)
    with pytest.raises(StoreUnavailable, match="open at once"):
        log.frontier()
    for reading in readings:
        reading.close()
    assert len(log.frontier()) == 1


# ---------------------------------------------------------------------- what is made anew


def test_an_index_of_another_release_is_made_anew(place):
    ann, bob = Author("ann"), Author("bob")
    with closing(PostgresLog(place)) as log:
        belief = ann.extracted()
        first = ann.retracted(belief.id)
        log.append([belief, first])
        log.append([second := bob.retracted(belief.id, basis=[first.id])])
    run(place, "DELETE FROM refs; DELETE FROM tips; DELETE FROM passed")
    run(place, "UPDATE settings SET number = 0 WHERE name = 'index_version'")
    with closing(PostgresLog(place)) as log:
        assert log.naming([belief.id], [Role.STATE]) == [Event(first.raw), Event(second.raw)]
        assert list(log.misindexed()) == []
        with log.transaction() as transaction:
            assert transaction.tips([belief.id]) == {belief.id: {second.id}}


def test_a_stamp_is_behind_everything_that_its_author_was_shown_in_the_batch(place):
    now = 1_700_000_000_000
    with closing(PostgresLog(place)) as log, closing(PostgresLog(place)) as other:
        mine, theirs = Pen(Clock(lambda: now)), Pen(Clock(lambda: now + 5_000))
        ann, bob = Writer(mine, agent="ann"), Writer(theirs, agent="bob")
        with Batch(log, mine) as batch:
            belief = batch.add(ann, CATALOG.draft("belief.extracted", {"statement": "a", "kind": "fact"}))
        retraction = CATALOG.draft("belief.retracted", {"belief_id": belief.id})
        with Batch(log, mine) as batch:
            before = batch.add(ann, CATALOG.draft("belief.extracted", {"statement": "b", "kind": "fact"}))

            def retract():
                with Batch(other, theirs) as another:
                    return another.add(bob, retraction)

            shown = in_thread(retract).result(60)
            after = batch.add(ann, CATALOG.draft("belief.reinstated", {"belief_id": belief.id, "undoes": [shown.id]}))
        assert before.hlc < shown.hlc < after.hlc
        assert log.get(after.id).skeleton.basis_ids == (shown.id,)


def test_who_may_only_read_can_read_and_is_told_so_when_writing(place):
    reader = f"reader_{place.rpartition('_')[2]}"
    with closing(PostgresLog(place)) as log:
        log.append([Author(str(number)).joined() for number in range(100)])
        root = log.root()
    schema = place.rpartition("schema=")[2]
    run(place, f"CREATE ROLE {reader} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {reader}")
    run(place, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}")
    with closing(PostgresLog(place.replace("tester@", f"{reader}@"), create=False)) as log:
        assert len(everything(log)) == 100
        assert log.root() == root
        with pytest.raises(StoreUnavailable, match="may not do that"):
            log.append([Author("late").joined()])
    with pytest.raises(StoreUnavailable, match="may not do that"):
        PostgresLog(place.replace("tester@", f"{reader}@") + "_other")
