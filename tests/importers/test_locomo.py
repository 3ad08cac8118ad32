"""LoCoMo conversations: utterances with their places, observations with their evidence, dirt counted and listed."""

import pytest
from tests.importers.transcripts import talk, written

from beliefbase.events import limits
from beliefbase.events.ids import name_hash
from beliefbase.importers import locomo
from beliefbase.importers.base import ImportFailed
from beliefbase.importers.run import import_files
from beliefbase.store import BeliefStore

MARCH_2 = 1_772_442_300_000
"""9:05 on 2 March 2026, UTC."""


@pytest.fixture
def imported(tmp_path):
    """Import a conversation and give (report, events without the writers' own)."""

    def run(value, name="talk.json"):
        BeliefStore.open(tmp_path / "store", create=True).close()
        report = import_files(tmp_path / "store", [written(tmp_path / name, value)])
        with BeliefStore.open(tmp_path / "store") as store:
            events = [stored.event for page in store.log.read() for stored in page]
        return report.files[0], [event for event in events if event.skeleton.type != "writer.joined"]

    return run


def utterances(events):
    return [event for event in events if event.skeleton.type == "utterance.recorded"]


def extractions(events):
    return [event for event in events if event.skeleton.type == "belief.extracted"]


def changed(**session):
    """A conversation whose first session is changed."""
    value = talk()
    value["conversation"].update(session)
    return value


class TestConversation:
    def test_everything_said_is_recorded_word_for_word_with_its_place(self, imported):
        report, events = imported(talk())
        first = utterances(events)[0]
        assert first.words == {
            "speaker": "Ada",
            "verbatim": "I started with the cello.",
            "conversation": "talk-1",
            "channel": "chat",
            "source_ref": "locomo:talk-1:D1:1",
        }
        assert (first.skeleton.payload["turn"], first.skeleton.subjects) == (1, (name_hash("Ada"),))
        assert report.counts == {
            "conversations": 1,
            "evidence": 4,
            "extractions": 3,
            "image captions (not imported)": 1,
            "sessions": 2,
            "sessions without dialogue (not imported)": 1,
            "utterances": 4,
        }

    def test_turns_are_half_a_minute_apart_and_observations_come_after_them(self, imported):
        _, events = imported(talk())
        times = [event.skeleton.hlc >> 16 for event in events]
        assert [time - MARCH_2 for time in times[:5]] == [0, 30_000, 60_000, 61_000, 61_000]
        assert times == sorted(times)

    def test_evidence_names_the_utterances(self, imported):
        _, events = imported(talk())
        refs = {event.words["verbatim"]: event.skeleton.source_ref for event in utterances(events)}
        second = extractions(events)[1]
        assert second.skeleton.payload["evidence"] == (refs["Since when?"], refs["Since January."])
        assert set(second.skeleton.subjects) == {name_hash("Ada"), name_hash("Ben")}
        assert second.skeleton.payload["session"] == name_hash("talk-1/S1")

    def test_each_speaker_is_a_writer(self, imported):
        _, events = imported(talk())
        assert len({event.skeleton.writer for event in events}) == 2

    @pytest.mark.parametrize(
        ("text", "ms"),
        [
            ("9:05 am on 2 March, 2026", 0),
            ("12:05 am on 2 March, 2026", -9 * 3_600_000),
            ("12:05 pm on 2 March, 2026", 3 * 3_600_000),
            ("9:05 AM on 2 Mar 2026", 0),
        ],
    )
    def test_the_time_of_a_session_is_read_in_utc(self, imported, text, ms):
        _, events = imported(changed(session_1_date_time=text))
        assert events[0].skeleton.hlc >> 16 == MARCH_2 + ms

    @pytest.mark.parametrize(
        "text",
        [
            None,
            "soon",
            "9:05 am on 31 February, 2026",
            "9:75 am on 2 March, 2026",
            "9:05 am on 2 Brumaire, 2026",
            "9:05 am on 2 March, 1926",
            "9:05 am on 2 March, 0",
            "9:05 am on 2 March, 20260",
        ],
    )
    def test_a_session_without_a_time_can_not_be_imported(self, imported, text):
        with pytest.raises(ImportFailed):
            imported(changed(session_1_date_time=text))

    def test_a_file_may_hold_several_conversations(self, imported):
        report, events = imported([talk("one"), talk("two")])
        assert (report.counts["conversations"], len(events)) == (2, 14)

    @pytest.mark.parametrize(
        "value",
        [[], {}, {"sample_id": "x"}, {"sample_id": 1, "conversation": {}}, {"sample_id": "", "conversation": {}}],
    )
    def test_what_is_none_is_not_imported(self, imported, value):
        with pytest.raises(ImportFailed):
            imported(value)


class TestDirt:
    def test_dangling_evidence_is_stored_and_listed(self, imported):
        value = talk()
        value["observation"]["session_1_observation"]["Ada"].append(["Ada has a dog.", "D1:99"])
        report, events = imported(value)
        assert extractions(events)[2].skeleton.payload["evidence"] == (name_hash("locomo:talk-1:D1:99"),)
        assert report.counts["dangling evidence"] == 1
        assert "D1:99" in report.notes[0]

    @pytest.mark.parametrize(
        ("cited", "places"),
        [
            ("D1:1", ["D1:1"]),
            (["D1:1", "D1:2"], ["D1:1", "D1:2"]),
            ("D1:1; D1:2,D1:3 D1:1", ["D1:1", "D1:2", "D1:3"]),
            (["D1:1; D1:2", "D1:2"], ["D1:1", "D1:2"]),
            ([], []),
            (None, []),
            ([None, 7, {"a": 1}, ["D1:1"]], []),
            ("", []),
        ],
    )
    def test_evidence_comes_in_many_forms(self, imported, cited, places):
        value = talk(observation={"session_1_observation": {"Ada": [["Ada plays.", cited]]}})
        report, events = imported(value)
        expected = tuple(name_hash(f"locomo:talk-1:{place}") for place in places)
        assert expected == extractions(events)[0].skeleton.payload.get("evidence", ())
        assert report.counts.get("evidence", 0) == len(places)

    def test_evidence_beyond_what_a_belief_holds_is_counted(self, imported):
        places = [f"D1:{n}" for n in range(300)]
        report, events = imported(talk(observation={"session_1_observation": {"Ada": [["Ada plays.", places]]}}))
        assert len(extractions(events)[0].skeleton.payload["evidence"]) == limits.LIST_ITEMS
        assert report.counts["evidence beyond what one observation can have (not imported)"] == 44

    @pytest.mark.parametrize(
        "turn",
        [
            None,
            "text",
            {},
            {"speaker": "Ada", "dia_id": "D1:9"},
            {"speaker": "Ada", "text": "x"},
            {"speaker": "", "dia_id": "D1:9", "text": "x"},
            {"speaker": "Ada", "dia_id": "", "text": "x"},
            {"speaker": 7, "dia_id": "D1:9", "text": "x"},
            {"speaker": "Ada", "dia_id": "D1:9", "text": ["x"]},
        ],
    )
    def test_a_malformed_turn_is_counted(self, imported, turn):
        report, events = imported(changed(session_2=[turn, {"speaker": "Ben", "dia_id": "D2:1", "text": "I sold it."}]))
        assert (report.counts["malformed turns (not imported)"], len(utterances(events))) == (1, 4)

    def test_a_place_that_occurs_twice_is_counted_and_the_first_one_stands(self, imported):
        again = {"speaker": "Ben", "dia_id": "D1:1", "text": "That was me."}
        report, events = imported(changed(session_2=[again]))
        assert report.counts["repeated turns (not imported)"] == 1
        assert "That was me." not in [event.words["verbatim"] for event in utterances(events)]

    @pytest.mark.parametrize(
        "observation",
        [
            None,
            "Ada plays.",
            [],
            ["Ada plays."],
            ["Ada plays.", "D1:1", "more"],
            [7, "D1:1"],
            ["", "D1:1"],
            ["x" * 70_000, "D1:1"],
        ],
    )
    def test_a_malformed_observation_is_counted(self, imported, observation):
        report, events = imported(talk(observation={"session_1_observation": {"Ada": [observation]}}))
        assert (report.counts["malformed observations (not imported)"], extractions(events)) == (1, [])

    @pytest.mark.parametrize(
        "observation", [None, [], {"session_1_observation": []}, {"session_1_observation": {"Ada": 1}}]
    )
    def test_observations_may_be_missing_or_nonsense(self, imported, observation):
        _, events = imported(talk(observation=observation))
        assert (len(utterances(events)), extractions(events)) == (4, [])

    def test_observations_of_a_session_without_dialogue_are_counted(self, imported):
        value = talk()
        value["observation"]["session_3_observation"] = {"Ada": [["Ada left.", "D3:1"]]}
        report, events = imported(value)
        assert report.counts["observations of sessions without dialogue (not imported)"] == 1
        assert len(extractions(events)) == 3

    def test_a_long_text_is_several_utterances_in_order(self, imported):
        text = "ä" * 40_000
        report, events = imported(changed(session_2=[{"speaker": "Ben", "dia_id": "D2:1", "text": text}]))
        parts = [event for event in utterances(events) if event.words["verbatim"].startswith("ä")]
        assert "".join(part.words["verbatim"] for part in parts) == text
        assert [part.words["source_ref"] for part in parts] == ["locomo:talk-1:D2:1", "locomo:talk-1:D2:1#2"]
        assert report.counts["utterances"] == 5

    def test_surrogates_and_long_names_are_made_storable(self, imported):
        turn = {"speaker": "B\ud800" + "e" * 300, "dia_id": "D2:1" * 100, "text": "I sold\udfff it."}
        _, events = imported(changed(session_2=[turn, {**turn, "dia_id": "D2:1" * 100 + "!"}]))
        one, two = utterances(events)[-2:]
        assert one.words["verbatim"] == "I sold\ufffd it."
        assert len(one.words["speaker"]) == limits.NAME_CHARACTERS
        assert one.skeleton.source_ref != two.skeleton.source_ref

    def test_a_file_that_is_no_json_is_told(self, tmp_path):
        (tmp_path / "x.json").write_bytes(b"\xff\xfe{")
        with pytest.raises(ImportFailed):
            locomo.read(tmp_path / "x.json")
        assert not locomo.recognises(tmp_path / "x.json")
