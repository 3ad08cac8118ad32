"""The tables of a log in PostgreSQL, and how a schema becomes one or is recognised as one.

They are those of ``beliefbase.events.sqlite_schema``, with what lets transactions store side by side:

=========  ==========================================================================================
events     positions come from a sequence: one may be seen after a greater one, or never (a rollback)
tips       every revision that became a tip; ``passed``: those that a later one names in its basis; only added to
buckets    hashes of the heads by writer prefix; ``dirty``: those to be computed anew; only added to
=========  ==========================================================================================

The stamps are a column of ``events``.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import sql

from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.index import INDEX_VERSION
from beliefbase.events.postgres_url import Address

FORMAT: Final = 1
"""Goes up with every change of the tables that an older release can't work with."""
_MAKING: Final = 0x62656C6966
"""Advisory lock of whoever makes a schema a log."""

SCHEMA: Final = """
CREATE SEQUENCE positions;
CREATE TABLE events (
    position bigint PRIMARY KEY,
    originator_id text COLLATE "C" NOT NULL,
    originator_version bigint NOT NULL,
    topic bytea NOT NULL,
    state bytea NOT NULL,
    hlc bigint NOT NULL,
    UNIQUE (originator_id, originator_version)
);
CREATE INDEX events_topic ON events (topic, position);
CREATE INDEX events_hlc ON events (hlc);
CREATE TABLE words (position bigint PRIMARY KEY, event_id bytea NOT NULL, salt bytea NOT NULL, body bytea NOT NULL);
CREATE TABLE heads (
    writer bytea NOT NULL,
    stream text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    parent text COLLATE "C",
    PRIMARY KEY (writer, stream)
) WITH (fillfactor = 70);
CREATE TABLE buckets (bucket integer PRIMARY KEY, hash bytea NOT NULL);
CREATE TABLE dirty (bucket integer NOT NULL);
CREATE INDEX dirty_bucket ON dirty (bucket);
CREATE TABLE refs (key bigint NOT NULL, role smallint NOT NULL, position bigint NOT NULL);
CREATE INDEX refs_key ON refs (key, role, position);
CREATE TABLE tips (key bytea NOT NULL, event_id bytea NOT NULL);
CREATE INDEX tips_key ON tips (key);
CREATE TABLE passed (key bytea NOT NULL, event_id bytea NOT NULL);
CREATE INDEX passed_key ON passed (key, event_id);
CREATE TABLE aside (
    hash bytea PRIMARY KEY,
    writer bytea NOT NULL,
    seq bigint NOT NULL,
    prev bytea NOT NULL,
    state bytea NOT NULL,
    salt bytea,
    body bytea
);
CREATE INDEX aside_prev ON aside (prev);
CREATE TABLE erasures (
    event_id bytea PRIMARY KEY,
    subject bytea NOT NULL,
    hlc bigint NOT NULL,
    writer bytea NOT NULL,
    seq bigint NOT NULL,
    pending boolean NOT NULL
);
CREATE INDEX erasures_subject ON erasures (subject);
CREATE INDEX erasures_pending ON erasures (hlc) WHERE pending;
CREATE TABLE covered (position bigint PRIMARY KEY, hlc bigint NOT NULL, erasure bytea NOT NULL);
CREATE INDEX covered_erasure ON covered (erasure);
CREATE TABLE wanted (position bigint PRIMARY KEY);
CREATE TABLE signatures (
    stream text COLLATE "C" PRIMARY KEY,
    writer bytea NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    signature bytea NOT NULL
);
CREATE INDEX signatures_writer ON signatures (writer);
CREATE TABLE settings (name text PRIMARY KEY, number bigint, bytes bytea, string text);

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'words' AND TG_OP = 'DELETE' AND current_setting('beliefbase.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% are never changed, and words go by erasure only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER words_stay BEFORE UPDATE OR DELETE ON words FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER events_stay_all BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER words_stay_all BEFORE TRUNCATE ON words FOR EACH STATEMENT EXECUTE FUNCTION refuse();
"""


def prepare(connection: psycopg.Connection[Any], address: Address, *, create: bool) -> bytes:
    """See to it that the schema is a log that this release can use, and return its store id; make one if need be.

    ``connection`` commits every statement; its search path is the schema alone.

    Raises:
        StoreUnavailable: missing, not a log, or of a newer release.
        psycopg.Error: as PostgreSQL reports it.
    """
    store_id = _recognised(connection, address)
    if store_id is None:
        if not create:
            raise StoreUnavailable(
                f"there is no store at {address.shown}",
                hint=f"check the address and its schema, or make one: beliefbase -s '{address.shown}' init",
                store=address.shown,
            )
        with connection.transaction():
            # CREATE ... IF NOT EXISTS is no help: two that run at once can both find nothing, and one fails.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
            store_id = _recognised(connection, address) or _made(connection, address)
    return store_id


def _recognised(connection: psycopg.Connection[Any], address: Address) -> bytes | None:
    """The store id of the log in the schema; None where there is no schema, or nothing in it."""
    there = connection.execute(
        "SELECT (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'v', 'm', 'S')),"
        " (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname IN ('events', 'settings'))"
        " FROM pg_namespace n WHERE n.nspname = %s",
        (address.schema,),
    ).fetchone()
    if there is None or there[0] == 0:
        return None
    found: dict[str, Any] = {}
    if there[1] == 2:
        rows = connection.execute("SELECT name, number, bytes FROM settings WHERE name IN ('format', 'store_id')")
        found = {name: bytes_ if number is None else number for name, number, bytes_ in rows.fetchall()}
    if "store_id" not in found:
        raise StoreUnavailable(
            f"{address.shown}: the schema {address.schema} holds something else than a beliefbase log",
            hint="name another schema in the address (?schema=NAME); this one is left untouched",
            store=address.shown,
        )
    if found.get("format") != FORMAT:
        raise StoreUnavailable(
            f"{address.shown}: the log has format {found.get('format')}; this release knows {FORMAT}",
            hint="use the release that wrote it, or a newer one",
            store=address.shown,
        )
    return bytes(found["store_id"])


def _made(connection: psycopg.Connection[Any], address: Address) -> bytes:
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(address.schema)))
    connection.execute(SCHEMA)
    # The id of the store is no part of any answer, so it may be random.
    row = connection.execute(
        "INSERT INTO settings (name, number, bytes) VALUES ('format', %s, NULL), ('index_version', %s, NULL),"
        " ('store_id', NULL, uuid_send(gen_random_uuid())) RETURNING bytes",
        (FORMAT, INDEX_VERSION),
    ).fetchall()[-1]
    return bytes(row[0])
