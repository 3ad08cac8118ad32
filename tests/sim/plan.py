"""What is to happen in one world: its machines, its faults and its operations, all drawn from one seed.

An operation is only a number, a kind and a wait. What it does in detail is drawn when it happens, from the seed and its
number: so an operation can be left out (tests/sim/shrink.py) and the others still draw as they did.
"""

from random import Random
from typing import NamedTuple

DAY_MS = 86_400_000

KINDS = {
    "write": 34,
    "look": 8,
    "sync": 9,
    "pull": 4,
    "send": 9,
    "part": 3,
    "step": 4,
    "process": 3,
    "kill": 3,
    "kill_writing": 2,
    "kill_syncing": 2,
    "cut": 4,
    "checkpoint": 2,
    "image": 3,
    "restore": 2,
    "clone_disk": 1,
    "clone_live": 2,
    "import": 3,
    "erase": 4,
    "reindex": 2,
    "newer": 3,
    "bundle_out": 2,
    "bundle_in": 2,
}
"""Kinds of operations, with how often they come by default."""

RARE = (
    "part",
    "step",
    "kill",
    "cut",
    "image",
    "restore",
    "clone_live",
    "erase",
    "import",
    "newer",
    "bundle_out",
    "bundle_in",
)
"""Kinds whose share differs most from seed to seed: left out in a third of the worlds, trebled in another third."""

OFFSETS_MS = ((0,), (-50, 0, 20, 50), (-4_000, 0, 4_000), (-70_000, 0, 70_000), (0, 0, 0, 3 * 365 * DAY_MS))
"""How far the clocks of a world's machines may be off."""

WAITS_MS = (0, 0, 0, 0, 1, 1, 5, 50, 5_000)


class Mix(NamedTuple):
    """The circumstances of one world."""

    machines: int
    grain_ms: int
    """Clocks only show multiples of this: large ones make equal stamps."""
    offsets: tuple[int, ...]
    long_waits: tuple[int, ...]
    """Waits of which one comes now and then."""
    loss: float
    """Share of packets, and of a sync's pages, that never arrive."""
    repeat: float
    """Share that arrives twice."""
    wordless: float
    """Share of events sent without their words."""
    page: int
    """Events per transaction and packet."""
    plain: bool
    """Only the events that the naive fold knows."""
    process_durability: float
    """Share of machines whose newest commits a power cut may take away."""
    duckdb: bool
    """Whether the read models are kept, compared and audited as well; such a world takes seconds."""


class Op(NamedTuple):
    """Something to do."""

    number: int
    kind: str
    wait_ms: int
    """Time that passes before."""


class Plan(NamedTuple):
    """A world to be."""

    seed: int
    mix: Mix
    ops: tuple[Op, ...]


def plan(seed: int) -> Plan:
    """The world of a seed."""
    random = Random(f"plan {seed}")
    mix = Mix(
        machines=random.choice((2, 2, 3, 3, 4)),
        grain_ms=random.choice((1, 1, 1, 20, 100_000)),
        offsets=random.choice(OFFSETS_MS),
        long_waits=random.choice(((70_000,), (70_000, 20 * DAY_MS), (5_000, 400 * DAY_MS))),
        loss=random.choice((0, 0.1, 0.4)),
        repeat=random.choice((0, 0.2)),
        wordless=random.choice((0, 0.2, 0.5)),
        page=random.choice((3, 10, 40)),
        plain=random.random() < 0.5,
        process_durability=random.choice((0, 0.5, 1)),
        duckdb=seed % 50 == 7,
    )
    weights = dict(KINDS)
    for kind in RARE:
        weights[kind] *= random.choice((0, 1, 3))
    if mix.duckdb:
        weights["look"] = 4
    count = random.randint(15, 70)
    kinds = random.choices(list(weights), list(weights.values()), k=count)
    ops = []
    for number, kind in enumerate(kinds):
        wait = random.choice(mix.long_waits if random.random() < 0.06 else WAITS_MS)
        ops.append(Op(number, kind, wait))
    return Plan(seed, mix, tuple(ops))
