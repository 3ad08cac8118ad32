"""What holds for every command: which store, JSON, errors with a next step, help."""

import json
import subprocess
import sys

import click
import pytest
from tests.cli.world import beliefbase

from beliefbase.cli.app import COMMANDS, cli

PROGRAM = [sys.executable, "-c", "from beliefbase.cli import main; main()"]
SAID = json.dumps({"type": "utterance.recorded", "agent": "a", "speaker": "s", "verbatim": "It rains."})


def commands(group=cli, path=()):
    """Every command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        yield (*path, name), found
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))


READING = [
    ["log"],
    ["active"],
    ["project"],
    ["query", "SELECT 1"],
    ["digest"],
    ["show", "0" * 32],
    ["append"],
    ["audit"],
]
ALL = list(commands())
NAMES = [" ".join(path) for path, _ in ALL]


class TestHelp:
    @pytest.mark.parametrize(("path", "found"), ALL, ids=NAMES)
    def test_every_command_explains_itself(self, path, found, monkeypatch):
        assert found.help
        assert found.get_short_help_str()
        done = beliefbase(monkeypatch, *path, "--help")
        assert done.code == 0
        assert found.help.split("\n", maxsplit=1)[0][:30] in done.out

    @pytest.mark.parametrize(("path", "found"), ALL, ids=NAMES)
    def test_every_option_has_a_meaning(self, path, found):
        for option in found.params:
            if isinstance(option, click.Option):
                assert option.help, f"{' '.join(path)} {option.name}"

    @pytest.mark.parametrize(("path", "found"), ALL, ids=NAMES)
    def test_every_command_takes_json_and_the_store_after_its_name(self, path, found):
        if not isinstance(found, click.Group):
            assert {"store", "as_json"} <= {option.name for option in found.params}

    def test_the_program_lists_its_commands(self, monkeypatch):
        out = beliefbase(monkeypatch, "--help").out
        assert all(f"\n  {name} " in out for name in COMMANDS)


class TestStore:
    @pytest.mark.parametrize(
        "arguments",
        [["-s", "{}", "log"], ["log", "-s", "{}"], ["log", "--store", "{}"], ["-s", "elsewhere", "log", "-s", "{}"]],
    )
    def test_is_said_before_or_after_the_command(self, arguments, tmp_path, monkeypatch):
        beliefbase(monkeypatch, "-s", tmp_path / "s", "append", "--create", given=SAID)
        done = beliefbase(monkeypatch, *(word.format(tmp_path / "s") for word in arguments))
        assert (done.code, len(done.out.splitlines())) == (0, 2)

    def test_or_by_the_environment(self, tmp_path, monkeypatch):
        beliefbase(monkeypatch, "-s", tmp_path / "s", "append", "--create", given=SAID)
        done = beliefbase(monkeypatch, "log", env={"BELIEFBASE_STORE": str(tmp_path / "s")})
        assert len(done.out.splitlines()) == 2

    def test_has_to_be_said(self, monkeypatch):
        done = beliefbase(monkeypatch, "log")
        assert done.code == 2
        assert "BELIEFBASE_STORE" in done.err

    @pytest.mark.parametrize(
        "arguments",
        [
            ["log"],
            ["active"],
            ["project"],
            ["query", "SELECT 1"],
            ["digest"],
            ["show", "0" * 32],
            ["append"],
            ["audit"],
        ],
    )
    def test_that_is_missing_is_never_made_by_the_way(self, arguments, tmp_path, monkeypatch):
        done = beliefbase(monkeypatch, "-s", tmp_path / "none", *arguments, given=SAID)
        assert done.code == 3
        assert "init" in done.err
        assert not (tmp_path / "none").exists()

    def test_that_is_something_else_is_left_untouched(self, tmp_path, monkeypatch):
        (tmp_path / "log.db").write_text("my diary, which is no database at all" * 100)
        done = beliefbase(monkeypatch, "-s", tmp_path, "log", "--json")
        assert (done.code, json.loads(done.err)["error"]) == (3, "store_unavailable")
        assert (tmp_path / "log.db").read_text().startswith("my diary")


class TestJson:
    @pytest.mark.parametrize("arguments", [["--json", "log"], ["log", "--json"]])
    def test_is_said_before_or_after_the_command(self, arguments, tmp_path, monkeypatch):
        beliefbase(monkeypatch, "-s", tmp_path / "s", "append", "--create", given=SAID)
        done = beliefbase(monkeypatch, "-s", tmp_path / "s", *arguments)
        assert [row["type"] for row in done.lines] == ["writer.joined", "utterance.recorded"]

    @pytest.mark.parametrize(
        ("arguments", "code", "error"),
        [
            (["log"], 2, "usage"),
            (["no-such-command"], 2, "usage"),
            (["log", "--no-such-option"], 2, "usage"),
            (["log", "--limit", "0"], 2, "usage"),
            (["append", "no-such-file"], 2, "usage"),
            (["-s", "no-such-store", "log"], 3, "store_unavailable"),
        ],
    )
    def test_holds_for_errors_on_standard_error(self, arguments, code, error, monkeypatch):
        done = beliefbase(monkeypatch, *arguments, "--json")
        told = json.loads(done.err)
        assert (done.code, told["error"], done.out) == (code, error, "")
        assert told["message"]
        assert told["hint"]

    def test_without_it_errors_are_a_sentence_and_a_next_step(self, monkeypatch):
        done = beliefbase(monkeypatch, "-s", "no-such-store", "log")
        assert done.err.startswith("Error: ")
        assert "→" in done.err


class TestProgram:
    """As a process, from the outside."""

    def run(self, *arguments, given=""):
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)], input=given, capture_output=True, text=True, timeout=120
        )

    def test_appends_and_reads(self, tmp_path):
        store = tmp_path / "store"
        assert self.run("-s", store, "init").returncode == 0
        done = self.run("append", "-s", store, given=SAID)
        assert (done.returncode, done.stderr, len(done.stdout.split())) == (0, "", 5)
        assert "It rains." in self.run("log", "-s", store).stdout
        assert self.run("log", "-s", tmp_path / "none").returncode == 3
        assert self.run("append", "-s", store, given="x").returncode == 2

    def test_knows_its_version_and_says_what_it_is(self):
        assert self.run("--version").stdout.startswith("beliefbase ")
        assert "append" in self.run("--help").stdout

    def test_appending_loads_neither_duckdb_nor_numpy(self, tmp_path):
        code = (
            "import sys; from beliefbase.cli.app import run\n"
            f"try: run(['-s', {str(tmp_path / 'store')!r}, 'append', '--create'])\n"
            "except SystemExit: print(sorted({'duckdb', 'numpy'} & sys.modules.keys()))"
        )
        done = subprocess.run([sys.executable, "-c", code], input=SAID, capture_output=True, text=True, timeout=120)
        assert done.stdout.splitlines()[-1] == "[]"

    def test_no_progress_is_shown_where_nobody_looks(self, tmp_path, monkeypatch):
        """Standard error stays empty in a pipe, however long it takes."""
        code = (
            "from beliefbase.cli import output; output.PATIENCE = output.INTERVAL = 0\n"
            "from beliefbase.cli.app import run\n"
            f"run(['-s', {str(tmp_path / 'store')!r}, 'import', '--create', {str(tmp_path / 'lines.jsonl')!r}])"
        )
        (tmp_path / "lines.jsonl").write_text("\n".join([SAID] * 10))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")


def test_progress_on_a_terminal_appears_after_a_while_and_is_taken_away(monkeypatch, capsys):
    from beliefbase.cli import output

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(output, "INTERVAL", 0)
    progress = output.Progress()
    progress.tell("reading", 1, 10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "PATIENCE", 0)
    progress.tell("reading", 5, 10)
    assert "reading: 5 of 10 (50 %)" in capsys.readouterr().err
    progress.tell("projecting", 1200)
    progress.close()
    assert capsys.readouterr().err.endswith("projecting: 1,200\r\x1b[K")
