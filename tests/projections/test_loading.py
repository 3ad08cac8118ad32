"""Rows are loaded in whole row groups of DuckDB, and sooner where words are long."""

import numpy as np
import pytest

from beliefbase.projections import loading
from beliefbase.projections.loading import Loader
from beliefbase.projections.work import WorkDatabase


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A work database, and what is loaded into it each time: the keys."""
    found = []
    database = WorkDatabase(tmp_path / "work.duckdb")
    database.create()
    insert = database.insert

    def noted(table, columns, **how):
        found.append(list(columns[table.key[0]]))
        insert(table, columns, **how)

    monkeypatch.setattr(database, "insert", noted)
    yield database, found
    database.close()


@pytest.fixture
def loaded(work, monkeypatch):
    """Loads three rows of ``frontier_buckets`` or ``names`` at once, and what it has loaded so far."""
    monkeypatch.setattr(loading, "_LETTERS", 40)
    return Loader(work[0], resolve=False, at_once=3), work[1]


def test_whole_groups_are_loaded_and_the_rest_waits(loaded):
    loader, found = loaded
    for numbers in ([0, 1], [2, 3, 4, 5, 6], [7], [8]):
        loader._load({"frontier_buckets": {"bucket": np.array(numbers), "hash": ["" for _ in numbers]}})
    assert found == [[0, 1, 2, 3, 4, 5], [6, 7, 8]]
    loader._load({"frontier_buckets": {"bucket": np.array([9]), "hash": [""]}})
    loader.finish()
    loader.finish()
    assert found[2:] == [[9]]


def test_long_words_are_loaded_sooner(loaded):
    loader, found = loaded
    for name in ("a" * 36, "b", "c", "d" * 36, "e" * 40):
        loader._load({"names": {"hash": [name[:2]], "name": [name]}})
    assert found == [["aa", "b"], ["c", "dd"], ["ee"]]


def test_small_batches_are_loaded_as_they_come(work):
    database, found = work
    loader = Loader(database, resolve=False)
    loader._load({"names": {"hash": ["h"], "name": ["n"]}})
    loader.finish()
    assert found == [["h"]]
    assert database.rows("SELECT hash, name FROM names") == [("h", "n")]
