"""The status history of PEPs by way of the public API: what holds at the end, at any earlier date, in any order."""

import importlib.util
import json
import random
from pathlib import Path

import pytest

from beliefbase.store import BeliefStore

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "peps_lifecycle"


def example():
    spec = importlib.util.spec_from_file_location("pep_history", ROOT / "examples" / "pep_history.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLE = example()
OWN = [
    {"pep": 1, "commit_ts": 1_000_000_000, "commit": "a", "writer": "ann", "status": "Draft"},
    {"pep": 2, "commit_ts": 1_000_000_000, "commit": "a", "writer": "ann", "status": "Draft"},
    {"pep": 1, "commit_ts": 1_000_000_500, "commit": "b", "writer": "bob", "status": "Final"},
    {"pep": 1, "commit_ts": 1_000_000_900, "commit": "c", "writer": "ann", "status": "Draft"},
    {"pep": 2, "commit_ts": 1_000_000_700, "commit": "d", "writer": "bob", "status": ""},
]
"""A history of our own: one that comes back, and one that loses its status."""


def believed(store, at_ms):
    """The status of every PEP at a moment, by what the store holds active."""
    rows = store.query("SELECT subject, predicate FROM active_at($ts)", {"ts": at_ms})
    found = {int(row["subject"].removeprefix("PEP ")): row["predicate"] for row in rows}
    assert len(found) == len(rows)
    return found


def expected(rows, at_s):
    """The same by the data: the last status of every PEP up to then."""
    return {row["pep"]: row["status"] for row in rows if row["commit_ts"] <= at_s}


def recorded(path, rows):
    with BeliefStore.open(path, create=True, importing=True, durability="process") as store:
        EXAMPLE.record(store, rows)
        store.project()
    return BeliefStore.open(path)


def merged(path, log, order):
    """The digest of another store into which the writers' streams came in another order."""
    with BeliefStore.open(path, create=True, durability="process") as other:
        for stream in order:
            other.log.merge(stream)
        assert other.log.frontier() == log.frontier()
        return other.digest()


def in_other_orders(store, folder, orders):
    by_writer = {}
    for page in store.log.read():
        for stored in page:
            by_writer.setdefault(stored.event.skeleton.writer, []).append(stored.event)
    streams = list(by_writer.values())
    digests = {store.digest()}
    for seed in range(orders):
        shuffled = random.Random(seed).sample(streams, len(streams))
        digests.add(merged(folder / f"order {seed}", store.log, shuffled))
    return digests


def test_statuses_follow_each_other_and_come_back(tmp_path):
    with recorded(tmp_path / "store", EXAMPLE.changes(written(tmp_path, OWN))) as store:
        for at in (999_999_999, 1_000_000_000, 1_000_000_600, 1_000_000_800, 1_000_001_000):
            assert expected(sorted(OWN, key=lambda row: row["commit_ts"]), at) == believed(store, at * 1000 + 999)
        assert len(in_other_orders(store, tmp_path, 3)) == 1


def test_recording_twice_is_recording_once(tmp_path):
    rows = EXAMPLE.changes(written(tmp_path, OWN))
    with recorded(tmp_path / "store", rows) as store:
        before = store.log.frontier()
    with recorded(tmp_path / "store", rows) as store:
        assert before == store.log.frontier()


def test_it_runs_as_a_script(tmp_path, monkeypatch, capsys):
    path = written(tmp_path, OWN)
    monkeypatch.setattr("sys.argv", ["pep_history.py", str(path), str(tmp_path / "store")])
    EXAMPLE.main()
    assert "1 Draft" in capsys.readouterr().out


def written(folder, rows):
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """(folder, store, status changes, status by header) of the published history."""
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is not here")
    folder = tmp_path_factory.mktemp("peps")
    rows = EXAMPLE.changes(DATA / "status_events.jsonl")
    lines = (DATA / "headers.jsonl").read_text(encoding="utf-8").splitlines()
    headers = {header["pep"]: header["status"] for header in map(json.loads, filter(None, lines))}
    with recorded(folder / "store", rows) as store:
        yield folder, store, rows, headers


def test_at_the_end_every_pep_stands_where_its_header_says(history):
    _, store, rows, headers = history
    found = believed(store, 10**13)
    assert len(headers) == 351
    assert headers == {pep: found[pep] for pep in headers}
    assert found == expected(rows, 10**10)
    active = store.query("SELECT count(*) AS n FROM active_set")
    assert active == [{"n": len(found)}]


def test_at_any_earlier_date_it_stands_where_it_stood_then(history):
    _, store, rows, _ = history
    rng = random.Random(5)
    first, last = rows[0]["commit_ts"], rows[-1]["commit_ts"]
    dates = [rng.randint(first, last) for _ in range(40)] + [rng.choice(rows)["commit_ts"] for _ in range(10)]
    for at in dates:
        assert expected(rows, at) == believed(store, at * 1000 + 999), at


def test_in_whatever_order_the_writers_streams_come_the_digest_is_the_same(history):
    folder, store, _, _ = history
    assert len(in_other_orders(store, folder, 3)) == 1
