"""What PostgreSQL's errors mean for whoever uses the log: typed, with the address and the next step."""

from __future__ import annotations

from typing import Final

import psycopg

from beliefbase.events.errors import BeliefbaseError, LogDamaged, StoreUnavailable
from beliefbase.events.postgres_url import Address

_MEANINGS: Final[dict[str, tuple[str, str]]] = {
    "28P01": ("the login is refused", "check the user, and the password in ~/.pgpass or PGPASSWORD"),
    "28000": ("the login is refused", "check the user and the server's pg_hba.conf"),
    "3D000": ("there is no such database", "make it: createdb NAME"),
    "42501": (
        "this user may not do that",
        "the store's schema must belong to the user, or GRANT it; to make a store takes CREATE on the database",
    ),
    "53100": ("the server's disk is full", "nothing was stored; free space there and try again"),
    "53200": ("the server has no memory left", "nothing was stored; raise its limits, or write in smaller batches"),
    "53300": ("the server takes no more connections", "close other handles, or raise max_connections"),
    "55P03": (
        "another writer has kept the log locked for too long",
        "nothing was stored; look for a stopped or hanging transaction in pg_stat_activity, then try again",
    ),
    "40P01": ("two transactions waited for each other", "nothing was stored; try again"),
    "40001": ("another transaction came in between", "nothing was stored; try again"),
    "57014": ("the server's time limit ended the statement", "nothing was stored; try again, or raise the limit"),
    "25006": ("the server can't be written: it is a standby, or read-only", "connect to the primary"),
    "25P03": ("the transaction was idle for too long", "nothing was stored; prepare the events before, then write"),
}
_DAMAGE: Final = frozenset({"XX001", "XX002", "23505", "23502", "23514"})


def explained(error: psycopg.Error, address: Address) -> BeliefbaseError:
    """The typed error for one of PostgreSQL's: LogDamaged where tables contradict themselves, else StoreUnavailable."""
    state = error.sqlstate
    said = address.scrubbed(str(error))
    if state in _DAMAGE:
        return LogDamaged(
            f"{address.shown}: the log is damaged ({state}: {said})",
            hint="run `beliefbase audit`; restore the log from a backup or merge it anew from a peer",
            store=address.shown,
            sqlstate=state,
        )
    if state is None or state.startswith(("08", "57P")):
        what, hint = (
            f"the server can't be reached, or the connection was lost ({said})",
            "check that the server runs and takes connections there, and that user and database exist: psql ADDRESS",
        )
    else:
        known = _MEANINGS.get(state)
        what, hint = (f"{known[0]} ({said})", known[1]) if known else (f"PostgreSQL refused ({state}: {said})", "")
    return StoreUnavailable(
        f"{address.shown}: {what}", hint=hint or "run `beliefbase doctor`", store=address.shown, sqlstate=state
    )


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, so that the server's answer to what was sent last may be lost with it."""
    state = error.sqlstate
    return isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(("08", "57P")))
