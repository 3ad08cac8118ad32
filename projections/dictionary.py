"""The data dictionary: every table, view, macro and column of a snapshot, from the comments in the database."""

from __future__ import annotations

from typing import Final

from beliefbase.projections import registry
from beliefbase.projections.digest import Connection

_INTRODUCTION: Final = """\
# Tables and views

Made from the comments in the database by `beliefbase.projections.dictionary`; a test keeps it so.

Ask the views. The tables below them hold what does not depend on a moment: times as stamps (`*_hlc`: milliseconds
since 1970 UTC times 65536, plus a counter), names as hashes, words apart. The views join names and words, give times
in milliseconds (`*_ms`), and are asked at `meta.as_of_ms`; the macros are asked at the moment given to them.
"""


def dictionary(connection: Connection) -> str:
    """The dictionary of a database as Markdown."""
    parts = [_INTRODUCTION, "## Views\n"]
    tables = dict(_relations(connection, "table"))
    views = dict(_relations(connection, "view"))
    columns = _columns(connection)
    parts += [_section(name, comment, columns[name]) for name, comment in views.items()]
    parts.append("## Macros\n")
    parts.append("| macro | gives |\n|---|---|\n" + "".join(f"| `{m}` | {c} |\n" for m, c in _macros(connection)))
    parts.append("## Tables\n")
    digested = {table.name for table in registry.tables().values() if table.digested}
    for name, comment in tables.items():
        part = "Part of the digest." if name in digested else "Not part of the digest."
        parts.append(_section(name, f"{comment}. {part}", columns[name]))
    return "\n".join(parts)


def _section(name: str, comment: str, columns: list[tuple[str, str, str]]) -> str:
    rows = "".join(f"| `{column}` | {kind} | {text} |\n" for column, kind, text in columns)
    return f"### {name}\n\n{comment}\n\n| column | type | what |\n|---|---|---|\n{rows}"


def _relations(connection: Connection, kind: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = connection.execute(
        f"SELECT {kind}_name, coalesce(comment, '') FROM duckdb_{kind}s()"
        f" WHERE NOT internal AND database_name = current_database() ORDER BY {kind}_name"
    ).fetchall()
    return found


def _columns(connection: Connection) -> dict[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for table, column, kind, comment in connection.execute(
        "SELECT table_name, column_name, data_type, coalesce(comment, '') FROM duckdb_columns()"
        " WHERE NOT internal AND database_name = current_database() ORDER BY table_name, column_index"
    ).fetchall():
        found.setdefault(table, []).append((column, kind, comment))
    return found


def _macros(connection: Connection) -> list[tuple[str, str]]:
    found = connection.execute(
        "SELECT function_name, parameters, coalesce(comment, '') FROM duckdb_functions()"
        " WHERE NOT internal AND database_name = current_database() ORDER BY function_name"
    ).fetchall()
    return [(f"{name}({', '.join(parameters)})", comment) for name, parameters, comment in found]
