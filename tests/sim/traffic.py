"""Machines exchange events: over a line both ways or one way, by packets, by bundles."""

from tests.sim.machine import MAX_DRIFT_MS
from tests.sim.net import Down, Line, Packet, under_way
from tests.sim.violation import check

from beliefbase.events.bundle import Bundle, BundleDamaged, export
from beliefbase.events.envelope import Event
from beliefbase.events.errors import NotCanonical
from beliefbase.events.sync import Receiver, union


class Far(Receiver):
    """A machine that takes in what another has, over a bad line."""

    def __init__(self, machine, mix, random, cut_after):
        super().__init__(machine.log, wall=machine.wall(), max_drift_ms=MAX_DRIFT_MS)
        self.lines = []
        self._line = (mix, random, cut_after)

    def take_buckets(self, other, differing, *, told):
        mix, random, cut_after = self._line
        line = Line(other, mix, random, cut_after=cut_after)
        self.lines.append(line)
        return super().take_buckets(line, differing, told=told)


class Traffic:
    """The operations of a world that carry events from machine to machine."""

    def _sync(self, *, cut_after=None):
        one, other = self._two()
        if (one.name, other.name) in self.parts or (other.name, one.name) in self.parts:
            return None
        here, there = self._receiver(one, cut_after), self._receiver(other, cut_after)
        ending = "same"
        try:
            if not union(here, there):
                ending = "they differ"
        except Down:
            ending = "the line went dead"
        self._received(one, here)
        self._received(other, there)
        self.say(f"{one.name} syncs with {other.name}: {ending}")
        return one

    def _pull(self):
        one, other = self._two()
        if (other.name, one.name) in self.parts:
            return
        receiver = self._receiver(one, self.random.choice((None, 1, 3)))
        try:
            receiver.take_from(other.log)
            ending = "all"
        except Down:
            ending = "until the line goes dead"
        self._received(one, receiver)
        self.say(f"{one.name} takes from {other.name}: {ending}")

    def _receiver(self, machine, cut_after=None):
        machine.boot()
        receiver = Far(machine, self.mix, self.random, cut_after)
        machine.written()
        return receiver

    def _received(self, machine, receiver):
        machine.received([event for line in receiver.lines for event in line.given])

    def _send(self):
        """Packets go off and arrive some time, in any order, or never."""
        one, other = self._two()
        known = self.random.choice(((), other.log.frontier()))
        events = [event for page in one.log.since(known) for event in page]
        size = self.mix.page
        pages = [events[start : start + size] for start in range(0, len(events), size)]
        for page in under_way(pages, self.mix, self.random):
            due = self.now_ms + self.random.choice((1, 5, 50, 5_000))
            damaged = self.random.random() < 0.05 and page[-1].body is not None
            self.packets.append(Packet(due, self._drawn, other.name, page, damaged))
            self._drawn += 1
        self.say(f"{one.name} sends {len(events)} events to {other.name}")

    def _deliver(self, *, all_of_them=False):
        due = [packet for packet in self.packets if all_of_them or packet.due_ms <= self.now_ms]
        self.packets = [packet for packet in self.packets if packet not in due]
        self.random.shuffle(due)
        for packet in due:
            machine = next(machine for machine in self.machines if machine.name == packet.to)
            machine.boot()
            receiver = Receiver(machine.log, wall=machine.wall(), max_drift_ms=MAX_DRIFT_MS)
            machine.written()
            events = packet.events
            if not packet.damaged:
                receiver.take([events])
                machine.received(events)
                continue
            last = events[-1]
            flipped = bytes([last.body[0] ^ 1]) + last.body[1:]
            try:
                receiver.take([[*events[:-1], Event(last.raw, last.salt, flipped)]])
                check(False, f"{machine.name} takes words that the skeleton doesn't commit to")
            except NotCanonical:
                machine.received(events[:-1])
        if due:
            self.say(f"{len(due)} packets arrive")

    def _part(self):
        one, other = self._two()
        self.parts ^= {(one.name, other.name)}
        self.say(
            f"nothing gets from {one.name} to {other.name}"
            if (one.name, other.name) in self.parts
            else "a line is back"
        )

    def _bundle_out(self):
        machine = self._any()
        path = self.folder / f"bundle-{self.number}"
        contents = export(machine.log, path)
        check(contents.root == machine.log.root(), f"{machine.name} seals another frontier than its own")
        events = machine.stored()
        self.bundles.append((path, events))
        self.say(f"{machine.name}: a bundle of {len(events)} events is written")

    def _bundle_in(self):
        if not self.bundles:
            return
        machine = self._any()
        path, events = self.random.choice(self.bundles)
        receiver = Receiver(machine.log, wall=machine.wall(), max_drift_ms=MAX_DRIFT_MS)
        machine.written()
        if self.random.random() < 0.4:
            data = bytearray(path.read_bytes())
            at = self.random.randrange(len(data))
            path = self.folder / "damaged"
            data[at] ^= 1 << self.random.randrange(8)
            path.write_bytes(data[:at] if self.random.random() < 0.5 else data)
            events = []
        try:
            with Bundle(path) as bundle:
                receiver.take(bundle.pages())
            check(bool(events) or path.name != "damaged", f"{machine.name} takes a damaged bundle")
        except BundleDamaged:
            check(path.name == "damaged", f"{machine.name} refuses a bundle that is whole")
        machine.received(events)
        self.say(f"{machine.name}: {path.name} is taken in, {len(events)} events")
