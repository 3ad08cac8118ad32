"""The reading's worlds as real logs: whichever event arrives last, a refresh leaves what a rebuild makes.

Every world is stored once for each of its events, under ids and names of its own, and each copy lacks another event.
These then arrive one by one, each with a refresh of its own. Profiles are left out: they touch every copy, and a
refresh with one is a rebuild.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.beliefs.oracle import facts, name, needs_spec, spec
from tests.events.build import START_MS, Author
from tests.scale import scaled

from beliefbase.beliefs.facts import Fact
from beliefbase.events.envelope import Event
from beliefbase.events.ids import name_hash
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector

DAY_MS = 5 * 86_400_000
"""A day of the reading, so long that its shortened half-lives are about those of the product."""
AS_OF_MS = START_MS + 10_000 * DAY_MS
NAMES = ("session", "condition_key")


class Copy:
    """One world as events, each of a writer of its own."""

    def __init__(self, world: list[Fact], mark: str) -> None:
        self._mark = mark
        self._world = {fact.id: fact for fact in world}
        self._made: dict[bytes, Event] = {}
        self.joined: list[Event] = []
        for fact in world:
            self._id(fact.id)
        self.events = [self._made[fact.id] for fact in world if fact.id in self._made]

    def _id(self, of_world: bytes) -> bytes:
        """The id of an event; of one that isn't in the world, or not usable, an id that nothing has."""
        fact = self._world.pop(of_world, None)
        if fact is not None:
            self._write(fact)
        made = self._made.get(of_world)
        return made.id if made is not None else name_hash(f"{self._mark} {of_world.hex()}")

    def _write(self, fact: Fact) -> None:
        fields = {field: self._value(field, value) for field, value in fact.payload.items()}
        if fact.type == "belief.extracted":
            fields = {"statement": "It rains.", "kind": "fact", **fields}
        if fact.ref is not None:
            fields["source_ref"] = f"{self._mark} {name(fact.ref)}"
        basis = [self._id(seen) for seen in fact.basis]
        author = Author(f"{self._mark} {fact.id.hex()}")
        joined = author.joined(f"{self._mark} {name(fact.agent)}")
        hlc = (START_MS + 1000 + (fact.hlc >> 16) * DAY_MS) << 16 | fact.hlc & 0xFFFF
        if fact.type == "belief.extracted" and fields.get("speech_act") == "question":
            return  # the catalogue takes no question for a belief
        self._made[fact.id] = author.write(fact.type, fields, basis=basis, hlc=hlc)
        self.joined.append(joined)

    def _value(self, field: str, value: object) -> object:
        if isinstance(value, bytes):
            return f"{self._mark} {name(value)}" if field in NAMES else self._id(value)
        if isinstance(value, dict):
            return {inner: self._value(inner, item) for inner, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self._value(field, item) for item in value)
        return value


def each_last_through_duckdb(world: list[Fact], folder: Path) -> None:
    """Let each event arrive after all others, and compare the tables with those of a rebuild."""
    world = [fact for fact in world if fact.type != "profile.activated"]
    copies = [Copy(world, f"copy {number}") for number in range(len(world))]
    last = [copy.events[place % len(copy.events)] for place, copy in enumerate(copies)]
    log = SQLiteLog(folder / "log.db", durability="process")
    with Projector(log, folder / "read") as projector:
        for copy, held_back in zip(copies, last, strict=True):
            log.append(copy.joined + [event for event in copy.events if event is not held_back])
        projector.rebuild(AS_OF_MS)
        for event in last:
            log.append([event])
            assert projector.refresh(AS_OF_MS).how == "refreshed"
        refreshed = projector.digests()
        projector.rebuild(AS_OF_MS)
        assert projector.digests() == refreshed
    log.close()


def check(seeds: range, scratch: Path) -> None:
    worlds = spec("random_worlds")
    for seed in seeds:
        folder = scratch / str(seed)
        folder.mkdir()
        each_last_through_duckdb(facts(worlds.world(random.Random(seed))), folder)


@needs_spec
def test_each_event_of_a_world_arriving_last_leaves_the_tables_of_a_rebuild(tmp_path):
    check(range(3), tmp_path)


@pytest.mark.slow
@needs_spec
def test_each_event_of_two_hundred_worlds_arriving_last_leaves_the_tables_of_a_rebuild(tmp_path):
    check(range(10_000, 10_000 + scaled(200)), tmp_path)
