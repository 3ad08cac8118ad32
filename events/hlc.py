"""The hybrid logical clock: the one source of time in the package, and the order of all events.

A stamp joins a wall time in milliseconds with a counter. Stamps of one writer strictly increase, an event sorts
after everything that its writer could see, and the milliseconds stay near the wall clock, so the same number serves
as an order and as a time. The idea is that of Kulkarni, Demirbas, Madappa, Avva and Leone, "Logical Physical Clocks"
(OPODIS 2014); parking (below) is ours.

Forms
    In memory and in skeletons a stamp is one integer, ``ms << 16 | counter``, below 2**63. Together with the writer
    it is a ``Stamp``, with one form of 24 bytes and one text; tuples, integers, bytes and texts sort alike. The total
    order of events is (stamp, writer, seq, id).

Properties
    Monotone: ``now()`` of one clock strictly increases, whatever the wall does, in any number of threads. The wall is
    read inside the lock: read outside, two threads could issue their stamps in the opposite order of their readings.
    Causal: ``now()`` is greater than every stamp observed and not parked.
    Bounded: ``now()`` is at most ``max_drift`` ahead of the wall, plus the one millisecond that a full counter
    borrows. The counter never wraps.
    Unmoved by liars: a stamp further ahead than ``max_drift`` is parked: it doesn't move the clock, and it isn't
    refused either, because stores that refuse different events never converge. Once the wall gets within
    ``max_drift`` of it, it is absorbed. Until then events recorded here sort before the parked one: that is the
    price, and it is bounded by how far the other clock was ahead.

Channels that the clock crosses
    Between threads: one ``Clock`` per writer, shared, locked.
    Between processes on one log, and between machines: through the events alone. Whoever opens a writer, or receives
    events, observes their stamps in the transaction that stores them.
    Through a restart: ``Clock.restart`` with the stamps of the log. There is no other state, so none can be lost or
    restored from an old backup.
    Through ``fork``: not at all. A child that inherits a clock would issue its parent's stamps under its parent's
    name; every use there raises UsedAfterFork.
    From a source being imported: ``SourceClock``, which never sees the wall.

HAZARD: stamp and append are one critical section. A stamp that is issued, and then overtaken on the way to the log
by another process's later commit, is in order but has not seen what it should have.

HAZARD: the stamp order extends causality, it doesn't reveal it. Of two stamps, the greater may be concurrent with
the smaller. What an event knew of stands in its basis.

HAZARD: a wall clock that is stepped back by more than ``max_drift`` leaves its own stamps behind as parked ones.
``now()`` then raises ClockBehind; close the writer and open a new one, whose stamps start from the wall again.

HAZARD: a machine that is wrong by hours and alone accepts itself: nothing here can tell. ``jumped_ms`` shows a step
of the wall since the clock was made, for a warning and never for a decision.
"""

from __future__ import annotations

import os
import re
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple, Self

from beliefbase.events.errors import ClockBehind, InvalidStamp, UsedAfterFork

MAX_MS = 2**47 - 1
"""The largest wall time of a stamp (in the year 6429): it keeps stamps below 2**63."""

MAX_COUNTER = 0xFFFF
MAX_HLC = MAX_MS << 16 | MAX_COUNTER
MAX_PARKED = 4096
"""How many parked milliseconds a clock remembers before it forgets every second one."""

WRITER_BYTES = 16
_STAMP_BYTES = 8 + WRITER_BYTES
_TEXT = re.compile(r"([0-9a-f]{12})-([0-9a-f]{4})-([0-9a-f]{32})", re.ASCII)
_BOOT_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def wall_ms() -> int:
    """The system's wall clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """A clock that nobody can set, in milliseconds; it counts sleep where the system offers one that does."""
    nanoseconds = time.monotonic_ns() if _BOOT_CLOCK is None else time.clock_gettime_ns(_BOOT_CLOCK)
    return nanoseconds // 1_000_000


def stamp(ms: int, counter: int = 0) -> int:
    """The stamp of a wall time and a counter; raises InvalidStamp for anything out of range or not an int."""
    return _whole("ms", ms, MAX_MS) << 16 | _whole("counter", counter, MAX_COUNTER)


def ms_of(hlc: int) -> int:
    """The wall time in a stamp, in milliseconds since 1970."""
    return hlc >> 16


def counter_of(hlc: int) -> int:
    """The counter in a stamp."""
    return hlc & MAX_COUNTER


def checked(hlc: int) -> int:
    """``hlc`` itself if it is a stamp; raises InvalidStamp otherwise."""
    return _whole("hlc", hlc, MAX_HLC)


class Stamp(NamedTuple):
    """A stamp with its writer: unique, and sorted in time."""

    ms: int
    counter: int
    writer: bytes

    @classmethod
    def of(cls, hlc: int, writer: bytes) -> Self:
        """The Stamp of an integer stamp and a writer's id."""
        checked(hlc)
        return cls(ms_of(hlc), counter_of(hlc), _writer(writer))

    @property
    def hlc(self) -> int:
        """The stamp as the one integer that skeletons hold."""
        return stamp(self.ms, self.counter)

    def to_bytes(self) -> bytes:
        """24 bytes: the integer stamp big-endian, then the writer."""
        return self.hlc.to_bytes(8, "big") + _writer(self.writer)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """The Stamp of 24 bytes; raises InvalidStamp for any others."""
        if type(raw) is not bytes or len(raw) != _STAMP_BYTES:
            raise InvalidStamp(f"a stamp is {_STAMP_BYTES} bytes", hint="pass the bytes of Stamp.to_bytes()")
        return cls.of(int.from_bytes(raw[:8], "big"), raw[8:])

    def to_text(self) -> str:
        """50 characters: milliseconds, counter and writer in lower-case hexadecimal, joined by hyphens."""
        return f"{ms_of(self.hlc):012x}-{self.counter:04x}-{_writer(self.writer).hex()}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The Stamp of its text; raises InvalidStamp for any spelling but that of ``to_text``."""
        parts = _TEXT.fullmatch(text) if type(text) is str else None
        if parts is None:
            raise InvalidStamp(
                "a stamp is written as 12, 4 and 32 lower-case hexadecimal digits joined by hyphens",
                hint="pass the text of Stamp.to_text()",
            )
        return cls.of(stamp(int(parts[1], 16), int(parts[2], 16)), bytes.fromhex(parts[3]))


class Clock:
    """The clock of one writer in one process; every method may be called from any thread.

    ``wall`` and ``steady`` return milliseconds. ``last`` is the greatest stamp known so far: it is observed, not
    adopted, so a far future one is parked.
    """

    def __init__(
        self,
        wall: Callable[[], int] = wall_ms,
        *,
        max_drift_ms: int = 60_000,
        last: int = 0,
        steady: Callable[[], int] = steady_ms,
    ) -> None:
        self.max_drift_ms = _whole("max_drift_ms", max_drift_ms, MAX_MS)
        self._wall = wall
        self._steady = steady
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._last = 0
        self._parked: list[int] = []
        """Ascending, and at most one of each millisecond."""
        self._offset = wall() - steady()
        self.observe(last)

    @classmethod
    def restart(
        cls,
        stamps: Iterable[int],
        wall: Callable[[], int] = wall_ms,
        *,
        max_drift_ms: int = 60_000,
        steady: Callable[[], int] = steady_ms,
    ) -> Self:
        """A clock that continues after the ``stamps`` of a log, in any order; those too far ahead are parked.

        Only two kinds of stamps matter: the greatest that is at most ``horizon``, and all above it.
        """
        clock = cls(wall, max_drift_ms=max_drift_ms, steady=steady)
        for hlc in stamps:
            clock.observe(hlc)
        return clock

    def now(self) -> int:
        """Issue a stamp greater than all issued and absorbed before.

        Raises ClockBehind if the wall was stepped back so far that the stamp would be more than max_drift (and the
        one borrowed millisecond) ahead of it, and UsedAfterFork in a child process.
        """
        _same_process(self._pid)
        with self._lock:
            wall = self._wall()
            if self._parked:
                self._absorb(wall)
            # Adding one to a full counter carries into the milliseconds, which is the borrowed one.
            issued = _whole("ms", wall, MAX_MS) << 16
            if issued <= self._last:
                issued = self._last + 1
            if issued >> 16 > wall + self.max_drift_ms + 1:
                behind, drift = ms_of(self._last) - wall, self.max_drift_ms
                raise ClockBehind(
                    f"the wall clock is {behind} ms behind this writer's last stamp; max_drift is {drift} ms",
                    hint="check the system clock, then close this writer and open a new one",
                    behind_ms=behind,
                    max_drift_ms=drift,
                )
            self._last = issued if issued <= MAX_HLC else checked(issued)
            return issued

    def observe(self, hlc: int) -> bool:
        """Take note of a stamp that was stored: True if the clock is now at or past it, False if it is parked.

        Issues no stamp, and never refuses one for lying in the future. Raises InvalidStamp for what is no stamp.
        """
        checked(hlc)
        _same_process(self._pid)
        with self._lock:
            wall = self._wall()
            self._absorb(wall)
            if hlc <= self._last or ms_of(hlc) <= wall + self.max_drift_ms:
                self._last = max(self._last, hlc)
                return True
            self._park(hlc)
            return False

    @property
    def last(self) -> int:
        """The greatest stamp issued or absorbed; 0 if there is none."""
        return self._last

    @property
    def parked(self) -> tuple[int, ...]:
        """The parked stamps in order, at most one (the greatest) of each millisecond."""
        return tuple(self._parked)

    @property
    def horizon(self) -> int:
        """The greatest stamp that would be absorbed now."""
        return stamp(min(self._wall() + self.max_drift_ms, MAX_MS), MAX_COUNTER)

    @property
    def jumped_ms(self) -> int:
        """How far the wall has been set forward (negative: back) since this clock was made, by a steady clock.

        Only for warnings: the two also drift apart slowly, and not every system's steady clock counts sleep.
        """
        return self._wall() - self._steady() - self._offset

    def _absorb(self, wall: int) -> None:
        """Let parked stamps that came within max_drift of the wall move the clock."""
        if not self._parked or ms_of(self._parked[0]) > wall + self.max_drift_ms:
            return
        count = bisect_left(self._parked, wall + self.max_drift_ms + 1 << 16)
        self._last = max(self._last, self._parked[count - 1])
        del self._parked[:count]

    def _park(self, hlc: int) -> None:
        """Remember a stamp for later; stamps of one millisecond come in range together, so the greatest will do."""
        at = bisect_left(self._parked, hlc)
        if at < len(self._parked) and ms_of(self._parked[at]) == ms_of(hlc):
            return
        if at and ms_of(self._parked[at - 1]) == ms_of(hlc):
            self._parked[at - 1] = hlc
            return
        self._parked.insert(at, hlc)
        if len(self._parked) > MAX_PARKED:
            # The later of two neighbours stands for both: the earlier waits a little longer, and none comes early.
            self._parked = self._parked[MAX_PARKED % 2 :: 2]


class SourceClock:
    """The clock of an importer: stamps carry the times of the source, and one clock serves all writers of a run.

    It observes nothing but its source: the stamps of those of its items that an earlier import stored.

    HAZARD: the stamps follow the order of the calls. Call in causal order (a parent before its child), and among
    independent items in the order of their times: one item with a time far in the future, called early, draws all
    that follow it there.
    """

    def __init__(self, *, last: int = 0) -> None:
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._last = checked(last)

    def at(self, ms: int) -> int:
        """Issue a stamp for something that happened at ``ms``, or the next one after the last if that is later.

        Raises InvalidStamp for a time out of range (before 1970 too) and UsedAfterFork in a child process.
        """
        told = stamp(ms)
        _same_process(self._pid)
        with self._lock:
            self._last = checked(max(told, self._last + 1))
            return self._last

    def observe(self, hlc: int) -> None:
        """Take note of the stamp of an item that is stored already: what comes next in the source sorts after it."""
        checked(hlc)
        _same_process(self._pid)
        with self._lock:
            self._last = max(self._last, hlc)

    @property
    def last(self) -> int:
        """The greatest stamp issued or observed, or the one it was made with."""
        return self._last


def _same_process(pid: int) -> None:
    """Raise UsedAfterFork in any process but ``pid``; to be called before the lock, which a fork may have left shut."""
    if os.getpid() != pid:
        raise UsedAfterFork(
            "this clock belongs to the parent process", hint="open the store again in the child process", parent=pid
        )


def _whole(field: str, value: int, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise InvalidStamp(
            f"{field} must be an integer from 0 to {most}, not {value!r}",
            hint="check the time that was given, or the system clock",
            field=field,
            most=most,
        )
    return value


def _writer(writer: bytes) -> bytes:
    if type(writer) is not bytes or len(writer) != WRITER_BYTES:
        raise InvalidStamp(f"a writer is {WRITER_BYTES} bytes, not {writer!r}", hint="pass the writer's id as bytes")
    return writer
