"""Measures the lifecycle fold against a bare dict fold of the same facts: ``python bench/fold.py [events]``.

The bare fold sorts the facts and keeps one (status, since) per belief, appending a row at each change. It knows no
rule: it is the floor for anything that reads the rows one by one in Python. Both run with Python's collector of cycles
paused, as they do while a store is rebuilt.

The modules as they are and the compiled ones (docs/adr/0027-compiled-modules.md) are measured in turn, each in a
process of its own, where the latter can be built; ``--here`` measures what this interpreter imports, and nothing else.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from compiled import install, obstacle

from beliefbase.beliefs import fold as folding
from beliefbase.beliefs.collector import paused
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import DAY_MS

PAGE = 20_000
WRITERS = 20
LATE = 0.05
ACTS = ("direct_assertion", "directive", "preference_statement", "observation", "hypothetical", "humor_or_irony")
KINDS = ("rule", "fact", "decision", "preference", "note")
REVISIONS = {
    "supersede": 35,
    "affirm": 34,
    "promote": 6,
    "retract": 6,
    "reinstate": 6,
    "merge": 3,
    "reclassify": 3,
    "raise": 4,
    "resolve": 3,
}


class Generator:
    """A seeded log: random supersessions, two hubs, a chain and a chain of corrections, other revisions in between."""

    def __init__(self, events: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.facts: list[Fact] = []
        self.beliefs: list[bytes] = []
        self.endings: list[tuple[bytes, bytes]] = []
        self.contradictions: list[bytes] = []
        self.last: dict[bytes, bytes] = {}
        self.events = events
        self.start = 1_750_000_000_000
        self.step = 400 * DAY_MS // events
        self.sequence = dict.fromkeys(range(WRITERS), 0)

    def put(self, kind: str, payload: dict[str, Any], basis: tuple[bytes, ...] = ()) -> bytes:
        """One more fact, later than all before, or up to an hour earlier."""
        n = len(self.facts)
        writer = self.random.randrange(WRITERS)
        self.sequence[writer] += 1
        ms = self.start + n * self.step - (self.random.randrange(3_600_000) if self.random.random() < LATE else 0)
        raw = self.random.randbytes(16)
        name = writer.to_bytes(16, "big")
        self.facts.append(Fact(ms << 16, name, self.sequence[writer], raw, kind, payload, basis, None, name))
        return raw

    def extract(self, act: str | None = None, *, strong: bool | None = None) -> bytes:
        """A belief; two of three are active at once."""
        chosen = act or self.random.choice(ACTS)
        if strong is None:
            strong = self.random.random() < 0.66
        payload = {"evidence": (), "kind": self.random.choice(KINDS), "speech_act": chosen, "confidence": 900}
        if strong:
            payload |= {"assertion_class": "durable_fact"}
        belief = self.put("belief.extracted", payload)
        self.beliefs.append(belief)
        return belief

    def supersede(self, target: bytes, by: bytes) -> None:
        """A supersession that has seen the last revision of its target, mostly."""
        basis = (self.last[target],) if target in self.last and self.random.random() < 0.9 else ()
        event = self.put("belief.superseded", {"superseded_id": target, "superseding_id": by, "cause": "update"}, basis)
        self.endings.append((target, event))
        self.last[target] = event

    def revise(self) -> None:
        """One random revision."""
        choose, beliefs = self.random.choice, self.beliefs
        kind = self.random.choices(tuple(REVISIONS), tuple(REVISIONS.values()))[0]
        one, other = choose(beliefs), choose(beliefs)
        if kind == "supersede":
            self.supersede(one, other if self.random.random() < 0.15 else beliefs[-1])
        elif kind == "affirm":
            self.put("belief.affirmed", {"belief_id": one, "how": choose(("confirmation", "recurrence"))})
        elif kind == "promote":
            self.put("belief.promoted", {"belief_id": one})
        elif kind == "retract":
            basis = (self.last[one],) if one in self.last else ()
            event = self.put("belief.retracted", {"belief_id": one, "cause": "wrong"}, basis)
            self.endings.append((one, event))
            self.last[one] = event
        elif kind == "reinstate" and self.endings:
            belief, event = choose(self.endings)
            self.last[belief] = self.put(
                "belief.reinstated", {"belief_id": belief, "undoes": (event,)}, (self.last[belief],)
            )
        elif kind == "merge":
            self.put("belief.merged", {"duplicate_id": one, "surviving_id": other})
        elif kind == "reclassify":
            self.put("belief.reclassified", {"belief_id": one, "speech_act": choose(ACTS)})
        elif kind == "raise":
            self.contradictions.append(self.put("contradiction.raised", {"left": one, "right": other}))
        elif self.contradictions:
            outcome = choose(("left", "right", "both_hold"))
            payload = {"contradiction_id": choose(self.contradictions), "outcome": outcome}
            self.put("contradiction.resolved", payload)

    def run(self) -> list[Fact]:
        """The facts in the order in which they were made."""
        size = self.events // 100
        hub, spread = self.extract(strong=True), self.extract(strong=True)
        for _ in range(size):
            self.supersede(hub, self.extract())
            self.supersede(self.extract(), spread)
        for act in (None, "correction"):
            before = self.extract(strong=True)
            for _ in range(size):
                after = self.extract(act, strong=True)
                self.supersede(before, after)
                before = after
        while len(self.facts) < self.events:
            if self.random.random() < 0.2:
                self.extract()
            self.revise()
        return self.facts[: self.events]


def bare(facts: list[Fact]) -> list[tuple[bytes, str, int, int]]:
    """The floor: sort, one dict, one row per change."""
    state: dict[bytes, tuple[str, int]] = {}
    rows: list[tuple[bytes, str, int, int]] = []
    for fact in sorted(facts):
        payload, kind = fact.payload, fact.type
        if kind == "belief.extracted":
            state[fact.id] = ("active", fact.hlc)
            continue
        if kind == "belief.superseded":
            belief, status = payload["superseded_id"], "superseded"
        elif kind == "belief.merged":
            belief, status = payload["duplicate_id"], "duplicate"
        elif kind == "belief.retracted":
            belief, status = payload["belief_id"], "retracted"
        elif kind in ("belief.affirmed", "belief.promoted", "belief.reinstated"):
            belief, status = payload["belief_id"], "active"
        elif kind == "contradiction.raised":
            belief, status = payload["left"], "contested"
        else:
            belief, status = payload.get("belief_id", fact.id), "active"
        before = state.get(belief)
        if before is not None:
            rows.append((belief, before[0], before[1], fact.hlc))
        state[belief] = (status, fact.hlc)
    rows += [(belief, status, since, 2**63 - 1) for belief, (status, since) in state.items()]
    return rows


def full(facts: list[Fact]) -> int:
    """The fold alone."""
    return len(fold(facts).lives)


def read(facts: list[Fact]) -> int:
    """The fold, and every interval of every belief read once."""
    return sum(len(life.intervals) for life in fold(facts).lives.values())


WORKS = (bare, full, read)
Rounds = list[dict[str, list[float]]]
"""For each run and arrival order the seconds of the works."""


def measured(work: Callable[[list[Fact]], Any], facts: list[Fact]) -> float:
    """CPU seconds of one run: other work on the machine counts less."""
    gc.collect()
    with paused():
        began = time.process_time()
        work(facts)
        return time.process_time() - began


def arrivals(facts: list[Fact]) -> Iterator[tuple[str, list[Fact]]]:
    """Orders in which facts reach a fold."""
    yield "as written", facts
    yield "page by page", paged(facts)
    yield "writer by writer", sorted(facts, key=lambda fact: (fact.writer, fact.seq))
    shuffled = facts[:]
    random.Random(1).shuffle(shuffled)
    yield "shuffled", shuffled


def paged(facts: list[Fact]) -> list[Fact]:
    """The order in which a rebuild hands them over: pages as they arrived, type by type within each."""
    found: list[Fact] = []
    for start in range(0, len(facts), PAGE):
        by_type: dict[str, list[Fact]] = {}
        for fact in facts[start : start + PAGE]:
            by_type.setdefault(fact.type, []).append(fact)
        found += [fact for alike in by_type.values() for fact in alike]
    return found


def serve(facts: list[Fact]) -> None:
    """Say what is measured, then one run for each line that comes, and the peak of memory."""
    build = "as it is" if folding.__file__.endswith(".py") else "compiled"
    print(json.dumps({"build": build, "before": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)
    for _ in sys.stdin:
        times = {name: [measured(work, arrived) for work in WORKS] for name, arrived in arrivals(facts)}
        print(json.dumps({"times": times, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}), flush=True)


class Served:
    """A process that measures one build."""

    def __init__(self, options: argparse.Namespace, path: str | None = None) -> None:
        environment = os.environ if path is None else {**os.environ, "PYTHONPATH": path}
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(options.events), "--seed", str(options.seed), "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        told = self._told()
        self.build: str = told["build"]
        self.before: int = told["before"]
        self.peak = 0
        self.rounds: Rounds = []

    def run(self) -> None:
        """One run of everything."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        told = self._told()
        self.rounds.append(told["times"])
        self.peak = told["peak"]

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()

    def _told(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told


def main() -> None:
    """Print a table: medians of the rates and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", type=int, nargs="?", default=200_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--here", action="store_true", help="measure what this interpreter imports, and nothing else")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    facts = Generator(options.events, options.seed).run()
    if options.serve:
        serve(facts)
        return
    with tempfile.TemporaryDirectory() as folder:
        builds = [Served(options)]
        reason = "--here" if options.here else obstacle()
        if reason is None:
            install(Path(folder))
            builds.append(Served(options, folder))
        for _ in range(options.runs):
            for build in builds:
                build.run()
        for build in builds:
            build.close()
    beliefs = sum(fact.type == "belief.extracted" for fact in facts)
    if reason is not None:
        print(f"The compiled fold is not measured: {reason}.")
    print(f"{len(facts):,} facts, {beliefs:,} beliefs, medians of {options.runs} runs in turn")
    print(f"{'arrival':18}{'fold':10}{'bare s':>8}{'fold s':>8}{'+ rows s':>9}{'bare/fold':>10}{'bare/rows':>10}")
    for name in builds[0].rounds[0]:
        for build in builds:
            floor, alone, rows = map(statistics.median, zip(*(run[name] for run in build.rounds), strict=True))
            figures = f"{floor:8.3f}{alone:8.3f}{rows:9.3f}{floor / alone:10.2f}{floor / rows:10.2f}"
            print(f"{name:18}{build.build:10}{figures}")
    for build in builds:
        print(f"peak memory, {build.build}: {build.peak // 1024} MB, of that {build.before // 1024} MB the facts")


if __name__ == "__main__":
    main()
