"""append on a pipe that stays open: whatever ends the run, Python ends in order."""

import json
import os
import select
import signal
import subprocess
import sys

import pytest

from beliefbase.cli.writing import CHUNK
from beliefbase.store import BeliefStore

PROGRAM = [sys.executable, "-c", "from beliefbase.cli import main; main()"]
SAID = {"type": "utterance.recorded", "agent": "a", "speaker": "Will", "verbatim": "It rains."}


class Running:
    """An append that goes on, with the pipe to its standard input."""

    def __init__(self, store, *options):
        BeliefStore.open(store, create=True).close()
        self.process = subprocess.Popen(
            [*PROGRAM, "-s", str(store), "append", "--keep-going", "--json", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def give(self, raw):
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def told(self):
        """The next acknowledgement."""
        assert select.select([self.process.stdout], [], [], 60)[0]
        return json.loads(self.process.stdout.readline())

    def ended(self):
        """Its exit status and what it wrote on standard error; the pipe is open until then."""
        status = self.process.wait(60)
        return status, self.process.stderr.read().decode()

    def close(self):
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        self.process.wait(60)


@pytest.fixture
def start(tmp_path):
    started = []

    def run(*options):
        started.append(Running(tmp_path / "store", *options))
        return started[-1]

    yield run
    for running in started:
        running.close()


def line(**more):
    return json.dumps({**SAID, **more}).encode() + b"\n"


def test_an_interrupt_is_130_and_what_was_acknowledged_is_stored(start, tmp_path):
    running = start()
    running.give(line())
    told = running.told()
    running.process.send_signal(signal.SIGINT)
    status, errors = running.ended()
    assert (status, "Fatal" in errors, "Traceback" in errors) == (130, False, False)
    with BeliefStore.open(tmp_path / "store") as store:
        assert told["id"] in {stored.event.id.hex() for page in store.log.read() for stored in page}


def test_an_error_that_ends_the_run_is_told_and_nothing_else(start):
    running = start("--model", "no such model")
    running.give(line())
    status, errors = running.ended()
    assert (status, [json.loads(told)["field"] for told in errors.splitlines()]) == (2, ["model"])


def test_a_line_is_stored_once_it_is_whole_however_it_comes(start):
    running = start()
    long = line(verbatim="ä" * (CHUNK // 4))
    for part in (b"\n", long[:7], long[7:], line(ref="u")[:5]):
        running.give(part)
    assert running.told()["line"] == 2
    running.give(line(ref="u")[5:-1])
    running.process.stdin.close()
    assert (running.told()["ref"], running.ended()) == ("u", (0, ""))


def test_a_pipe_that_does_not_wait_is_waited_for(start):
    running = start()
    os.set_blocking(running.process.stdin.fileno(), False)
    running.give(line())
    assert running.told()["line"] == 1
    running.process.stdin.close()
    assert running.ended() == (0, "")


def test_a_closed_standard_input_is_an_error_with_a_next_step(tmp_path):
    """Descriptor 0 may then be the store's own file."""
    BeliefStore.open(tmp_path / "store", create=True).close()
    command = [*PROGRAM, "-s", str(tmp_path / "store"), "append", "--json"]
    for mode in ("--strict", "--keep-going"):
        done = subprocess.run([*command, mode], preexec_fn=lambda: os.close(0), capture_output=True, check=False)
        assert (done.returncode, json.loads(done.stderr)["error"]) == (2, "usage")
