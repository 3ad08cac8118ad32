"""An audit by the page finds what one event by event finds: about every kind of damage, in the same words and order."""

import random
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from tests.events.build import Author, writer_id
from tests.events.processes import Child
from tests.projections.worlds import World, interleaved, open_log
from tests.replay.conftest import READINGS, read_as
from tests.replay.tampering import flipped, going_on, many_writers, tamper
from tests.scale import scaled

from beliefbase.events import spill
from beliefbase.events.erasure import covered
from beliefbase.events.ids import commitment, skeleton_hash
from beliefbase.events.lanes import Joined
from beliefbase.replay import integrity
from beliefbase.replay.chain import Surroundings
from beliefbase.replay.integrity import Integrity
from beliefbase.replay.report import AuditReport
from beliefbase.replay.streams import Streams
from beliefbase.replay.sweeping import Sweeping

EVENTS = many_writers(5, 16)
BY_PAGES = [name for name, reading in READINGS.items() if reading is not None]


def quiet(_what, _done):
    pass


def checked(folder, progress=quiet):
    """All that part (a) says, and whether a sweep found the index in order."""
    report = AuditReport()
    with closing(open_log(folder)) as log:
        checks = Integrity(log, report, progress, indexed=True)
        checks.check()
    said = report.findings, report.more_findings, report.checked, report.not_checked, checks.legible, checks.heads
    return said, checks._index_holds


def same_by_every_reading(folder):
    """What all readings say; the findings."""
    said = {}
    for name in READINGS:
        with pytest.MonkeyPatch.context() as patch:
            read_as(patch, name)
            said[name], _ = checked(folder)
    one_by_one, *others = said.values()
    assert others == [one_by_one] * len(others)
    return one_by_one[0]


def every_type(seed, count=260):
    """A world with stamps in their order, so that pages of it are plain."""
    author = Author(f"clock {seed}")
    events = [author.joined("ann")]
    for event in World(seed, count).events:
        skeleton = event.skeleton
        if skeleton.type != "writer.joined":
            raw = skeleton._replace(
                writer=author.writer, seq=author.seq + 1, prev=author.prev, hlc=events[-1].skeleton.hlc + 1
            ).encode()
            events.append(type(event)(raw, event.salt, event.body))
            author.seq, author.prev = author.seq + 1, events[-1].hash
    return events


def a_fork():
    ann, bob = Author("ann"), Author("bob")
    shared = [ann.joined(), ann.said("1"), bob.joined()]
    other = ann.fork()
    return [*shared, ann.said("2"), other.said("two"), ann.said("3"), other.said("three"), bob.said("b")]


def an_erasure():
    ann, owner = Author("ann"), Author("owner", ms=1_750_000_000_000)
    said = ann.joined(), ann.said("kim's words", subjects=("kim",)), ann.said("sam's words", subjects=("sam",))
    belief = ann.extracted("What kim said.", evidence=(said[1].id,))
    return [*said, belief, owner.joined(), owner.write("subject.erased", {"subject": "kim"})]


LOGS = {
    "many writers": EVENTS,
    "every type": every_type(1),
    "every type, with a faulty clock": World(2, 200).events,
    "a fork": a_fork(),
    "an erasure": an_erasure(),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for name, events in LOGS.items():
        with closing(open_log(folder / name)) as log:
            log.merge(interleaved(events, 1))
    return {name: folder / name for name in LOGS}


def copied(folder, to):
    to.mkdir(exist_ok=True)
    for path in to.glob("log.db*"):
        path.unlink()
    with closing(sqlite3.connect(folder / "log.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(to / "log.db"),))
    return to


@pytest.mark.parametrize("name", LOGS)
def test_a_whole_log_has_the_same_findings_whichever_way_it_is_read(made, name):
    findings = same_by_every_reading(made[name])
    assert [finding for finding in findings if finding.severity == "damage"] == []


@pytest.mark.parametrize("reading", BY_PAGES)
@pytest.mark.parametrize("name", LOGS)
def test_the_index_of_a_whole_log_holds_by_a_sweep_alone(made, name, reading, monkeypatch):
    read_as(monkeypatch, reading)
    assert checked(made[name])[1]


@pytest.mark.parametrize("reading", BY_PAGES)
@pytest.mark.parametrize("name", ["many writers", "every type", "a fork"])
def test_of_a_whole_log_no_event_is_looked_at_by_itself(made, name, reading, monkeypatch):
    read_as(monkeypatch, reading)
    monkeypatch.setattr(Streams, "step", lambda *_: pytest.fail("an event was looked at by itself"))
    (findings, *_), holds = checked(made[name])
    assert holds and {finding.severity for finding in findings} <= {"note"}


@pytest.mark.parametrize(("of_each", "swept"), [(10, False), (60, True)])
def test_small_logs_are_read_one_by_one_and_larger_ones_by_the_page(tmp_path, of_each, swept, monkeypatch):
    looked_at, step = [], Streams.step
    monkeypatch.setattr(Streams, "step", lambda self, *one: looked_at.append(one) or step(self, *one))
    events = many_writers(20, of_each)
    open_log(tmp_path, events).close()
    (findings, *_), holds = checked(tmp_path)
    assert (findings, holds, len(looked_at)) == ([], swept, 0 if swept else len(events))


def test_words_that_an_erasure_took_are_passed_over_with_their_page(tmp_path, monkeypatch):
    with closing(open_log(tmp_path)) as log:
        log.merge(an_erasure())
        gone = covered(log)
    assert len(gone) == 2
    read_as(monkeypatch, BY_PAGES[0])
    monkeypatch.setattr(Streams, "step", lambda *_: pytest.fail("an event was looked at by itself"))
    assert checked(tmp_path)[0][2]["words"] == len([event for event in an_erasure() if event.body is not None]) - 2


AT = "rowid = {at}"
EVENT_EDITS = {
    "a bit of a skeleton": "UPDATE events SET state = :flipped WHERE {at}",
    "a skeleton that is none": "UPDATE events SET state = x'c1' WHERE {at}",
    "a skeleton stored as text": "UPDATE events SET state = 'text' WHERE {at}",
    "an event deleted": "DELETE FROM events WHERE {at}",
    "an event doubled behind its stream":
        "INSERT INTO events SELECT NULL, originator_id, originator_version + 1000, topic, state FROM events WHERE {at}",
    "an event doubled before its stream":
        "INSERT INTO events SELECT 0, originator_id, -1, topic, state FROM events WHERE {at}",
    "an event moved to another seq": "UPDATE events SET originator_version = originator_version + 500 WHERE {at}",
    "an event moved to another stream": "UPDATE events SET originator_id = 'f' || substr(originator_id, 2) WHERE {at}",
    "a stream spelled otherwise": "UPDATE events SET originator_id = upper(originator_id) || 'X' WHERE {at}",
    "another type": "UPDATE events SET topic = 'belief.merged/1' WHERE {at}",
    "another version": "UPDATE events SET topic = topic || '1' WHERE {at}",
    "a type stored as bytes": "UPDATE events SET topic = CAST(topic AS BLOB) WHERE {at}",
    "a type that is no UTF-8": "UPDATE events SET topic = CAST(x'ff61' AS TEXT) WHERE {at}",
    "a seq stored as text": "UPDATE events SET originator_version = 'x' WHERE {at}",
    "an event moved in the file": "UPDATE events SET rowid = rowid + 100000 WHERE {at}",
    "words edited": "UPDATE words SET body = body || x'00' WHERE position = {position}",
    "a salt edited": "UPDATE words SET salt = zeroblob(16) WHERE position = {position}",
    "words deleted": "DELETE FROM words WHERE position = {position}",
    "words under another event": "UPDATE words SET event_id = zeroblob(16) WHERE position = {position}",
    "words under a longer name": "UPDATE words SET event_id = event_id || x'00' WHERE position = {position}",
    "words stored as text": "UPDATE words SET body = 'text' WHERE position = {position}",
    "words moved in the file": "UPDATE words SET position = -position WHERE position = {position}",
    "words without an event": "INSERT INTO words VALUES (99999, zeroblob(16), zeroblob(16), x'c0')",
    "words between events and behind them":
        "UPDATE words SET position = position + 100000 WHERE position = {position}",
    "words that nothing commits to":
        "INSERT INTO words SELECT rowid, zeroblob(16), zeroblob(16), x'c0' FROM events e"
        " WHERE NOT EXISTS (SELECT 1 FROM words w WHERE w.position = e.rowid) LIMIT 1",
    "a head set back": "UPDATE heads SET seq = seq - 1 WHERE stream = {stream}",
    "a head set forward": "UPDATE heads SET seq = seq + 1 WHERE stream = {stream}",
    "a head of another event": "UPDATE heads SET hash = zeroblob(32) WHERE stream = {stream}",
    "a head deleted": "DELETE FROM heads WHERE stream = {stream}",
    "a head that nothing has": "INSERT INTO heads SELECT writer, stream || '+1', 1, 9, hash, NULL FROM heads LIMIT 1",
    "a head that begins later": "UPDATE heads SET first = first + 1 WHERE stream = {stream}",
    "a head that leaves another": "UPDATE heads SET parent = stream WHERE stream = {stream}",
}  # fmt: skip


def edited(folder, statement, position):
    """Do it to an event."""
    with closing(sqlite3.connect(folder / "log.db")) as connection:
        stream, raw = connection.execute(
            "SELECT originator_id, state FROM events WHERE rowid = ?", (position,)
        ).fetchone()
    for name, value in (
        ("{at}", f"rowid = {position}"),
        ("{position}", str(position)),
        ("{stream}", f"'{stream}'"),
        (":flipped", f"x'{flipped(raw, 8 * (len(raw) // 2)).hex()}'"),
    ):
        statement = statement.replace(name, value)
    tamper(folder, (statement,))


@pytest.mark.parametrize("kind", EVENT_EDITS)
def test_damage_to_events_words_and_heads_is_told_alike(made, tmp_path, kind):
    dice, told = random.Random(kind), 0
    for name in ("many writers", "every type", "a fork"):
        for position in sorted(dice.sample(range(1, len(LOGS[name]) + 1), 3)):
            folder = copied(made[name], tmp_path / name)
            edited(folder, EVENT_EDITS[kind], position)
            told += any(finding.severity == "damage" for finding in same_by_every_reading(folder))
    assert told


INDEX_EDITS = {
    "a row missing": "DELETE FROM refs WHERE (key, role, position) IN (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "the last row missing": "DELETE FROM refs WHERE key = (SELECT max(key) FROM refs)",
    "a row too many": "INSERT INTO refs SELECT key, role, position + 1 FROM refs"
    " WHERE (key, role, position + 1) NOT IN (SELECT * FROM refs) LIMIT 1 OFFSET {n}",
    "a row of a key that nothing has": "INSERT INTO refs VALUES ({n} - 9223372036854775808, 0, 1)",
    "a row of a position that nothing has": "INSERT INTO refs SELECT key, role, 99999 FROM refs LIMIT 1 OFFSET {n}",
    "a row in another role": "UPDATE OR REPLACE refs SET role = role + 8 WHERE (key, role, position) IN"
    " (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "a row in a role below zero": "UPDATE refs SET role = -1 WHERE (key, role, position) IN"
    " (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "a row at another position": "UPDATE refs SET position = position + 4294967296 * 2 WHERE (key, role, position) IN"
    " (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "a role that is no integer": "UPDATE refs SET role = role + 0.5 WHERE (key, role, position) IN"
    " (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "a key that is no integer": "UPDATE refs SET key = 'key' WHERE (key, role, position) IN"
    " (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "a position that is no integer": "UPDATE refs SET position = 'x' WHERE (key, role, position) IN"
    " (SELECT * FROM refs LIMIT 1 OFFSET {n})",
    "a stamp missing": "DELETE FROM stamps WHERE hlc = (SELECT hlc FROM stamps LIMIT 1 OFFSET {n})",
    "a stamp later than all": "INSERT INTO stamps SELECT max(hlc) + {n} + 1 FROM stamps",
    "a tip missing": "DELETE FROM tips WHERE (key, event_id) IN (SELECT * FROM tips LIMIT 1 OFFSET {n} % 9)",
    "a tip too many": "INSERT INTO tips SELECT zeroblob(16), event_id FROM tips LIMIT 1 OFFSET {n} % 9",
    "a tip of the last key": "INSERT INTO tips VALUES (x'ffffffffffffffffffffffffffffffff', zeroblob(16))",
    "a tip of another event": "UPDATE tips SET event_id = zeroblob(16) WHERE (key, event_id) IN"
    " (SELECT * FROM tips LIMIT 1 OFFSET {n} % 9)",
    "a tip of a short key": "INSERT INTO tips VALUES (x'', zeroblob(16))",
    "a tip stored as text": "UPDATE tips SET event_id = 'text' WHERE (key, event_id) IN"
    " (SELECT * FROM tips LIMIT 1 OFFSET {n} % 9)",
}


@pytest.mark.parametrize("kind", INDEX_EDITS)
def test_damage_to_the_index_is_told_alike(made, tmp_path, kind):
    for name in ("many writers", "every type"):
        for number in (0, 7, 23):
            folder = copied(made[name], tmp_path / name)
            tamper(folder, (INDEX_EDITS[kind].format(n=number),))
            findings = same_by_every_reading(folder)
            assert {finding.check for finding in findings} == {"index"}


def test_a_stamp_that_no_event_has_is_no_damage_below_the_largest(made, tmp_path, monkeypatch):
    folder = copied(made["many writers"], tmp_path / "copy")
    tamper(folder, ("INSERT INTO stamps VALUES (7)",))
    assert same_by_every_reading(folder) == []
    read_as(monkeypatch, BY_PAGES[0])
    assert checked(folder)[1]


@pytest.mark.parametrize("reading", BY_PAGES)
def test_what_others_write_during_a_sweep_is_no_finding(tmp_path, reading, monkeypatch):
    open_log(tmp_path, EVENTS).close()
    read_as(monkeypatch, reading)
    monkeypatch.setattr(integrity, "STEP", 1)
    late, older = (
        Author("late"),
        going_on([event for event in EVENTS if event.skeleton.writer == writer_id("writer 0")]),
    )
    newer = [late.joined(), late.said(), late.retracted(EVENTS[-1].id), older.said(), older.retracted(EVENTS[-1].id)]
    heard = []

    def write(_pipe):
        with closing(open_log(tmp_path)) as log:
            assert log.merge(newer).stored == len(newer)

    def progress(what, done):
        if not heard:
            Child(write).succeed()
        heard.append((what, done))

    (findings, _, looked_at, *_), holds = checked(tmp_path, progress)
    assert (findings, holds, looked_at["events"]) == ([], True, len(EVENTS))
    (_, _, looked_at, *_), holds = checked(tmp_path)
    assert (looked_at["events"], holds) == (len(EVENTS) + len(newer), True)


class OnePage:
    """A log in memory, as a sweep reads it: one page, and words."""

    def __init__(self, page, words):
        self.page, self._words = page, words

    def last_position(self):
        return int(self.page.positions[0])

    def pages(self, _limit):
        yield self.page

    def words(self, least, most):
        return (spoken for spoken in self._words if least <= spoken[0] <= most)

    def filed(self):
        spoken = dict(zip(self.page.with_words, self._words, strict=True))
        for place, stream in enumerate(self.page.streams):
            yield self.page.stream_names[stream], self.page.filed(place, spoken.get(place))

    def every_flip(self, every):
        """Copies with a bit flipped: of skeletons, and of salts, bodies and names of words."""
        raws = [self.page.raw(place) for place in range(len(self.page.positions))]
        for place, raw in enumerate(raws):
            for bit in range(place % every, 8 * len(raw), every):
                other, hashes = flipped(raw, bit), self.page.hashes.copy()
                hashes[place] = np.frombuffer(skeleton_hash(other), dtype=np.uint8)
                joined = Joined.of([*raws[:place], other, *raws[place + 1 :]])
                yield OnePage(self.page._replace(joined=joined, hashes=hashes), self._words)
        for place, spoken in enumerate(self._words):
            for part in (1, 2, 3):
                for bit in range(place % every, 8 * len(spoken[part]), every):
                    words, values = [*self._words], list(spoken)
                    values[part] = flipped(spoken[part], bit)
                    words[place] = tuple(values)
                    digests = [commitment(salt, body) for _, salt, body, _ in words]
                    page = self.page._replace(digests=digests, words_of=[of for *_, of in words])
                    yield OnePage(page, words)


def every_flip(events, folder, every):
    """Whatever bit is flipped, a sweep says what is said event by event."""
    with closing(open_log(folder, events)) as log, log.filing() as filing:
        kept = dict(filing.branches())
        (page,) = filing.sweep.pages(10_000)
        whole = OnePage(page, list(filing.sweep.words(-(1 << 63), (1 << 63) - 1)))
    around = Surroundings(lambda _: None, lambda _: False, lambda: None)

    def streams():
        return Streams({stream: one.head for stream, one in kept.items()}, kept, around, None)

    def swept(log):
        sweep = Sweeping(streams(), log, frozenset, lambda _events, _words: None, indexed=False)
        assert sweep.run()
        return sweep.report.findings

    def one_by_one(log):
        walks = streams()
        return [*(found for one in log.filed() for found in walks.step(*one)), *walks.finish()]

    assert swept(whole) == one_by_one(whole) == []
    flips = 0
    for flips, log in enumerate(whole.every_flip(every), 1):  # noqa: B007  counted
        found = swept(log)
        assert found and found == one_by_one(log)
    return flips


def test_flipped_bits_of_a_short_log_are_told_alike(tmp_path, monkeypatch):
    read_as(monkeypatch, "by large pages, spilled")
    assert every_flip(many_writers(2, 5), tmp_path, 41) > 400


@pytest.mark.slow
def test_every_flipped_bit_is_told_alike(tmp_path, monkeypatch):
    read_as(monkeypatch, "by small pages")
    events = many_writers(2, max(3, scaled(10)))
    assert every_flip(events, tmp_path, 1) > len(events) * 8 * 150


@pytest.mark.parametrize("room", [0, 300, 1 << 25])
def test_a_spill_gives_back_what_was_put_in(room, monkeypatch):
    import numpy as np

    monkeypatch.setattr(spill, "ROOM", room)
    rows = np.arange(400, dtype=np.int64).reshape(-1, 2)
    with closing(spill.Spill(2, np.int64)) as kept:
        for start in range(0, 200, 30):
            part = rows[start : start + 30]
            kept.add(part, (part[:, 0] % 256).astype(np.uint8))
        assert kept.spilled == (room < 400 * 8)
        if kept.spilled:
            for shelf in range(spill.SHELVES):
                assert kept.take(shelf, shelf).tolist() == rows[rows[:, 0] % 256 == shelf].tolist()
        else:
            assert kept.take(0, spill.SHELVES - 1).tolist() == rows.tolist()
