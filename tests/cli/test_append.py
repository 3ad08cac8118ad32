"""init and append: lines in, a line per event out; all or nothing, or what is good as it comes."""

import json
from codecs import BOM_UTF8

import pytest
from tests.cli.world import beliefbase

from beliefbase import lines
from beliefbase.cli import writing
from beliefbase.events.hlc import MAX_MS
from beliefbase.events.ids import name_hash
from beliefbase.events.signing import key_file
from beliefbase.store import BeliefStore

SAID = {"type": "utterance.recorded", "agent": "planner", "speaker": "Will", "verbatim": "It rains."}
BELIEF = {"type": "belief.extracted", "agent": "planner", "statement": "It rains.", "kind": "fact"}


class Cli:
    def __init__(self, path, monkeypatch):
        self.path = path
        self.monkeypatch = monkeypatch

    def run(self, *arguments, given=""):
        return beliefbase(self.monkeypatch, "-s", self.path, *arguments, given=given)

    def append(self, *given, options=()):
        """Append lines: maps, or text as it is."""
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in given)
        return self.run("append", "--json", *options, given=text)

    def events(self):
        with BeliefStore.open(self.path) as store:
            return [stored.event for page in store.log.read() for stored in page]

    def types(self):
        return [event.skeleton.type for event in self.events()]


@pytest.fixture
def cli(tmp_path, monkeypatch):
    cli = Cli(tmp_path / "store", monkeypatch)
    assert cli.run("init").code == 0
    return cli


class TestInit:
    def test_makes_a_store_and_says_what_comes_next(self, tmp_path, monkeypatch):
        done = beliefbase(monkeypatch, "-s", tmp_path / "a" / "b", "init")
        assert done.code == 0
        assert "append" in done.out
        assert (tmp_path / "a" / "b" / "log.db").exists()

    def test_leaves_a_store_that_is_there_as_it_is(self, cli):
        cli.append(SAID)
        assert cli.run("init").code == 0
        assert len(cli.events()) == 2

    def test_where_no_directory_can_be_made_it_is_unavailable(self, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        done = beliefbase(monkeypatch, "-s", tmp_path / "file" / "store", "init", "--json")
        assert (done.code, json.loads(done.err)["error"]) == (3, "store_unavailable")


class TestAcknowledgement:
    def test_is_a_line_per_event_with_its_place(self, cli):
        done = cli.append({**SAID, "ref": "u"}, {**BELIEF, "evidence": ["$u"]})
        said, belief = cli.events()[1:]
        for told, event, ref, line in zip(done.lines, (said, belief), ("u", None), (1, 2), strict=True):
            assert (told["line"], told["ref"], told["id"]) == (line, ref, event.id.hex())
            assert (told["writer"], told["seq"]) == (event.skeleton.writer.hex(), event.skeleton.seq)
            assert (told["hlc"], told["existing"]) == (event.skeleton.hlc, False)
        assert belief.skeleton.payload["evidence"] == (said.id,)

    def test_is_plain_text_in_columns_without_json(self, cli):
        done = cli.run("append", given=json.dumps({**SAID, "ref": "u"}))
        event = cli.events()[1]
        skeleton = event.skeleton
        assert done.out.split() == ["u", event.id.hex(), skeleton.writer.hex(), "2", str(skeleton.hlc)]

    def test_of_an_item_that_is_stored_is_that_ones(self, cli):
        first = cli.append({**SAID, "source_ref": "chat:1"}).lines[0]
        again = cli.append({**SAID, "source_ref": "chat:1", "agent": "reader"}).lines[0]
        assert again == {**first, "existing": True}
        assert len(cli.events()) == 2

    def test_names_what_was_malformed_and_left_out(self, cli):
        done = cli.append({**BELIEF, "tags": "not a list"})
        assert "tags" in done.lines[0]["notes"][0]


class TestRefs:
    def test_are_looked_up_in_every_field_that_holds_ids(self, cli):
        done = cli.append(
            {**SAID, "ref": "u"},
            {**BELIEF, "ref": "b", "evidence": ["$u"]},
            {"type": "memory.injected", "agent": "a", "ref": "i", "cards": [{"belief_id": "$b", "rank": 1}]},
            {"type": "memory.used", "agent": "a", "injection_id": "$i", "belief_id": "$b", "outcome": "used"},
            {"type": "belief.retracted", "agent": "a", "ref": "r", "belief_id": "$b"},
            {"type": "belief.reinstated", "agent": "a", "belief_id": "$b", "undoes": ["$r"], "basis": ["$r"]},
        )
        ids = {told["ref"]: bytes.fromhex(told["id"]) for told in done.lines}
        payloads = {event.skeleton.type: event.skeleton.payload for event in cli.events()}
        assert payloads["memory.injected"] == {"cards": ({"belief_id": ids["b"], "rank": 1},)}
        assert payloads["memory.used"]["injection_id"] == ids["i"]
        assert payloads["belief.reinstated"] == {"belief_id": ids["b"], "undoes": (ids["r"],)}
        assert cli.events()[-1].skeleton.basis == (ids["r"],)

    def test_text_that_begins_with_a_dollar_stays_as_it_is(self, cli):
        cli.append({**SAID, "ref": "u", "verbatim": "$u", "speaker": "$u", "entities": ["$u"], "topic": "$5"})
        words = cli.events()[1].words
        assert words == {"verbatim": "$u", "speaker": "$u", "entities": ("$u",), "topic": "$5"}

    @pytest.mark.parametrize("mode", ["--strict", "--keep-going"])
    def test_an_unknown_ref_is_a_bad_line(self, cli, mode):
        done = cli.append({"type": "belief.retracted", "agent": "a", "belief_id": "$b"}, options=[mode])
        told = json.loads(done.err)
        assert (done.code, told["line"], told["field"]) == (2, 1, "belief_id")

    def test_a_ref_stands_for_one_line(self, cli):
        done = cli.append({**SAID, "ref": "u"}, {**SAID, "ref": "u"})
        assert (json.loads(done.err)["line"], json.loads(done.err)["field"]) == (2, "ref")

    def test_refs_hold_over_batches_and_files(self, cli, tmp_path, monkeypatch):
        monkeypatch.setattr(writing, "BATCH", 2)
        one, two = tmp_path / "one", tmp_path / "two"
        one.write_text("\n".join(json.dumps({**SAID, "ref": f"u{n}"}) for n in range(5)))
        two.write_text(json.dumps({**BELIEF, "evidence": ["$u0", "$u4"]}))
        for mode in ("--strict", "--keep-going"):
            assert cli.run("append", mode, one, two).code == 0
            assert len(cli.events()[-1].skeleton.payload["evidence"]) == 2


BAD = [
    ("nonsense", "(line)", "not JSON"),
    ("[1]", "(line)", "object"),
    ('{"type": NaN}', "(line)", "NaN"),
    ("[" * 100_000, "(line)", "not JSON"),
    ('{"a": ' + "1" * 5000 + "}", "(line)", "not JSON"),
    ('{"agent": "a"}', "type", "missing"),
    ('{"type": 7, "agent": "a"}', "type", "missing"),
    ('{"type": "belief.dreamt", "agent": "a"}', "type", "no event type"),
    ('{"type": "writer.joined", "agent": "a"}', "type", "joins by writing"),
    ('{"type": "belief.extracted"}', "agent", "missing"),
    ('{"type": "belief.extracted", "agent": ""}', "agent", "missing"),
    (json.dumps({**SAID, "agent": "a" * 201}), "agent", "200"),
    (json.dumps({**SAID, "ref": 7}), "ref", "text"),
    (json.dumps({**SAID, "verbatim": "\ud800"}), "(line)", "surrogate"),
    (json.dumps({**SAID, "agent": "\ud800"}), "(line)", "surrogate"),
    (json.dumps({**SAID, "\ud800": 1}), "(line)", "surrogate"),
    (json.dumps({**SAID, "colour": "red"}), "colour", "no field"),
    (json.dumps({**SAID, "turn": -1}), "turn", "0"),
    (json.dumps({**SAID, "verbatim": "x" * 70_000}), "verbatim", "VERBATIM_BYTES"),
    (json.dumps({**SAID, "at": 5}), "at", "importer"),
    (json.dumps({**BELIEF, "speech_act": "question"}), "speech_act", "never a memory"),
    (json.dumps({"type": "memory.injected", "agent": "a", "cards": [{"belief_id": "?"}]}), "cards.0.belief_id", "id"),
    (json.dumps({"type": "memory.injected", "agent": "a", "cards": [{"belief_id": "$x"}]}), "cards.belief_id", "ref"),
    (json.dumps({"type": "memory.injected", "agent": "a", "cards": "$x"}), "cards", "tuple"),
    (json.dumps({**BELIEF, "excerpts": ["\U0001f600" * 500] * 140}), "(event)", "BODY_BYTES"),
]


class TestBadLines:
    @pytest.mark.parametrize(("line", "field", "reason"), BAD, ids=range(len(BAD)))
    def test_by_default_nothing_of_the_run_is_stored(self, cli, line, field, reason):
        done = cli.append(SAID, "", line, SAID)
        told = json.loads(done.err)
        assert (done.code, done.out, cli.events()) == (2, "", [])
        assert (told["error"], told["line"], told["field"]) == ("bad_line", 3, field)
        assert reason in told["reason"] + told["message"] + told["hint"]

    @pytest.mark.parametrize(("line", "field", "reason"), BAD, ids=range(len(BAD)))
    def test_keep_going_stores_the_good_ones(self, cli, line, field, reason):
        done = cli.append(SAID, line, SAID, options=["--keep-going"])
        assert [told["line"] for told in done.lines] == [1, 3]
        assert (done.code, json.loads(done.err)["line"], json.loads(done.err)["field"]) == (2, 2, field)
        assert cli.types() == ["writer.joined", "utterance.recorded", "utterance.recorded"]

    def test_every_bad_line_is_told(self, cli):
        done = cli.append("x", SAID, "y")
        assert [json.loads(line)["line"] for line in done.err.splitlines()] == [1, 3]

    def test_for_people_too_with_what_became_of_the_run(self, cli):
        done = cli.run("append", given=f"x\n{json.dumps(SAID)}\n")
        assert "line 1" in done.err
        assert "1 bad line(s): nothing was stored." in done.err
        done = cli.run("append", "--keep-going", given=f"x\n{json.dumps(SAID)}\n")
        assert "1 bad line(s) were left out." in done.err

    def test_of_several_files_the_file_is_named_and_lines_count_anew(self, cli, tmp_path):
        for name in ("one", "two"):
            (tmp_path / name).write_text(f"{json.dumps(SAID)}\nx\n")
        done = cli.run("append", "--json", tmp_path / "one", tmp_path / "two")
        told = [json.loads(line) for line in done.err.splitlines()]
        assert [(error["file"], error["line"]) for error in told] == [
            (str(tmp_path / name), 2) for name in ("one", "two")
        ]

    def test_bytes_that_are_no_utf_8_are_a_bad_line(self, cli, tmp_path):
        (tmp_path / "file").write_bytes(b'{"type": "\xff"}\n' + json.dumps(SAID).encode())
        done = cli.run("append", "--json", "--keep-going", tmp_path / "file")
        assert "UTF-8" in json.loads(done.err)["message"]
        assert len(done.lines) == 1

    def test_a_line_without_end_is_not_read_into_memory(self, cli, monkeypatch):
        for module in (lines, writing):
            monkeypatch.setattr(module, "LINE_BYTES", 200)
        done = cli.append({**SAID, "verbatim": "x" * 1000}, SAID, options=["--keep-going"])
        assert "longer than 200 bytes" in json.loads(done.err)["message"]
        assert [told["line"] for told in done.lines] == [2]

    def test_a_malformed_model_is_refused_before_anything_is_stored(self, cli):
        done = cli.append(SAID, options=["--model", "no such model"])
        assert (done.code, json.loads(done.err)["field"], cli.events()) == (2, "model", [])


ERASED = {"type": "subject.erased", "agent": "planner", "subject": "Will"}


class TestRefused:
    """Lines that are well-formed, and that the store refuses when they are added."""

    def test_keep_going_tells_them_as_bad_lines_and_stores_the_others(self, cli):
        done = cli.append({**SAID, "ref": "x1"}, ERASED, {**SAID, "ref": "x2"}, options=["--keep-going"])
        told = json.loads(done.err)
        assert (done.code, told["error"], told["line"], told["field"]) == (2, "bad_line", 2, "type")
        assert "only an owner erases" in told["message"]
        assert "forget" in told["hint"]
        assert [told["ref"] for told in done.lines] == ["x1", "x2"]
        assert cli.types() == ["writer.joined", "utterance.recorded", "utterance.recorded"]

    def test_strict_tells_every_one_and_stores_nothing(self, cli):
        done = cli.append(SAID, ERASED, SAID, ERASED, options=["--strict"])
        assert [json.loads(line)["line"] for line in done.err.splitlines()] == [2, 4]
        assert (done.code, done.out, cli.events()) == (2, "", [])
        assert "2 bad line(s): nothing was stored." in cli.run("append", given="\n".join([json.dumps(ERASED)] * 2)).err

    def test_of_several_files_the_file_is_named(self, cli, tmp_path):
        for name, line in (("one", SAID), ("two", ERASED)):
            (tmp_path / name).write_text(json.dumps(line))
        done = cli.run("append", "--json", "--keep-going", tmp_path / "one", tmp_path / "two")
        assert (json.loads(done.err)["file"], json.loads(done.err)["line"]) == (str(tmp_path / "two"), 1)
        assert len(done.lines) == 1

    def test_what_refers_to_one_is_bad_as_well(self, cli):
        after = {"type": "belief.retracted", "agent": "a", "belief_id": "$e"}
        done = cli.append({**ERASED, "ref": "e"}, after, SAID, options=["--keep-going"])
        told = [json.loads(line) for line in done.err.splitlines()]
        assert [(error["line"], error["field"]) for error in told] == [(1, "type"), (2, "belief_id")]
        assert [told["line"] for told in done.lines] == [3]

    def test_an_owner_erases(self, cli):
        done = cli.append(SAID, ERASED, options=["--keep-going", "--role", "owner"])
        assert (done.code, len(done.lines)) == (0, 2)

    def test_lines_of_an_agent_whose_key_cannot_be_used(self, cli, tmp_path, monkeypatch):
        path = key_file(tmp_path, "planner")
        path.write_text("{}")
        path.chmod(0o600)
        monkeypatch.setenv("BELIEFBASE_KEYS", str(tmp_path))
        done = cli.append(SAID, {**SAID, "agent": "reader"}, options=["--keep-going"])
        told = json.loads(done.err)
        assert (done.code, told["line"], told["field"]) == (2, 1, "agent")
        assert str(path) in told["message"]
        assert [told["line"] for told in done.lines] == [2]

    def test_lines_for_which_the_clock_of_an_import_has_no_stamp_left(self, cli, monkeypatch):
        monkeypatch.setattr("beliefbase.events.hlc.MAX_HLC", (MAX_MS << 16) + 2)
        last = {**SAID, "at": MAX_MS}
        done = cli.append(last, last, last, options=["--keep-going", "--importer"])
        assert (done.code, json.loads(done.err)["line"]) == (2, 3)
        assert [told["line"] for told in done.lines] == [1, 2]

    @pytest.mark.parametrize("mode", ["--strict", "--keep-going"])
    def test_a_malformed_model_is_no_fault_of_a_line(self, cli, mode):
        done = cli.append(SAID, SAID, options=["--model", "no such model", mode])
        assert (done.code, json.loads(done.err)["error"], cli.events()) == (2, "invalid_event", [])


class TestByteOrderMark:
    @pytest.mark.parametrize("mode", ["--strict", "--keep-going"])
    def test_is_accepted_where_a_file_begins_and_nowhere_else(self, cli, tmp_path, mode):
        for name in ("one", "two"):
            (tmp_path / name).write_bytes(BOM_UTF8 + json.dumps(SAID).encode() + b"\n")
        assert len(cli.run("append", "--json", mode, tmp_path / "one", tmp_path / "two").lines) == 2
        assert len(cli.append("\ufeff" + json.dumps(SAID), options=[mode]).lines) == 1
        done = cli.append(SAID, "\ufeff" + json.dumps(SAID), options=[mode])
        assert (done.code, json.loads(done.err)["line"]) == (2, 2)

    def test_alone_is_an_empty_file(self, cli):
        assert (cli.append("\ufeff").code, cli.events()) == (0, [])


class TestWriters:
    def test_are_one_per_agent_and_run(self, cli):
        for _ in range(2):
            cli.append(SAID, {**SAID, "agent": "reader"}, SAID)
        assert len({event.skeleton.writer for event in cli.events()}) == 4

    def test_join_as_what_the_run_says(self, cli):
        cli.append(SAID, options=["--kind", "human", "--role", "owner", "--model", "m@1"])
        assert cli.events()[0].skeleton.payload == {
            "agent": name_hash("planner"),
            "kind": "human",
            "max_drift": 60_000,
            "model": "m@1",
            "role": "owner",
        }

    def test_importers_say_when_things_happened(self, cli):
        at = ("2023-05-08T13:56:00Z", 1_683_554_161_000, "2023-05-08T15:56:02+02:00", "2023-05-08T13:56:03")
        done = cli.append(*({**SAID, "at": moment} for moment in at), options=["--importer"])
        assert [told["hlc"] >> 16 for told in done.lines] == [1_683_554_160_000 + 1000 * n for n in range(4)]
        assert cli.events()[0].skeleton.payload["kind"] == "importer"

    @pytest.mark.parametrize("at", ["yesterday", -1, 1 << 47, True, 1.5, "1969-12-31", "9" * 5000, "9999-01-01", {}])
    def test_a_time_that_is_none_is_a_bad_line(self, cli, at):
        done = cli.append({**SAID, "at": at}, options=["--importer"])
        assert (done.code, json.loads(done.err)["field"]) == (2, "at")


class TestModes:
    def test_strict_is_one_commit(self, cli, monkeypatch):
        monkeypatch.setattr(writing, "BATCH", 2)
        commits = self.commits(monkeypatch)
        assert len(cli.append(*[SAID] * 5).lines) == 5
        assert len(commits) == 1

    def test_keep_going_commits_what_has_come_a_thousand_at_most_at_a_time(self, cli, monkeypatch):
        monkeypatch.setattr(writing, "BATCH", 2)
        commits = self.commits(monkeypatch)
        assert len(cli.append(*[SAID] * 5, options=["--keep-going"]).lines) == 5
        assert len(commits) >= 3

    def commits(self, monkeypatch):
        """Grows by one with each commit of a store."""
        commits = []
        whole = BeliefStore.batch

        def counting(store, *arguments):
            commits.append(1)
            return whole(store, *arguments)

        monkeypatch.setattr(BeliefStore, "batch", counting)
        return commits

    @pytest.mark.parametrize("mode", ["--strict", "--keep-going"])
    def test_no_lines_are_no_events_and_no_error(self, cli, mode):
        done = cli.append("", "  ", options=[mode])
        assert (done.code, done.out, cli.events()) == (0, "", [])

    def test_create_makes_the_store(self, tmp_path, monkeypatch):
        done = beliefbase(monkeypatch, "-s", tmp_path / "new", "append", "--create", given=json.dumps(SAID))
        assert done.code == 0
        assert (tmp_path / "new" / "log.db").exists()
