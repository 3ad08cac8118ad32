"""Writes docs/tables.md from the comments in the database; run it after any change of a table, view or macro."""

import tempfile
from pathlib import Path

from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.dictionary import dictionary
from beliefbase.projections.projector import Projector
from beliefbase.projections.query import connect


def generated() -> str:
    """The dictionary of an empty store."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = SQLiteLog(folder / "log.db")
        with Projector(log, folder / "read") as projector:
            projector.rebuild(0)
            projector.publish()
        log.close()
        with connect(folder / "read") as connection:
            return dictionary(connection)


if __name__ == "__main__":
    path = Path(__file__).with_name("tables.md")
    path.write_text(generated(), "utf-8")
    print(path)
