"""The contract of every projection: its tables say what the log says, however the events came.

A projection that fails here gives other answers after a restart, a sync or a rebuild; its readers could not trust
any of them. Every registered projection is tested by being registered, each table with all of its columns, those
made from words included, and with its number of rows.
"""

from collections import Counter

import pytest
from tests.projections.worlds import AS_OF_MS, World, interleaved, open_log

from beliefbase.events.envelope import Event
from beliefbase.projections import registry
from beliefbase.projections.projector import Projector

SEEDS = range(4)
TABLES = [(projection.NAME, table.name) for projection in registry.registered() for table in projection.TABLES]


def contents(projector):
    """Every table as a bag of rows."""
    return {
        name: Counter(
            tuple(map(str, row))
            for row in projector.rows(f"SELECT {', '.join(column.name for column in table.all_columns)} FROM {name}")
        )
        for name, table in registry.tables().items()
    }


class Projected:
    """What projecting events gives."""

    def __init__(self, folder, batches, *, rebuild=False):
        log = open_log(folder)
        with Projector(log, folder / "read") as projector:
            self.reports = []
            for batch in batches:
                log.append(batch)
                self.reports.append(projector.rebuild(AS_OF_MS) if rebuild else projector.refresh(AS_OF_MS))
            self.again = projector.refresh(AS_OF_MS)
            self.tables = contents(projector)
            self.digests = projector.digests()
            self.digest = projector.digest()
        log.close()


@pytest.fixture(scope="module")
def world(request, tmp_path_factory):
    seed = request.param
    events = World(seed, rules=seed % 2 == 0).events
    folder = tmp_path_factory.mktemp(f"world-{seed}")
    mixed = interleaved(events, seed)
    third = len(mixed) // 3
    tail = [mixed[place : place + 9] for place in range(third, len(mixed), 9)]
    return {
        "events": events,
        "rebuilt": Projected(folder / "rebuilt", [events], rebuild=True),
        "shuffled": Projected(folder / "shuffled", [interleaved(events, seed + 99)]),
        "incremental": Projected(folder / "incremental", [mixed[:third], *tail]),
        "folder": folder,
    }


worlds = pytest.mark.parametrize("world", SEEDS, indirect=True)


@worlds
@pytest.mark.parametrize("projection, table", TABLES)
def test_rows_are_the_same_in_every_order_of_arrival(world, projection, table):
    assert world["shuffled"].tables[table] == world["rebuilt"].tables[table]
    assert world["incremental"].tables[table] == world["rebuilt"].tables[table]


@worlds
def test_digests_are_the_same_in_every_order_of_arrival(world):
    assert world["incremental"].digests == world["shuffled"].digests == world["rebuilt"].digests
    assert world["incremental"].digest == world["shuffled"].digest == world["rebuilt"].digest


@worlds
def test_small_batches_are_refreshed_where_no_rule_changes(world):
    hows = Counter(report.how for report in world["incremental"].reports[1:])
    assert hows["refreshed"] > hows["rebuilt"]


@worlds
def test_what_was_applied_is_not_applied_again(world):
    assert world["incremental"].again.how == "unchanged"


@worlds
def test_events_that_come_twice_count_once(world, tmp_path):
    log = open_log(tmp_path, world["events"])
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        assert log.merge(world["events"]).stored == 0
        assert projector.refresh(AS_OF_MS).how == "unchanged"
        assert contents(projector) == world["rebuilt"].tables
    log.close()


@worlds
def test_without_words_only_the_tables_of_words_differ(world, tmp_path):
    log = open_log(tmp_path)
    log.merge([Event(event.raw) for event in world["events"]])
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        tables, digest = contents(projector), projector.digest()
    log.close()
    assert digest == world["rebuilt"].digest
    differing = {name for name, rows in tables.items() if rows != world["rebuilt"].tables[name]}
    assert differing == {name for name in tables if name.endswith("_texts") or name == "names"}
    assert all(not tables[name] for name in differing)


@worlds
@pytest.mark.parametrize("projection, table", TABLES)
def test_keys_are_keys(world, projection, table):
    """Two rows with one key would have no order, and so the table no digest."""
    key = registry.tables()[table].key
    names = [column.name for column in registry.tables()[table].all_columns]
    keys = Counter(tuple(row[names.index(name)] for name in key) for row in world["rebuilt"].tables[table].elements())
    assert [key for key, count in keys.items() if count > 1] == []


def test_the_worlds_fill_every_table_that_events_fill(tmp_path):
    log = open_log(tmp_path, World(2, 500).events)
    with Projector(log, tmp_path / "read") as projector:
        projector.refresh(AS_OF_MS)
        empty = {name for name, rows in contents(projector).items() if not rows}
    log.close()
    assert empty == {"belief_spans", "erasure_facts", "writer_closings"}


def test_an_empty_log_gives_empty_tables(tmp_path):
    log = open_log(tmp_path)
    with Projector(log, tmp_path / "read") as projector:
        assert projector.refresh(AS_OF_MS).how == "rebuilt"
        assert projector.refresh(AS_OF_MS).how == "unchanged"
        assert not any(contents(projector).values())
        assert projector.rows("SELECT count(*) FROM active_set") == [(0,)]
    log.close()
