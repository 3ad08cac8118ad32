"""Finds the projections: every module of this package that binds ``PROJECTION``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib import resources
from typing import Final

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


@cache
def scripts() -> tuple[tuple[str, str], ...]:
    """The SQL of views and macros by file name, each after those that its line ``-- needs:`` names."""
    texts = {
        path.name.removesuffix(".sql"): path.read_text("utf-8")
        for path in resources.files(PACKAGE).joinpath("sql").iterdir()
        if path.name.endswith(".sql")
    }
    ordered: dict[str, str] = {}

    def place(name: str) -> None:
        if name not in ordered:
            first = texts[name].split("\n", 1)[0]
            for needed in first.removeprefix("-- needs:").split() if first.startswith("-- needs:") else []:
                place(needed)
            ordered[name] = texts[name]

    for name in sorted(texts):
        place(name)
    return tuple(ordered.items())
