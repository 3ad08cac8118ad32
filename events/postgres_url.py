"""The address of a log in PostgreSQL: ``postgresql://user@host:port/database?schema=NAME&cache=FOLDER``.

Everything but ``schema`` and ``cache`` is libpq's own and handed on to it. A password belongs into ``~/.pgpass`` or
PGPASSWORD; one that stands in the address is never shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Self, TypeGuard
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from beliefbase.events.errors import StoreUnavailable

SCHEMES: Final = ("postgresql://", "postgres://")
SCHEMA: Final = "beliefbase"
"""Where the tables are, unless the address says otherwise."""
_OURS: Final = frozenset({"schema", "cache"})
_SHOWN: Final = _OURS | {"host", "hostaddr", "port", "dbname", "user", "sslmode", "connect_timeout"}
"""Parameters that are shown; any other may be a secret, or become one in a later libpq."""
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def is_address(store: object) -> TypeGuard[str]:
    """Whether a store is named by the address of a database, rather than by a directory."""
    return isinstance(store, str) and store.startswith(SCHEMES)


@dataclass(frozen=True)
class Address:
    """An address that was read."""

    conninfo: str = field(repr=False)
    """As libpq takes it; may hold a password."""
    schema: str
    cache: str | None
    """Folder for what is made from the log on this machine, where the address names one."""
    shown: str
    """For people and reports: without any password."""
    secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an address.

        Raises:
            StoreUnavailable: it isn't one.
        """
        try:
            parts = urlsplit(text)
            given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise _malformed("its parts can't be told apart") from None
        if "#" in text:
            raise _malformed("# is written as %23")
        ours = {name: value for name, value in given if name in _OURS}
        theirs = [(name, value) for name, value in given if name not in _OURS]
        schema = ours.get("schema", SCHEMA)
        if _NAME.fullmatch(schema) is None or schema.startswith("pg_"):
            raise _malformed("schema is a name of lower-case letters, digits and underscores, not beginning with pg_")
        user, at, hosts = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        secrets = {value for key, value in theirs if key not in _SHOWN} | {password, unquote(password)}
        harmless = [(key, value) for key, value in given if key in _SHOWN]
        return cls(
            _joined(parts.netloc, parts.path, theirs),
            schema,
            ours.get("cache") or None,
            _joined(f"{name}{at}{hosts}", parts.path, harmless),
            tuple(sorted(secrets - {""}, key=len, reverse=True)),
        )

    def scrubbed(self, text: str) -> str:
        """Somebody else's message in one line, without the passwords of this address."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())


def _joined(netloc: str, path: str, query: list[tuple[str, str]]) -> str:
    asked = f"?{urlencode(query, safe='/', quote_via=quote)}" if query else ""
    return f"{SCHEMES[0]}{netloc}{path}{asked}"


def _malformed(what: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"this is no address of a PostgreSQL store: {what}",
        hint="postgresql://USER@HOST:PORT/DATABASE?schema=NAME; special characters are written as %XX",
    )
