"""The errors of the store: one base, a stable code, and a hint that says what to do next."""

from __future__ import annotations

from typing import Any, ClassVar


class BeliefbaseError(Exception):
    """Base of every error that this package raises on purpose.

    ``code`` is stable and shared by the Python API, the command line and its ``--json`` output.
    ``hint`` names the next step. ``data`` holds what a program would want (writer, seq, path, field …).
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 3
    """Exit status of the command line (DESIGN 8): 2 usage or bad input, 3 store unavailable, 4 log damaged."""

    def __init__(self, message: str, *, hint: str = "", **data: Any) -> None:
        super().__init__(message)
        self.hint = hint
        self.data = data

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON-ready data."""
        shown = {key: value.hex() if isinstance(value, bytes) else value for key, value in sorted(self.data.items())}
        return {"error": self.code, "message": str(self), "hint": self.hint, **shown}


class InvalidEvent(BeliefbaseError):
    """An event that may not be appended: a field is missing, malformed or against a rule."""

    code = "invalid_event"
    exit_code = 2


class LimitExceeded(InvalidEvent):
    """A skeleton, body, text or list is larger than its limit; ``data`` names the limit."""

    code = "limit_exceeded"


class NotCanonical(BeliefbaseError):
    """Bytes that are not the one canonical encoding of their value."""

    code = "not_canonical"
    exit_code = 4


class InvalidStamp(BeliefbaseError):
    """A clock stamp outside its range or not in its one text form."""

    code = "invalid_stamp"
    exit_code = 2


class ClockBehind(BeliefbaseError):
    """The wall clock was stepped back beyond max_drift: the writer must be closed and a new one opened."""

    code = "clock_behind"


class UsedAfterFork(BeliefbaseError):
    """A clock, writer or log was used in a child process that inherited it."""

    code = "used_after_fork"


class StoreUnavailable(BeliefbaseError):
    """The store can't be opened, locked, read or written (missing, read-only, full disk, busy)."""

    code = "store_unavailable"


class AppendUnknown(StoreUnavailable):
    """An append failed in a way that leaves open whether it was stored; look the events up before repeating."""

    code = "append_unknown"


class BrokenChain(BeliefbaseError):
    """An event doesn't continue its writer's stream: seq or prev is wrong."""

    code = "broken_chain"
    exit_code = 4


class Equivocation(BeliefbaseError):
    """Other bytes already stand under the same writer and seq: a cloned disk, a restored backup or a forgery."""

    code = "equivocation"
    exit_code = 4


class LogDamaged(BeliefbaseError):
    """The stored log contradicts itself: bytes were changed, removed or reordered."""

    code = "log_damaged"
    exit_code = 4


class UnknownId(BeliefbaseError):
    """Nothing in the store has this id."""

    code = "unknown_id"
    exit_code = 2
