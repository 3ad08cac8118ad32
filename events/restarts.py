"""What a restart of the machine may have taken from a log that was written with ``durability="process"``.

Such appends survive the end of the process; the newest of them may be gone after a power cut, and nothing in the file
would say so. So the run of the machine is noted before the first of them, safely on the disk. Whoever opens the log in
another run notes up to where events are left; `doctor` tells it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from beliefbase.events.tables import Tables

_BOOT: Final = "process_boot"
_POSITION, _WHEN = "restart_position", "restart_ms"


class Restart(NamedTuple):
    """A restart of the machine after which the newest events may be missing."""

    position: int
    """Position of the newest event that was left."""
    ms: int
    """When it was found out, in milliseconds since 1970 UTC."""


def boot_id() -> str:
    """Names this run of the machine; empty where the system has no such name, and restarts go unnoticed."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def is_noted(tables: Tables, boot: str) -> bool:
    """Whether it is on the disk that the log is written with less than power durability in this run."""
    return not boot or tables.setting(_BOOT) == boot


def note(tables: Tables, boot: str) -> None:
    """Note that it is; to be committed durably before anything else is."""
    tables.change_setting(_BOOT, boot)


def is_new(tables: Tables, boot: str) -> bool:
    """Whether the machine was restarted since, and nobody has taken note of it."""
    return tables.setting(_BOOT) not in {None, boot} and bool(boot)


def find(tables: Tables, now: int) -> None:
    """Take note of a restart: what is left now is all that there is."""
    tables.change_setting(_POSITION, tables.last_position())
    tables.change_setting(_WHEN, now)
    tables.change_setting(_BOOT, None)


def found(tables: Tables) -> Restart | None:
    """The newest restart that was found."""
    position, ms = tables.setting(_POSITION), tables.setting(_WHEN)
    return None if position is None else Restart(int(position), int(ms))
