"""Reading many payloads at once gives what reading each gives, whatever is in them."""

import random

import pytest
from tests.projections.worlds import World

from beliefbase.events.catalog import CATALOG
from beliefbase.events.catalog.bulk import BulkReader
from beliefbase.events.envelope import Skeleton


def mutated(skeleton, dice):
    """The same event with something wrong in it, or with something else in its place."""
    payload = dict(skeleton.payload)
    names = [*payload, "unheard_of"]
    match dice.randrange(7):
        case 0:
            payload.pop(dice.choice(names), None)
        case 1:
            payload[dice.choice(names)] = dice.choice(
                (7, "text", b"bytes", b"x" * 16, (), ({},), None, True, (b"y" * 16,))
            )
        case 2:
            return skeleton._replace(touches=(b"z" * 16,))
        case 3:
            return skeleton._replace(version=dice.choice((2, 9)))
        case 4:
            return skeleton._replace(format=2)
        case 5:
            payload["speech_act"] = "question"
        case 6:
            return skeleton._replace(payload={})
    return skeleton._replace(payload=payload)


def columns(skeletons):
    return Skeleton._make(zip(*skeletons, strict=True))


def by_type(skeletons):
    groups = {}
    for skeleton in skeletons:
        groups.setdefault(skeleton.type, []).append(skeleton)
    return groups


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0, 0.002, 0.3])
def test_bulk_reading_equals_reading_each(seed, share):
    dice = random.Random(seed)
    skeletons = [event.skeleton for event in World(seed, 600).events]
    skeletons = [mutated(skeleton, dice) if dice.random() < share else skeleton for skeleton in skeletons]
    reader = BulkReader(CATALOG)
    for type_name, group in by_type(skeletons).items():
        assert list(reader.read(type_name, columns(group))) == [CATALOG.read(skeleton) for skeleton in group]


def test_each_single_mutation_is_seen():
    dice = random.Random(9)
    reader = BulkReader(CATALOG)
    for type_name, group in by_type(event.skeleton for event in World(5, 900).events).items():
        for _ in range(40):
            place = dice.randrange(len(group))
            changed: list[Skeleton] = [*group[:place], mutated(group[place], dice), *group[place + 1 :]]
            assert list(reader.read(type_name, columns(changed))) == [CATALOG.read(skeleton) for skeleton in changed]
