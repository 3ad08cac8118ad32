"""Phase two: faults are off, everybody syncs, and all must come to the same, which is what the specification says."""

from tests.sim import checks, naive_fold, oracle
from tests.sim.disk import LOG_NAME
from tests.sim.machine import Machine
from tests.sim.mirror import digest, facts_of, folded, summary, told
from tests.sim.moves import AGENTS, PEOPLE
from tests.sim.violation import check

from beliefbase.beliefs.fold import fold
from beliefbase.events.envelope import Event
from beliefbase.events.hlc import MAX_COUNTER, MAX_MS
from beliefbase.events.sync import Receiver, union
from beliefbase.replay.audit import Request

MOST_ROUNDS = 40
YEARS_MS = 6 * 365 * 86_400_000


def heal(world):
    """Bring a world to rest, and check that nothing was lost and all agree."""
    world._begin(1_000_000)
    world.parts.clear()
    world.random.shuffle(world.packets)
    world.packets = world.packets[: len(world.packets) // 2]
    world._deliver(all_of_them=True)
    world.mix = world.mix._replace(loss=0, repeat=0, wordless=0)
    for machine in world.machines:
        machine.offset_ms = 0
        machine.boot()
    spoken = {id_ for machine in world.machines for id_ in _with_words(machine)}
    _ring(world, 1_000_001, writing=True)
    _last_words(world)
    _same(world, spoken)
    fresh = _in_one_store(world)
    _folds(world, fresh)
    if world.mix.duckdb:
        _read_models([*world.machines, fresh])
    _erased(world, [*world.machines, fresh])


def _with_words(machine):
    return [event.id for event in machine.stored() if event.body is not None]


def _ring(world, first, *, writing=False):
    """Each syncs with the next, while everybody writes once more, until there is one frontier."""
    machines = world.machines
    for number in range(MOST_ROUNDS):
        for place, machine in enumerate(machines):
            world._begin(first + number * 100 + place)
            if writing and number == 0:
                said = {"speaker": "mara", "verbatim": f"the end {place}"}
                world.append(machine, machine.processes[0], AGENTS[0], [("utterance.recorded", said)])
            other = machines[(place + 1) % len(machines)]
            here, there = world._receiver(machine), world._receiver(other)
            union(here, there)
            world._received(machine, here)
            world._received(other, there)
        same = len({machine.log.root() for machine in machines}) == 1
        # Words that nobody has stay wanted.
        if same and (number > len(machines) or not any(machine.log.wanted() for machine in machines)):
            world.say(f"{number + 1} rounds of syncing")
            return
    check(False, f"{MOST_ROUNDS} rounds of syncing don't end in one frontier")


def _last_words(world):
    """In some worlds everybody records one item of a source, each from another's mouth, and then one is erased."""
    world._begin(2_000_000)
    if world.random.random() < 0.6:
        return
    for place, machine in enumerate(world.machines):
        world._begin(2_000_001 + place)
        said = {"speaker": PEOPLE[place % 3], "verbatim": f"heard-{place}", "source_ref": "the end"}
        world.append(machine, machine.processes[0], AGENTS[0], [("utterance.recorded", said)])
    _ring(world, 3_000_000)
    world._begin(4_000_000)
    machine = world.machines[0]
    world.append(machine, machine.processes[0], ("warden", "human"), [("subject.erased", {"subject": PEOPLE[1]})])
    _ring(world, 5_000_000)


def _same(world, spoken):
    """All hold the same events and words."""
    first = set(world.machines[0].holding.order)
    covered = oracle.Coverage(world.machines[0].held(), world.mentions).any()
    for machine in world.machines:
        check(set(machine.holding.order) == first, f"{machine.name} doesn't hold what others hold")
        checks.whole(machine)
        check(spoken - covered <= set(_with_words(machine)), f"{machine.name} lacks words that another had")


def _in_one_store(world):
    """All events merged into one new store, in another order, some twice, then without their words."""
    fresh = Machine(world, "fresh", offset_ms=0, durability="power")
    fresh.boot(create=True)
    random = world.random
    events = world.machines[0].stored()
    events += [Event(event.raw) for event in random.sample(events, len(events) // 4)]
    random.shuffle(events)
    receiver = Receiver(fresh.log, wall=fresh.wall(), max_drift_ms=60_000)
    size = random.choice((5, 40, 1_000))
    receiver.take(events[start : start + size] for start in range(0, len(events), size))
    fresh.received(events)
    checks.whole(fresh)
    expected = digest(*folded(fresh.log))
    for machine in world.machines:
        machine.mirror.refresh(machine.log)
        same = digest(machine.mirror.lives, machine.mirror.notes) == expected
        check(same, "a store's refreshed read models have another digest than a fold of all events in one store")
    check(fresh.log.root() == world.machines[0].log.root(), "one store with all events has another root")
    return fresh


def _folds(world, fresh):
    """The fold depends on no order and no repetition, on nothing that is later, and is that of the specification."""
    facts, erased = facts_of(fresh.log), fresh.log.erased()
    result = fold(facts, erased=erased)
    lives, notes = told(result)
    repeated = [*facts, *facts]
    world.random.shuffle(repeated)
    again = told(fold(repeated, erased=erased))
    check(again == (lives, notes), "the fold depends on the order or the repetition of its events")
    stamps = sorted(fact.hlc for fact in facts)
    moments = [stamps[world.random.randrange(len(stamps))] for _ in range(3)] if stamps else []
    for until in moments[:1]:
        then = fold([fact for fact in facts if fact.hlc <= until], erased=erased, until=until)
        for life in then.lives.values():
            now = lives.get(life.id)
            check(
                now is not None and _up_to(now, until) == _up_to(summary(life), until),
                "what came later changes an answer",
            )
    if not world.mix.plain:
        return
    now = world.now_ms << 16 | MAX_COUNTER
    for until in (*moments, now, MAX_MS << 16):
        product = {life.id: life.at(until).status for life in result.lives.values() if life.at(until) is not None}
        expected = naive_fold.statuses(facts, erased, until)
        if product != expected:
            wrong = min(i for i in product.keys() | expected.keys() if product.get(i) != expected.get(i))
            check(False, f"belief {wrong.hex()[:8]} is {product.get(wrong)}, and by the rules {expected.get(wrong)}")


def _up_to(told_life, until):
    """Status and cause at each moment up to a stamp; whether it is the last stretch is no part of it."""
    rows = (row for row in told_life[1] if row.since <= until)
    return [(row.since, row.status, row.cause, row.stale, row.contested, row.forked) for row in rows]


def _read_models(machines):
    """The real read models: one digest, and an audit that finds nothing."""
    digests = {machine.processes[0].store.digest() for machine in machines}
    check(len(digests) == 1, "the read models of stores with the same events have other digests")
    if machines[0].log.wanted():
        return  # the words went with a store that was lost, and the audit says so
    report = machines[0].processes[0].store.audit(Request(shuffles=1))
    check(report.outcome == "same", f"the audit finds something: {report.as_text()}")


def _erased(world, machines):
    """Once every clock is past every erasure, no covered text is left in any file."""
    world.now_ms += YEARS_MS
    coverage = oracle.Coverage(machines[0].held(), world.mentions)
    texts = [text for id_ in coverage.any() for text in _texts(world.events[id_])]
    for machine in machines:
        for process in list(machine.processes):
            machine.stop(process)
        machine.boot()
        checks.words(machine, machine.stored())
        check(machine.log.checkpoint(), f"{machine.name}: the write-ahead file can't be emptied")
        data = b"".join(path.read_bytes() for path in sorted(machine.folder.glob(f"{LOG_NAME}*")))
        left = [text for text in texts if text in data]
        check(not left, f"{machine.name}: text that was erased is in its files still: {left[:1]}")


def _texts(event):
    """Texts of an event that stand in no other."""
    return [text.encode() for text in event.words.values() if isinstance(text, str) and "-" in text]
