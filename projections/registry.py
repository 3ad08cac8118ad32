"""Finds the projections: every module of this package that binds ``PROJECTION``."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import re
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from beliefbase import projections
from beliefbase.projections.base import Projection, Table

PACKAGE: Final = "beliefbase.projections"


@cache
def registered() -> tuple[Projection, ...]:
    """One of each projection, sorted by name."""
    found = []
    for module in pkgutil.iter_modules(projections.__path__):
        if not module.ispkg:
            projection = getattr(importlib.import_module(f"{PACKAGE}.{module.name}"), "PROJECTION", None)
            if isinstance(projection, Projection):
                found.append(projection)
    return tuple(sorted(found, key=lambda projection: projection.NAME))


@cache
def tables() -> dict[str, Table]:
    """Every table of every projection by its name, sorted."""
    found = {table.name: table for projection in registered() for table in projection.TABLES}
    return dict(sorted(found.items()))


def versions() -> str:
    """Names and versions of all projections in one text: what was stored by others is rebuilt."""
    return " ".join(f"{projection.NAME}@{projection.VERSION}" for projection in registered())


class Script(NamedTuple):
    """The SQL of one view, of the macros around it, and their comments."""

    name: str
    """Of the view, and of the file."""
    sql: str
    like: tuple[str, ...]
    """Tables and views whose comments the view's columns of the same name have."""


@cache
def scripts() -> tuple[Script, ...]:
    """The files of ``sql/``, each after those that its line ``-- needs:`` names."""
    texts = {
        path.name.removesuffix(".sql"): path.read_text("utf-8")
        for path in resources.files(PACKAGE).joinpath("sql").iterdir()
        if path.name.endswith(".sql")
    }
    ordered: dict[str, Script] = {}

    def place(name: str) -> None:
        if name not in ordered:
            for needed in _header(texts[name], "needs"):
                place(needed)
            ordered[name] = Script(name, texts[name], _header(texts[name], "like"))

    for name in sorted(texts):
        place(name)
    return tuple(ordered.values())


@cache
def layout(version: int) -> int:
    """A number for the tables, views, macros and comments of this release: other ones are made by a rebuild."""
    told = [str(version), *(repr(table) for table in tables().values()), *(script.sql for script in scripts())]
    return int.from_bytes(hashlib.sha256("\0".join(told).encode()).digest()[:6], "big")


def _header(text: str, word: str) -> tuple[str, ...]:
    found = re.search(rf"^-- {word}: (.*)$", text, re.MULTILINE)
    return tuple(found[1].split()) if found else ()
