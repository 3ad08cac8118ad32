"""Claude Code transcripts: what people and models said, in causal order, whatever else is in the file."""

from codecs import BOM_UTF8

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.importers.transcripts import SESSION, blocks, jsonl, spoken

from beliefbase.events import limits
from beliefbase.events.ids import name_hash
from beliefbase.importers import claude_code


@pytest.fixture
def read(tmp_path):
    return lambda *lines: claude_code.read(jsonl(tmp_path / "session.jsonl", *lines))


def said(source):
    return [item.fields["verbatim"] for item in source.items]


def at(second):
    return f"2026-03-02T09:00:{second:02}.000Z"


class TestOrder:
    def test_is_causal_first_then_by_time_then_by_place(self, read):
        source = read(
            spoken("a", "root", at=at(10)),
            spoken("b", "child stamped before its parent", at=at(5), parent="a"),
            spoken("c", "another root, earlier", at=at(1)),
            spoken("d", "its child, late", at=at(30), parent="c"),
            spoken("e", "first of two at one time", at=at(20)),
            spoken("f", "second of two at one time", at=at(20)),
        )
        assert said(source) == [
            "another root, earlier",
            "root",
            "child stamped before its parent",
            "first of two at one time",
            "second of two at one time",
            "its child, late",
        ]

    @given(st.lists(st.tuples(st.integers(0, 59), st.integers(-1, 11)), min_size=1, max_size=12))
    def test_puts_every_parent_before_its_children_and_loses_nothing(self, tmp_path_factory, shape):
        """Of any set of lines, rings included; a parent in a ring with its child can't come first for all of them."""
        lines = [
            spoken(f"u{n}", f"t{n}", at=at(second), parent=f"u{parent}") for n, (second, parent) in enumerate(shape)
        ]
        source = claude_code.read(jsonl(tmp_path_factory.mktemp("order") / "s.jsonl", *lines))
        places = {text: place for place, text in enumerate(said(source))}
        assert len(places) == len(shape)
        for child in range(len(shape)):
            parent = shape[child][1]
            if 0 <= parent < len(shape) and not in_ring(shape, child):
                assert places[f"t{parent}"] < places[f"t{child}"]

    def test_a_child_stamped_before_its_parent_has_its_parents_time(self, read):
        source = read(
            spoken("a", "parent", at=at(10)),
            spoken("b", "of the same time as the parent, and earlier in the file", at=at(10)),
            spoken("c", "child", at=at(5), parent="a"),
        )
        assert said(source)[-1] == "child"

    def test_goes_on_over_a_compaction(self, read):
        boundary = {"type": "system", "uuid": "b", "parentUuid": None, "logicalParentUuid": "a", "timestamp": at(1)}
        source = read(spoken("a", "before", at=at(9)), boundary, spoken("c", "after", at=at(2), parent="b"))
        assert said(source) == ["before", "after"]

    def test_a_line_without_a_time_stands_behind_its_parent(self, read):
        source = read(
            spoken("a", "one", at=at(9)), spoken("b", "two", at=None, parent="a"), spoken("c", "three", at=at(10))
        )
        assert said(source) == ["one", "two", "three"]
        assert source.items[1].at == source.items[0].at

    def test_many_rings_are_no_trap(self, read):
        lines = [spoken(f"{n}{x}", f"{n}{x}", parent=f"{n}{y}") for n in range(3000) for x, y in ("ab", "ba")]
        assert len(read(*lines).items) == 6000


def in_ring(shape, start):
    """Whether walking up from a line comes to a line twice."""
    seen = set()
    while 0 <= start < len(shape) and start not in seen:
        seen.add(start)
        start = shape[start][1]
    return start in seen


class TestLines:
    def test_only_what_is_said_is_imported_and_all_else_is_counted(self, read):
        source = read(
            spoken("a", "Please count.", at=at(1)),
            spoken("b", blocks("I count.", None, "42."), at=at(2), parent="a", role="assistant"),
            spoken("c", blocks(None), at=at(3), parent="b"),
            spoken("d", [{"type": "tool_use", "name": "count"}], at=at(4), parent="c", role="assistant"),
            spoken("e", "  ", at=at(5)),
            {"type": "summary", "summary": "Counting"},
            {"type": "file-history-snapshot"},
            {"type": "progress", "uuid": "p", "timestamp": at(6), "data": {"message": {"content": "inner"}}},
            {"type": "hologram", "uuid": "h"},
            {"type": ["list"]},
            {"no": "type"},
            "nonsense",
            "[1, 2]",
            b'{"type": "\xff"}',
            "[" * 100_000,
            "",
        )
        assert said(source) == ["Please count.", "I count.\n\n42."]
        assert source.counts == {
            "lines": 15,
            "malformed lines (not imported)": 4,
            "user lines": 3,
            "user lines with text": 1,
            "user lines without text (not imported)": 2,
            "assistant lines": 2,
            "assistant lines with text": 1,
            "assistant lines without text (not imported)": 1,
            "summary lines": 1,
            "file-history-snapshot lines": 1,
            "progress lines": 1,
            "unknown lines of type 'hologram' (not imported)": 1,
            "unknown lines of type None (not imported)": 2,
            "with uuid": 7,
            "tool calls": 1,
            "tool results": 2,
            "utterances": 2,
        }

    def test_an_utterance_has_its_speaker_session_and_place(self, read):
        item = read({"type": "summary"}, spoken("a", "Hello.", at="2026-03-02T10:00:00+01:00")).items[0]
        assert item.agent == "claude-code"
        assert item.at == 1_772_442_000_000
        assert item.fields == {
            "speaker": "user",
            "verbatim": "Hello.",
            "conversation": SESSION,
            "turn": 2,
            "channel": "claude-code",
            "source_ref": "claude-code:a",
        }

    def test_a_sub_agent_is_a_writer_of_its_own_and_answers_the_assistant(self, read):
        source = read(
            spoken("a", "Look for it.", agentId="x1", isSidechain=True),
            spoken("b", "Found it.", agentId="x1", isSidechain=True, parent="a", role="assistant"),
        )
        assert {item.agent for item in source.items} == {"claude-code/agent-x1"}
        assert [item.fields["speaker"] for item in source.items] == ["assistant", "agent-x1"]

    def test_a_sub_agent_without_a_name_is_told_apart_by_where_its_chain_begins(self, read):
        source = read(
            spoken("main-1", "Please look."),
            spoken("chain-one-1", "Look here.", isSidechain=True),
            spoken("chain-two-1", "Look there.", isSidechain=True, parent="main-1"),
            spoken("chain-one-2", "Here it is.", isSidechain=True, parent="chain-one-1", role="assistant"),
            spoken("chain-two-2", "Not there.", isSidechain=True, parent="chain-two-1", role="assistant"),
            spoken("chain-one-3", "Go on.", isSidechain=True, parent="chain-one-2"),
            spoken("chain-lost", "And?", isSidechain=True, parent="not in this file"),
            spoken("main-2", "Found.", parent="main-1", role="assistant"),
        )
        told = {item.fields["source_ref"]: (item.agent, item.fields["speaker"]) for item in source.items}
        one, two = "agent-chain-on", "agent-chain-tw"
        assert told == {
            "claude-code:main-1": ("claude-code", "user"),
            "claude-code:main-2": ("claude-code", "assistant"),
            "claude-code:chain-one-1": (f"claude-code/{one}", "assistant"),
            "claude-code:chain-one-2": (f"claude-code/{one}", one),
            "claude-code:chain-one-3": (f"claude-code/{one}", "assistant"),
            "claude-code:chain-two-1": (f"claude-code/{two}", "assistant"),
            "claude-code:chain-two-2": (f"claude-code/{two}", two),
            "claude-code:chain-lost": ("claude-code/agent-chain-lo", "assistant"),
        }

    def test_a_chain_goes_through_lines_that_say_nothing(self, read):
        tool = spoken("tool", blocks(None), isSidechain=True, parent="root")
        end = spoken("end", "Done.", isSidechain=True, parent="tool", role="assistant")
        assert {item.agent for item in read(spoken("root", "Go.", isSidechain=True), tool, end).items} == {
            "claude-code/agent-root"
        }

    def test_a_name_inside_a_chain_is_that_of_what_follows(self, read):
        source = read(
            spoken("a", "Go.", isSidechain=True, agentId="x1"), spoken("b", "More.", isSidechain=True, parent="a")
        )
        assert {item.agent for item in source.items} == {"claude-code/agent-x1"}

    def test_a_ring_of_nameless_sub_agents_is_one_whatever_leads_into_it(self, read):
        parents = {"tail": "c", "b": "a", "c": "b", "a": "c", "own": "own"}
        source = read(*(spoken(uuid, uuid, parent=parent, isSidechain=True) for uuid, parent in parents.items()))
        agents = {item.fields["verbatim"]: item.agent for item in source.items}
        assert {agents.pop("own")} == {"claude-code/agent-own"}
        assert agents == dict.fromkeys(["tail", "a", "b", "c"], "claude-code/agent-b")

    @given(st.lists(st.integers(-1, 9), min_size=1, max_size=10), st.randoms())
    def test_lines_of_one_chain_have_one_agent_in_every_shape(self, tmp_path_factory, parents, random):
        lines = [
            spoken(f"u{n}", f"t{n}", parent=f"u{parent}", isSidechain=random.random() < 0.8)
            for n, parent in enumerate(parents)
        ]
        path = jsonl(tmp_path_factory.mktemp("chains") / "s.jsonl", *lines)
        items = claude_code.read(path).items
        assert items == claude_code.read(path).items
        agents = {item.fields["verbatim"]: item.agent for item in items}
        for n, parent in enumerate(parents):
            assert (agents[f"t{n}"] == "claude-code") != lines[n]["isSidechain"]
            if 0 <= parent < len(lines) and lines[n]["isSidechain"] and lines[parent]["isSidechain"]:
                assert agents[f"t{n}"] == agents[f"t{parent}"]

    @pytest.mark.parametrize("odd", [None, "true", 1, "no"])
    def test_only_true_is_a_sidechain(self, read, odd):
        assert read(spoken("a", "Hello.", isSidechain=odd)).items[0].agent == "claude-code"

    def test_a_uuid_that_occurs_twice_counts_once(self, read):
        source = read(spoken("a", "one"), spoken("a", "two"), spoken("b", "three", parent="a"))
        assert said(source) == ["one", "three"]
        assert source.counts["repeated uuids (not imported)"] == 1

    @pytest.mark.parametrize("uuid", [None, "", 7])
    def test_what_is_said_without_a_uuid_is_counted(self, read, uuid):
        source = read(spoken(uuid, "Hello."))
        assert (source.items, source.counts["user lines without uuid (not imported)"]) == ([], 1)

    @pytest.mark.parametrize("time", [None, "soon", 7, "1926-01-01T00:00:00Z", "9999-01-01T00:00:00Z", ""])
    def test_without_any_time_nothing_can_be_stamped(self, read, time):
        source = read(spoken("a", "Hello.", at=time))
        assert (source.items, source.counts["user lines without any time (not imported)"]) == ([], 1)

    @pytest.mark.parametrize(
        "content", [None, 7, {}, [None, 7, {"type": "text"}, {"type": "text", "text": 7}], "", [[]]]
    )
    def test_odd_content_is_no_text(self, read, content):
        assert read(spoken("a", content)).items == []
        assert read({**spoken("a", "x"), "message": content}).items == []

    def test_a_long_text_is_several_utterances(self, read):
        text = "ä" * 40_000
        source = read(spoken("a", text))
        assert "".join(said(source)) == text
        assert max(len(part.encode()) for part in said(source)) <= limits.VERBATIM_BYTES
        assert [item.fields["source_ref"] for item in source.items] == ["claude-code:a", "claude-code:a#2"]

    def test_surrogates_and_long_names_are_made_storable(self, read):
        source = read(spoken("\ud800" + "u" * 300, "a\udfffb", sessionId="s" * 300), spoken("\ud800" + "u" * 301, "c"))
        one, two = source.items
        assert one.fields["verbatim"] == "a\ufffdb"
        assert len(one.fields["conversation"]) == limits.NAME_CHARACTERS
        assert name_hash(one.fields["source_ref"]) != name_hash(two.fields["source_ref"])

    def test_without_a_session_the_file_is_the_conversation(self, read):
        assert read(spoken("a", "Hello.", sessionId=None)).items[0].fields["conversation"] == "session"


class TestRecognition:
    @pytest.mark.parametrize(
        ("lines", "is_one"),
        [
            ([spoken("a", "Hello.")], True),
            ([{"type": "summary"}, {"type": "file-history-snapshot"}, spoken("a", "Hello.")], True),
            (["nonsense", spoken("a", "Hello.")], True),
            ([{"type": "belief.extracted", "uuid": "x"}], False),
            ([{"type": "utterance.recorded", "agent": "a"}], False),
            (["nonsense"] * 60 + [spoken("a", "Hello.")], False),
            ([{"type": "file-history-snapshot"}] * 60 + [spoken("a", "Hello.")], True),
            ([{"type": "file-history-snapshot", "messageId": "m"}], True),
            ([{"type": "summary", "summary": "Counting", "leafUuid": "a"}], True),
            ([BOM_UTF8 + b'{"type": "summary"}'], True),
            ([{"type": "user", "text": "of another program"}], False),
            ([], False),
        ],
    )
    def test_is_by_the_first_lines(self, tmp_path, lines, is_one):
        assert claude_code.recognises(jsonl(tmp_path / "x.jsonl", *lines)) == is_one
        assert not claude_code.recognises(jsonl(tmp_path / "x.txt", *lines))
