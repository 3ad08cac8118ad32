"""The locks of a log in PostgreSQL: advisory, and held to the end of the transaction.

* Whoever stores holds the log's lock *shared*; a merge, an erasure, and what else must know of every event hold it
  *exclusive*.
* Whoever looks at the heads of a writer in order to store holds that writer's lock: two that store under one id (a
  copied process, a retry beside its own first try) come one after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from psycopg import Cursor

from beliefbase.events.postgres_pool import Connection
from beliefbase.events.postgres_statements import Statements

_MOST: Final = 64
"""Writers that a transaction locks one by one; with more it stores alone."""


@dataclass
class Begun:
    """How a transaction begins to store."""

    erasures: bool
    """Whether there is an erasure; another comes only from this transaction, as long as the locks are held."""
    number: str
    """The server's number of the transaction."""
    positions: list[int]
    """The next positions, until somebody takes them."""


class Locks(Statements):
    """The locks that one transaction holds.

    Args:
        connection: In the transaction.
        store_id: That of the log, for the names of its locks.
        storing: Whether there is anything to lock against.
    """

    def __init__(self, connection: Connection, store_id: bytes, *, storing: bool) -> None:
        super().__init__(connection)
        self._store_id = store_id
        self._storing = storing
        self._shared = self._alone = False
        self._locked: set[int] = set()
        self._ahead: Cursor[Any] | None = None
        self._begun: Begun | None = None

    def alone(self, *, wait: bool) -> bool:
        """Hold the log's lock exclusive: nobody else is storing, nor begins to."""
        if not self._alone:
            lock = _name(self._store_id)
            if wait:
                self._run("SELECT pg_advisory_xact_lock(%s)", (lock,))
                self._alone = True
            else:
                self._alone = bool(self._one("SELECT pg_try_advisory_xact_lock(%s)", (lock,))[0])
        return self._alone

    def claim(self, writers: Collection[bytes]) -> None:
        """See to it that nobody else stores events of these writers."""
        if self._alone or not self._storing:
            return
        wanted = {_name(self._store_id + writer) for writer in writers} - self._locked
        if len(self._locked) + len(wanted) > _MOST:
            self.alone(wait=True)
            return
        if not self._shared:
            self._run("SELECT pg_advisory_xact_lock_shared(%s)", (_name(self._store_id),))
            self._shared = True
        if wanted:
            self._run("SELECT pg_advisory_xact_lock(k) FROM unnest(%s::bigint[]) k", (sorted(wanted),))
        self._locked |= wanted
        if wanted:
            # Asked for while the locks are: the answer costs no journey of its own. The positions are behind those
            # of whoever had the writers before.
            self._begun = None
            self._ahead = self._run(
                "SELECT EXISTS (SELECT FROM erasures), pg_current_xact_id()::text,"
                " nextval('positions'), nextval('positions')"
            )

    def begun(self) -> Begun | None:
        """What was found when the locks were got; None where none were."""
        if self._begun is None and self._ahead is not None:
            ((erasures, number, *positions),) = self._ahead.fetchall()
            self._begun = Begun(erasures, number, positions)
            self._ahead = None
        return self._begun


def _name(of: bytes) -> int:
    return int.from_bytes(hashlib.sha256(b"beliefbase " + of).digest()[:8], "big", signed=True)
