"""Power cuts after every write of a script: what the log said it keeps is kept, and nothing is ever there by halves."""

import random
import shutil

import pytest
from tests.events.build import Author
from tests.events.test_sqlite_log import assert_whole
from tests.faults import vfs
from tests.faults.disk import Disk, Done, Trace, put
from tests.scale import scaled

from beliefbase.events.sqlite import SQLiteLog

pytestmark = pytest.mark.skipif(not vfs.AVAILABLE, reason="Python's SQLite is linked in such that it can't be reached")


class Script:
    """Everything that a log does to its file; the trace is told of each batch that is stored, and of what is erased."""

    def __init__(self, path, trace, durability):
        self.path, self.trace, self.durability = path, trace, durability
        self.batches = []
        """Every batch before it is handed to the log."""

    def run(self):
        ann, ben, eve = Author("ann"), Author("ben"), Author("eve")
        first = self.open()
        self.append(first, [ann.joined(), secret := ann.said("x" * 500, subjects=["will"])])
        self.append(first, [ann.said(f"{n}") for n in range(20)])
        second = self.open()
        self.append(second, [ben.joined(), *ben.utterances(5)])
        self.append(first, [ann.extracted(f"A belief {n}.", evidence=[secret.id]) for n in range(3)])
        first.checkpoint()
        for number in range(4):
            self.append(second, [ben.said(f"after the checkpoint {number} " * 30)])
        eves = [eve.joined(), *eve.utterances(6)]
        self.merge(first, eves[:3] + eves[4:])  # one is missing: the rest is kept aside
        self.merge(second, eves[3:4])
        first.root()
        self.append(first, [ann.write("subject.erased", {"subject": "will"})])
        self.trace.done(("erased", secret.id))
        self.append(second, [Author(f"writer {n}").joined() for n in range(80)])
        second.root()
        second.close()
        first.close()
        third = self.open()
        self.append(third, ben.utterances(10))
        third.checkpoint()
        self.append(third, ann.utterances(2))
        third.close()

    def open(self):
        return SQLiteLog(self.path, durability=self.durability, boot=lambda: "before the cut")

    def append(self, log, events):
        self.batches.append([event.id for event in events])
        log.append(events)
        self.trace.done(("stored", len(self.batches)))

    def merge(self, log, events):
        self.batches.append([event.id for event in events])
        log.merge(events)
        self.trace.done(("stored", len(self.batches)))


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """For a durability: the script that ran, and its trace."""

    def run(durability):
        if durability not in runs:
            with vfs.watched(Trace()) as trace:
                script = Script(tmp_path_factory.mktemp("script") / "log.db", trace, durability)
                script.run()
            runs[durability] = script
        return runs[durability]

    runs = {}
    return run


def states(disk, rng):
    """States that a cut may leave, by name."""
    yield "kept", disk.kept()
    yield "written", disk.written()
    yield "torn", disk.torn(rng)
    yield "mixed", disk.mixed(rng)
    yield "mixed again", disk.mixed(rng)


def cuts(script, every, tmp_path):
    """The log after a cut at every so-manieth step, in each state, with what had been acknowledged by then."""
    disk, rng = Disk(), random.Random(1)
    steps = script.trace.steps
    for number, step in enumerate(steps):
        disk.step(step)
        if number % every and not isinstance(step, Done):
            continue
        stored = max((what for kind, what in disk.done if kind == "stored"), default=0)
        erased = [what for kind, what in disk.done if kind == "erased"]
        for name, files in states(disk, rng):
            folder = put(files, tmp_path / f"{number} {name}")
            with vfs.watched(vfs.Watcher()):  # nobody waits for the real disk
                log = SQLiteLog(folder / "log.db", boot=lambda: "after the cut")
                yield f"step {number} of {len(steps)}, {name}", log, stored, erased
                log.close()
            shutil.rmtree(folder)


def batches_in(log, script):
    """How many batches are there, whole and in order; asserts that no other is there in part."""
    events = {stored.event.id: stored.event for page in log.read() for stored in page}
    aside = {event.id for event in aside_of(log)}
    there = [sum(key in events or key in aside for key in batch) for batch in script.batches]
    whole = [count == len(batch) for count, batch in zip(there, script.batches, strict=True)]
    count = whole.index(False) if False in whole else len(whole)
    assert not any(there[count:]), "half a batch, or a later one without an earlier"
    assert len(events) + len(aside) == sum(map(len, script.batches[:count]))
    return count


def aside_of(log):
    with log._reading() as tables:
        return tables.aside()


def assert_usable(log):
    assert_whole(log)
    new = Author("after the cut")
    log.append([new.joined(), said := new.said("still here")])
    assert log.get(said.id) == said


EVERY = [pytest.param(60, id="some"), pytest.param(1 if scaled(50) == 50 else 31, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("every", EVERY)
def test_durable_appends_survive_a_cut_after_any_write(traced, tmp_path, every):
    script = traced("power")
    tried = more = 0
    for where, log, stored, erased in cuts(script, every, tmp_path):
        found = batches_in(log, script)
        assert stored <= found <= stored + 1, where
        assert all(log.get(key).body is None for key in erased), where
        assert log.restarted() is None, where
        assert_usable(log)
        tried, more = tried + 1, more + found - stored
    print(f"{tried} cuts: 0 acknowledged batches lost; {more} times the one under way was there, whole")
    assert tried > 60


@pytest.mark.parametrize("every", EVERY)
def test_with_process_durability_a_cut_takes_a_suffix_at_most(traced, tmp_path, every):
    script = traced("process")
    tried, lost = 0, []
    for where, log, stored, _ in cuts(script, every, tmp_path):
        found = batches_in(log, script)
        assert found <= stored + 1, where
        if stored > found:
            assert log.restarted().position == log.last_position(), "what may be lost is to be reported"
        assert_usable(log)
        tried += 1
        lost.append(max(0, stored - found))
    print(f"{tried} cuts: {sum(map(bool, lost))} lost the newest batches, {max(lost)} at most; never one from between")
    assert max(lost) > 0, "the cuts don't cut"


def test_without_a_cut_everything_is_there(traced, tmp_path):
    for durability in ("power", "process"):
        script = traced(durability)
        disk = Disk()
        for step in script.trace.steps:
            disk.step(step)
        log = SQLiteLog(put(disk.written(), tmp_path / durability) / "log.db")
        assert batches_in(log, script) == len(script.batches)
        log.close()
