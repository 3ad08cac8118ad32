"""What a store's files are after an end that nobody planned.

A killed process leaves its files as they are. A power cut leaves what had been synced. SQLite syncs the write-ahead
file at each commit only where ``synchronous`` is FULL, which is asked of the connection and not taken from what was
promised; where it is NORMAL, the write-ahead file ends anywhere. Behind the last commit there may be what a transaction
had written that never got to its end.
"""

import shutil
from contextlib import suppress

LOG_NAME = "log.db"
_FULL = 2


def copied(folder, to):
    """Copy a store's log as it is now, open or not; the shared-memory file is no part of it."""
    to.mkdir(parents=True)
    for name in (LOG_NAME, f"{LOG_NAME}-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(folder / name, to / name)
    return to


def synced_at_commit(log):
    """Whether commits of this log are on the disk when they are acknowledged."""
    with log._connection() as connection:
        return connection.sqlite.execute("PRAGMA synchronous").fetchone()[0] >= _FULL


def lose_unsynced(folder, random, *, synced):
    """Turn a copy into what a power cut leaves."""
    wal = folder / f"{LOG_NAME}-wal"
    if not wal.exists():
        return
    data = wal.read_bytes()
    if not synced:
        data = data[: random.randint(0, len(data))]
    elif random.random() < 0.5:
        data += random.randbytes(random.choice((7, 24, 4_120, 5_000)))
    wal.write_bytes(data)
