"""Rows of a table that are inserted many at a time."""

import sqlite3

import pytest

from beliefbase.events.sqlite_rows import Rows

TABLE = "CREATE TABLE kept (place INTEGER PRIMARY KEY, name BLOB NOT NULL, note BLOB)"


@pytest.fixture
def cursor():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(TABLE)
    yield connection.cursor()
    connection.close()


def rows_of(count):
    return [(place, b"name %d" % place, None if place % 3 else b"note") for place in range(count)]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 127, 128, 129, 128 + 16, 3 * 128 + 2 * 16 + 5])
def test_every_row_is_inserted_as_it_is(cursor, count):
    Rows("INSERT INTO kept", 3, blobs=[1]).insert(cursor, rows_of(count))
    assert cursor.execute("SELECT * FROM kept ORDER BY place").fetchall() == rows_of(count)
    assert cursor.execute("SELECT DISTINCT typeof(name) FROM kept").fetchall() == [("blob",)] * bool(count)


def test_empty_bytes_stay_bytes(cursor):
    Rows("INSERT INTO kept", 3, blobs=[1]).insert(cursor, [(1, b"", None)])
    assert cursor.execute("SELECT * FROM kept").fetchall() == [(1, b"", None)]


def test_the_rows_are_taken_in_their_order(cursor):
    rows = [(place % 150, b"%d" % place, None) for place in range(300)]
    Rows("INSERT OR IGNORE INTO kept", 3, blobs=[1]).insert(cursor, rows)
    assert cursor.execute("SELECT * FROM kept ORDER BY place").fetchall() == rows[:150]


@pytest.mark.parametrize("at", [0, 100, 299])
def test_a_row_that_is_there_is_told_as_ever(cursor, at):
    cursor.execute("INSERT INTO kept VALUES (?, x'00', NULL)", (at,))
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: kept\.place"):
        Rows("INSERT INTO kept", 3, blobs=[1]).insert(cursor, rows_of(300))
