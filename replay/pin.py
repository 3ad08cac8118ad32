"""Pins: what a store answered once, noted in a small file that is kept outside of it (docs/frontier.md).

A pin holds a moment, the frontier (every branch head, and the root over them), the versions of the rules and of the
projections, and the digests. With it a cut tail, a dropped writer and a history that was rewritten and hashed anew
are found, and what it answered can be asked again for ever.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from beliefbase.beliefs.rules import RULES_VERSION
from beliefbase.events.errors import BeliefbaseError, StoreUnavailable
from beliefbase.events.frontier import frontier_root
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog, Head
from beliefbase.projections import registry

VERSION: Final = 1
_HEAD_BYTES: Final = 56
_FIELDS: Final = {
    "beliefbase_pin": int,
    "as_of_ms": int,
    "events": int,
    "root": str,
    "heads": str,
    "rules": str,
    "projections": str,
    "digest": str,
    "tables": dict,
}


class BadPin(BeliefbaseError):
    """A pin file can't be read, or contradicts itself."""

    code = "bad_pin"
    exit_code = 2


@dataclass(frozen=True)
class Pin:
    """A frontier and what it answered."""

    as_of_ms: int
    events: int
    heads: tuple[Head, ...]
    """Every branch head, sorted."""
    digest: str
    tables: Mapping[str, str]
    """Digest of each table."""
    rules: str = RULES_VERSION
    projections: str = ""
    """Names and versions of the projections, in one text."""

    @property
    def root(self) -> str:
        """Root hash of the frontier, 64 hex digits: short enough for a log line or a tag."""
        return frontier_root(self.heads).hex()

    @property
    def same_rules(self) -> bool:
        """Whether this release has the rules and projections that the digests were made by."""
        return (self.rules, self.projections) == (RULES_VERSION, registry.versions())

    def as_text(self) -> str:
        """The file: JSON, heads packed as writer (16 bytes) ‖ seq (8, big-endian) ‖ hash (32), in base64."""
        packed = b"".join(writer + seq.to_bytes(8, "big") + hash_ for writer, seq, hash_ in self.heads)
        values = {
            "beliefbase_pin": VERSION,
            "as_of_ms": self.as_of_ms,
            "events": self.events,
            "root": self.root,
            "heads": base64.b64encode(packed).decode("ascii"),
            "rules": self.rules,
            "projections": self.projections,
            "digest": self.digest,
            "tables": dict(sorted(self.tables.items())),
        }
        return json.dumps(values, indent=1) + "\n"

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all.

        Raises:
            StoreUnavailable: it can't be written.
        """
        partial = path.with_name(path.name + ".tmp")
        try:
            partial.write_text(self.as_text(), "utf-8")
            partial.replace(path)
        except OSError as error:
            raise StoreUnavailable(
                f"{path}: can't be written ({error.strerror})", hint="choose a writable place", path=str(path)
            ) from error

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file.

        Raises:
            BadPin: it isn't there, is no pin, is of a newer release, or its root is not that of its heads.
        """
        try:
            return cls.parse(path.read_text("utf-8"))
        except BadPin as error:
            raise BadPin(f"{path}: {error}", hint=error.hint, path=str(path)) from None
        except (OSError, ValueError) as error:
            raise BadPin(f"{path}: can't be read ({error})", hint="check the path", path=str(path)) from None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The pin in the text of a file.

        Raises:
            BadPin, ValueError: it is none.
        """
        values = json.loads(text)
        if not isinstance(values, dict) or values.get("beliefbase_pin") != VERSION:
            raise BadPin("not a pin that this release can read", hint="make one with `beliefbase pin --out FILE`")
        if any(type(values.get(name)) is not kind for name, kind in _FIELDS.items()):
            raise BadPin("the pin is incomplete", hint="restore the file from where it is kept")
        pin = cls(
            values["as_of_ms"],
            values["events"],
            _unpacked(base64.b64decode(values["heads"], validate=True)),
            values["digest"],
            values["tables"],
            values["rules"],
            values["projections"],
        )
        if pin.root != values["root"]:
            raise BadPin("the pin was changed: its root is not that of its heads", hint="restore the file")
        return pin


def lost(log: EventLog, heads: Iterable[Head]) -> list[Head]:
    """The heads that the log doesn't have."""
    ordered, gone = list(heads), list[Head]()
    for start in range(0, len(ordered), 1000):
        chunk = ordered[start : start + 1000]
        stored = {event.hash for event in log.by_id({head.hash[:ID_BYTES] for head in chunk})}
        gone += [head for head in chunk if head.hash not in stored]
    return gone


def _unpacked(packed: bytes) -> tuple[Head, ...]:
    if len(packed) % _HEAD_BYTES:
        raise BadPin("the pin was changed: its heads are cut off", hint="restore the file")
    return tuple(
        Head(packed[at : at + 16], int.from_bytes(packed[at + 16 : at + 24], "big"), packed[at + 24 : at + 56])
        for at in range(0, len(packed), _HEAD_BYTES)
    )
