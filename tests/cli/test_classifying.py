"""``classify``: lines or NDJSON in, one speech act a line out."""

import json

import pytest
from tests.cli.world import beliefbase

from beliefbase.beliefs.speech_acts import classify


@pytest.fixture
def run(monkeypatch):
    return lambda *arguments, given="": beliefbase(monkeypatch, "classify", *arguments, given=given)


def test_a_line_is_a_sentence_and_gives_act_confidence_and_cue(run):
    done = run(given="Always cite the primary source\nI'd call it roughly 75% hobby\n")

    assert done.code == 0
    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["directive", "casual_characterization"]
    expected = classify("Always cite the primary source")
    assert done.out.splitlines()[0] == f"directive\t{expected.confidence}\t{expected.cue}"


def test_ndjson_is_recognised_line_by_line_and_prev_counts(run):
    lines = [
        "I haven't touched one since school.",
        '{"text": "I haven\'t touched one since school.", "prev": "Do you play?"}',
    ]

    plain, in_dialogue = run(given="\n".join(lines)).out.splitlines()

    assert plain.split("\t")[0] == classify("I haven't touched one since school.").speech_act
    assert in_dialogue.split("\t")[:2] == ["negation", "680"]


def test_json_passes_other_fields_through_and_leaves_the_text_out(run):
    done = run("--json", given='{"text": "Please stop.", "prev": null, "id": 7, "gold": ["directive"]}\nHello.\n')

    first, second = done.lines
    assert (first["id"], first["gold"], first["speech_act"]) == (7, ["directive"], "directive")
    assert not {"text", "prev"} & first.keys()
    assert set(second) == {"speech_act", "confidence", "cue"}


def test_bad_lines_are_told_by_number_and_the_others_are_classified(run):
    given = 'Please stop.\n{"text": 5}\n{"prev": "x"}\n{broken\n{"text": "x", "prev": 1}\nHello.\n'

    done = run(given=given)

    assert done.code == 2
    assert len(done.out.splitlines()) == 2
    assert [number for number in range(1, 7) if f"line {number}:" in done.err] == [2, 3, 4, 5]
    assert "4 bad line(s)" in done.err
    errors = [json.loads(line) for line in run("--json", given=given).err.splitlines()[:-1]]
    assert [error["line"] for error in errors] == [2, 3, 4, 5]
    assert {error["error"] for error in errors} == {"bad_line"}


def test_what_is_not_utf_8_is_a_bad_line(run):
    done = run(given=b"caf\xe9\nHello.\n")

    assert done.code == 2
    assert "line 1: not UTF-8" in done.err
    assert len(done.out.splitlines()) == 1


def test_an_empty_line_has_no_words_and_keeps_its_place(run):
    done = run(given="Please stop.\n\nHello.\n")

    assert done.out.splitlines()[1] == "direct_assertion\t0\tno words"


def test_a_byte_order_mark_is_no_part_of_a_sentence_or_object(run, tmp_path):
    (tmp_path / "one").write_text("\ufeffPlease stop.\n")
    (tmp_path / "two").write_text('\ufeff{"text": "Please stop."}\n')

    done = run(tmp_path / "one", tmp_path / "two")

    assert (done.code, [line.split("\t")[0] for line in done.out.splitlines()]) == (0, ["directive", "directive"])
    assert run(given="\ufeffPlease stop.\n").out == run(given="Please stop.\n").out


def test_files_are_read_in_order_and_no_store_is_needed(run, tmp_path):
    (tmp_path / "one").write_text("Please stop.\n")
    (tmp_path / "two").write_text("Why?\n")

    done = run(tmp_path / "one", tmp_path / "two")

    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["directive", "question"]


def test_what_does_not_end_is_answered_line_by_line(tmp_path):
    """A program that writes a line and waits for the answer gets it."""
    import subprocess
    import sys

    call = [sys.executable, "-c", "from beliefbase.cli import main; main()", "classify"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write("Please stop.\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("directive\t")
        process.stdin.write("Why?\n")
        process.stdin.close()
        assert process.stdout.readline().startswith("question\t")
    assert process.returncode == 0
