"""The table of docs/audit.md again, everywhere: each kind done to every event, stream, text, index row and table.

A log of 200 events, signed, and a pin of its heads. Who tampers has the files and no key, deletes the read models, and
does what can be done about signatures (tests/replay/test_tampering.py has one full audit of each).
"""

import shutil
from contextlib import closing
from itertools import combinations, groupby

import pytest
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import (
    FIELDS,
    Keys,
    field_ends,
    flipped,
    going_on,
    many_writers,
    project,
    put_signatures,
    tamper,
    world,
)
from tests.scale import scaled

from beliefbase.projections import registry
from beliefbase.replay.differences import Comparison
from beliefbase.replay.integrity import Integrity
from beliefbase.replay.pin import Pin
from beliefbase.replay.pinned import PinCheck
from beliefbase.replay.rebuild import replayed
from beliefbase.replay.report import AuditReport
from beliefbase.replay.signatures import SignatureCheck

pytestmark = pytest.mark.slow

WRITERS = max(2, scaled(20))
KEYS = Keys()
EVENTS = many_writers(WRITERS, 10 if WRITERS == 20 else 6, KEYS)
STREAMS = {
    writer: list(events)
    for writer, events in groupby(
        sorted(EVENTS, key=lambda one: one.skeleton[1:3]), key=lambda one: one.skeleton.writer
    )
}
SIGNED = KEYS.signed(EVENTS)
ALONE, PIN, SIGNATURES = {"alone"}, {"pin"}, {"signatures"}


def quiet(_what, _done):
    pass


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    open_log(folder, EVENTS).close()
    put_signatures(folder, SIGNED)
    with closing(open_log(folder)) as log:
        heads = log.frontier()
    return folder, Pin(0, len(EVENTS), heads, "", {})


class Case:
    """A copy of the store to tamper with, and what each means finds then: (writer, seq) of damage."""

    def __init__(self, made, tmp_path):
        self._made, self._pin = made
        self._folder = tmp_path
        self.count = 0

    def fresh(self):
        self.count += 1
        for path in self._folder.glob("log.db*"):
            path.unlink()
        shutil.copy(self._made / "log.db", self._folder / "log.db")
        return self._folder

    def sql(self, *statements):
        tamper(self.fresh(), *statements)
        return self.found()

    def made_of(self, events, signed=None):
        """Another log in the place of the old one; of the old signatures those of writers that it has."""
        self.fresh()
        for path in self._folder.glob("log.db*"):
            path.unlink()
        open_log(self._folder, events).close()
        writers = {event.skeleton.writer for event in events}
        put_signatures(self._folder, [one for one in (SIGNED if signed is None else signed) if one.writer in writers])
        return self.found()

    def found(self):
        reports = {"alone": AuditReport(), "pin": AuditReport(), "signatures": AuditReport()}
        with closing(open_log(self._folder)) as log:
            integrity = Integrity(log, reports["alone"], quiet, indexed=True)
            integrity.check()
            if integrity.legible:
                PinCheck(log, self._folder, {"the pin": self._pin}, quiet).check_heads(reports["pin"])
                check = SignatureCheck(log, KEYS.trust())
                reports["signatures"].add(check.check(integrity.heads, reports["signatures"]))
        return {
            by: {(one.writer, one.seq) for one in report.findings if one.severity == "damage"}
            for by, report in reports.items()
        }


@pytest.fixture
def case(made, tmp_path, every_reading):
    case = Case(made, tmp_path)
    yield case
    assert case.count >= WRITERS


def place(event):
    return event.skeleton.writer.hex(), event.skeleton.seq


def finds(found, by, where):
    """Only these means find anything, and each names the place."""
    assert {means for means, places in found.items() if places} == by
    assert all(where in found[means] for means in by), (where, found)


def test_a_clean_log_raises_no_alarm(case):
    for _ in range(WRITERS):
        case.fresh()
        finds(case.found(), set(), None)


@pytest.mark.parametrize("field", FIELDS)
def test_1_a_bit_of_every_field_of_every_event(case, field):
    for event in EVENTS:
        bit = 8 * field_ends(event.raw)[field]
        found = case.sql(("UPDATE events SET state = ? WHERE state = ?", flipped(event.raw, bit), event.raw))
        assert place(event) in found["alone"]


def test_2_every_event_deleted(case):
    for event in EVENTS:
        assert place(event) in case.sql(("DELETE FROM events WHERE state = ?", event.raw))["alone"]


def test_3_every_two_events_of_a_stream_changed_for_each_other(case):
    for stream in STREAMS.values():
        for one, two in combinations(stream, 2):
            found = case.sql(
                ("UPDATE events SET originator_version = -originator_version WHERE state IN (?, ?)", one.raw, two.raw),
                (
                    "UPDATE events SET originator_version = CASE state WHEN ? THEN ? ELSE ? END WHERE state IN (?, ?)",
                    one.raw, two.skeleton.seq, one.skeleton.seq, one.raw, two.raw,
                ),
            )  # fmt: skip
            assert {place(one), place(two)} <= found["alone"]


def test_4_every_event_doubled_at_the_end_of_its_stream(case):
    for stream in STREAMS.values():
        for event in stream:
            found = case.sql(
                (
                    "INSERT INTO events SELECT NULL, originator_id, ?, topic, state FROM events WHERE state = ?",
                    len(stream) + 1,
                    event.raw,
                )
            )
            assert (event.skeleton.writer.hex(), len(stream) + 1) in found["alone"]


def test_5_every_tail_of_every_stream_cut_and_the_signature_of_then_put_back(case):
    for writer, stream in STREAMS.items():
        for length in range(1, len(stream)):
            left = [event for event in EVENTS if event not in stream[length:]]
            found = case.made_of(left, KEYS.signed(left))
            finds(found, PIN, (writer.hex(), len(stream)))
            finds(case.made_of(left), PIN | SIGNATURES, (writer.hex(), len(stream)))


def test_6_every_writer_dropped(case):
    for writer, stream in STREAMS.items():
        found = case.made_of([event for event in EVENTS if event.skeleton.writer != writer])
        finds(found, PIN, (writer.hex(), len(stream)))


def test_7_history_rewritten_from_every_place_on(case):
    for writer, stream in STREAMS.items():
        others = [event for event in EVENTS if event.skeleton.writer != writer]
        for length in range(1, len(stream)):
            author = going_on(stream[:length])
            anew = [*others, *stream[:length], *author.utterances(len(stream) - length)]
            found = case.made_of(anew)
            finds(found, PIN | SIGNATURES, (writer.hex(), len(stream)))


def test_8_an_event_forged_at_the_end_of_every_stream(case):
    for writer, stream in STREAMS.items():
        found = case.made_of([*EVENTS, going_on(stream).retracted(stream[0].id)])
        finds(found, SIGNATURES, (writer.hex(), len(stream) + 1))


def test_9_a_writer_forged_with_the_certificate_of_every_writer(case):
    for stream in STREAMS.values():
        forger = Author("nobody")
        joined = stream[0].skeleton.payload
        certified = forger.joined("agent 1", certificate=joined["certificate"])
        finds(case.made_of([*EVENTS, certified, forger.said("x")]), SIGNATURES, (forger.writer.hex(), 1))


def test_10_every_text_edited(case):
    for event in EVENTS:
        if event.body is not None:
            for bit in (8, 8 * (len(event.body) // 2), 8 * len(event.body) - 1):
                body = flipped(event.body, bit)
                assert (
                    place(event) in case.sql(("UPDATE words SET body = ? WHERE event_id = ?", body, event.id))["alone"]
                )


def test_13_every_row_of_the_index_deleted(case, made):
    with closing(open_log(made[0])) as log, log._reading() as tables:
        rows, tips = list(tables.index.rows()), list(tables.index.tips())
    for row in rows:
        found = case.sql(("DELETE FROM refs WHERE key = ? AND role = ? AND position = ?", *row))
        assert place(EVENTS[row[2] - 1]) in found["alone"]
    by_id = {event.id: event for event in EVENTS}
    for key, event_id in tips:
        found = case.sql(("DELETE FROM tips WHERE key = ? AND event_id = ?", key, event_id))
        finds(found, ALONE, place(by_id[event_id]))
    for event in EVENTS:
        found = case.sql(("DELETE FROM stamps WHERE hlc = ?", event.skeleton.hlc))
        assert any(place(other) in found["alone"] for other in EVENTS if other.skeleton.hlc == event.skeleton.hlc)


OTHER = {
    "VARCHAR": "coalesce({0}, '') || 'x'",
    "BOOLEAN": "NOT coalesce({0}, false)",
    "VARCHAR[]": "list_append(coalesce({0}, []), 'x')",
    "BLOB": "coalesce({0}, '\\x00'::BLOB) || '\\x01'::BLOB",
}


def test_11_every_column_of_every_table_edited_and_every_tables_first_row_deleted(tmp_path):
    open_log(tmp_path, world(7, scaled(200) + 60)).close()
    project(tmp_path, publish=False)
    edited = 0
    with (
        closing(open_log(tmp_path)) as log,
        replayed(log, tmp_path / "fresh", as_of_ms=0, progress=quiet) as fresh,
    ):
        fresh.rows(f"ATTACH '{tmp_path}/read/work.duckdb' AS examined")
        compared = Comparison(log, fresh, "examined", "the live read model")
        assert list(compared.findings()) == []
        for table in registry.tables().values():
            if not fresh.rows(f"SELECT 1 FROM examined.{table.name} LIMIT 1"):
                continue
            first = f"examined.{table.name} WHERE rowid = (SELECT min(rowid) FROM examined.{table.name})"
            kinds = dict(
                fresh.rows(
                    "SELECT column_name, data_type FROM duckdb_columns()"
                    " WHERE database_name = 'examined' AND table_name = $1",
                    [table.name],
                )
            )
            changes = [f"DELETE FROM {first}"]
            for column in table.all_columns:
                other = OTHER.get(kinds[column.name], "coalesce({0}, 0) + 1").format(f'"{column.name}"')
                changes.append(f'UPDATE {first.replace(" WHERE", f""" SET "{column.name}" = {other} WHERE""", 1)}')
            for change in changes[: scaled(len(changes))]:
                fresh.rows("BEGIN")
                fresh.rows(change)
                found = list(compared._table(table))
                fresh.rows("ROLLBACK")
                edited += 1
                assert found and {one.table for one in found} == {table.name}, change
    assert edited >= min(scaled(200), 25)


def test_rows_that_only_compare_alike_are_found(tmp_path):
    """A column that compares without case, and a row that is nothing but NULLs."""
    open_log(tmp_path, world(7, 120)).close()
    project(tmp_path, publish=False)
    with (
        closing(open_log(tmp_path)) as log,
        replayed(log, tmp_path / "fresh", as_of_ms=0, progress=quiet) as fresh,
    ):
        fresh.rows(f"ATTACH '{tmp_path}/read/work.duckdb' AS examined")
        compared = Comparison(log, fresh, "examined", "the live read model")
        fresh.rows("CREATE TEMP TABLE kept AS FROM examined.belief_intervals")
        ((made,),) = fresh.rows(
            "SELECT sql FROM duckdb_tables() WHERE (database_name, table_name) = ('examined', 'belief_intervals')"
        )
        made = made.replace("TABLE belief_intervals", "OR REPLACE TABLE examined.belief_intervals")
        for table, status, found in (
            (made, "status", []),
            (made.replace("status VARCHAR", "status VARCHAR COLLATE NOCASE"), "upper(status)", ["belief_intervals"]),
        ):
            fresh.rows(table)
            fresh.rows(f"INSERT INTO examined.belief_intervals SELECT * REPLACE ({status} AS status) FROM kept")
            assert [one.table for one in compared.findings()] == found
        fresh.rows(made)
        fresh.rows("INSERT INTO examined.belief_intervals FROM kept")
        fresh.rows("INSERT INTO examined.belief_intervals (belief_id) VALUES (NULL)")
        assert [one.table for one in compared.findings()] == ["belief_intervals"]
