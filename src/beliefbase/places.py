"""Where a store is: a directory with a log in it, or a log in PostgreSQL with a folder of this machine beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.postgres_url import Address, is_address
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.events.table_log import KeptLog

LOG_NAME: Final = "log.db"
CACHE: Final = "BELIEFBASE_CACHE"
"""Names, in the environment, the folder for the read models of stores that are in a database."""


def open_log(
    store: str | Path, *, create: bool, durability: Literal["power", "process"], wall: Callable[[], int]
) -> tuple[Path, KeptLog]:
    """The log of a store, and the folder for what is made from it on this machine.

    Raises:
        StoreUnavailable: there is no store, or it can't be opened.
    """
    if is_address(store):
        return _in_database(store, create=create, durability=durability, wall=wall)
    root = Path(store)
    if create:
        _make(root)
    elif not _is_there(root / LOG_NAME):
        raise StoreUnavailable(
            f"there is no store at {root}", hint=f"make one: beliefbase -s {root} init", path=str(root)
        )
    return root, SQLiteLog(root / LOG_NAME, create=create, durability=durability, wall=wall)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise StoreUnavailable(
            f"{path}: can't be looked at ({error.strerror})",
            hint="check the owner and mode of the store's directory and of those above it",
            path=str(path),
        ) from error


def _in_database(
    address: str, *, create: bool, durability: Literal["power", "process"], wall: Callable[[], int]
) -> tuple[Path, KeptLog]:
    try:
        from beliefbase.events.postgres import PostgresLog
    except ImportError as error:
        raise StoreUnavailable(
            f"{Address.read(address).shown}: the driver for PostgreSQL is missing ({error})",
            hint="install it: pip install 'beliefbase[postgres]'",
        ) from error
    log = PostgresLog(address, create=create, durability=durability, wall=wall)
    try:
        folder = _cache(log.address) / log.store_id().hex()
        _make(folder, mode=0o700)  # read models hold words
    except BaseException:
        log.close()
        raise
    return folder, log


def _cache(address: Address) -> Path:
    """Where read models go: as the address says, as the environment says, else this user's cache."""
    said = address.cache or os.environ.get(CACHE)
    if said:
        return Path(said).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(cache or Path.home() / ".cache") / "beliefbase"
    except RuntimeError as error:
        raise StoreUnavailable(
            f"{address.shown}: this user has no home, so there is no place for read models",
            hint=f"name a folder: {CACHE}=FOLDER, or &cache=FOLDER in the address",
        ) from error


def _make(root: Path, *, mode: int = 0o777) -> None:
    try:
        root.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"can't make the directory {root}: {error.strerror}", hint="choose a writable directory", path=str(root)
        ) from error
