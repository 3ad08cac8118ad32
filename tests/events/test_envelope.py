"""The stored form: what is one skeleton and one body, and what is refused of foreign ones."""

import hashlib

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.events.build import Author

from beliefbase.events import limits
from beliefbase.events.envelope import (
    FORMAT,
    MAX_STAMP,
    Event,
    Skeleton,
    check_body,
    decode,
    encode_body,
    verify,
)
from beliefbase.events.errors import BeliefbaseError, LimitExceeded, NotCanonical
from beliefbase.events.ids import ZERO_HASH, commitment, name_hash, parse_id

IDS = st.binary(min_size=16, max_size=16)
SORTED_IDS = st.sets(IDS, max_size=5).map(lambda ids: tuple(sorted(ids)))


def skeleton(**changes):
    return Skeleton(
        **{
            "format": FORMAT,
            "writer": b"w" * 16,
            "seq": 1,
            "prev": ZERO_HASH,
            "hlc": 1 << 16,
            "recorded": 0,
            "type": "belief.retracted",
            "version": 1,
            "touches": (b"a" * 16,),
            "basis": (),
            "source_ref": None,
            "payload": {"belief_id": b"a" * 16},
            "subjects": (),
            "commitment": None,
            **changes,
        }
    )


PAYLOADS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(st.characters(exclude_categories=("Cs",)))
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple) | st.dictionaries(st.text("abcxyz", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
SKELETONS = st.builds(
    skeleton,
    writer=IDS,
    seq=st.integers(1, 2**62),
    prev=st.binary(min_size=32, max_size=32),
    hlc=st.integers(0, MAX_STAMP),
    recorded=st.integers(-(2**62), 2**62),
    type=st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=64),
    version=st.integers(1, 2**32),
    touches=SORTED_IDS,
    basis=SORTED_IDS | SORTED_IDS.map(lambda ids: (*ids, True)),
    source_ref=st.none() | IDS,
    payload=st.dictionaries(st.text("abcxyz", max_size=5), PAYLOADS, max_size=5),
    subjects=SORTED_IDS,
    commitment=st.none() | st.binary(min_size=32, max_size=32),
)


@given(SKELETONS)
def test_what_is_encoded_is_what_is_verified_and_decoded(built):
    raw = built.encode()
    assert built == verify(raw) == decode(raw)
    assert verify(raw).encode() == raw


@given(SKELETONS, st.data())
def test_no_other_bytes_give_the_same_skeleton(built, data):
    """A flipped bit is refused or makes another event: nothing of a skeleton can be changed unseen."""
    raw = bytearray(built.encode())
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    try:
        changed = verify(bytes(raw))
    except BeliefbaseError:
        return
    assert changed != built
    assert Event(bytes(raw)).id != Event(built.encode()).id


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": 0}, "format"),
        ({"format": True}, "format"),
        ({"writer": b"w" * 15}, "writer"),
        ({"writer": "w" * 16}, "writer"),
        ({"seq": 0}, "seq"),
        ({"seq": True}, "seq"),
        ({"seq": 2**62 + 1}, "seq"),
        ({"prev": b"p" * 31}, "prev"),
        ({"hlc": MAX_STAMP + 1}, "hlc"),
        ({"hlc": -1}, "hlc"),
        ({"recorded": None}, "recorded"),
        ({"type": ""}, "type"),
        ({"type": "t" * 65}, "type"),
        ({"type": b"t"}, "type"),
        ({"version": 0}, "version"),
        ({"touches": (b"b" * 16, b"a" * 16)}, "touches"),
        ({"touches": (b"a" * 16, b"a" * 16)}, "touches"),
        ({"touches": None}, "touches"),
        ({"basis": (b"a" * 15,)}, "basis"),
        ({"basis": (b"a" * 16, False)}, "basis"),
        ({"basis": (True, b"a" * 16)}, "basis"),
        ({"basis": b"a" * 16}, "basis"),
        ({"basis": tuple(bytes([n]) * 16 for n in range(65))}, "basis"),
        ({"source_ref": b"s"}, "source_ref"),
        ({"payload": None}, "payload"),
        ({"payload": ()}, "payload"),
        ({"subjects": (b"b" * 16, b"a" * 16)}, "subjects"),
        ({"commitment": b"c" * 16}, "commitment"),
        ({"commitment": "c" * 32}, "commitment"),
    ],
)
def test_a_position_out_of_shape_is_refused_by_name(changes, told):
    with pytest.raises(NotCanonical, match=told):
        verify(msgpack.packb(tuple(skeleton(**changes))))


@pytest.mark.parametrize(
    "raw", [b"", b"\xc0", msgpack.packb({}), msgpack.packb((1, 2, 3)), msgpack.packb(tuple(skeleton())[:-1])]
)
def test_what_is_no_array_of_the_positions_is_refused(raw):
    with pytest.raises(NotCanonical):
        verify(raw)


def test_64_ids_and_the_mark_that_there_were_more_are_a_basis():
    ids = tuple(bytes([n]) * 16 for n in range(64))
    found = verify(skeleton(basis=(*ids, True)).encode())
    assert ids == found.basis_ids
    assert verify(skeleton(basis=(True,)).encode()).basis_ids == ()


class TestANewerFormat:
    def raw(self, *more, commitment=None, size=0):
        return msgpack.packb((FORMAT + 1, b"w" * 16, 3, b"p" * 32, 5 << 16, *more, b"x" * size, commitment))

    def test_keeps_its_first_five_positions_and_its_last(self):
        found = verify(self.raw({"any": ("thing", 1)}, commitment=b"c" * 32))
        assert (FORMAT + 1, b"w" * 16, 3, b"p" * 32, 5 << 16) == found[:5]
        assert b"c" * 32 == found.commitment
        assert ("", {}, ()) == (found.type, found.payload, found.touches)

    def test_may_have_any_number_of_positions_from_six_on(self):
        assert verify(msgpack.packb((FORMAT + 1, b"w" * 16, 3, b"p" * 32, 5 << 16, None))).seq == 3
        with pytest.raises(NotCanonical):
            verify(msgpack.packb((FORMAT + 1, b"w" * 16, 3, b"p" * 32, 5 << 16)))

    def test_may_be_larger_up_to_one_mebibyte(self):
        assert verify(self.raw(size=limits.SKELETON_BYTES)).seq == 3
        with pytest.raises(LimitExceeded):
            verify(self.raw(size=limits.FOREIGN_SKELETON_BYTES))

    def test_is_held_to_what_every_format_keeps(self):
        with pytest.raises(NotCanonical, match="writer"):
            verify(msgpack.packb((FORMAT + 1, b"w", 3, b"p" * 32, 5 << 16, None)))


class TestLimits:
    def test_a_skeleton_above_64_kib_is_not_built(self):
        built = skeleton(payload={"a": "x" * limits.SKELETON_BYTES})
        for build in (built.encode, lambda: Event.build(built, None, None)):
            with pytest.raises(LimitExceeded) as caught:
                build()
            assert caught.value.data["limit"] == "SKELETON_BYTES"

    def test_a_foreign_skeleton_above_64_kib_is_refused(self):
        raw = msgpack.packb(tuple(skeleton(payload={"a": "x" * limits.SKELETON_BYTES})))
        with pytest.raises(LimitExceeded) as caught:
            verify(raw)
        assert caught.value.data["limit"] == "SKELETON_BYTES"

    def test_a_body_above_256_kib_is_refused_on_both_ways(self):
        words = {"a": "x" * limits.BODY_BYTES}
        with pytest.raises(LimitExceeded) as caught:
            encode_body(words)
        assert caught.value.data["limit"] == "BODY_BYTES"
        body = msgpack.packb((1, words))
        with pytest.raises(LimitExceeded) as caught:
            check_body(skeleton(commitment=commitment(b"s" * 16, body)), b"s" * 16, body)
        assert caught.value.data["limit"] == "BODY_BYTES"


class TestWords:
    SALT = b"s" * 16

    def committed(self, body):
        return skeleton(commitment=commitment(self.SALT, body))

    def test_those_that_the_skeleton_commits_to_are_taken(self):
        body = encode_body({"reason": "it rains"})
        check_body(self.committed(body), self.SALT, body)

    def test_other_words_another_salt_and_words_without_a_commitment_are_refused(self):
        body = encode_body({"reason": "it rains"})
        for built, salt, found in (
            (self.committed(body), self.SALT, encode_body({"reason": "it snows"})),
            (self.committed(body), b"t" * 16, body),
            (self.committed(body), b"", body),
            (skeleton(), self.SALT, body),
        ):
            with pytest.raises(NotCanonical):
                check_body(built, salt, found)

    @pytest.mark.parametrize(
        "body",
        [
            b"\xc0",
            msgpack.packb((1, ())),
            msgpack.packb((1, {}, 2)),
            msgpack.packb({"a": 1}),
            b"\x92\x01\x82\xa1b\x01\xa1a\x01",
        ],
    )
    def test_a_body_out_of_shape_is_refused_though_it_is_the_one_committed_to(self, body):
        with pytest.raises(NotCanonical):
            check_body(self.committed(body), self.SALT, body)


class TestEvent:
    def test_its_id_is_the_start_of_the_hash_of_its_bytes(self):
        event = Author().said("It rains.")
        assert hashlib.sha256(event.raw).digest() == event.hash
        assert event.hash[:16] == event.id

    def test_words_that_are_not_here_are_empty_and_wanted(self):
        event = Author().said("It rains.")
        bare = Event(event.raw)
        assert event.words["verbatim"] == "It rains."
        assert not event.wants_words
        assert (bare.words, bare.wants_words) == ({}, True)
        assert not Author().retracted(b"a" * 16).wants_words

    def test_is_equal_by_its_bytes_and_words(self):
        event = Author().said("It rains.")
        assert event == Event(event.raw, event.salt, event.body) != Event(event.raw)
        assert len({event, Event(event.raw, event.salt, event.body)}) == 1
        assert event.id.hex() in repr(event)

    @given(SKELETONS)
    def test_built_here_it_holds_the_skeleton_that_a_reader_decodes(self, built):
        plain = built._replace(payload={"belief_id": b"a" * 16})
        assert decode(Event.build(plain, None, None).raw) == plain


class TestNames:
    def test_a_name_stands_for_itself_in_every_unicode_spelling(self):
        assert name_hash("Zoe\u0308") == name_hash("Zo\u00eb") != name_hash("Zoe")
        assert hashlib.sha256("Zo\u00eb".encode()).digest()[:16] == name_hash("Zo\u00eb")

    @pytest.mark.parametrize("text", ["", "0" * 31, "0" * 33, "0" * 31 + "g", "A" * 32, " " + "0" * 31, "٠" * 32])
    def test_an_id_has_one_text_form(self, text):
        with pytest.raises(BeliefbaseError):
            parse_id(text)

    @given(IDS)
    def test_an_id_is_read_back_from_its_text(self, key):
        assert parse_id(key.hex()) == key
