r"""A bundle: a whole log in one file, to carry to another machine (docs/sync.md).

::

    "BBUNDLE\\x01"                                   8 bytes
    segments   method (1 byte), stored size, plain size (4 bytes each, big-endian), the stored bytes
    signed     method 2, how many (4 bytes), then signed heads: writer (16 bytes), seq (8), hash (32), signature (64)
    seal       method 255, then events (8 bytes) and the root of their frontier (32 bytes)
    digest     SHA-256 over all of the above

A segment holds events one behind the other, each as size of the skeleton, size of the body plus one or 0 for none
(4 bytes each), skeleton, salt, body. Method 0 is stored as it is, method 1 is zlib's. Sizes are limited, and so is what
a compressed segment may become, before memory is taken for it. Writers come in order of their ids, each with its events
in order of seq.

Nothing of a file is used before all of it was checked: the digest, every event and its words, every chain, and the
root over the heads that come out.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, NamedTuple, Self

from beliefbase.events import limits
from beliefbase.events.envelope import SALT_BYTES, Event
from beliefbase.events.errors import BeliefbaseError, LogDamaged, StoreUnavailable
from beliefbase.events.frontier import frontier_root
from beliefbase.events.ids import ZERO_HASH
from beliefbase.events.log import EventLog, Head, SignedHead
from beliefbase.events.merging import checked

MAGIC: Final = b"BBUNDLE\x01"
SEGMENT: Final = 1 << 20
"""Plain bytes from which on a segment is written."""
_MOST: Final = SEGMENT + limits.FOREIGN_SKELETON_BYTES + limits.BODY_BYTES + SALT_BYTES + 8
RATIO: Final = 100
"""A segment that zlib makes smaller than a hundredth is stored as it is, and one that claims so is refused."""
_STORED, _DEFLATED, _SIGNED, _SEAL = 0, 1, 2, 255
_HEADER: Final = struct.Struct(">BII")
_SIZES: Final = struct.Struct(">II")
_SEALED: Final = struct.Struct(">Q32s")
_COUNT: Final = struct.Struct(">I")
_SIGNED_HEAD: Final = struct.Struct(">16sQ32s64s")


class BundleDamaged(LogDamaged):
    """A bundle was cut, changed, or never was one; nothing of it was used. ``data`` has path and offset."""

    code = "bundle_damaged"


class Contents(NamedTuple):
    """What a bundle holds."""

    events: int
    words: int
    """Events with words."""
    writers: int
    root: bytes
    """Root of the frontier."""
    plain_bytes: int
    file_bytes: int


class Heads:
    """Follows events, writer by writer in order of seq, to the heads that they make; memory goes by the heads."""

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}
        self._writer = b""
        self._seq = 0
        self._level: set[bytes] = set()
        """Hashes of the writer's events with this seq: more than one where it forked."""
        self._below: set[bytes] = {ZERO_HASH}
        self.writers = 0

    def follow(self, event: Event) -> bool:
        """Take an event in; False where it isn't its turn, or its predecessor wasn't there."""
        _, writer, seq, prev, *_ = event.skeleton
        if writer != self._writer:
            if writer < self._writer:
                return False
            self._writer, self._seq, self._level = writer, 0, {ZERO_HASH}
            self.writers += 1
        if seq == self._seq + 1:
            self._seq, self._below, self._level = seq, self._level, set()
        if seq != self._seq or prev not in self._below or event.hash in self._level:
            return False
        self._level.add(event.hash)
        self._heads.pop(prev, None)
        self._heads[event.hash] = Head(writer, seq, event.hash)
        return True

    def root(self) -> bytes:
        """The root of the frontier."""
        return frontier_root(self._heads.values())


def export(log: EventLog, path: Path) -> Contents:
    """Write all events of a log into a file, whole or not at all.

    Raises:
        StoreUnavailable: the file can't be written.
    """
    partial = path.with_name(path.name + ".tmp")
    try:
        with partial.open("wb") as file:
            with log.still() as now:
                contents = _Writing(file).write((event for page in now.since(()) for event in page), now.signatures())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreUnavailable(
            f"{path}: can't be written ({error.strerror})", hint="choose a writable place", path=str(path)
        ) from error
    return contents


class _Writing:
    """Writes a bundle."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, events: Iterable[Event], signed: Sequence[SignedHead]) -> Contents:
        """Write everything."""
        self._put(MAGIC)
        heads, segment = Heads(), bytearray()
        count = words = plain = 0
        for event in events:
            heads.follow(event)
            segment += _record(event)
            count += 1
            words += event.body is not None
            if len(segment) >= SEGMENT:
                plain += len(segment)
                self._put_segment(bytes(segment))
                segment.clear()
        if segment:
            plain += len(segment)
            self._put_segment(bytes(segment))
        if signed:
            self._put(bytes((_SIGNED,)) + _COUNT.pack(len(signed)))
            for one in signed:
                self._put(_SIGNED_HEAD.pack(*one))
        root = heads.root()
        self._put(bytes((_SEAL,)) + _SEALED.pack(count, root))
        self._file.write(self._digest.digest())
        return Contents(count, words, heads.writers, root, plain, self._size + hashlib.sha256().digest_size)

    def _put_segment(self, plain: bytes) -> None:
        packed = zlib.compress(plain, 6)
        method = _DEFLATED if len(packed) < len(plain) <= RATIO * len(packed) else _STORED
        stored = packed if method == _DEFLATED else plain
        self._put(_HEADER.pack(method, len(stored), len(plain)))
        self._put(stored)

    def _put(self, data: bytes) -> None:
        self._digest.update(data)
        self._file.write(data)
        self._size += len(data)


class Bundle:
    """A bundle that was opened and checked from beginning to end; use as a context manager.

    Raises:
        StoreUnavailable: the file can't be read.
        BundleDamaged: it was cut or changed, or is no bundle.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digests: list[bytes] = []
        """Of the segments as they were checked, so that the second reading reads the same."""
        self.signatures: list[SignedHead] = []
        """Signed heads; whoever takes them checks them."""
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise StoreUnavailable(
                f"{path}: can't be read ({error.strerror})", hint="check the path", path=str(path)
            ) from error
        try:
            self.contents = self._check()
        except BaseException:
            self._file.close()
            raise

    def pages(self) -> Iterator[list[Event]]:
        """The events, a segment at a time.

        Raises:
            BundleDamaged: the file was changed after it had been checked.
        """
        reading = _Reading(self.path, self._file)
        for number, (digest, events) in enumerate(reading.segments()):
            if number >= len(self._digests) or digest != self._digests[number]:
                raise reading.damaged("it was changed while it was read; what was merged before is whole")
            yield events

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _check(self) -> Contents:
        reading, heads = _Reading(self.path, self._file), Heads()
        events = words = 0
        for digest, segment in reading.segments():
            self._digests.append(digest)
            try:
                for event in (event for page in checked(segment) for event in page):
                    events += 1
                    words += event.body is not None
                    if not heads.follow(event):
                        where = f"seq {event.skeleton.seq} of writer {event.skeleton.writer.hex()}"
                        raise reading.damaged(f"{where} doesn't follow the event before it")
            except LogDamaged:
                raise
            except BeliefbaseError as error:
                raise reading.damaged(str(error)) from error
        self.signatures = reading.signed
        root = heads.root()
        if (events, root) != reading.seal:
            raise reading.damaged("it doesn't hold the events that its seal says")
        return Contents(events, words, heads.writers, root, reading.plain, reading.offset)


class _Reading:
    """One pass over a bundle; trusts no byte of it."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._digest = hashlib.sha256()
        self.offset = 0
        self.plain = 0
        self.seal = (0, b"")
        """How many events, and the root of their frontier."""
        self.signed: list[SignedHead] = []
        file.seek(0)

    def segments(self) -> Iterator[tuple[bytes, list[Event]]]:
        """The segments in order, each with the digest of its stored bytes."""
        if self._take(len(MAGIC), "no bundle of this format") != MAGIC:
            raise self.damaged("it is no bundle that this release can read")
        while (method := self._take(1)[0]) != _SEAL:
            if method == _SIGNED:
                (count,) = _COUNT.unpack(self._take(_COUNT.size))
                self.signed += [
                    SignedHead._make(_SIGNED_HEAD.unpack(self._take(_SIGNED_HEAD.size))) for _ in range(count)
                ]
                continue
            stored_size, plain_size = _SIZES.unpack(self._take(_SIZES.size))
            if method not in {_STORED, _DEFLATED}:
                raise self.damaged(f"a segment is stored in the unknown way {method}")
            if not 0 < plain_size <= _MOST or stored_size > plain_size or plain_size > RATIO * stored_size:
                raise self.damaged(f"a segment claims {stored_size} bytes that become {plain_size}: beyond the limits")
            stored = self._take(stored_size)
            plain = stored if method == _STORED else self._inflated(stored, plain_size)
            if len(plain) != plain_size:
                raise self.damaged(f"a segment has {len(plain)} bytes and claims {plain_size}")
            self.plain += plain_size
            yield hashlib.sha256(stored).digest(), list(self._events(plain))
        self.seal = _SEALED.unpack(self._take(_SEALED.size))
        digest = self._digest.digest()
        if self._take(len(digest)) != digest:
            raise self.damaged("its bytes are not those that were sealed")
        if self._file.read(1):
            raise self.damaged("there is something behind its end")

    def damaged(self, what: str) -> BundleDamaged:
        """The error for what was found about here."""
        return BundleDamaged(
            f"{self._path}, up to byte {self.offset}: {what}",
            hint="nothing of it was used; export the bundle again, or copy it again",
            path=str(self._path),
            offset=self.offset,
        )

    def _take(self, size: int, otherwise: str = "it is cut off") -> bytes:
        data = self._file.read(size)
        self.offset += len(data)
        if len(data) != size:
            raise self.damaged(otherwise)
        self._digest.update(data)
        return data

    def _inflated(self, stored: bytes, size: int) -> bytes:
        inflate = zlib.decompressobj()
        try:
            plain = inflate.decompress(stored, size + 1)
        except zlib.error as error:
            raise self.damaged(f"a segment can't be read ({error})") from None
        if not inflate.eof or inflate.unused_data:
            raise self.damaged("a segment doesn't end where it says")
        return plain

    def _events(self, plain: bytes) -> Iterator[Event]:
        at = 0
        while at < len(plain):
            raw_size, body_size = _SIZES.unpack(plain[at : at + 8].ljust(8, b"\0"))
            at += 8
            with_words = SALT_BYTES + body_size - 1 if body_size else 0
            if not 0 < raw_size <= len(plain) - at or with_words > len(plain) - at - raw_size:
                raise self.damaged("an event doesn't end where it says")
            raw, at = plain[at : at + raw_size], at + raw_size
            words, at = plain[at : at + with_words], at + with_words
            yield Event(raw, words[:SALT_BYTES], words[SALT_BYTES:]) if words else Event(raw)


def _record(event: Event) -> bytes:
    if event.body is None:
        return _SIZES.pack(len(event.raw), 0) + event.raw
    return _SIZES.pack(len(event.raw), len(event.body) + 1) + event.raw + (event.salt or b"") + event.body
