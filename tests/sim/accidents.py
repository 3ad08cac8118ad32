"""What happens to machines: clocks are set, processes and power go, disks are copied, indexes are made anew."""

import sqlite3
from contextlib import closing

from tests.sim import checks, disk
from tests.sim.machine import MAX_DRIFT_MS, Killed, Machine
from tests.sim.violation import check

from beliefbase.events.hlc import Clock

MOST_MACHINES = 6


class Accidents:
    """The operations of a world that befall one machine."""

    def _step(self):
        machine = self._any()
        machine.offset_ms = self.random.choice(self.mix.offsets) + self.random.choice((0, 0, -30, 30))
        self.say(f"{machine.name}: the clock is off by {machine.offset_ms} ms now")

    def _process(self):
        machine = self._any()
        if len(machine.processes) > 1 or (machine.processes and self.random.random() < 0.3):
            machine.stop(self.random.choice(machine.processes))
        else:
            machine.start()
        self.say(f"{machine.name} runs {len(machine.processes)} processes now")

    def _kill(self):
        machine = self._any()
        machine.kill()
        self.say(f"{machine.name}: all processes are killed")
        checks.whole(machine)

    def _kill_writing(self):
        """A process is killed before the commit: nothing of the batch may ever be seen."""
        self.bomb = self.random.randint(0, 5)
        machine = None
        try:
            self._write()
        except Killed as killed:
            machine, files = killed.args
            machine.kill(files)
            self.say(f"{machine.name} is killed while it writes")
        finally:
            self.bomb = None
        if machine is not None:
            check(machine.arrived() == [], f"{machine.name} stored what was never committed")

    def _kill_syncing(self):
        machine = self._sync(cut_after=self.random.randint(0, 3))
        if machine is not None:
            machine.kill()
            self.say(f"{machine.name} is killed while it syncs")
            check(machine.arrived() == [], f"{machine.name} stored what nobody sent")

    def _cut(self):
        machine = self._any()
        machine.boot()
        may_lose = machine.cut(self.random)
        if may_lose:
            check(machine.durability == "process", f"{machine.name} lost what was promised to survive a power cut")
            machine.boot()
            lost = machine.adopt()
            self.say(f"{machine.name}: the power goes, and with it {lost} events")
        else:
            check(machine.arrived() == [], f"{machine.name} stored what was never committed")
            self.say(f"{machine.name}: the power goes")
        checks.whole(machine)

    def _checkpoint(self):
        machine = self._any()
        machine.log.checkpoint()
        self.say(f"{machine.name}: everything goes to the main file")

    def _image(self):
        machine = self._any()
        if len(self.images) < 4:
            self.images.append((disk.copied(machine.folder, self.new_folder("image")), machine.holding.copy()))
            self.say(f"{machine.name}: a backup is made")

    def _restore(self):
        if self.images:
            machine = self._any()
            machine.restore(*self.random.choice(self.images))
            machine.boot()
            self.say(f"{machine.name}: a backup is restored, with {len(machine.holding.order)} events")
            checks.whole(machine)

    def _clone_disk(self):
        """A folder is copied; who opens the copy writes under new ids."""
        twin = self._clone()
        if twin is not None:
            twin.boot()

    def _clone_live(self):
        """A running machine is cloned: both copies go on writing under the ids of its writers."""
        twin = self._clone()
        if twin is None:
            return
        for process in twin.copied_from.processes:
            copy = twin.start()
            copy.store._pen.clock = clock = Clock(twin.wall, max_drift_ms=MAX_DRIFT_MS)
            clock._last = process.store._pen.clock.last
            copy.store._pen.generation = process.store._pen.generation
            for name, writer in process.writers.items():
                copy.writers[name] = twin_writer = copy.store.writer(
                    name, kind=writer._writer.kind, role=writer._writer.role
                )
                for field in ("id", "seq", "prev", "generation"):
                    setattr(twin_writer._writer, field, getattr(writer._writer, field))
                self.owners.setdefault(writer._writer.id, set()).update((process.number, copy.number))

    def _clone(self):
        machine = self._any()
        if len(self.machines) >= MOST_MACHINES:
            return None
        twin = self._machine(f"m{len(self.machines)}", durability=machine.durability)
        twin.copied_from = machine
        disk.copied(machine.folder, twin.folder)
        twin.holding = machine.holding.copy()
        self.machines.append(twin)
        self.say(f"{machine.name} is cloned: {twin.name}")
        return twin

    def _machine(self, name, *, durability=None):
        weak = self.random.random() < self.mix.process_durability
        offset = self.random.choice(self.mix.offsets)
        return Machine(self, name, offset_ms=offset, durability=durability or ("process" if weak else "power"))

    def _reindex(self):
        """Another release made the index: it is made anew, and says the same."""
        machine = self._any()
        for process in list(machine.processes):
            machine.stop(process)
        with closing(sqlite3.connect(machine.folder / disk.LOG_NAME)) as connection, connection:
            connection.execute("UPDATE settings SET value = 0 WHERE name = 'index_version'")
        machine.holding.settled.clear()  # an erasure carried out ahead of the wall waits again
        machine.boot()
        self.say(f"{machine.name}: the index is made anew")
        checks.whole(machine)
        machine.mirror.forget()
