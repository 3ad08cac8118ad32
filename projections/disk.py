"""What DuckDB and the system say when read models can't be written, as an error with a next step."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

import duckdb

from beliefbase.events.errors import StoreUnavailable

P = ParamSpec("P")
R = TypeVar("R")
_REFUSED = (
    duckdb.IOException,
    duckdb.TransactionException,
    duckdb.FatalException,
    duckdb.OutOfMemoryException,
    OSError,
)
"""A full disk is told at a commit as often as at a write, and every later use of the file as a fatal error."""


class _InFolder(Protocol):
    folder: Path


S = TypeVar("S", bound=_InFolder)


def on_disk(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method that writes into ``self.folder`` raise StoreUnavailable where the disk or memory refuses."""

    @wraps(method)
    def explaining(self: S, *arguments: P.args, **named: P.kwargs) -> R:
        try:
            return method(self, *arguments, **named)
        except _REFUSED as error:
            raise StoreUnavailable(
                f"{self.folder}: the read models can't be written ({error})",
                hint="check free space, memory and the rights of the folder, then project again; the log is as it was",
                path=str(self.folder),
            ) from error

    return cast("Callable[Concatenate[S, P], R]", explaining)
