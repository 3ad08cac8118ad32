"""The backends that the contract of the event log is tested on: a name, and how to open a new log in a folder."""

from tests.postgres_server import address

from beliefbase.events.sqlite import SQLiteLog


def open_sqlite(folder, name):
    return SQLiteLog(folder / f"{name}.db", durability="process")


def open_postgres(folder, name):
    from beliefbase.events.postgres import PostgresLog

    return PostgresLog(address(), durability="process")


BACKENDS = {"sqlite": open_sqlite, "postgres": open_postgres}
