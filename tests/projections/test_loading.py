"""Rows are loaded in whole row groups of DuckDB, and sooner where words are long."""

from types import SimpleNamespace

import numpy as np
import pytest

from beliefbase.projections import loading
from beliefbase.projections.loading import Loader


@pytest.fixture
def loaded(monkeypatch):
    """Loads three rows of ``frontier_buckets`` or ``names`` at once, and what it has loaded so far."""
    monkeypatch.setattr(loading, "_LETTERS", 40)
    found = []
    work = SimpleNamespace(insert=lambda table, columns, **_: found.append(list(columns[table.key[0]])))
    return Loader(work, resolve=False, at_once=3), found


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


def test_small_batches_are_loaded_as_they_come(loaded):
    _, found = loaded
    loader = Loader(SimpleNamespace(insert=lambda *columns, **_: found.append(columns)), resolve=False)
    loader._load({"names": {"hash": ["h"], "name": ["n"]}})
    loader.finish()
    assert len(found) == 1
