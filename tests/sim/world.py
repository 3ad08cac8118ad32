"""A world of one seed: machines whose stores are real, and everything that happens to them.

Phase one runs the operations of the plan; after each of them the promises hold that hold at any moment. Phase two heals
(tests/sim/healing.py): no more faults, everybody syncs, and all must come to the same.
"""

import hashlib
import shutil
from random import Random

from tests.sim import checks, oracle
from tests.sim.accidents import Accidents
from tests.sim.appending import Appending
from tests.sim.traffic import Traffic
from tests.sim.violation import check

from beliefbase.events import merging, table_log
from beliefbase.events.envelope import Event

START_MS = 1_700_000_000_000


class World(Appending, Traffic, Accidents):
    """Runs a plan in a folder.

    Args:
        plan: What is to happen.
        folder: Where the stores are; best in memory.
    """

    def __init__(self, plan, folder):
        self.seed = plan.seed
        self.mix = plan.mix
        self.folder = folder
        self.now_ms = START_MS
        self.trace = []
        self.events = {}
        self.by_hash = {}
        self.mentions = {}
        self.owners = {}
        """Writer to the processes that write as it: one, or those of a machine that was cloned as it ran."""
        self.begun = set()
        """Streams with the processes that began them."""
        self.packets = []
        self.images = []
        self.bundles = []
        self.parts = set()
        """Pairs (from, to) between which nothing gets through."""
        self.bomb = None
        """How often random bytes are given out until the process that asks for them is killed."""
        self._folders = self._processes = self._drawn = 0
        self._begin(-1)
        merging.PAGE = plan.mix.page
        table_log._SETTLE = 1  # else only logs of many writers keep hashes of buckets
        self.machines = [self._machine(f"m{number}") for number in range(plan.mix.machines)]
        for machine in self.machines:
            machine.boot(create=True)

    # ------------------------------------------------------------------ running

    def run(self, op):
        """Do one operation."""
        self._begin(op.number)
        self.now_ms += op.wait_ms
        self._deliver()
        getattr(self, f"_{op.kind}")()

    def _begin(self, number):
        self.number = number
        self.random = Random(f"{self.seed} {number}")
        self._drawn = 0

    def say(self, what):
        """Put a line into the trace."""
        self.trace.append(f"{self.number:>3} {self.now_ms - START_MS:>12} ms  {what}")

    def close(self):
        """End everything."""
        for machine in self.machines:
            for process in machine.processes:
                process.store.close()

    # ------------------------------------------------------------------ what the product gets from outside

    def entropy(self, size):
        """Random bytes, the same in every run."""
        self._drawn += 1
        return hashlib.sha512(f"{self.seed} {self.number} {self._drawn}".encode()).digest()[:size]

    def new_folder(self, name):
        """A folder that doesn't exist yet."""
        self._folders += 1
        return self.folder / f"{name}-{self._folders}"

    def next_process(self):
        """A number for a process."""
        self._processes += 1
        return self._processes

    def meet(self, event):
        """Remember an event; the first words that come for it are its words."""
        known = self.events.get(event.id)
        if known is None:
            self.events[event.id] = self.by_hash[event.hash] = Event(event.raw, event.salt, event.body)
            self.mentions[event.id] = oracle.mentioned(event)
        elif known.body is None and event.body is not None:
            known.salt, known.body = event.salt, event.body

    # ------------------------------------------------------------------ looking

    def _look(self):
        """An agent reads: the read models are brought up to date, and are those of a fold of the whole log."""
        machine = self._any()
        if self.random.random() < 0.15:
            machine.mirror.forget()
        self.look(machine)
        if self.random.random() < 0.4:
            checks.whole(machine)
        if self.mix.duckdb:
            machine.boot().store.digest()

    def look(self, machine):
        """Refresh a machine's read models and compare them."""
        machine.mirror.refresh(machine.log)
        found = machine.mirror.differences(machine.log)
        check(not found, f"{machine.name}: refreshed read models differ from a fold in {', '.join(found[:3])}")

    # ------------------------------------------------------------------ choices

    def _any(self):
        return self.random.choice(self.machines)

    def _two(self):
        one, other = self.random.sample(self.machines, 2)
        return one, other


def remove(folder):
    """Delete a world's files."""
    shutil.rmtree(folder, ignore_errors=True)
