"""One machine: a store in a folder, a clock of its own, the processes that have it open, and what it must hold."""

import shutil
import sqlite3
from contextlib import closing

from tests.sim import checks, disk, oracle
from tests.sim.disk import LOG_NAME
from tests.sim.mirror import Mirror
from tests.sim.violation import check

from beliefbase import BeliefStore
from beliefbase.events.envelope import Event
from beliefbase.events.hlc import MAX_COUNTER, ms_of

MAX_DRIFT_MS = 60_000
READ_NAME = "read"


class Holding:
    """What a machine must hold: the model that its log is compared with."""

    def __init__(self):
        self.order = []
        """Ids of the stored events, in order of arrival."""
        self.aside = set()
        self.offered = set()
        """Events whose words came here."""
        self.excused = set()
        """Events whose words may have gone with something kept aside."""
        self.settled = set()
        """Erasures that were carried out here."""

    def copy(self):
        """The same again."""
        twin = Holding()
        twin.order = list(self.order)
        for name in ("aside", "offered", "excused", "settled"):
            setattr(twin, name, set(getattr(self, name)))
        return twin


class Killed(BaseException):
    """A process is no more; the machine, and its files as they were at that moment."""


class Process:
    """An open handle and its writers by agent."""

    def __init__(self, number, store):
        self.number = number
        self.store = store
        self.writers = {}


class Machine:
    """A store on a machine."""

    def __init__(self, world, name, *, offset_ms, durability):
        self.world = world
        self.name = name
        self.offset_ms = offset_ms
        self.durability = durability
        self.holding = Holding()
        self.mirror = Mirror()
        self.processes = []
        self.folder = world.new_folder(name)

    # ------------------------------------------------------------------ time and processes

    def entropy(self, size):
        """Random bytes for the product; the one that asks may be killed for it."""
        world = self.world
        if world.bomb is not None:
            world.bomb -= 1
            if world.bomb < 0:
                world.bomb = None
                raise Killed(self, disk.copied(self.folder, world.new_folder(self.name)))
        return world.entropy(size)

    def wall(self):
        """What this machine takes for now."""
        grain = self.world.mix.grain_ms
        return self.world.now_ms // grain * grain + self.offset_ms

    def boot(self, *, create=False):
        """Start a process if none runs."""
        if not self.processes:
            self.start(create=create)
        return self.processes[0]

    def start(self, *, create=False):
        """One more process that opens the store."""
        store = BeliefStore.open(self.folder, create=create, durability=self.durability, wall=self.wall)
        store._pen.entropy = self.entropy
        process = Process(self.world.next_process(), store)
        self.processes.append(process)
        self.written()
        return process

    def stop(self, process):
        """End a process in the ordinary way."""
        self.processes.remove(process)
        process.store.close()

    @property
    def log(self):
        """The log as the first process has it open."""
        return self.boot().store.log

    # ------------------------------------------------------------------ ends that nobody planned

    def kill(self, files=None):
        """End all processes at once; ``files`` is a copy of the log made at that moment, by default now."""
        files = files or disk.copied(self.folder, self.world.new_folder(self.name))
        for process in self.processes:
            process.store.close()
        self.processes = []
        self._move_to(files)

    def cut(self, random):
        """The power goes; returns whether what was acknowledged may be gone."""
        synced = disk.synced_at_commit(self.log)
        files = disk.copied(self.folder, self.world.new_folder(self.name))
        disk.lose_unsynced(files, random, synced=synced)
        self.kill(files)
        return not synced

    def restore(self, image, holding):
        """Put an older copy of the files in the place of the present ones."""
        files = disk.copied(image, self.world.new_folder(self.name))
        self.kill(files)
        self.holding = holding.copy()
        self.mirror.forget()

    def _move_to(self, files):
        """Go on with other files of the log; the read models, if there are any, stay as they are."""
        if (self.folder / READ_NAME).exists():
            shutil.move(self.folder / READ_NAME, files / READ_NAME)
        shutil.rmtree(self.folder)
        self.folder = files

    # ------------------------------------------------------------------ what it holds

    def stored(self):
        """The stored events, as the log has them, in order of arrival."""
        return [one.event for page in self.log.read() for one in page]

    def held(self):
        """The stored events, as the model has them."""
        events = self.world.events
        return [events[id_] for id_ in self.holding.order]

    def horizon(self):
        """The greatest stamp that this machine's clock follows."""
        return self.wall() + MAX_DRIFT_MS << 16 | MAX_COUNTER

    def visible_stamp(self):
        """The greatest stamp that a new event has to come after."""
        horizon = self.horizon()
        return max((hlc for event in self.held() if (hlc := event.skeleton.hlc) <= horizon), default=0)

    def written(self, *, until_ms=0):
        """A transaction has ended: erasures that the wall has reached, or one that was carried out, are carried out."""
        settled = self.holding.settled
        stamps = {event.id: ms_of(event.skeleton.hlc) for event in oracle.erasures_of(self.held())}
        limit = max(self.wall(), until_ms, *(stamps[one] for one in settled))
        settled.update(one for one, ms in stamps.items() if ms <= limit)

    def received(self, given):
        """Model a union with these events; the log must have come to the same."""
        holding, events = self.holding, self.world.events
        held = self.held()
        pool = {event.hash: event for event in given}
        pool |= {events[id_].hash: events[id_] for id_ in holding.aside}
        stored = oracle.stored_of(held, pool.values())
        expected = {event.id for event in stored.values()}
        holding.offered.update(event.id for event in given if event.body is not None)
        holding.aside = {event.id for event in pool.values()} - expected
        new = self.arrived()
        holding.order += [event.id for event in new]
        check(expected == set(holding.order), f"{self.name} stores other events than a union gives")
        check(len(holding.order) == len(expected), f"{self.name} stores an event twice")
        self.written()
        checks.aside(self)

    def arrived(self):
        """What the log has behind the events that are known to be there."""
        stored = self.stored()
        ids = [event.id for event in stored]
        known = self.holding.order
        check(ids[: len(known)] == known, f"{self.name} doesn't hold what it held: {_first(known, ids)}")
        new = stored[len(known) :]
        for event in new:
            self.world.meet(event)
        return new

    def adopt(self):
        """After acknowledged events may be gone: what is left must be a beginning of what was there."""
        holding = self.holding
        stored = self.stored()
        ids = [event.id for event in stored]
        check(ids == holding.order[: len(ids)], f"{self.name} lost more than the newest events in the power cut")
        lost = len(holding.order) - len(ids)
        holding.order = ids
        holding.offered = {event.id for event in stored if event.body is not None}
        holding.excused = set(ids) - holding.offered
        with closing(sqlite3.connect(self.folder / LOG_NAME)) as connection:
            aside = [Event(*row) for row in connection.execute("SELECT state, salt, body FROM aside")]
            holding.settled = {row[0] for row in connection.execute("SELECT event_id FROM erasures WHERE NOT pending")}
        for event in aside:
            self.world.meet(event)
        holding.aside = {event.id for event in aside}
        holding.offered |= {event.id for event in aside if event.body is not None}
        self.mirror.forget()
        return lost


def _first(known, ids):
    missing = [id_ for id_ in known if id_ not in set(ids)]
    return f"{len(missing)} events are gone, the first {missing[0].hex()}" if missing else "other order"
