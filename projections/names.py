"""What the hashes stand for: names of people, agents, conversations, sessions and conditions, from the words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar
from unicodedata import normalize

import numpy as np

from beliefbase.events.catalog import CATALOG
from beliefbase.events.catalog.base import Hashed, place
from beliefbase.events.catalog.lane_objects import bytes_in
from beliefbase.events.ids import name_hash
from beliefbase.projections.base import Column, Owner, Projection, Table
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Columns, Same

HASHED_FIELDS = {
    name: fields
    for name, model in CATALOG.models.items()
    if (fields := tuple(field for field, info in model.model_fields.items() if place(info.metadata) == Hashed))
}
"""Event type to the fields that stand in the payload as a hash and in the words as text."""


class Names(Projection):
    """One row per name of which some event still has the words."""

    NAME = "names"
    TYPES = tuple(HASHED_FIELDS)
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table(
            "names",
            "Names behind the hashes, as long as some event has them in its words",
            Owner.VALUE,
            (
                Column("hash", "VARCHAR", "First 16 bytes of SHA-256 of the name"),
                Column("name", "VARCHAR", "The name, in Unicode normal form C"),
            ),
            ("hash",),
            digested=False,
        ),
    )

    def of_events(self, events: Batch) -> Mapping[str, Columns]:  # noqa: D102  of the base
        found: dict[str, str] = {}
        for field in HASHED_FIELDS[events.type]:
            names = events.text(field)
            if isinstance(names, Same):
                continue
            ids = events.hexes(field)
            hashes = bytes_in(ids) if isinstance(ids, np.ndarray) and ids.ndim == 2 else ids
            for given, name in dict.fromkeys(zip(hashes, names, strict=True)):
                if given is None or name is None:
                    continue
                hashed = given.hex() if isinstance(given, bytes) else given
                if _is_named(hashed, name):
                    found[hashed] = normalize("NFC", name)
        return {"names": {"hash": list(found), "name": list(found.values())}}


@lru_cache(1 << 16)
def _is_named(hashed: str, name: str) -> bool:
    """Whether a hash is that of a name: a foreign writer may pretend."""
    return name_hash(name).hex() == hashed


PROJECTION = Names()
