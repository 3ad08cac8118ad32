"""A run of import: formats found, folders walked, twice the same as once, each file on a clock of its own."""

import json
from codecs import BOM_UTF8

import pytest
from tests.cli.world import beliefbase
from tests.importers.transcripts import jsonl, spoken, talk, written

from beliefbase.importers import run
from beliefbase.importers.base import ImportFailed, pieces, source_ref
from beliefbase.importers.run import import_files
from beliefbase.store import BeliefStore

LINES = (
    {"type": "utterance.recorded", "agent": "a", "ref": "u", "speaker": "Will", "verbatim": "It rains.", "at": 1000},
    {
        "type": "belief.extracted",
        "agent": "a",
        "statement": "It rains.",
        "kind": "fact",
        "evidence": ["$u"],
        "at": 2000,
    },
    {"type": "utterance.recorded", "agent": "b", "speaker": "Will", "verbatim": "It rains.", "at": 3000},
)


@pytest.fixture
def store(tmp_path):
    BeliefStore.open(tmp_path / "store", create=True).close()
    return tmp_path / "store"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    written(folder / "talk.json", talk())
    jsonl(folder / "deep" / "session.jsonl", spoken("a", "Hello."), spoken("b", "Hi.", parent="a", role="assistant"))
    jsonl(folder / "lines.jsonl", *LINES)
    written(folder / "schema.json", {"$schema": "x"})
    (folder / "README.md").write_text("")
    return folder


def events(path):
    with BeliefStore.open(path) as store:
        return [stored.event for page in store.log.read() for stored in page]


def stamps(path):
    """Of every item: its source_ref and its stamp."""
    return {
        (event.skeleton.type, event.skeleton.source_ref): event.skeleton.hlc
        for event in events(path)
        if event.skeleton.source_ref is not None
    }


class TestFormats:
    def test_are_found_by_content_and_folders_are_walked(self, store, folder):
        report = import_files(store, [folder])
        assert [(file.format, file.stored) for file in report.files] == [
            ("claude-code", 2),
            ("ndjson", 3),
            ("locomo", 7),
        ]
        assert report.passed_over == [str(folder / "schema.json")]

    def test_one_that_is_said_picks_its_files_from_a_folder(self, store, folder):
        report = import_files(store, [folder], "locomo")
        assert [file.format for file in report.files] == ["locomo"]
        assert len(report.passed_over) == 3

    def test_a_file_that_is_named_and_of_no_known_format_is_an_error(self, store, folder):
        with pytest.raises(ImportFailed, match="format"):
            import_files(store, [folder / "schema.json"])

    def test_a_folder_with_nothing_in_it_is_an_error(self, store, tmp_path):
        (tmp_path / "empty").mkdir()
        with pytest.raises(ImportFailed, match="nothing to import"):
            import_files(store, [tmp_path / "empty"])

    @pytest.mark.parametrize("format_name", ["auto", "claude-code"])
    def test_an_empty_file_is_passed_over_and_counted(self, store, tmp_path, format_name):
        empty, blank, marked = (tmp_path / f"{name}.jsonl" for name in ("empty", "blank", "marked"))
        empty.write_bytes(b"")
        blank.write_bytes(b"\n \n")
        marked.write_bytes(BOM_UTF8)
        told = jsonl(tmp_path / "told.jsonl", spoken("a", "Hello."))
        report = import_files(store, [empty, told, blank, marked], format_name)
        assert ([file.stored for file in report.files], report.passed_over) == ([1], [])
        assert report.empty == [str(empty), str(blank), str(marked)]
        assert report.as_dict()["counts"]["empty files (passed over)"] == 3
        assert f"passed over, empty: {empty}" in report.as_text()
        assert import_files(store, [empty], format_name).empty == [str(empty)]

    def test_a_transcript_without_messages_has_nothing_to_store(self, store, tmp_path):
        snapshots = jsonl(tmp_path / "x.jsonl", *[{"type": "file-history-snapshot", "messageId": "m"}] * 60)
        summary = jsonl(tmp_path / "y.jsonl", {"type": "summary", "summary": "Counting", "leafUuid": "a"})
        report = import_files(store, [snapshots, summary])
        assert [(file.format, file.stored) for file in report.files] == [("claude-code", 0)] * 2

    def test_a_byte_order_mark_changes_nothing(self, store, folder):
        import_files(store, [folder])
        before = stamps(store)
        for path in folder.rglob("*.json*"):
            path.write_bytes(BOM_UTF8 + path.read_bytes())
        report = import_files(store, [folder])
        assert (sum(file.existing for file in report.files), stamps(store)) == (12, before)

    def test_one_that_is_said_is_believed(self, store, tmp_path):
        """A transcript that begins oddly isn't recognised; whoever knows better says so."""
        path = jsonl(tmp_path / "odd.jsonl", *["nonsense"] * 60, spoken("a", "Hello."))
        assert import_files(store, [path], "claude-code").files[0].stored == 1
        with pytest.raises(ImportFailed):
            import_files(store, [path], "locomo")


class TestTwice:
    def test_is_once(self, store, folder):
        import_files(store, [folder])
        before = events(store)
        report = import_files(store, [folder])
        assert events(store) == before
        assert sum(file.stored for file in report.files) == 0
        assert sum(file.existing for file in report.files) == 12

    def test_a_source_that_has_grown_adds_what_is_new_after_its_parent(self, store, tmp_path):
        """All lines have one time, and the first import has given the parent a later place in it."""
        lines = [spoken(f"u{n}", f"Line {n}.", parent=f"u{n - 1}" if n else None) for n in range(20)]
        path = jsonl(tmp_path / "s.jsonl", *lines[:15])
        import_files(store, [path])
        jsonl(path, *lines)
        report = import_files(store, [path])
        assert (report.files[0].stored, report.files[0].existing) == (5, 15)
        said = sorted(events(store), key=lambda event: event.skeleton.hlc)
        texts = [event.words["verbatim"] for event in said if "verbatim" in event.words]
        assert texts == [f"Line {n}." for n in range(20)]

    def test_what_was_cut_off_goes_on_where_it_ended(self, store, folder, monkeypatch):
        monkeypatch.setattr(run, "BATCH", 3)

        def stop(what, done, of):
            if done >= 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            import_files(store, [folder / "talk.json"], progress=stop)
        assert len(stamps(store)) == 3
        import_files(store, [folder / "talk.json"])
        assert len(stamps(store)) == 7

    def test_progress_lines_of_a_sub_agent_add_nothing_to_its_own_file(self, store, tmp_path):
        inner = spoken("x", "Found it.", agentId="a1", isSidechain=True, role="assistant")
        outer = {"type": "progress", "uuid": "x", "timestamp": inner["timestamp"], "data": {"message": inner}}
        report = import_files(
            store, [jsonl(tmp_path / "sub.jsonl", inner), jsonl(tmp_path / "main.jsonl", spoken("a", "Hi."), outer)]
        )
        assert [file.stored for file in report.files] == [1, 1]


class TestClock:
    def test_stamps_do_not_depend_on_what_is_imported_beside_a_file(self, folder, tmp_path):
        files = [folder / "talk.json", folder / "deep" / "session.jsonl", folder / "lines.jsonl"]
        runs = {"together": [files], "reversed": [files[::-1]], "apart": [[file] for file in files]}
        found = []
        for name, imports in runs.items():
            BeliefStore.open(tmp_path / name, create=True).close()
            for these in imports:
                import_files(tmp_path / name, these)
            found.append(stamps(tmp_path / name))
        assert found[0] == found[1] == found[2]
        assert len(found[0]) == 12

    def test_stamps_are_the_sources_times(self, store, folder):
        import_files(store, [folder / "lines.jsonl"])
        said = [event for event in events(store) if event.skeleton.type != "writer.joined"]
        assert [event.skeleton.hlc >> 16 for event in said] == [1000, 2000, 3000]
        assert all(event.skeleton.recorded > 1_700_000_000_000 for event in said)


class TestNdjson:
    def test_refs_stand_for_ids(self, store, folder):
        import_files(store, [folder / "lines.jsonl"])
        by_type = {event.skeleton.type: event for event in events(store)[:3]}
        said, belief = by_type["utterance.recorded"], by_type["belief.extracted"]
        assert belief.skeleton.payload["evidence"] == (said.id,)

    def test_equal_lines_are_several_events_and_a_source_ref_of_ones_own_stands(self, store, tmp_path):
        line = {"type": "utterance.recorded", "agent": "a", "speaker": "Will", "verbatim": "No.", "at": 1000}
        path = jsonl(tmp_path / "x.jsonl", line, line, {**line, "source_ref": "mine"})
        assert import_files(store, [path]).files[0].stored == 3
        assert import_files(store, [path]).files[0].existing == 3
        assert [event.words["source_ref"] for event in events(store) if "verbatim" in event.words][2] == "mine"

    def test_a_bad_line_stores_nothing_of_the_file(self, store, tmp_path):
        path = jsonl(tmp_path / "x.jsonl", *LINES, {"type": "belief.extracted", "agent": "a"})
        with pytest.raises(ImportFailed) as caught:
            import_files(store, [path])
        assert (caught.value.data["line"], caught.value.data["file"]) == (4, str(path))
        assert events(store) == []

    def test_an_erasure_is_refused_before_anything_is_stored(self, store, tmp_path, monkeypatch):
        monkeypatch.setattr(run, "BATCH", 1)
        path = jsonl(tmp_path / "x.jsonl", *LINES, {"type": "subject.erased", "agent": "a", "subject": "Will"})
        with pytest.raises(ImportFailed, match="only an owner erases") as caught:
            import_files(store, [path])
        assert (caught.value.data["line"], caught.value.data["field"]) == (4, "type")
        assert events(store) == []


class TestCommand:
    def run(self, store, monkeypatch, *arguments):
        return beliefbase(monkeypatch, "-s", store, "import", *arguments)

    def test_reports_files_counts_and_what_was_passed_over(self, store, folder, monkeypatch):
        told = self.run(store, monkeypatch, folder, "--json").json
        assert (told["stored"], told["existing"], len(told["files"])) == (12, 0, 3)
        assert told["counts"]["utterances"] == 6
        assert told["passed_over"] == [str(folder / "schema.json")]
        out = self.run(store, monkeypatch, folder).out
        assert "0 stored, 7 there already" in out
        assert "sessions without dialogue" in out

    def test_lists_dangling_evidence_at_first_and_counts_the_rest(self, store, tmp_path, monkeypatch):
        observed = {"session_1_observation": {"Ada": [["Ada plays.", [f"D9:{n}" for n in range(30)]]]}}
        path = written(tmp_path / "talk.json", talk(observation=observed))
        out = self.run(store, monkeypatch, path).out
        assert "30 dangling evidence" in out
        assert out.count("does not exist") == 20
        assert "10 more notes" in out
        assert len(self.run(store, monkeypatch, path, "--json").json["files"][0]["notes"]) == 30

    def test_fails_as_every_command_does(self, store, folder, tmp_path, monkeypatch):
        done = self.run(store, monkeypatch, folder / "schema.json", "--json")
        assert (done.code, json.loads(done.err)["error"]) == (2, "import_failed")
        assert self.run(tmp_path / "none", monkeypatch, folder).code == 3
        assert self.run(store, monkeypatch, tmp_path / "no-such-file").code == 2
        assert self.run(tmp_path / "new", monkeypatch, folder, "--create").code == 0


@pytest.mark.parametrize("text", ["", "a", "ä" * 32_768, "ä" * 32_769, "x" + "\U0001f600" * 50_000])
def test_pieces_are_the_text_and_none_is_too_long(text):
    found = list(pieces(text))
    assert "".join(found) == text
    assert max(len(piece.encode()) for piece in found) <= 64 * 1024


def test_source_refs_of_long_names_stay_apart():
    one, two = source_ref("f", "x" * 300, "1"), source_ref("f", "x" * 300, "2")
    assert (len(one), len(two), one != two) == (200, 200, True)
    assert source_ref("f", "x", "1") == "f:x:1"
