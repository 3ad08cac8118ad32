"""Bundles: whole or refused, whatever was cut, changed, or claimed; and what comes out is what went in."""

import hashlib
import io
import struct
import zlib

import pytest
from tests.events.build import Author

from beliefbase.events import bundle as bundles
from beliefbase.events.bundle import MAGIC, Bundle, BundleDamaged, export
from beliefbase.events.envelope import Event
from beliefbase.events.errors import BeliefbaseError, StoreUnavailable
from beliefbase.events.frontier import EMPTY_ROOT
from beliefbase.events.ids import skeleton_hash
from beliefbase.events.sqlite import SQLiteLog


@pytest.fixture
def log(tmp_path):
    return SQLiteLog(tmp_path / "log.db", durability="process")


@pytest.fixture
def other(tmp_path):
    return SQLiteLog(tmp_path / "other.db", durability="process")


def contents(log):
    return sorted((e.raw, e.salt, e.body) for page in log.read() for _, e in page)


def pages(path):
    with Bundle(path) as bundle:
        return [event for page in bundle.pages() for event in page]


def small(log, path):
    """A bundle of a few events of two writers, one of them forked, one without words."""
    ann, ben = Author("ann"), Author("ben")
    log.merge([ann.joined(), ann.said(), *ben.utterances(2)])
    clone = ann.fork()
    log.merge([ann.said("one way"), clone.said("another"), clone.affirmed(b"b" * 16)])
    return export(log, path)


def sealed(body):
    """A file with a right digest, whatever is in it."""
    return MAGIC + body + hashlib.sha256(MAGIC + body).digest()


def segment(plain, *, method=1, stored=None, claim=None):
    stored = zlib.compress(plain) if stored is None else stored
    return struct.pack(">BII", method, len(stored), len(plain) if claim is None else claim) + stored


def seal(events, root=EMPTY_ROOT):
    return b"\xff" + struct.pack(">Q32s", events, root)


def test_what_comes_out_is_what_went_in(log, other, tmp_path):
    path = tmp_path / "a.bundle"
    told = small(log, path)
    with Bundle(path) as bundle:
        assert bundle.contents == told
        for page in bundle.pages():
            other.merge(page)
    assert contents(other) == contents(log)
    assert other.root() == log.root() == told.root
    assert (told.events, told.words, told.writers) == (7, 6, 2)
    assert told.file_bytes == path.stat().st_size
    assert [file.name for file in tmp_path.glob("*.tmp")] == []


def test_many_segments_and_an_empty_log(log, other, tmp_path, monkeypatch):
    assert export(other, tmp_path / "empty.bundle").events == 0
    assert pages(tmp_path / "empty.bundle") == []
    monkeypatch.setattr(bundles, "SEGMENT", 500)
    log.append([Author().joined(), *Author("b").utterances(40)])
    export(log, tmp_path / "many.bundle")
    with Bundle(tmp_path / "many.bundle") as bundle:
        assert len(list(bundle.pages())) > 5
    assert len(pages(tmp_path / "many.bundle")) == 41


def test_what_compresses_too_well_is_stored_as_it_is_and_comes_back(log, tmp_path):
    said = Author().said("a" * 60_000)
    log.append([said])
    export(log, tmp_path / "a.bundle")
    assert pages(tmp_path / "a.bundle") == [said]


def test_cut_at_any_byte_it_is_refused_and_named(log, tmp_path):
    path = tmp_path / "a.bundle"
    small(log, path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(BundleDamaged) as raised:
            Bundle(path)
        assert raised.value.data["path"] == str(path)
        assert raised.value.data["offset"] <= size
    path.write_bytes(whole + b"\0")
    with pytest.raises(BundleDamaged, match="behind its end"):
        Bundle(path)


def test_with_any_bit_flipped_it_is_refused_and_named(log, tmp_path):
    path = tmp_path / "a.bundle"
    log.append([(author := Author()).said(), author.affirmed(b"b" * 16)])
    export(log, path)
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(BundleDamaged, match=r"a\.bundle"):
            Bundle(path)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (segment(b"x", stored=zlib.compress(bytes(1 << 28)), claim=1 << 28) + seal(0), "beyond the limits"),
        (segment(b"x", stored=zlib.compress(bytes(1 << 21)), claim=1 << 21) + seal(0), "beyond the limits"),
        (segment(b"x", stored=zlib.compress(bytes(1 << 20)), claim=3000) + seal(0), "doesn't end where it says"),
        (segment(bytes(100), claim=99) + seal(0), "claims 99"),
        (segment(bytes(100), claim=101) + seal(0), "has 100 bytes"),
        (segment(bytes(100), method=7) + seal(0), "unknown way 7"),
        (segment(b"x" * 50, method=0, stored=b"x" * 50) + seal(0), "an event doesn't end"),
        (segment(struct.pack(">II", 4, 0) + b"\x93\x01\x02\x03", method=0) + seal(1), "segment"),
        (seal(1), "its seal"),
        (seal(0, bytes(32)), "its seal"),
    ],
)
def test_files_that_lie_are_refused_before_they_take_memory(tmp_path, body, says):
    path = tmp_path / "a.bundle"
    path.write_bytes(sealed(body))
    with pytest.raises(BundleDamaged, match=says):
        Bundle(path)


def test_events_that_are_none_and_chains_that_break_are_refused(tmp_path):
    ann = Author()
    first, second, third = ann.joined(), ann.said(), ann.said()
    forged = Event(second.raw, second.salt, b"\x92\x01\x80")
    for events, says in (
        ([first, third], "doesn't follow"),
        ([second], "doesn't follow"),
        ([first, second, second], "doesn't follow"),
        ([first, forged], "commits to"),
        ([Event(first.raw + b"\0")], "skeleton|canonical|bytes"),
    ):
        plain = b"".join(bundles._record(event) for event in events)
        (tmp_path / "a.bundle").write_bytes(sealed(segment(plain, method=0, stored=plain) + seal(len(events))))
        with pytest.raises(BundleDamaged, match=says):
            Bundle(tmp_path / "a.bundle")


def test_a_file_that_changes_between_the_check_and_the_reading_is_noticed(log, tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "SEGMENT", 1000)
    path = tmp_path / "a.bundle"
    log.append(Author().utterances(300))  # more than the file object reads ahead
    export(log, path)
    with Bundle(path) as bundle:
        reading = bundle.pages()
        first = next(reading)
        changed = bytearray(path.read_bytes())
        changed[-300] ^= 1
        with path.open("rb+") as file:
            file.write(changed)
        with pytest.raises(BundleDamaged):
            list(reading)
    assert first


def test_an_export_that_fails_leaves_the_old_file_and_no_other(log, tmp_path, monkeypatch):
    path = tmp_path / "a.bundle"
    small(log, path)
    before = path.read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreUnavailable, match="No space"):
        export(log, path)
    assert path.read_bytes() == before
    assert list(tmp_path.glob("*.tmp")) == []
    with pytest.raises(StoreUnavailable, match="can't be read"):
        Bundle(tmp_path / "nowhere")


def test_every_error_is_typed(tmp_path):
    path = tmp_path / "a.bundle"
    for junk in (b"", b"BB", b"SQLite format 3\0" * 100, io.BytesIO(bytes(1000)).read()):
        path.write_bytes(junk)
        with pytest.raises(BeliefbaseError) as raised:
            Bundle(path)
        assert raised.value.exit_code == 4


def test_skeletons_are_hashed_as_they_stand(log, tmp_path):
    small(log, tmp_path / "a.bundle")
    assert {event.id for event in pages(tmp_path / "a.bundle")} == {
        skeleton_hash(event.raw)[:16] for page in log.read() for _, event in page
    }
