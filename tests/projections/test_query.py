"""Queries of strangers: one SELECT on the newest snapshot, and nothing outside of it."""

from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pytest
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.events.errors import StoreUnavailable
from beliefbase.projections import query as queries
from beliefbase.projections.errors import NoSnapshot, QueryFailed, QueryRefused
from beliefbase.projections.projector import Projector
from beliefbase.projections.relation import relation


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("query")
    log = open_log(root, World(3, 60).events)
    with Projector(log, root / "read") as projector:
        projector.refresh(AS_OF_MS)
        projector.publish()
    log.close()
    (root / "read" / "secret.csv").write_text("a,b\n1,2\n")
    return root / "read"


REFUSED = [
    "",
    "-- nothing",
    "SELECT 1; SELECT 2",
    "INSERT INTO names VALUES ('a', 'b')",
    "UPDATE names SET name = 'x'",
    "DELETE FROM names",
    "DROP TABLE names",
    "CREATE TABLE t (a INT)",
    "CREATE TEMP TABLE t AS SELECT 1",
    "CREATE MACRO m() AS 1",
    "COPY names TO '/tmp/names.csv'",
    "EXPORT DATABASE '/tmp/export'",
    "IMPORT DATABASE '/tmp/export'",
    "ATTACH '/tmp/other.duckdb'",
    "DETACH work",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 8",
    "RESET lock_configuration",
    "SET enable_external_access = true",
    "PRAGMA threads = 8",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "BEGIN",
    "VACUUM",
    "CHECKPOINT",
    "CREATE SECRET s (TYPE s3)",
]
FAILING = [
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('{folder}/secret.csv')",
    "SELECT * FROM '{folder}/secret.csv'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('{folder}/secret.csv')",
    "SELECT * FROM parquet_metadata('{folder}/x.parquet')",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM sqlite_scan('{folder}/../log.db', 'events')",
    "SELECT getenv('HOME')",
    "SELECT no_such_column FROM beliefs",
    "SELEC 1",
    "SELECT * FROM active_at('not a moment')",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_no_single_select_is_refused(folder, sql):
    with pytest.raises((QueryRefused, QueryFailed)) as caught:
        queries.query(folder, sql)
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("sql", FAILING)
def test_a_select_reaches_nothing_outside(folder, sql):
    with pytest.raises(QueryFailed):
        queries.query(folder, sql.format(folder=folder))


def test_settings_stay_locked_behind_the_check(folder):
    """The check of statements is one wall, the locked connection another."""
    with queries.connect(folder) as connection:
        for sql in ("SET enable_external_access = true", "SET memory_limit = '10GB'", "SET threads = 8", "LOAD httpfs"):
            with pytest.raises(Exception, match=r"locked|disabled|Permission|Cannot|cannot"):
                connection.execute(sql)
        with pytest.raises(Exception, match=r"read-only|read only|disabled"):
            connection.execute("INSERT INTO names VALUES ('a', 'b')")


def test_variables_of_the_process_are_no_tables(folder):
    seen_by_nobody = {"a": np.array([1])}
    with queries.connect(folder) as connection, pytest.raises(duckdb.Error, match="seen_by_nobody"):
        connection.execute("SELECT * FROM seen_by_nobody")
    assert len(seen_by_nobody) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a",
        "WITH x AS (SELECT 1) FROM x",
        "FROM active_set",
        "VALUES (1)",
        "DESCRIBE beliefs",
        "SHOW TABLES",
    ],
)
def test_every_kind_of_select_is_answered(folder, sql):
    assert queries.query(folder, sql).columns


def test_values_are_bound(folder):
    assert queries.query(folder, "SELECT ? + 1 AS a", [1]).rows == [(2,)]
    assert queries.query(folder, "SELECT $x AS a", {"x": "'; DROP TABLE names"}).rows == [("'; DROP TABLE names",)]


def test_rows_are_capped_on_request(folder):
    answer = queries.query(folder, "SELECT range AS n FROM range(10)", limit=3)
    assert (answer.rows, answer.truncated) == ([(0,), (1,), (2,)], True)
    answer = queries.query(folder, "SELECT range AS n FROM range(3)", limit=3)
    assert (answer.rows, answer.truncated) == ([(0,), (1,), (2,)], False)


def test_memory_is_capped(folder):
    with pytest.raises(QueryFailed, match="memory"):
        queries.query(folder, "SELECT count(DISTINCT a.range || 'x') FROM range(20000000) a", memory="50MB")


def test_without_a_snapshot_the_error_says_what_to_do(tmp_path):
    with pytest.raises(NoSnapshot, match="nothing was published") as caught:
        queries.query(tmp_path, "SELECT 1")
    assert "beliefbase project" in caught.value.hint
    assert isinstance(caught.value, StoreUnavailable)


def test_no_file_can_be_attached_and_no_temporary_folder_read(folder, tmp_path):
    with queries.connect(folder) as connection:
        with pytest.raises(duckdb.Error, match="disabled"):
            connection.execute(f"ATTACH '{tmp_path}/other.duckdb'")
        assert connection.execute("SELECT current_setting('allowed_directories')").fetchall() == [([],)]
        databases = "SELECT database_name FROM duckdb_databases() WHERE NOT internal"
        assert connection.execute(databases).fetchall() == [(queries.NAME,)]


def test_answers_of_one_process_do_not_exclude_each_other(folder):
    counted = "SELECT count(*) FROM beliefs"
    with relation(folder, counted) as first, relation(folder, counted, threads=1) as second:
        answer = queries.query(folder, counted)
        assert first.rows() == second.rows() == answer.rows


def test_threads_ask_at_the_same_time(folder):
    def ask(_):
        return [queries.query(folder, "SELECT count(*) FROM active_set").rows for _ in range(30)]

    with ThreadPoolExecutor(4) as pool:
        answers = [rows for asked in pool.map(ask, range(4)) for rows in asked]
    assert len(answers) == 120
    assert len({str(rows) for rows in answers}) == 1


def test_a_broken_snapshot_is_no_snapshot(folder, tmp_path):
    there = tmp_path / 'it\'s "there"'
    there.mkdir()
    for path in (queries.current(folder), folder / "current.json"):
        (there / path.name).write_bytes(path.read_bytes())
    assert queries.query(there, "SELECT count(*) FROM beliefs").rows
    queries.current(there).write_bytes(b"no database")
    with pytest.raises(NoSnapshot, match="can't be opened"):
        queries.query(there, "SELECT 1")


def test_columns_of_one_name_are_numbered_as_duckdb_numbers_them_in_a_table(folder):
    sql = "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS A, 5 AS a"
    table = duckdb.connect()
    table.execute(f"CREATE TABLE t AS {sql}")
    names = [row[0] for row in table.execute("DESCRIBE t").fetchall()]
    assert list(queries.query(folder, sql).columns) == names == ["a", "a_1", "a_1_1", "A_2", "a_3"]
