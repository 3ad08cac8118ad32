"""What must hold of one machine's log at any moment, against the specification of tests/sim/oracle.py."""

from tests.sim import oracle
from tests.sim.violation import check

from beliefbase.events.catalog.registry import REVISIONS
from beliefbase.events.hlc import ms_of
from beliefbase.events.ids import ZERO_HASH

EXTRACTED = "belief.extracted"


def whole(machine):
    """Everything that can be asked of a log without folding it."""
    log, held, events = machine.log, machine.held(), machine.world.events
    stored = machine.stored()
    check([event.id for event in stored] == machine.holding.order, f"{machine.name} holds other events")
    check(all(event.raw == events[event.id].raw for event in stored), f"{machine.name} changed an event")
    words(machine, stored)
    check(log.frontier() == oracle.frontier_of(held), f"{machine.name}: the frontier is not that of its events")
    check(log.root() == oracle.root_of(held), f"{machine.name}: the root is not that of its frontier")
    check(log.forks() == oracle.forks_of(held), f"{machine.name}: doctor would report other forks")
    gaps = oracle.gaps_of([events[id_] for id_ in machine.holding.aside])
    check(sorted(log.gaps()) == gaps, f"{machine.name}: it wants other events than those that are missing")
    keys = {key for event in held for key in (event.id, *event.skeleton.touches)}
    with log.transaction() as transaction:
        tips = {key: set(ids) for key, ids in transaction.tips(keys).items()}
    check(tips == oracle.tips_of(held), f"{machine.name}: the latest revisions are not what its events say")


def aside(machine):
    """Words that are kept aside go as well."""
    holding, world = machine.holding, machine.world
    if holding.aside and holding.settled:
        waiting = [world.events[id_] for id_ in holding.aside]
        covered = oracle.Coverage(machine.held(), world.mentions).beside(waiting, holding.settled)
        with machine.log.transaction() as transaction:
            kept = {event.id for event in transaction.tables.aside() if event.body is not None}
        check(not kept & covered, f"{machine.name} keeps words aside that an erasure covers")


def words(machine, stored):
    """Words are here unless an erasure covers them, and go where one that was carried out does."""
    holding, world = machine.holding, machine.world
    here = {event.id for event in stored if event.body is not None}
    for event in stored:
        known = world.events[event.id]
        check(event.body is None or event.body == known.body, f"{machine.name} changed words")
    held = machine.held()
    committed = {event.id for event in held if event.skeleton.commitment is not None}
    coverage = oracle.Coverage(held, world.mentions)
    due = coverage.any(holding.settled)
    check(not here & due, f"{machine.name} keeps words that an erasure covers")
    if coverage.by:
        around = [*held, *(world.events[id_] for id_ in holding.aside)]
        holding.excused |= oracle.Coverage(around, world.mentions).any()
    holding.excused -= here
    check(
        (holding.offered & committed) - holding.excused - due <= here,
        f"{machine.name} lost words that no erasure covers",
    )
    check(here <= holding.offered, f"{machine.name} has words from nowhere")
    log, first = machine.log, coverage.first()
    wanted = committed - here - first.keys()
    check(set(log.wanted()) == wanted, f"{machine.name}: it wants other words than those that are missing")
    erased = {
        id_: (world.events[by].skeleton.hlc, by)
        for id_, by in first.items()
        if world.events[id_].skeleton.type == EXTRACTED
    }
    check(dict(log.erased()) == erased, f"{machine.name}: other beliefs count as erased than their erasures say")


def appended(machine, process, new, before, visible, *, importer=False, explicit=False):
    """What must hold of events that a process has just appended, in order of their storing."""
    world, wall = machine.world, machine.wall()
    held = list(before)
    for event in new:
        skeleton = event.skeleton
        where = f"{machine.name}: {skeleton.type} {event.id.hex()[:8]}"
        _chained(world, process, event, where)
        if not importer:
            check(skeleton.hlc > visible, f"{where} sorts before what its author could see")
            check(ms_of(skeleton.hlc) <= wall + 60_000 + 1, f"{where} is stamped ahead of the clock")
            visible = skeleton.hlc
        check(skeleton.recorded == wall - ms_of(skeleton.hlc), f"{where} doesn't say how late it was recorded")
        if skeleton.type in REVISIONS and not explicit:
            revised = _revised(event, held)
            tips = set().union(*oracle.tips_of(held, revised).values())
            check(set(skeleton.basis_ids) == tips, f"{where} doesn't name the revisions that its author had read")
        _subjects(event, held, where)
        held.append(event)


def _chained(world, process, event, where):
    skeleton = event.skeleton
    owners = world.owners.setdefault(skeleton.writer, set())
    if skeleton.seq == 1:
        first = (skeleton.writer, process.number) not in world.begun
        check(
            first and (not owners or process.number in owners),
            f"{where} begins a stream under an id that was used before",
        )
        world.begun.add((skeleton.writer, process.number))
        check(skeleton.prev == ZERO_HASH, f"{where} begins a stream behind another event")
        check(skeleton.type == "writer.joined", f"{where} begins a stream and doesn't say whose it is")
        owners.add(process.number)
        return
    check(process.number in owners, f"{where} continues a writer of another process")
    before = world.by_hash.get(skeleton.prev)
    check(before is not None and before.skeleton.writer == skeleton.writer, f"{where} continues nothing")
    check(before.skeleton.seq + 1 == skeleton.seq, f"{where} leaves a gap in its stream")
    check(before.skeleton.hlc < skeleton.hlc, f"{where} is stamped before its predecessor")


def _revised(event, held):
    touched = set(event.skeleton.touches)
    if event.skeleton.type == oracle.RESOLVED:
        for raised in held:
            if raised.id in touched and oracle.is_raised(raised):
                touched = touched | {raised.skeleton.payload["left"], raised.skeleton.payload["right"]}
    return touched


def _subjects(event, held, where):
    skeleton = event.skeleton
    if skeleton.commitment is None:
        check(not skeleton.subjects, f"{where} has subjects and no words")
        return
    evidence = set(skeleton.payload.get("evidence", ()))
    cited = [e.skeleton.subjects for e in held if evidence & {e.id, e.skeleton.source_ref}]
    said = {skeleton.payload["speaker"]} if skeleton.type == "utterance.recorded" else set()
    check(set(skeleton.subjects) >= said.union(*cited), f"{where} doesn't say whose words it holds")
