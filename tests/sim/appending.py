"""Agents, people, importers and newer releases write, and what must hold of what they wrote is checked."""

from tests.sim import checks, newer, oracle
from tests.sim.machine import Process
from tests.sim.moves import AGENTS, PEOPLE, Moves
from tests.sim.net import Down
from tests.sim.violation import check

from beliefbase import BeliefStore
from beliefbase.events.errors import Equivocation
from beliefbase.events.ids import name_hash

EPOCH_MS = 1_699_990_000_000
"""When the sources that are imported were said."""


class Appending:
    """The operations of a world that append events."""

    def _write(self):
        machine = self._any()
        process = self.random.choice(machine.processes or [machine.boot()])
        agent = self.random.choice(AGENTS)
        held = machine.held()
        mine = set(machine.holding.order)
        heard = [event for id_, event in self.events.items() if id_ not in mine]
        moves = Moves(self.random, held, heard, self.number, plain=self.mix.plain)
        drafts = [moves.draw() for _ in range(self.random.choice((1, 1, 2, 3)))]
        self.append(machine, process, agent, drafts)

    def append(self, machine, process, agent, drafts):
        """Append as an agent, and check all that must hold of it."""
        name, kind = agent
        if name not in process.writers:
            role = "owner" if name == "warden" else "member"
            process.writers[name] = process.store.writer(name, kind=kind, role=role)
        writer = process.writers[name]
        ids = None
        for _ in range(2):
            visible, before = machine.visible_stamp(), machine.held()
            try:
                with process.store.batch():
                    ids = [writer.append(type_name, fields) for type_name, fields in drafts]
                    if self.random.random() < 0.05:
                        raise Down
                break
            except Down:
                ids = []
                break
            except Equivocation:
                check(self._is_shared(process, writer), f"{machine.name}: an append of its own is refused as a fork")
        check(ids is not None, f"{machine.name}: a new writer is refused as well")
        if not ids:
            drafts = []
        told = ", ".join(f"{type_name} {id_[:8]}" for (type_name, _), id_ in zip(drafts, ids, strict=True)) or "nothing"
        self.say(f"{machine.name} {name} appends {told}")
        new = machine.arrived()
        basis = [fields.get("basis") for _, fields in drafts]
        checks.appended(machine, process, new, before, visible, explicit=any(one is not None for one in basis))
        self._acknowledged(machine, drafts, ids, new, before)
        until = [event.skeleton.hlc >> 16 for event in oracle.erasures_of(new)]
        machine.written(until_ms=max(until, default=0))

    def _acknowledged(self, machine, drafts, ids, new, before):
        """Every id that an append returned is stored: as a new event, or as the earliest of its source_ref."""
        known = {}
        for event in sorted(before, key=oracle.place, reverse=True):
            known[event.skeleton.type, event.skeleton.source_ref] = event.id
        coming = [event for event in new if event.skeleton.type != "writer.joined"]
        for (type_name, fields), id_ in zip(drafts, ids, strict=True):
            ref = None if "source_ref" not in fields else name_hash(fields["source_ref"])
            earliest = known.get((type_name, ref)) if ref else None
            if earliest is not None:
                check(earliest.hex() == id_, f"{machine.name}: a source_ref that is known gives another event")
                continue
            check(bool(coming), f"{machine.name} acknowledged {type_name} {id_[:8]} and stored nothing")
            event = coming.pop(0)
            check(event.id.hex() == id_, f"{machine.name} stored another event than it acknowledged")
            check(event.skeleton.type == type_name, f"{machine.name} stored another type than was appended")
            if ref:
                known[type_name, ref] = event.id
        check(not coming, f"{machine.name} stored what nobody appended")
        machine.holding.order += [event.id for event in new]
        machine.holding.offered.update(event.id for event in new if event.body is not None)

    def _is_shared(self, process, writer):
        shared = len(self.owners.get(bytes.fromhex(writer.id), ())) > 1
        before = [numbers for numbers in self.owners.values() if process.number in numbers and len(numbers) > 1]
        return shared or bool(before)

    def _erase(self):
        machine = self._any()
        process = self.random.choice(machine.processes or [machine.boot()])
        subject = self.random.choice(PEOPLE)
        self.append(machine, process, ("warden", "human"), [("subject.erased", {"subject": subject})])

    def _import(self):
        """Somebody imports a source that others may import as well; it grows."""
        machine = self._any()
        machine.boot()
        source, count = self.random.choice(("letters", "chat")), self.random.randint(1, 6)
        store = BeliefStore.open(machine.folder, importing=True, durability=machine.durability, wall=machine.wall)
        store._pen.entropy = machine.entropy
        machine.written()
        process = Process(self.next_process(), store)
        writer = store.writer(f"{source} importer", kind="importer")
        before, last = machine.held(), 0
        for number in range(count):
            fields = {
                "speaker": PEOPLE[number % 3],
                "verbatim": f"{source} {number}",
                "source_ref": f"imp:{source}:{number}",
            }
            at = EPOCH_MS + (number % 2) * 1_000
            id_ = bytes.fromhex(writer.append("utterance.recorded", fields, at=at))
            new = machine.arrived()
            checks.appended(machine, process, new, before, 0, importer=True)
            self._acknowledged(machine, [("utterance.recorded", fields)], [id_.hex()], new, before)
            before = [*before, *new]
            hlc = self.events[id_].skeleton.hlc
            check(hlc > last or not new, f"{machine.name} imports an item before its predecessor")
            last = max(last, hlc)
        store.close()
        machine.written()
        self.say(f"{machine.name} imports {count} items of {source}")

    def _newer(self):
        """A process of a newer release writes what this one doesn't understand."""
        machine = self._any()
        machine.boot()
        event = newer.event(machine, self.random, self.entropy)
        machine.log.append(event)
        machine.received(event)
        self.say(f"{machine.name}: a newer release writes {event[-1].id.hex()[:8]}")
