"""Audits of small logs, read one by one as they are, and by the page as large ones are."""

import pytest

from beliefbase.events import spill
from beliefbase.events.catalog import lockstep
from beliefbase.replay import plain, sweeping

READINGS = {
    "one by one": None,
    "by small pages": (16, 3, 1 << 25),
    "by large pages, spilled": (10_000, 1000, 0),
}
"""Events of a page, events below which a page is not halved, and bytes of the index that are kept in memory."""


@pytest.fixture(params=["one by one", "by small pages"])
def every_reading(request, monkeypatch):
    read_as(monkeypatch, request.param)


def read_as(monkeypatch, name):
    """Audits of whatever size go this way from now on."""
    chosen = READINGS[name]
    if chosen is None:
        monkeypatch.setattr(sweeping, "LEAST", 1 << 62)
    else:
        page, stepped, room = chosen
        monkeypatch.setattr(sweeping, "LEAST", 0)
        monkeypatch.setattr(sweeping, "PAGE", page)
        monkeypatch.setattr(sweeping, "STEPPED", stepped)
        monkeypatch.setattr(spill, "ROOM", room)
        monkeypatch.setattr(lockstep, "LEAST", 1)
        monkeypatch.setattr(plain, "LEAST", 1)
