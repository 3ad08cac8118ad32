"""Processes that append to one store and are killed at random: what was acknowledged is stored, nobody else notices."""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time

import pytest
from tests.scale import scaled

from beliefbase.store import BeliefStore

PROGRAM = [sys.executable, "-c", "from beliefbase.cli import main; main()"]
WRITERS = 4


class Appender:
    """One process that appends lines as they come, and the threads that feed it and take note of its answers."""

    def __init__(self, store, name):
        self.acknowledged = []
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in ended()
        command = [*PROGRAM, "-s", str(store), "append", "--keep-going", "--json"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1
        )
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._feed, args=(name,)), threading.Thread(target=self._listen)]
        for thread in self._threads:
            thread.start()

    def _feed(self, name):
        number = 0
        try:
            while not self._stop.is_set():
                number += 1
                said = {
                    "type": "utterance.recorded",
                    "agent": name,
                    "ref": f"u{number}",
                    "speaker": "Will",
                    "verbatim": "No.",
                }
                belief = {
                    "type": "belief.extracted",
                    "agent": name,
                    "statement": "No.",
                    "kind": "fact",
                    "evidence": [f"$u{number}"],
                }
                self.process.stdin.write(f"{json.dumps(said)}\n{json.dumps(belief)}\n")
            self.process.stdin.close()
        except (BrokenPipeError, ValueError):  # it was killed
            pass

    def _listen(self):
        for line in self.process.stdout:
            if line.endswith("\n"):  # else it was killed while it spoke
                self.acknowledged.append(json.loads(line)["id"])

    def kill(self):
        self.process.kill()
        return self.ended()

    def ended(self):
        """Its exit status, and what it wrote on standard error."""
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.errors.seek(0)
        with self.errors:
            return status, self.errors.read()


def appending(store, seconds, seed):
    """Four at a time for so long; one is killed, and another takes its place, every now and then."""
    rng = random.Random(seed)
    running = [Appender(store, f"agent {n}") for n in range(WRITERS)]
    killed = []
    deadline = time.monotonic() + seconds
    while not all(appender.acknowledged for appender in running) and time.monotonic() < deadline + 60:
        time.sleep(0.05)  # all are up: starting takes longest
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(rng.uniform(0.05, 0.6))
        victim = running.pop(rng.randrange(len(running)))
        assert victim.kill() == (-9, "")
        killed.append(victim)
        running.append(Appender(store, f"agent {len(killed) + WRITERS}"))
    assert [appender.ended() for appender in running] == [(0, "")] * WRITERS
    return killed, running


@pytest.mark.parametrize(
    "seconds", [pytest.param(2, id="short"), pytest.param(scaled(10), id="long", marks=pytest.mark.slow)]
)
def test_nothing_acknowledged_is_lost_and_no_error_reaches_a_writer_but_its_own_death(tmp_path, seconds):
    BeliefStore.open(tmp_path / "store", create=True).close()
    killed, others = appending(tmp_path / "store", seconds, seed=7)
    assert killed
    with BeliefStore.open(tmp_path / "store") as store:
        stored = {stored.event.id.hex() for page in store.log.read(words=False) for stored in page}
        acknowledged = [key for appender in [*killed, *others] for key in appender.acknowledged]
        assert len(set(acknowledged)) == len(acknowledged) >= WRITERS
        assert set(acknowledged) <= stored
        assert store.audit().exit_code == 0
