"""The catalogue: every type from the wire to the skeleton and back, and what is refused, left out or unreadable."""

from typing import Annotated, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events.test_envelope import PAYLOADS
from tests.events.wire import drafts_of, slug_fields, text_fields

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG, Catalog, Role, Unreadable
from beliefbase.events.catalog.base import Count, EventModel, Hashed, Id, Name, State
from beliefbase.events.catalog.registry import FATE_CHANGING, REVISIONS
from beliefbase.events.codec import unpack
from beliefbase.events.envelope import FORMAT, Skeleton, decode, verify
from beliefbase.events.errors import InvalidEvent, LimitExceeded
from beliefbase.events.ids import ZERO_HASH, name_hash

TYPES = sorted(CATALOG.models)
A, B, C, D = (letter * 16 for letter in (b"a", b"b", b"c", b"d"))


def skeleton_of(draft, **changes):
    """The skeleton of a draft as a writer would build it."""
    built = Skeleton(
        format=FORMAT,
        writer=b"w" * 16,
        seq=1,
        prev=ZERO_HASH,
        hlc=1 << 16,
        recorded=0,
        type=draft.type,
        version=draft.version,
        touches=draft.touches,
        basis=draft.basis or (),
        source_ref=draft.source_ref,
        payload=draft.payload,
        subjects=draft.subjects or (),
        commitment=None,
    )
    return built._replace(**changes)


def stored(type_name, fields, **changes):
    return skeleton_of(CATALOG.draft(type_name, fields), **changes)


VERDICT = {"other": B, "relation": "refines"}
EXTRACTED = {"statement": "It rains.", "kind": "fact"}


class TestEveryType:
    @pytest.mark.parametrize("name", TYPES)
    @given(data=st.data())
    @settings(max_examples=25)
    def test_goes_from_the_wire_to_a_canonical_skeleton_and_is_read_back(self, name, data):
        draft = CATALOG.draft(name, data.draw(drafts_of(name)))
        raw = skeleton_of(draft).encode()
        found = verify(raw)
        assert draft.payload == CATALOG.read(found) == found.payload
        if draft.body is not None:
            assert (1, draft.words) == unpack(draft.body, max_bytes=limits.BODY_BYTES)
        assert (draft.body is None) == (not draft.words)

    @pytest.mark.parametrize("name", TYPES)
    @given(data=st.data())
    @settings(max_examples=15)
    def test_is_indexed_under_every_id_in_it(self, name, data):
        found = stored(name, data.draw(drafts_of(name)))
        references = CATALOG.references(found, D)
        assert ids_in(found.payload) <= {key for key, _ in references}
        assert set(found.touches) <= {key for key, _ in references}
        assert (D, Role.SELF) in references

    @pytest.mark.parametrize("name", TYPES)
    def test_refuses_a_field_that_it_does_not_have(self, name):
        with pytest.raises(InvalidEvent) as caught:
            CATALOG.draft(name, {"no_such_field": 1})
        assert caught.value.data["field"] in {"no_such_field", *CATALOG.models[name].model_fields}

    @pytest.mark.parametrize("name", TYPES)
    @given(data=st.data())
    @settings(max_examples=8)
    def test_is_not_touched_by_what_a_newer_release_added_to_it(self, name, data):
        draft = CATALOG.draft(name, data.draw(drafts_of(name)))
        newer = skeleton_of(draft, payload={**draft.payload, "zz_new": 1})
        assert CATALOG.read(newer) == Unreadable("unknown_field", "zz_new")
        assert CATALOG.read(skeleton_of(draft, version=draft.version + 1)).reason == "unknown_version"
        assert CATALOG.read(skeleton_of(draft, type="belief.dreamt")).reason == "unknown_type"
        assert CATALOG.read(skeleton_of(draft, format=FORMAT + 1)).reason == "unknown_format"

    @pytest.mark.parametrize("name", TYPES)
    @given(data=st.data())
    @settings(max_examples=8)
    def test_touches_what_its_payload_says_and_nothing_else(self, name, data):
        draft = CATALOG.draft(name, data.draw(drafts_of(name)))
        other = tuple(sorted({*draft.touches, b"?" * 16}))
        assert CATALOG.read(skeleton_of(draft, touches=other)) == Unreadable("touches_mismatch", "")

    @pytest.mark.parametrize("name", TYPES)
    @given(data=st.data())
    @settings(max_examples=8)
    def test_means_the_same_whatever_the_order_of_its_fields(self, name, data):
        fields = data.draw(drafts_of(name))
        shuffled = dict(data.draw(st.permutations(list(fields.items()))))
        assert CATALOG.draft(name, fields) == CATALOG.draft(name, shuffled)


def ids_in(value):
    if isinstance(value, bytes):
        return {value}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return {key for item in items for key in ids_in(item)} - HASHES_OF_NAMES(value)


def HASHES_OF_NAMES(value):
    """Names that nothing is looked up by."""
    names = ("speaker", "conversation", "session", "agent", "certificate")
    return {value[name] for name in names if name in value} if isinstance(value, dict) else set()


class TestReading:
    """Replay survives any payload."""

    @given(
        st.sampled_from(TYPES), st.integers(1, 3), st.dictionaries(st.text("abc_", max_size=4), PAYLOADS, max_size=3)
    )
    def test_any_payload_is_read_or_unreadable(self, name, version, payload):
        found = stored("writer.closed", {}, type=name, version=version, payload=dict(sorted(payload.items())))
        read = CATALOG.read(decode(found.encode()))
        assert isinstance(read, Unreadable | dict)
        CATALOG.references(found, D)

    @given(st.sampled_from(TYPES), st.data())
    def test_any_value_in_a_known_field_is_read_or_unreadable(self, name, data):
        draft = CATALOG.draft(name, data.draw(drafts_of(name)))
        field = data.draw(st.sampled_from(sorted(CATALOG.models[name].shapes()) or ["x"]))
        payload = dict(sorted({**draft.payload, field: data.draw(PAYLOADS)}.items()))
        found = decode(skeleton_of(draft, payload=payload).encode())
        assert isinstance(CATALOG.read(found), Unreadable | dict)
        CATALOG.references(found, D)

    @pytest.mark.parametrize(
        ("payload", "field"),
        [
            ({}, "kind"),
            ({"kind": "dream"}, "kind"),
            ({"kind": 1}, "kind"),
            ({"kind": None}, "kind"),
            ({"confidence": 1001, "kind": "fact"}, "confidence"),
            ({"confidence": -1, "kind": "fact"}, "confidence"),
            ({"confidence": True, "kind": "fact"}, "confidence"),
            ({"confidence": "900", "kind": "fact"}, "confidence"),
            ({"evidence": (b"short",), "kind": "fact"}, "evidence"),
            ({"evidence": A, "kind": "fact"}, "evidence"),
            ({"evidence": (A,) * 257, "kind": "fact"}, "evidence"),
            ({"kind": "fact", "policy": "no policy"}, "policy"),
            ({"kind": "fact", "policy": "p" * 65}, "policy"),
            ({"kind": "fact", "policy": "policy\n"}, "policy"),
            ({"kind": "fact", "session": "a name"}, "session"),
            ({"kind": "fact", "spans": ({"start": 1},)}, "spans"),
            ({"kind": "fact", "spans": ({"end": 1, "evidence": 0, "more": 1, "start": 1},)}, "spans"),
            ({"kind": "fact", "spans": ({"end": 1 << 53, "evidence": 0, "start": 1},)}, "spans"),
        ],
    )
    def test_names_the_field_that_is_out_of_shape(self, payload, field):
        assert CATALOG.read(stored("belief.extracted", EXTRACTED, payload=payload)) == Unreadable(
            "invalid_payload", field
        )

    def test_a_question_in_a_belief_is_unreadable(self):
        found = stored("belief.extracted", EXTRACTED, payload={"kind": "fact", "speech_act": "question"})
        assert CATALOG.read(found) == Unreadable("question", "")

    def test_a_condition_names_a_belief_or_a_key_and_not_both(self):
        for payload in ({}, {"belief_id": A, "condition_key": B}):
            found = stored("condition.met", {"belief_id": A}, payload=payload)
            assert CATALOG.read(found).reason == "invalid_payload"
            with pytest.raises(InvalidEvent):
                CATALOG.draft(
                    "condition.met", {name: "x" if name == "condition_key" else key for name, key in payload.items()}
                )

    def test_what_cannot_be_read_is_still_found_by_what_it_touches(self):
        for changes in ({"type": "belief.dreamt"}, {"version": 9}):
            found = stored("belief.retracted", {"belief_id": A}, **changes)
            assert (A, Role.STATE) in CATALOG.references(found, D)


class TestReferences:
    """The roles under which the log finds an event (ADR 0008)."""

    @pytest.mark.parametrize(
        ("name", "fields", "roles"),
        [
            ("belief.extracted", {**EXTRACTED, "evidence": [A, B]}, {(A, Role.CITED), (B, Role.CITED)}),
            ("belief.extracted", {**EXTRACTED, "condition_key": "k"}, {(name_hash("k"), Role.STATE)}),
            (
                "belief.reclassified",
                {"belief_id": A, "condition_key": "k"},
                {(A, Role.STATE), (name_hash("k"), Role.STATE)},
            ),
            ("belief.affirmed", {"belief_id": A, "evidence": [B]}, {(A, Role.STATE), (B, Role.CITED)}),
            ("belief.superseded", {"superseded_id": A, "superseding_id": B}, {(A, Role.STATE), (B, Role.LINK)}),
            ("belief.merged", {"duplicate_id": A, "surviving_id": B}, {(A, Role.STATE), (B, Role.STATE)}),
            ("belief.reinstated", {"belief_id": A, "undoes": [B]}, {(A, Role.STATE), (B, Role.LINK)}),
            ("condition.met", {"condition_key": "k"}, {(name_hash("k"), Role.STATE)}),
            (
                "contradiction.raised",
                {"left": A, "right": B, "judgement": C},
                {(A, Role.STATE), (B, Role.STATE), (C, Role.CITED)},
            ),
            ("contradiction.resolved", {"contradiction_id": A, "outcome": "left"}, {(A, Role.STATE)}),
            (
                "conclusion.derived",
                {"belief_id": A, "inputs": [{"belief_id": B, "role": "essential"}]},
                {(A, Role.STATE), (B, Role.INPUT)},
            ),
            ("memory.injected", {"cards": [{"belief_id": A}, {"belief_id": B}]}, {(A, Role.SHOWN), (B, Role.SHOWN)}),
            ("memory.used", {"injection_id": A, "belief_id": B, "outcome": "used"}, {(A, Role.CITED), (B, Role.SHOWN)}),
            (
                "memory.revalidated",
                {"belief_id": A, "outcome": "rejected", "prompt_id": B},
                {(A, Role.STATE), (B, Role.CITED)},
            ),
            (
                "judgement.recorded",
                {"about": A, "judge": "j@1", "verdicts": [{"other": B, "relation": "refines"}]},
                {(A, Role.CITED), (B, Role.CITED)},
            ),
            ("question.answered", {"question_id": A, "answer_id": B}, {(A, Role.CITED), (B, Role.CITED)}),
            ("policy.defined", {"policy": "p@1", "base": "half_life"}, {(name_hash("p@1"), Role.STATE)}),
            ("subject.erased", {"subject": "will"}, {(name_hash("will"), Role.STATE)}),
        ],
    )
    def test_are_those_of_the_contract(self, name, fields, roles):
        assert roles | {(D, Role.SELF)} == CATALOG.references(stored(name, fields), D)

    def test_the_envelope_gives_its_own(self):
        found = stored("belief.retracted", {"belief_id": A, "basis": [C, B], "source_ref": "s", "subjects": ["will"]})
        expected = {(D, Role.SELF), (name_hash("s"), Role.SELF), (A, Role.STATE), (B, Role.BASIS), (C, Role.BASIS)}
        assert {*expected, (name_hash("will"), Role.CITED)} == CATALOG.references(found, D)

    def test_what_a_fate_changing_event_is_about_is_touched(self):
        assert FATE_CHANGING < REVISIONS <= set(TYPES)
        assert stored("contradiction.raised", {"left": B, "right": A}).touches == (A, B)
        assert stored("belief.superseded", {"superseded_id": B, "superseding_id": A}).touches == (A, B)
        assert stored("belief.reinstated", {"belief_id": A, "undoes": [B]}).touches == (A,)
        assert stored("condition.met", {"condition_key": "k"}).touches == (name_hash("k"),)
        assert stored("belief.extracted", {**EXTRACTED, "condition_key": "k"}).touches == ()


class TestLimits:
    @pytest.mark.parametrize(
        ("name", "fields", "limit"),
        [
            ("utterance.recorded", {"speaker": "s", "verbatim": "x" * (limits.VERBATIM_BYTES + 1)}, "VERBATIM_BYTES"),
            ("utterance.recorded", {"speaker": "s", "verbatim": "ä" * 32_769}, "VERBATIM_BYTES"),
            ("utterance.recorded", {"speaker": "s" * 201, "verbatim": "x"}, "NAME_CHARACTERS"),
            ("utterance.recorded", {"speaker": "s", "verbatim": "x", "source_ref": "s" * 201}, "NAME_CHARACTERS"),
            ("utterance.recorded", {"speaker": "s", "verbatim": "x", "subjects": ["s" * 201]}, "NAME_CHARACTERS"),
            ("utterance.recorded", {"speaker": "s", "verbatim": "x", "entities": ["e"] * 257}, "LIST_ITEMS"),
            ("utterance.recorded", {"speaker": "s", "verbatim": "x", "subjects": ["s"] * 257}, "LIST_ITEMS"),
            ("belief.extracted", {**EXTRACTED, "evidence": [A] * 257}, "LIST_ITEMS"),
            ("belief.extracted", {**EXTRACTED, "excerpts": ["e" * 501]}, "EXCERPT_CHARACTERS"),
            ("belief.extracted", {**EXTRACTED, "policy": "p" * 65}, "SLUG_CHARACTERS"),
            ("belief.extracted", {**EXTRACTED, "excerpts": ["\U0001f600" * 500] * 140}, "BODY_BYTES"),
            ("memory.injected", {"cards": [{"belief_id": A}] * 257}, "LIST_ITEMS"),
            ("judgement.recorded", {"about": A, "judge": "j", "verdicts": [VERDICT] * 257}, "LIST_ITEMS"),
        ],
    )  # fmt: skip
    def test_an_error_names_the_limit(self, name, fields, limit):
        with pytest.raises(LimitExceeded) as caught:
            CATALOG.draft(name, fields)
        assert limit == caught.value.data["limit"]
        assert f"{getattr(limits, limit)}" in str(caught.value)

    def test_what_just_fits_is_taken(self):
        draft = CATALOG.draft(
            "utterance.recorded", {"speaker": "s" * 200, "verbatim": "ä" * (limits.VERBATIM_BYTES // 2)}
        )
        assert len(draft.words["verbatim"].encode()) == limits.VERBATIM_BYTES
        CATALOG.draft(
            "belief.extracted", {**EXTRACTED, "evidence": [A] * 256, "excerpts": ["e" * 500], "policy": "p" * 64}
        )

    def test_the_fullest_event_of_every_kind_fits_into_a_skeleton(self):
        names = [f"s{n}" for n in range(256)]
        ids = [bytes([n]) * 16 for n in range(256)]
        card = {"tag": "cite_as_reference", "applicability": "adjacent_context", "force": 1000, "rank": 2**53 - 1}
        verdict = {"relation": "contradicts", "confidence": 1000, "lexical_rank": 2**53 - 1, "vector_rank": 2**53 - 1}
        spans = [{"evidence": 255, "start": 2**53 - 2, "end": 2**53 - 1}] * 256
        for name, fields in (
            ("memory.injected", {"cards": [{"belief_id": key, **card} for key in ids]}),
            ("judgement.recorded", {"about": A, "judge": "j", "verdicts": [{"other": key, **verdict} for key in ids]}),
            ("belief.extracted", {**EXTRACTED, "evidence": ids, "spans": spans, "malformed": ["m" * 64] * 256}),
        ):
            found = stored(name, {**fields, "source_ref": "s" * 200, "subjects": names}, basis=tuple(ids[:64]))
            assert CATALOG.read(verify(found.encode())) == found.payload


class TestTheWire:
    def test_ids_are_hex_or_bytes(self):
        by_text = CATALOG.draft("belief.retracted", {"belief_id": A.hex(), "basis": [B.hex()]})
        assert by_text == CATALOG.draft("belief.retracted", {"belief_id": A, "basis": (B,)})

    @pytest.mark.parametrize(
        ("name", "fields", "field"),
        [
            ("belief.retracted", {"belief_id": "A" * 32}, "belief_id"),
            ("belief.retracted", {"belief_id": b"short"}, "belief_id"),
            ("belief.retracted", {"belief_id": 7}, "belief_id"),
            ("belief.retracted", {}, "belief_id"),
            ("belief.retracted", {"belief_id": A, "cause": "bored"}, "cause"),
            ("belief.extracted", {**EXTRACTED, "evidence": ["nonsense"]}, "evidence.0"),
            ("belief.extracted", {**EXTRACTED, "evidence": "nonsense"}, "evidence"),
            ("belief.extracted", {**EXTRACTED, "confidence": 0.9}, "confidence"),
            ("belief.extracted", {**EXTRACTED, "confidence": True}, "confidence"),
            ("belief.extracted", {**EXTRACTED, "confidence": "900"}, "confidence"),
            ("belief.extracted", {**EXTRACTED, "policy": "two words"}, "policy"),
            ("belief.extracted", {**EXTRACTED, "speech_act": "question"}, "speech_act"),
            ("belief.extracted", {**EXTRACTED, "statement": "\ud800"}, "statement"),
            ("belief.extracted", {**EXTRACTED, "session": ""}, "session"),
            ("memory.injected", {"cards": [{"belief_id": A, "force": 1001}]}, "cards.0.force"),
            ("memory.injected", {"cards": [{"belief_id": A, "colour": "red"}]}, "cards.0.colour"),
            ("belief.reinstated", {"belief_id": A, "undoes": []}, "undoes"),
            ("belief.dreamt", {}, "type"),
        ],
    )
    def test_an_error_names_the_field(self, name, fields, field):
        with pytest.raises(InvalidEvent) as caught:
            CATALOG.draft(name, fields)
        assert field == caught.value.data["field"]
        assert caught.value.hint

    def test_an_error_does_not_repeat_what_was_said(self):
        with pytest.raises(InvalidEvent) as caught:
            CATALOG.draft("utterance.recorded", {"speaker": "s", "verbatim": ["my secret"]})
        assert "secret" not in f"{caught.value} {caught.value.as_dict()}"

    def test_names_are_hashed_in_nfc_and_kept_as_they_were(self):
        draft = CATALOG.draft("utterance.recorded", {"speaker": "Zoe\u0308", "verbatim": "Zoe\u0308"})
        assert draft.payload == {"speaker": name_hash("Zo\u00eb")}
        assert draft.words == {"speaker": "Zoe\u0308", "verbatim": "Zoe\u0308"}

    def test_an_absent_field_is_not_stored_and_a_default_that_means_something_is(self):
        assert CATALOG.draft("belief.extracted", EXTRACTED).payload == {"kind": "fact"}
        assert CATALOG.draft("belief.retracted", {"belief_id": A}).payload == {"belief_id": A, "cause": "withdrawn"}
        assert CATALOG.draft("memory.injected", {"cards": []}).payload == {"cards": ()}


class TestObserveOnly:
    FINE: ClassVar = {
        "obsolete_when": "when it is dry",
        "kind_misfit": True,
        "kind_misfit_reason": "it is weather",
        "supersedes_note": "the forecast",
        "tags": ["weather"],
        "raw_reply": "{}",
    }

    def test_fields_are_stored(self):
        draft = CATALOG.draft("belief.extracted", {**EXTRACTED, **self.FINE})
        assert draft.notes == ()
        assert {"tags": ("weather",), "raw_reply": "{}"}.items() <= draft.words.items()
        assert draft.payload == {"kind": "fact", "kind_misfit": True}

    @pytest.mark.parametrize("value", [7, None, {"a": 1}, ["x", 3], "x" * 70_000, "ä" * 40_000, "\ud800", [["x"]]])
    @pytest.mark.parametrize("name", sorted(FINE))
    def test_a_malformed_one_is_left_out_with_a_note_and_fails_nothing(self, name, value):
        draft = CATALOG.draft("belief.extracted", {**EXTRACTED, name: value})
        assert name not in draft.words
        if value is None:  # absent
            assert draft.payload == {"kind": "fact"} or draft.payload["malformed"] == (name,)
            return
        assert draft.payload == {"kind": "fact", "malformed": (name,)}
        assert name in draft.notes[0]
        assert CATALOG.read(skeleton_of(draft)) == draft.payload

    def test_several_are_left_out_in_order(self):
        draft = CATALOG.draft("belief.extracted", {**EXTRACTED, "tags": 1, "kind_misfit": "x", "raw_reply": "fine"})
        assert draft.payload["malformed"] == ("kind_misfit", "tags")
        assert draft.words["raw_reply"] == "fine"


class TestWordsStayOutOfSkeletons:
    """No string that a person wrote is in a skeleton (DESIGN 1)."""

    @pytest.mark.parametrize("name", TYPES)
    @given(data=st.data())
    @settings(max_examples=10)
    def test_a_canary_in_every_text_field_is_in_the_words_alone(self, name, data):
        fields = data.draw(drafts_of(name))
        canary = "kanarienvogel"
        places = list(text_fields(CATALOG.models[name]))
        if name == "condition.met":
            fields.pop("belief_id", None)
        for field, listed, _ in places:
            fields[field] = [canary] if listed else canary
        draft = CATALOG.draft(name, fields)
        raw = skeleton_of(draft).encode()
        assert canary.encode() not in raw
        in_words = {field for field, _, place in places if place is not None and place.words}
        assert in_words == {field for field, value in draft.words.items() if value in (canary, (canary,))}

    def test_every_text_field_is_marked(self):
        """A field without a mark would go into the payload as it is; subjects are hashed apart."""
        unmarked = {
            field for model in CATALOG.models.values() for field, _, place in text_fields(model) if place is None
        }
        assert unmarked == {"subjects"}

    def test_only_identifiers_of_software_and_configuration_stand_as_text_in_skeletons(self):
        slugs = {field for model in CATALOG.models.values() for field in slug_fields(model)}
        software = {"model", "extractor", "judge", "renderer"}
        assert slugs == software | {"policy", "base", "profile", "assertion_class", "malformed"}

    def test_the_name_of_an_erased_subject_is_nowhere(self):
        draft = CATALOG.draft("subject.erased", {"subject": "will"})
        assert (draft.payload, draft.body) == ({"subject": name_hash("will")}, None)


class Said1(EventModel):
    """The first version of a type."""

    TYPE: ClassVar[str] = "thing.said"

    of: Annotated[Id, State]
    who: Annotated[Name, Hashed]


class Said3(EventModel):
    """Its third: a count came, and the field was renamed."""

    TYPE: ClassVar[str] = "thing.said"
    VERSION: ClassVar[int] = 3

    thing: Annotated[Id, State]
    who: Annotated[Name, Hashed]
    times: Count = 1


def renamed(payload):
    rest = {name: value for name, value in payload.items() if name != "of"}
    return {**rest, "thing": payload["of"]}


class TestUpcasters:
    OLD = Catalog([Said1])
    NEW = Catalog([Said3], {("thing.said", 1): renamed, ("thing.said", 2): lambda payload: {"times": 1, **payload}})

    def old(self, **changes):
        return skeleton_of(self.OLD.draft("thing.said", {"of": A, "who": "will"}), **changes)

    def test_an_old_event_reads_as_one_of_today(self):
        today = self.NEW.draft("thing.said", {"thing": A, "who": "will"})
        assert self.NEW.read(self.old()) == self.NEW.read(skeleton_of(today)) == today.payload
        assert self.OLD.read(self.old()) == self.old().payload

    def test_an_old_event_is_found_as_one_of_today(self):
        assert self.NEW.references(self.old(), D) == {(D, Role.SELF), (A, Role.STATE)}

    def test_the_chain_may_begin_in_the_middle(self):
        second = self.old(version=2, payload=renamed(self.old().payload))
        assert self.NEW.read(second)["times"] == 1

    def test_a_newer_event_is_unreadable_for_an_older_release(self):
        today = skeleton_of(self.NEW.draft("thing.said", {"thing": A, "who": "will"}))
        assert self.OLD.read(today) == Unreadable("unknown_version", "thing.said/3")

    def test_a_gap_in_the_chain_is_an_unknown_version(self):
        gap = Catalog([Said3], {("thing.said", 2): dict})
        assert gap.read(self.old()) == Unreadable("unknown_version", "thing.said/1")
        assert gap.read(self.old(version=2**32)).reason == "unknown_version"

    @given(st.dictionaries(st.text("abcof", max_size=3), PAYLOADS, max_size=3))
    def test_any_old_payload_is_read_or_unreadable(self, payload):
        found = self.old(payload=payload)
        assert isinstance(self.NEW.read(found), Unreadable | dict)
        self.NEW.references(found, D)
