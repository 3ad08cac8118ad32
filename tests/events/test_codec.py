"""The codec: one encoding per value, and a reader that accepts nothing else.

A failure here means that two stores can hold the same event under two ids, or that received bytes can exhaust memory.
"""

from __future__ import annotations

import enum
import math
import struct
import tracemalloc
from collections import OrderedDict
from typing import Any, NamedTuple

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beliefbase.events.codec import MAX_DEPTH, MAX_ITEMS, MAX_MAPS, pack, unpack, unpack_trusted
from beliefbase.events.errors import InvalidEvent, LimitExceeded, NotCanonical

MIB = 1 << 20
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT | st.binary(max_size=300)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=20).map(tuple) | st.dictionaries(TEXT, inner, max_size=20),
    max_leaves=30,
)


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Pair(NamedTuple):
    left: int
    right: int


def read(raw: bytes) -> Any:
    return unpack(raw, max_bytes=MIB)


def shape(value: Any) -> Any:
    """``value`` with the type of every part, since Python holds True and 1 to be equal."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(shape(item) for item in value)
    return type(value), value


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, "c0"),
        (False, "c2"),
        (True, "c3"),
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "cc80"),
        (256, "cd0100"),
        (65_536, "ce00010000"),
        (2**32, "cf0000000100000000"),
        (2**63, "cf8000000000000000"),
        (2**64 - 1, "cfffffffffffffffff"),
        (-1, "ff"),
        (-32, "e0"),
        (-33, "d0df"),
        (-129, "d1ff7f"),
        (-32_769, "d2ffff7fff"),
        (-(2**31) - 1, "d3ffffffff7fffffff"),
        (-(2**63), "d38000000000000000"),
        ("", "a0"),
        ("é", "a2c3a9"),
        ("e\u0301", "a365cc81"),
        ("x" * 32, "d920" + "78" * 32),
        ("x" * 256, "da0100" + "78" * 256),
        (b"", "c400"),
        (b"\x00\xff", "c40200ff"),
        (b"x" * 256, "c50100" + "78" * 256),
        ((), "90"),
        ((1, (True, None)), "920192c3c0"),
        (tuple([0] * 16), "dc0010" + "00" * 16),
        ({}, "80"),
        ({"b": 1, "a": 2}, "82a16102a16201"),
        ({"\uffff": 1, "\U00010000": 2, "z": 3}, "83a17a03a3efbfbf01a4f090808002"),
    ],
)
def test_values_have_these_very_bytes_on_every_machine(value: Any, encoded: str) -> None:
    assert bytes.fromhex(encoded) == pack(value)
    assert shape(value) == shape(read(bytes.fromhex(encoded)))


@settings(deadline=None, max_examples=200)
@given(VALUES)
@example((True, 1, False, 0))
def test_what_is_packed_is_read_back_by_both_readers(value: Any) -> None:
    raw = pack(value)
    assert value == read(raw) == unpack_trusted(raw)
    assert shape(value) == shape(read(raw)) == shape(unpack_trusted(raw))
    assert raw == pack(read(raw))


@settings(deadline=None, max_examples=200)
@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_in_which_a_map_was_built_leaves_no_trace(value: Any, random: Any) -> None:
    def shuffled(part: Any) -> Any:
        if isinstance(part, dict):
            entries = [(key, shuffled(item)) for key, item in part.items()]
            random.shuffle(entries)
            return dict(entries)
        return [shuffled(item) for item in part] if isinstance(part, tuple) else part

    assert pack(value) == pack(shuffled(value))


def test_true_and_one_differ() -> None:
    assert pack(True) != pack(1)
    assert pack({"a": False}) != pack({"a": 0})


def test_text_is_not_normalised() -> None:
    assert pack("é") != pack("e\u0301")


# --- what pack refuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (1.0, "$"),
        ({"a": (0, {"b": math.nan})}, "$.a[1].b"),
        ({"a": -0.0}, "$.a"),
        ((1, 2**64), "$[1]"),
        ({"n": -(2**63) - 1}, "$.n"),
        ({"t": "\ud800"}, "$.t"),
        ({"\udfff": 1}, "$"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": {b"k": 2}}, "$.a"),
        ({"a": {"k": 1, b"k": 2}}, "$.a"),
        ({"a": {None: 2}}, "$.a"),
        ({Colour.RED: 2}, "$"),
        ((Colour.RED,), "$[0]"),
        ((Level.HIGH,), "$[0]"),
        ((Pair(1, 2),), "$[0]"),
        ({"a": OrderedDict(b=1)}, "$.a"),
        ({"s": {1, 2}}, "$.s"),
        ({"x": bytearray(b"x")}, "$.x"),
        ({"x": msgpack.ExtType(1, b"x")}, "$.x"),
        ({"x": msgpack.Timestamp(1)}, "$.x"),
        ({"x": object()}, "$.x"),
        ({"é\n": object()}, "$.\\xe9\\n"),
    ],
)
def test_values_without_a_canonical_form_are_refused_by_path(value: Any, path: str) -> None:
    with pytest.raises(InvalidEvent) as caught:
        pack(value)
    assert path == caught.value.data["path"]
    assert path in str(caught.value)


def nested(depth: int, inner: Any) -> Any:
    for level in range(depth):
        inner = {"k": inner} if level % 2 else [inner]
    return inner


@pytest.mark.parametrize("inner", [0, [], {}])
def test_nesting_is_bounded_when_writing_and_when_reading(inner: Any) -> None:
    containers = 0 if inner == 0 else 1
    raw = pack(nested(MAX_DEPTH - containers, inner))
    assert raw == pack(read(raw))
    too_deep = nested(MAX_DEPTH - containers + 1, inner)
    with pytest.raises(LimitExceeded) as caught:
        pack(too_deep)
    assert "depth" == caught.value.data["limit"]
    with pytest.raises(NotCanonical, match="deeper"):
        read(msgpack.packb(too_deep))


def test_a_list_that_holds_itself_is_too_deep_rather_than_endless() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(LimitExceeded):
        pack(loop)


@pytest.mark.parametrize(
    ("fits", "too_long"),
    [
        ([0] * MAX_ITEMS, [0] * (MAX_ITEMS + 1)),
        ({f"{n:04}": 0 for n in range(MAX_ITEMS)}, {f"{n:04}": 0 for n in range(MAX_ITEMS + 1)}),
    ],
    ids=["list", "map"],
)
def test_lists_and_maps_are_bounded_when_writing_and_when_reading(fits: Any, too_long: Any) -> None:
    assert shape(fits) == shape(read(pack(fits)))
    with pytest.raises(LimitExceeded) as caught:
        pack({"a": too_long})
    assert ("items", "$.a") == (caught.value.data["limit"], caught.value.data["path"])
    with pytest.raises(NotCanonical):
        read(msgpack.packb(too_long))


# --- what unpack refuses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoded", "reason"),
    [
        ("", "incomplete"),
        ("9201", "incomplete"),
        ("c1", "."),
        ("0000", "extra"),
        ("cc7f", "longer"),
        ("cd00ff", "longer"),
        ("ce0000ffff", "longer"),
        ("cf00000000ffffffff", "longer"),
        ("d000", "longer"),
        ("d1ff80", "longer"),
        ("d30000000000000001", "longer"),
        ("d90161", "longer"),
        ("da000161", "longer"),
        ("db0000000161", "longer"),
        ("c5000161", "longer"),
        ("c60000000161", "longer"),
        ("dc000101", "longer"),
        ("dd0000000101", "longer"),
        ("de0001a16101", "longer"),
        ("df00000001a16101", "longer"),
        ("82a16201a16102", "order"),
        ("82a16101a16102", "twice"),
        ("82a16101a16101", "twice"),
        ("8101c0", "key"),
        ("81c0c0", "key"),
        ("8190c0", "key"),
        ("81c40161c0", "key"),
        ("82a161c0c40162c0", "key"),
        ("ca00000000", "float"),
        ("cb0000000000000000", "float"),
        ("cb8000000000000000", "float"),
        ("cb7ff8000000000000", "float"),
        ("9281a161ca3f800000c0", "float"),
        ("a1ff", "utf-8"),
        ("a2c080", "utf-8"),
        ("a3eda080", "utf-8"),
        ("a4f4908080", "utf-8"),
        ("c70001", "."),
        ("c700ff", "."),
        ("d40100", "max_ext_len"),
        ("d6ff00000000", "max_ext_len"),
        ("d7ff0000000000000000", "max_ext_len"),
        ("c70cff" + "00" * 12, "max_ext_len"),
        ("dfffffffff", "exceeds"),
        ("ddffffffff", "exceeds"),
        ("dbffffffff", "incomplete|exceeds"),
        ("c6ffffffff", "incomplete|exceeds"),
        ("c9ffffffff01", "."),
        ("91" * 1500 + "c0", "."),
        ("91" * 600 + "c0", "deeper"),
    ],
)
def test_other_bytes_are_refused_with_the_reason(encoded: str, reason: str) -> None:
    with pytest.raises(NotCanonical, match=f"(?i){reason}"):
        read(bytes.fromhex(encoded))


def test_the_reason_names_the_path() -> None:
    with pytest.raises(NotCanonical) as caught:
        read(bytes.fromhex("9281a161ca3f800000c0"))
    assert "$[0].a" == caught.value.data["path"]


def test_longer_than_allowed_is_refused_before_reading() -> None:
    assert read(pack("x" * 100)) == unpack(pack("x" * 100), max_bytes=102)
    with pytest.raises(LimitExceeded) as caught:
        unpack(pack("x" * 100), max_bytes=101)
    assert (102, 101) == (caught.value.data["size"], caught.value.data["most"])


def widenings(raw: bytes) -> list[bytes]:
    """Every spelling of ``raw`` that msgpack reads as the same value and that widens one number or header."""
    found = []
    for at, first in enumerate(raw):
        if first <= 0x7F:
            wide = b"\xcc" + raw[at : at + 1]
        elif first >= 0xE0:
            wide = b"\xd0" + raw[at : at + 1]
        elif 0x80 <= first <= 0x8F:
            wide = struct.pack(">BH", 0xDE, first & 15)
        elif 0x90 <= first <= 0x9F:
            wide = struct.pack(">BH", 0xDC, first & 15)
        elif 0xA0 <= first <= 0xBF:
            wide = struct.pack(">BB", 0xD9, first & 31)
        elif first in (0xC4, 0xD9, 0xCC) and at + 1 < len(raw):
            wide = struct.pack(">BH", first + 1, raw[at + 1])
        elif first == 0xD0 and at + 1 < len(raw):
            wide = struct.pack(">Bh", 0xD1, struct.unpack(">b", raw[at + 1 : at + 2])[0])
        else:
            continue
        eaten = 2 if first in (0xC4, 0xD9, 0xCC, 0xD0) else 1
        mutant = raw[:at] + wide + raw[at + eaten :]
        try:
            same = shape(msgpack.unpackb(mutant, use_list=False)) == shape(msgpack.unpackb(raw, use_list=False))
        except (ValueError, TypeError):
            same = False
        if same:
            found.append(mutant)
    return found


@settings(deadline=None, max_examples=200)
@given(VALUES)
@example({"a": (1, -1, 200, -100, "x" * 40, b"", {}, ())})
def test_no_widened_spelling_of_a_value_is_accepted(value: Any) -> None:
    for mutant in widenings(pack(value)):
        with pytest.raises(NotCanonical):
            read(mutant)


def test_the_widenings_above_do_reach_every_kind_of_header() -> None:
    assert 12 == len(widenings(pack({"a": (1, -1, 200, -100, "x" * 40, b"", {}, "", ())})))


@settings(deadline=None, max_examples=200)
@given(VALUES, st.data())
def test_changed_bytes_are_another_value_or_no_value(value: Any, data: st.DataObject) -> None:
    raw = bytearray(pack(value))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    try:
        got = read(bytes(raw))
    except NotCanonical:
        return
    assert shape(got) != shape(value)
    assert bytes(raw) == pack(got)


@settings(deadline=None, max_examples=1000)
@given(st.binary(max_size=60))
def test_random_bytes_raise_nothing_but_the_typed_error(raw: bytes) -> None:
    try:
        value = read(raw)
    except NotCanonical:
        return
    assert raw == pack(value)


@pytest.mark.parametrize("encoded", ["d40100", "c70001", "d6ff00000000", "d7ff0000000000000000", "c700ff"])
def test_the_trusting_reader_makes_no_extension_objects_either(encoded: str) -> None:
    with pytest.raises((ValueError, NotCanonical)):
        unpack_trusted(bytes.fromhex(encoded))


# --- bombs ---------------------------------------------------------------------------------------------------------

FULL = struct.pack(">BH", 0xDC, MAX_ITEMS)


def filled(item: bytes) -> bytes:
    """Just under a MiB of lists of ``item``, as deep as lists go in two levels."""
    inner = FULL + item * MAX_ITEMS
    count = MIB // len(inner)
    return (bytes([0x90 | count]) if count < 16 else struct.pack(">BH", 0xDC, count)) + inner * count


@pytest.mark.parametrize(
    ("raw", "accepted"),
    [
        ((b"\xdd" + struct.pack(">I", MIB // 2)) * 1000 + b"\xc0" * (MIB - 5000), False),
        ((b"\xdc" + struct.pack(">H", MAX_ITEMS)) * 1000 + b"\xc0" * (MIB - 3000), False),
        (filled(b"\x80"), False),
        (filled(b"\x81\xa0\x80"), False),
        (filled(b"\x91\xc0"), True),
        (filled(b"\x91\xa2\xc4\x80"), True),
        (filled(b"\xa2\xc4\x80"), True),
        (filled(b"\xcd\x01\x00"), True),
    ],
    ids=["claims", "full-claims", "empty-maps", "maps", "lists", "lists-of-text", "text", "integers"],
)
def test_a_mebibyte_of_bombs_takes_at_most_64_mib(raw: bytes, accepted: bool) -> None:
    assert len(raw) <= MIB
    tracemalloc.start()
    try:
        if accepted:
            read(raw)
        else:
            with pytest.raises(NotCanonical):
                read(raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * MIB


def test_maps_are_counted_in_long_values_only() -> None:
    rows: tuple[Any, ...] = tuple(tuple({} for _ in range(MAX_ITEMS)) for _ in range(MAX_MAPS // MAX_ITEMS))
    assert rows == read(pack(rows))
    with pytest.raises(NotCanonical, match="maps"):
        read(pack((*rows, {})))
