"""Every table, view, macro and column says what it is, in the database and in the docs."""

from pathlib import Path

import duckdb
import pytest
from tests.projections.worlds import AS_OF_MS, open_log

from beliefbase.projections.dictionary import dictionary
from beliefbase.projections.projector import Projector

DOCS = Path(__file__).parents[2] / "docs" / "tables.md"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dictionary")
    log = open_log(folder)
    with Projector(log, folder / "read") as projector:
        projector.refresh(AS_OF_MS)
        path = projector.publish().path
    log.close()
    connection = duckdb.connect(str(path), read_only=True)
    yield connection
    connection.close()


@pytest.mark.parametrize("kind", ["table", "view"])
def test_tables_and_views_have_a_comment(snapshot, kind):
    silent = snapshot.execute(f"SELECT {kind}_name FROM duckdb_{kind}s() WHERE NOT internal AND comment IS NULL")
    assert silent.fetchall() == []


def test_columns_have_a_comment(snapshot):
    silent = "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND comment IS NULL"
    assert snapshot.execute(silent).fetchall() == []


def test_macros_have_a_comment(snapshot):
    silent = "SELECT function_name FROM duckdb_functions() WHERE NOT internal AND comment IS NULL"
    assert snapshot.execute(silent).fetchall() == []


def test_the_docs_are_the_dictionary(snapshot):
    """After a change: `.venv/bin/python docs/generate_tables.py`."""
    assert DOCS.read_text("utf-8") == dictionary(snapshot)
