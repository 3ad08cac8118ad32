"""The whole program on a store in PostgreSQL: the same answers as on a directory, and no password anywhere."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.test_forget import CANARY, fill
from tests.cli.world import World
from tests.events.build import Author
from tests.events.test_postgres_log import run
from tests.postgres_server import address, server

from beliefbase.events.postgres import PostgresLog

PASSWORD = "geheim"


@pytest.fixture
def place():
    """An address with a password, which the server doesn't ask for."""
    return address().replace("tester@", f"tester:{PASSWORD}@")


@pytest.fixture
def world(place, tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFBASE_CACHE", str(tmp_path / "cache"))
    return World(place, monkeypatch)


def told(done):
    assert PASSWORD not in done.out + done.err
    return done


def test_from_init_to_audit_it_answers_as_a_directory_does(world, tmp_path, monkeypatch):
    beside = World(tmp_path / "beside", monkeypatch)
    told(world.ok("init"))
    with world.store(ago=10) as store:
        alone, _, zoes = fill(store)
        assert store.audit().outcome == "same"
    told(beside.ok("init"))
    told(beside.ok("sync", world.path, "--yes"))
    for command in (["active"], ["show", zoes], ["why", alone], ["history", alone], ["digest"], ["questions"]):
        assert told(world.ok(*command, "--json")).json == told(beside.ok(*command, "--json")).json
    rows = "SELECT belief_id, status, statement FROM beliefs ORDER BY belief_id"
    assert told(world.ok("query", rows, "--json")).json == told(beside.ok("query", rows, "--json")).json
    assert told(world.ok("audit")).code == 0
    examined = told(world.ok("doctor", "--json")).json
    assert examined["log_bytes"] > 0 and examined["findings"] == []
    told(world.ok("export", "--parquet", tmp_path / "parquet"))
    with world.store() as store:
        stored = [event.id.hex() for page in store.log.read() for _, event in page]
    assert [line["id"] for line in told(world.ok("log", "--json")).lines] == stored


def test_events_come_and_go_by_append_import_sync_and_bundle(world, tmp_path, monkeypatch):
    line = '{"type": "belief.extracted", "agent": "ann", "statement": "It rains.", "kind": "fact"}\n'
    told(world.ok("init"))
    told(world.ok("append", given=line))
    (tmp_path / "more.ndjson").write_text(line.replace("rains", "snows"))
    told(world.ok("append", tmp_path / "more.ndjson"))
    told(world.ok("import", tmp_path / "more.ndjson"))
    told(world.ok("bundle", "export", tmp_path / "b.bundle"))
    beside = World(tmp_path / "beside", monkeypatch)
    told(beside.ok("init"))
    told(beside.ok("bundle", "import", tmp_path / "b.bundle", "--yes"))
    told(beside.ok("append", given=line.replace("rains", "hails")))
    told(world.ok("sync", tmp_path / "beside"))
    assert told(world.ok("digest")).out == told(beside.ok("digest")).out
    other = World(address(), monkeypatch)
    told(other.ok("init"))
    told(other.ok("sync", world.path, "--yes"))
    assert told(other.ok("digest")).out == told(beside.ok("digest")).out


def test_forgetting_reaches_the_tables_and_the_read_models_of_this_machine(world, tmp_path):
    folders = [tmp_path / "cache", server().data / "base"]
    fragment = CANARY[:16].encode()

    def holding():
        return {f for folder in folders for f in folder.rglob("*") if f.is_file() and fragment in f.read_bytes()}

    checkpoint = "CHECKPOINT"
    run(address_of(world), checkpoint)
    before = holding()  # of other tests
    with world.store(ago=10) as store:
        fill(store)
        store.project()
        run(address_of(world), checkpoint)
    assert len(holding() - before) >= 2
    certificate = told(world.ok("forget", "will", "--as", "mara", "--yes", "--json")).json
    assert certificate["words"] == sum(certificate["events"].values()) - 1  # an affirmation has none
    assert holding() <= before
    assert told(world.ok("audit")).code == 0


def test_threads_that_share_commits_store_everything(world):
    with world.store() as store, ThreadPoolExecutor(4) as pool:
        writers = [store.writer(f"agent {number}") for number in range(4)]
        with store.group_commit():
            ids = pool.map(lambda number: writers[number % 4].extract(f"{number}", kind="fact"), range(40))
            assert len(set(ids)) == 40
        assert len([event for page in store.log.read() for _, event in page]) == 44
        assert store.audit().outcome == "same"


def test_bytes_that_an_administrator_changed_are_found_and_named(world):
    with world.store(ago=10) as store:
        fill(store)
        store.project()
    run(address_of(world), "ALTER TABLE events DISABLE TRIGGER ALL")
    run(address_of(world), "UPDATE events SET state = set_byte(state, 60, get_byte(state, 60) # 1) WHERE position = 3")
    done = told(world.run("audit"))
    assert done.code == 4
    assert "seq 3" in done.out


def address_of(world):
    return world.path.replace(f":{PASSWORD}", "")


def test_where_the_read_models_are(world, tmp_path, monkeypatch):
    with world.store() as store:
        assert store.path == tmp_path / "cache" / store.log.store_id().hex()
        assert store.path.stat().st_mode & 0o777 == 0o700
    world.path += f"&cache={tmp_path}/named"
    with world.store() as store:
        assert store.path.parent == tmp_path / "named"
        assert store.name == address_of(world)
    world.path = world.path.partition("&cache")[0]
    monkeypatch.delenv("BELIEFBASE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    with world.store() as store:
        assert store.path.parent == tmp_path / "xdg" / "beliefbase"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with world.store() as store:
        assert store.path.parent == tmp_path / "home" / ".cache" / "beliefbase"


@pytest.mark.parametrize(
    "command", [["active"], ["audit"], ["doctor"], ["append"], ["forget", "x", "--as", "y", "--yes"]]
)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_server_that_is_not_there_is_told_with_a_next_step(world, command, as_json):
    world.path = f"postgresql://tester:{PASSWORD}@127.0.0.1:1/postgres"
    done = told(world.run(*command, *as_json, given="{}"))
    assert done.code == 3
    assert "postgresql://tester@127.0.0.1:1/postgres" in done.err
    assert "check that the server runs" in done.err


def test_a_store_that_is_not_there_is_told_with_a_next_step(world):
    done = told(world.run("active"))
    assert done.code == 3
    assert f"beliefbase -s '{address_of(world)}' init" in done.err


def test_following_prints_what_becomes_visible_behind_what_was_printed(world):
    slow, quick = Author("slow"), Author("quick")
    with closing(PostgresLog(world.path)) as log, closing(PostgresLog(world.path)) as other:
        log.append([slow.joined(), quick.joined()])
        command = [Path(sys.executable).parent / "beliefbase", "-s", world.path, "log", "--follow", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as follower:

            def printed():
                return json.loads(follower.stdout.readline())["id"]

            assert len({printed(), printed()}) == 2
            with other.transaction() as transaction:
                transaction.insert([late := slow.said("late")])
                log.append([early := quick.said("early")])
                assert printed() == early.id.hex()
            assert printed() == late.id.hex()
            follower.terminate()
            assert follower.stdout.read() == b""


def test_without_the_driver_it_says_what_to_install(world, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("beliefbase.events.postgres")]:
        if name != "beliefbase.events.postgres_url":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    done = told(world.run("active"))
    assert done.code == 3
    assert "pip install 'beliefbase[postgres]'" in done.err
