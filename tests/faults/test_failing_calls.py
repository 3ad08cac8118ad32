"""The k-th call to the disk fails, for every k: what is stored is whole, what is said of it is true, and it heals."""

import shutil

import pytest
from tests.events.build import Author
from tests.events.test_sqlite_log import assert_whole
from tests.faults import vfs
from tests.scale import scaled

from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.sqlite import SQLiteLog

pytestmark = pytest.mark.skipif(not vfs.AVAILABLE, reason="Python's SQLite is linked in such that it can't be reached")


class Failing(vfs.Watcher):
    """Counts calls, and lets the k-th fail, once or from then on; ``codes`` maps a call to how it fails."""

    def __init__(self, codes, *, at=0, once=True):
        self.codes, self.at, self.once = codes, at, once
        self.calls = []
        self.armed = False

    def before(self, call, path):
        if not self.armed or call not in self.codes:
            return vfs.OK
        self.calls.append(call)
        count = len(self.calls)
        fails = count == self.at or (self.at and count > self.at and not self.once)
        return self.codes[call] if fails else vfs.OK


def chosen(calls, every):
    """Which calls are to fail, from 1: every so-manieth, and all that ask the disk to keep something."""
    return [at for at, call in enumerate(calls, 1) if call == "sync" or at % every == 0]


IOERR = vfs.FAILURES
FULL = {"write": vfs.FULL, "truncate": vfs.FULL, "shm map": vfs.FULL}
BUSY = {"lock": vfs.BUSY, "shm lock": vfs.BUSY}
KINDS = [
    pytest.param(IOERR, True, id="one I/O error"),
    pytest.param(IOERR, False, id="I/O errors from then on"),
    pytest.param(FULL, True, id="full once"),
    pytest.param(FULL, False, id="full from then on"),
    pytest.param(BUSY, True, id="locked once"),
]
EVERY = [pytest.param(11, id="some"), pytest.param(1 if scaled(50) == 50 else 5, id="all", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A log with a little of everything in it, and writers that can go on in any copy of it."""
    folder = tmp_path_factory.mktemp("prepared")
    log = SQLiteLog(folder / "log.db")
    ann, ben = Author("ann"), Author("ben")
    log.append([ann.joined(), ann.said("x" * 3000, subjects=["will"]), *ann.utterances(20)])
    log.merge([ben.joined(), ben.said("zoe", subjects=["will"])])
    log.close()
    return folder, ann, ben


class World:
    """A copy of the prepared log, and what a test does to it."""

    def __init__(self, prepared, folder):
        source, ann, ben = prepared
        shutil.copytree(source, folder, dirs_exist_ok=True)
        self.path = folder / "log.db"
        self.ann, self.ben = ann.fork(""), ben.fork("")
        self.before = 24
        self.log = None

    def open(self):
        self.log = SQLiteLog(self.path, create=False)
        return self.log

    def events(self):
        return {stored.event.id: stored.event for page in self.log.read() for stored in page}


def told_of(disk, act):
    """What becomes of an action while the disk fails: ``stored``, or the code of the error."""
    disk.armed = True
    raised = None
    try:
        act()
    except StoreUnavailable as error:
        raised = error
    disk.armed = False
    if raised is None:
        return "stored"
    assert raised.hint and raised.data["path"] and raised.data["path"] in str(raised)
    return raised.code


def append(world):
    events = [world.ann.said(f"{n}" * 900) for n in range(5)]
    return events, lambda: world.log.append(events)


def merge(world):
    events = world.ben.utterances(5)
    return events, lambda: world.log.merge(events)


def erase(world):
    events = [world.ann.write("subject.erased", {"subject": "will"})]
    return events, lambda: world.log.append(events)


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("codes, once", KINDS)
@pytest.mark.parametrize("action", [append, merge, erase])
def test_what_is_written_is_whole_or_absent_and_the_answer_is_true(prepared, tmp_path, action, codes, once, every):
    told = {"stored": 0, "store_unavailable": 0, "append_unknown": 0}
    for beside in (False, True):  # a read that is open beside it keeps SQLite from tidying up
        calls = attempt(World(prepared, tmp_path / "dry"), action, Failing(codes), told, beside=beside)
        for at in chosen(calls, every):
            world = World(prepared, tmp_path / f"{at} {beside}")
            attempt(world, action, Failing(codes, at=at, once=once), told, beside=beside)
    print(f"{action.__name__}: {told}")
    if once and codes is BUSY:
        assert told["stored"] == sum(told.values())


def attempt(world, action, disk, told, *, beside):
    """Open the log, act while the disk fails, and check what is there; the calls that were made."""
    with vfs.watched(disk):
        world.open()
        reading = world.log.read(limit=1)
        if beside:
            next(reading)
        events, act = action(world)
        outcome = told_of(disk, act)
        told[outcome] += 1
        killed = world.path.parent.with_name("killed")
        shutil.copytree(world.path.parent, killed)
        reading.close()
        assert_true(world, events, outcome, killed)
    shutil.rmtree(world.path.parent)
    return disk.calls


def assert_true(world, events, outcome, folder):
    """Now, after a kill at that moment, and after the same was written again, with nobody having done anything."""
    killed = SQLiteLog(folder / "log.db", create=False)
    for log in (killed, world.log):
        there = {stored.event.id for page in log.read() for stored in page}
        found = sum(event.id in there for event in events)
        assert len(there) == world.before + found
        assert found in ({len(events)} if outcome == "stored" else {0, len(events)}), "half a batch"
        if outcome == "store_unavailable":
            assert found == 0, "it was said that nothing was stored"
        assert_whole(log)
    killed.close()
    shutil.rmtree(folder)
    world.log.merge(events)
    stored = world.events()
    assert [stored[event.id] for event in events] == events
    assert len(stored) == world.before + len(events)
    if any(event.skeleton.type == "subject.erased" for event in events):
        assert sum(stored.event.body is None for page in world.log.read() for stored in page) == 3
    world.log.close()
    assert_whole(world.open())
    assert len(world.events()) == world.before + len(events)
    world.log.close()


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("codes, once", KINDS)
@pytest.mark.parametrize("action", ["open", "make", "read", "checkpoint"])
def test_other_calls_fail_with_a_typed_error_and_harm_nothing(prepared, tmp_path, action, codes, once, every):
    failed, calls = 0, None
    for at in [0, *range(1, 1000, every)]:
        if calls is not None and at > len(calls):
            break
        with vfs.watched(Failing(codes, at=at, once=once)) as disk:
            world = World(prepared, tmp_path / f"{at}")
            acts = {
                "open": world.open,
                "make": lambda world=world: SQLiteLog(world.path.with_name("new.db")).close(),
                "read": lambda world=world: (world.events(), world.log.root()),
                "checkpoint": lambda world=world: world.log.checkpoint(),
            }
            if action in {"read", "checkpoint"}:
                world.open().append(world.ann.utterances(3))
                world.before += 3
            outcome = told_of(disk, acts[action])
            assert outcome in {"stored", "store_unavailable"}
            failed += outcome != "stored"
            if world.log is not None:
                world.log.close()
            assert_whole(world.open())
            assert len(world.events()) == world.before
            world.log.append(world.ann.utterances(2))
            world.log.close()
            if action == "make":
                new = SQLiteLog(world.path.with_name("new.db"))
                new.append([Author().joined()])
                assert_whole(new)
                new.close()
            shutil.rmtree(world.path.parent)
        calls = calls or disk.calls
    print(f"{action}: {failed} failed")
