"""A log as one text file, for checking in and passing on: raw skeletons and words, stream by stream.

::

    beliefbase-log 1
    stream <stream> <first seq> <last seq> <hash of the last event> [<signature>]
    <skeleton> [<salt> <body>]
    …
    end <events> <root hash of the frontier>

Skeletons, salts and bodies stand in base64, one event a line, in seq order; hashes and signatures in hex. The lines
``stream`` and ``end`` say what the file must hold, so that whatever is changed, cut or left out of it is found
(docs/audit.md).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from beliefbase.events import index
from beliefbase.events.envelope import Event
from beliefbase.events.errors import BeliefbaseError, LogDamaged, StoreUnavailable
from beliefbase.events.frontier import frontier_root
from beliefbase.events.log import EventLog, Filed, FiledHead, Head, SignedHead

FIRST_LINE: Final = "beliefbase-log 1"
SUFFIX: Final = ".bblog"


@dataclass
class Part:
    """One stream of a file."""

    name: str
    first: int
    head: Head
    signature: bytes = b""
    """Of the head; empty where it isn't signed."""
    events: list[Event] = field(default_factory=list)


class PortableLog:
    """A file that was read; implements :class:`beliefbase.events.log.Filing`."""

    def __init__(self, parts: Iterable[Part], root: bytes) -> None:
        self._parts = {part.name: part for part in parts}
        self._root = root

    def events(self) -> Iterator[Event]:
        """All events, stream by stream in seq order."""
        for part in self._parts.values():
            yield from part.events

    def signatures(self) -> list[SignedHead]:
        """The signed heads."""
        return [SignedHead(*part.head, part.signature) for part in self._parts.values() if part.signature]

    def heads(self) -> Mapping[str, Head]:
        """Every stream with its head, as the file says."""
        return {part.name: part.head for part in self._parts.values()}

    def branches(self) -> Sequence[tuple[str, FiledHead]]:
        """Nothing: a file says nothing about them but their heads."""
        return ()

    def skeleton(self, stream: str, seq: int) -> bytes | None:
        """The skeleton in a stream under a seq."""
        return next((filed.event.raw for filed in self.stream(stream) if filed.seq == seq), None)

    def unusable(self) -> Iterable[str]:
        """Nothing: there are no settings."""
        return ()

    def streams(self) -> Iterable[str]:
        """Every stream that has events."""
        return sorted(part.name for part in self._parts.values() if part.events)

    def stream(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back."""
        part = self._parts[stream]
        for seq, event in reversed(list(enumerate(part.events, part.first))):
            yield Filed(seq, event, _topic(event), None if event.body is None else event.id)

    def newest_first(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, each stream's from the newest back."""
        for stream in self.streams():
            for filed in self.stream(stream):
                yield stream, filed

    sweep = None
    """A file is read event by event."""

    def root(self) -> bytes:
        """The root of the frontier, as the file says."""
        return self._root

    def loose_words(self) -> list[bytes]:
        """None: words stand in the line of their event."""
        return []


def write_log(log: EventLog, path: Path) -> int:
    """Write a log into a file, whole or not at all; returns how many events it holds.

    Raises:
        StoreUnavailable: it can't be written.
    """
    partial = path.with_name(path.name + ".tmp")
    count = 0
    try:
        signed = {one.head: f" {one.signature.hex()}" for one in log.signatures()}
        with log.filing() as filing, partial.open("w", encoding="ascii", newline="\n") as file:
            file.write(f"{FIRST_LINE}\n")
            heads = filing.heads()
            for stream in sorted(heads):
                rows = list(filing.stream(stream))
                head = heads[stream]
                file.write(f"stream {stream} {rows[-1].seq} {head.seq} {head.hash.hex()}{signed.get(head, '')}\n")
                for row in reversed(rows):
                    file.write(_line(row.event))
                count += len(rows)
            file.write(f"end {count} {frontier_root(heads.values()).hex()}\n")
        partial.replace(path)
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: can't be written ({error.strerror})", hint="choose a writable place", path=str(path)
        ) from error
    return count


def read_log(path: Path) -> PortableLog:
    """Read a file; its events are not checked yet.

    Raises:
        StoreUnavailable: it can't be read.
        LogDamaged: it is not of this form, or cut off; names the line.
    """
    try:
        lines = path.read_bytes().decode("ascii").splitlines()
    except OSError as error:
        raise StoreUnavailable(f"{path}: can't be read ({error.strerror})", hint="check the path") from error
    except UnicodeDecodeError:
        raise _damaged(path, 1, "not a log file: it isn't ASCII text") from None
    if not lines or lines[0] != FIRST_LINE:
        raise _damaged(path, 1, f"not a log file that this release can read: its first line is not {FIRST_LINE!r}")
    parts: list[Part] = []
    for number, line in enumerate(lines[1:], 2):
        words = line.split(" ")
        try:
            if words[0] == "stream" and len(words) in {5, 6}:
                if words[1] in {part.name for part in parts}:
                    raise _damaged(path, number, "this stream stands twice")
                writer, last, hash_ = bytes.fromhex(words[1][:32]), int(words[3]), bytes.fromhex(words[4])
                signature = bytes.fromhex("".join(words[5:]))
                parts.append(Part(words[1], int(words[2]), Head(writer, last, hash_), signature))
            elif words[0] == "end" and len(words) == 3:
                if number != len(lines) or int(words[1]) != sum(len(part.events) for part in parts):
                    raise _damaged(path, number, "it doesn't hold as many events as its end says")
                return PortableLog(parts, bytes.fromhex(words[2]))
            else:
                parts[-1].events.append(Event(*(base64.b64decode(word, validate=True) for word in words)))
        except (ValueError, TypeError, IndexError, binascii.Error):
            raise _damaged(path, number, "this line is neither a stream, an event nor the end") from None
    raise _damaged(path, len(lines), "it is cut off: the line with its end is missing")


def _line(event: Event) -> str:
    parts = (event.raw,) if event.body is None else (event.raw, event.salt or b"", event.body)
    return " ".join(base64.b64encode(part).decode("ascii") for part in parts) + "\n"


def _topic(event: Event) -> str:
    try:
        return index.topic(event.skeleton)
    except (ValueError, TypeError, LookupError, BeliefbaseError):
        return ""


def _damaged(path: Path, line: int, what: str) -> LogDamaged:
    return LogDamaged(f"{path}, line {line}: {what}", hint="restore the file", path=str(path), line=line)
