"""A store with a past, and the command line on it: given by the Python API, when and then by commands."""

import json
import time
from typing import Any

import click
from click.testing import CliRunner

from beliefbase.cli.app import run
from beliefbase.store import BeliefStore

DAY = 86_400_000


class Done:
    """What a command left: exit status, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str):
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def beliefbase(monkeypatch, *arguments, given="", env=None) -> Done:
    """Run the whole program, error messages and exit status included."""
    monkeypatch.setattr("sys.argv", ["beliefbase", *map(str, arguments)])
    environment = {"BELIEFBASE_STORE": None, "BELIEFBASE_AGENT": None, **(env or {})}
    result = CliRunner().invoke(click.Command("whole", callback=run), [], input=given, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


class World:
    """One store; its past is told with ``ago``, in days before the present."""

    def __init__(self, path, monkeypatch):
        self.path = path
        self.now = int(time.time() * 1000)
        self._monkeypatch = monkeypatch

    def store(self, ago=0.0, *, path=None, importing=False):
        """An open handle whose wall clock stands still that many days ago."""
        wall = self.ms(ago)
        where = path or self.path
        return BeliefStore.open(where, create=True, importing=importing, durability="process", wall=lambda: wall)

    def ms(self, ago):
        return self.now - int(ago * DAY)

    def run(self, *arguments, given="", env=None):
        return beliefbase(self._monkeypatch, "-s", self.path, *arguments, given=given, env=env)

    def ok(self, *arguments, **more):
        done = self.run(*arguments, **more)
        assert done.code == 0, done.err
        return done

    def explain(self, belief, *, ago=None):
        at = () if ago is None else ("--as-of", self.ms(ago))
        return self.ok("--json", "explain", belief, *at).json

    def told(self, belief, *, ago=None):
        return self.ok("explain", belief, *(() if ago is None else ("--as-of", self.ms(ago)))).out


DURABLE = {"assertion_class": "durable_fact", "confidence": 900, "speech_act_confidence": 950}
"""With an act that may enter at once: active from the start."""
