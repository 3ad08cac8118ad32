"""The log at a standstill: whoever reads in such a block reads one frontier, whatever others write meanwhile.

A projector that fails here would publish tables of which some know more events than others.
"""

import pytest
from tests.contract.backends import BACKENDS
from tests.events.build import Author

from beliefbase.events.catalog import Role
from beliefbase.events.errors import StoreUnavailable


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS)
def log(request, tmp_path):
    made = request.param(tmp_path, "log")
    yield made
    made.close()


def test_what_is_written_meanwhile_is_not_there(log):
    ann = Author()
    belief = ann.extracted()
    log.append([belief])
    before = log.root()
    with log.still() as still:
        log.append([retraction := ann.retracted(belief.id)])
        assert still.root() == before != log.root()
        assert still.last_position() < log.last_position()
        assert [event.id for page in still.read() for _, event in page] == [belief.id]
        assert still.naming([belief.id], [Role.STATE]) == []
        assert still.by_id([retraction.id]) == []
        assert still.of_types(["belief.retracted"]) == []
    assert log.by_id([retraction.id]) == [retraction]


def test_it_is_only_to_be_read(log):
    with log.still() as still, pytest.raises(StoreUnavailable):
        still.append([Author().extracted()])
    assert log.last_position() == 0


def test_many_writers_and_their_buckets(log):
    log.append([Author(f"writer {number}").extracted() for number in range(300)])
    with log.still() as still:
        log.append([Author("late").extracted()])
        roots = {still.root() for _ in range(3)}
    assert roots != {log.root()}
    assert len(roots) == 1
