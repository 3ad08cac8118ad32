"""The case of the 120 orders: five events, every arrival order, through real stores, one digest."""

import itertools
from contextlib import closing

import pytest
from tests.events.build import Author
from tests.projections.worlds import open_log

from beliefbase.projections.projector import Projector

DAY = 86_400_000
START = 1_767_225_600_000
"""2026-01-01."""
AS_OF = START + 3 * DAY


@pytest.fixture(scope="module")
def five():
    """A, superseded by B and by C; written by three who had not read each other."""
    first, second, third = (Author(name, ms=START + n * DAY) for n, name in enumerate(("w0", "w1", "w2")))
    sure = {"assertion_class": "durable_fact", "confidence": 900}
    a = first.extracted("A", **sure)
    b = second.extracted("B", **sure)
    s1 = second.write(
        "belief.superseded", {"superseded_id": a.id, "superseding_id": b.id}, hlc=START + DAY + 1000 << 16
    )
    c = third.extracted("C", **sure)
    s2 = third.write(
        "belief.superseded", {"superseded_id": a.id, "superseding_id": c.id}, hlc=START + 2 * DAY + 1000 << 16
    )
    return [a, b, s1, c, s2]


def end_state(folder, batches):
    with closing(open_log(folder)) as log, Projector(log, folder / "read", threads=1) as projector:
        for batch in batches:
            log.merge(batch)
            projector.refresh(AS_OF)
        believed = projector.rows(f"SELECT belief_id, status FROM beliefs_at({AS_OF}) ORDER BY belief_id")
        competing = projector.rows("SELECT count(*) FROM forks")
        return projector.digest(), log.root(), tuple(believed), tuple(competing)


def test_120_arrival_orders_have_one_end_state(five, tmp_path):
    """All at once in each order: what comes before its predecessor is kept aside until that comes."""
    ends = set()
    for number, order in enumerate(itertools.permutations(five)):
        with closing(open_log(tmp_path / str(number))) as log:
            for event in order:
                log.merge([event])
            ends.add((log.root(), tuple(log.frontier())))
    assert number == 119 and len(ends) == 1


@pytest.mark.slow
def test_120_arrival_orders_projected_event_by_event_have_one_end_state(five, tmp_path):
    ends = {
        end_state(tmp_path / str(number), [[event] for event in order])
        for number, order in enumerate(itertools.permutations(five))
    }
    assert len(ends) == 1


def test_arrival_orders_of_the_five_projected_event_by_event_have_one_end_state(five, tmp_path):
    """Of the 120 orders every thirtieth, and all events at once, twice."""
    orders = list(itertools.permutations(five))[::30]
    ends = {end_state(tmp_path / str(number), [[event] for event in order]) for number, order in enumerate(orders)}
    ends.add(end_state(tmp_path / "at once", [five, five]))
    ((_, _, believed, _),) = ends
    status = dict(believed)
    a, b, _, c, _ = five
    assert (status[a.id.hex()], status[b.id.hex()], status[c.id.hex()]) == ("superseded", "active", "active")
