"""Reading events side by side gives what reading each by itself gives, whatever is in their bytes."""

import random
from contextlib import suppress

import msgpack
import numpy as np
import pytest
from tests.events.build import Author
from tests.projections.worlds import World

from beliefbase.events.catalog import CATALOG, Unreadable, lockstep
from beliefbase.events.codec import pack
from beliefbase.events.envelope import Event, verify
from beliefbase.events.errors import NotCanonical
from beliefbase.projections import registry
from beliefbase.projections.columns import Same, distinct, loadable, octets
from beliefbase.projections.heads import places_of
from beliefbase.projections.reading import Reader

LOG = World(3, 700).events
INTEGERS = (0, 1, 127, 128, 255, 256, 1000, 1001, 2**16, 2**32, 2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1)
ODD = (
    *INTEGERS,
    *(-1, -32, -33, -128, -129, -(2**15) - 1, -(2**31) - 1, -(2**63)),
    *(None, True, False, "", "text", "a" * 64, "a" * 65, "ä", "x\n", "z" * 300, "question", "used", "nul\0", "\0"),
    *(b"", b"x" * 15, b"x" * 16, b"x" * 17, b"x" * 128, b"x" * 300),
    *((), (b"y" * 16,), (b"y" * 16, b"a" * 16), (b"y" * 16,) * 64, (b"y" * 16,) * 65, ("a", "b"), ({},), {}),
    ({"belief_id": b"y" * 16}, {"belief_id": b"a" * 16, "rank": 7, "tag": "recall"}),
    ({"belief_id": b"y" * 16, "unheard_of": 1},),
    ({"end": 2, "evidence": 0, "start": 1},) * 70,
)
BODIES = (
    None,
    pack((1, {})),
    pack((1, {"verbatim": 7, "query": ("a",), "topic": None})),
    pack((1, {"topic": "t" * 500})),
)


class NoLog:
    """Asked for the agents behind writers, which it doesn't know."""

    def agents(self, _writers):
        return {}


def fields_of(raw):
    return list(msgpack.unpackb(raw, use_list=False))


def changed(raw, dice):
    """The skeleton with something else in it; half of the time in its payload."""
    fields = fields_of(raw)
    payload = dict(fields[11])
    names = [*payload, *(CATALOG.readers[fields[6]].shapes if fields[6] in CATALOG.readers else ()), "unheard_of", "a"]
    match dice.randrange(12):
        case 0:
            payload.pop(dice.choice(names), None)
        case 1 | 2 | 3 | 4 | 5:
            payload[dice.choice(names)] = dice.choice(ODD)
        case 6:
            fields[7] = dice.choice((1, 2, 127, 128, 300))
        case 7:
            fields[8] = dice.choice(((), (b"z" * 16,), fields[8] * 2, (*fields[8], b"\xff" * 16), fields[8][:-1]))
        case 8:
            fields[9] = dice.choice(
                ((), (b"b" * 16,), (True,), (b"b" * 16, b"c" * 16, True), (b"b" * 16,) * 64 + (True,))
            )
        case 9:
            fields[10] = dice.choice((None, b"r" * 16))
        case 10:
            fields[2], fields[5] = dice.choice(INTEGERS[1:-2]), dice.choice((*INTEGERS[:-2], -1, -33, -(2**40)))
        case 11:
            fields[12] = dice.choice(((), (b"s" * 16,), (b"s" * 16, b"t" * 16)))
    fields[11] = dict(sorted(payload.items()))
    return msgpack.packb(fields)


def newer(raw):
    """The same event in a format of a newer release, with a field more."""
    fields = fields_of(raw)
    return msgpack.packb([2, *fields[1:13], {"more": 1}, fields[13]])


def scanned(raws, dice):
    return [(place, raw, dice.choice(BODIES)) for place, raw in enumerate(raws, 1)]


def rows_of(page):
    """What the projections make of a page: by table, all rows as they would be loaded, in one order."""
    found = {}
    for projection in registry.registered():
        for batch in page.batches:
            if batch.type in projection.TYPES:
                for name, columns in projection.of_events(batch).items():
                    table = registry.tables()[name]
                    loaded = [cells(column.type, columns[column.name]) for column in table.all_columns]
                    found.setdefault(name, []).extend(zip(*loaded, strict=True))
    return {name: sorted(rows, key=repr) for name, rows in found.items() if rows}


def cells(type_name, values):
    return [values.value] * len(values) if isinstance(values, Same) else _plain(loadable(type_name, values), type_name)


def _plain(array, type_name):
    absent = {"BIGINT": -(1 << 63), "BOOLEAN": -1}.get(type_name)
    return [None if value == absent else bool(value) if type_name == "BOOLEAN" else value for value in array.tolist()]


def batches_of(page):
    """What every batch says of events, field by field."""
    found = []
    for batch in page.batches:
        refs, writers = cells("VARCHAR", batch.refs), cells("VARCHAR", batch.writers)
        columns = [
            cells("VARCHAR", batch.ids),
            batch.stamps.tolist(),
            list(batch.seqs),
            list(batch.lags),
            refs,
            writers,
        ]
        basis = [[] for _ in range(len(batch))]
        for owner, id_ in zip(batch.basis.owner.tolist(), cells("VARCHAR", batch.basis.ids), strict=True):
            basis[owner].append(id_)
        known = {id_.tobytes(): key for id_, key in zip(batch.ids, batch.keys.tolist(), strict=True)}
        found += [
            (batch.type, *row, known[bytes.fromhex(row[0])])
            for row in zip(*columns, basis, said(batch.words), strict=True)
        ]
    return sorted(found)


def said(words):
    """The words of each event: whether they are here, and what has one of the names that are used here."""
    names = ("query", "topic", "unheard_of", "verbatim")
    columns = [words.here.tolist(), *map(words.text, names), *map(words.text_list, names)]
    return [repr(row) for row in zip(*columns, strict=True)]


def assert_equal(events):
    """One reader must say of these events what the other says."""
    each = Reader(NoLog()).read([Event(raw, None, body) for _, raw, body in events])
    side = Reader(NoLog()).side_by_side(events)
    assert sorted(side.dropped, key=repr) == sorted(each.dropped, key=repr)
    assert batches_of(side) == batches_of(each)
    assert rows_of(side) == rows_of(each)
    facts_of = [sorted(fact for batch in page.batches for fact in batch.facts()) for page in (side, each)]
    assert facts_of[0] == facts_of[1]
    assert [list(map(type, fact)) for fact in facts_of[0]] == [list(map(type, fact)) for fact in facts_of[1]]
    assert side.newest == each.newest
    assert np.array_equal(side.ids, each.ids) and np.array_equal(side.prevs, each.prevs)
    assert [*side.raws] == [*each.raws]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Even one event is read side by side."""
    monkeypatch.setattr(lockstep, "LEAST", 1)


def test_what_is_usable_is_read_side_by_side():
    raws = [event.raw for event in LOG]
    read = lockstep.LockstepReader(CATALOG).read(raws)
    through_keys = {"condition.met", "policy.defined", "profile.activated", "subject.erased"}
    usable = {
        place
        for place, skeleton in enumerate(event.skeleton for event in LOG)
        if skeleton.type not in through_keys and not isinstance(CATALOG.read(skeleton), Unreadable)
    }
    assert {place for group in read.groups for place in group.places.tolist()} == usable
    assert set(read.left.tolist()) == set(range(len(LOG))) - usable


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize("seed", range(6))
def test_events_of_all_types_with_anything_in_them(seed, share):
    dice = random.Random(seed)
    raws = [event.raw for event in World(seed, 500).events]
    raws = [changed(raw, dice) if dice.random() < share else raw for raw in raws]
    raws = [newer(raw) if dice.random() < share / 20 else raw for raw in raws]
    assert_equal(scanned(raws, dice))


@pytest.mark.parametrize("name", sorted(CATALOG.models))
def test_one_change_in_an_event_of_each_type(name):
    dice = random.Random(name)
    raws = [event.raw for event in LOG if event.skeleton.type == name] or [Author().joined().raw]
    for _ in range(40):
        place = dice.randrange(len(raws))
        assert_equal(scanned([*raws[:place], changed(raws[place], dice), *raws[place + 1 :]], dice))


def test_each_odd_value_in_each_field():
    dice = random.Random(4)
    raws = []
    for name, reader in CATALOG.readers.items():
        fields = fields_of(next((event.raw for event in LOG if event.skeleton.type == name), Author().joined().raw))
        for field in reader.shapes:
            for value in ODD:
                payload = dict(sorted({**fields[11], field: value}.items()))
                raws.append(msgpack.packb([*fields[:11], payload, *fields[12:]]))
    assert_equal(scanned(raws, dice))


def test_many_different_texts():
    dice = random.Random(5)
    author = Author()
    raws = [
        author.extracted(extractor=f"model@{number % 90}", kind=dice.choice(("rule", "fact"))).raw
        for number in range(300)
    ]
    assert_equal(scanned(raws, dice))


def test_bytes_that_are_no_skeletons_are_left():
    """Of bytes that were never verified nothing may be read beyond their end, and no loop may go on for ever."""
    dice = random.Random(6)
    reader = lockstep.LockstepReader(CATALOG)
    for _ in range(150):
        raws = [event.raw for event in dice.sample(LOG, 40)]
        for place in range(0, 40, 2):
            raw, at = raws[place], dice.randrange(len(raws[place]))
            raws[place] = dice.choice(
                (
                    raw[:at],
                    raw[:at] + raw[at + 1 :],
                    raw + b"\xc0",
                    dice.randbytes(at),
                    raw[:at] + dice.randbytes(1) + raw[at + 1 :],
                )
            )
        raws.append(raws[1][: dice.randrange(90)])
        for group in reader.read(raws).groups:
            for place in group.places.tolist():
                assert msgpack.unpackb(raws[place])[6] == group.type
    assert reader.read([]).groups == []


def test_a_changed_byte_changes_what_both_read():
    dice = random.Random(7)
    raws = [event.raw for event in LOG[:300]]
    found = []
    while len(found) < 1500:
        raw = dice.choice(raws)
        at = dice.randrange(len(raw))
        altered = raw[:at] + bytes([raw[at] ^ 1 << dice.randrange(8)]) + raw[at + 1 :]
        with suppress(NotCanonical):
            verify(altered)
            found.append(altered)
    assert_equal(scanned([*raws, *found], dice))


def test_ids_that_begin_alike_are_told_apart():
    ids = [b"12345678" + bytes([number]) * 8 for number in (3, 1, 2)]
    numbers, different = distinct(octets([*ids, ids[1]], 16))
    assert [different[number] for number in numbers] == [*ids, ids[1]]
    assert places_of(octets([ids[2], b"z" * 16, ids[0]], 16), octets(ids, 16)).tolist() == [2, -1, 0]
