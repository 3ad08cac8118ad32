"""What every backend promises about signed heads, and about an index that is what the events give.

A failure here means that an audit can't tell forged from genuine in one kind of store, or that one kind of store looks
things up in an index that nobody would miss anything in.
"""

import pytest
from tests.contract.backends import BACKENDS
from tests.events.build import Author
from tests.projections.worlds import World, interleaved
from tests.replay.tampering import Keys, many_writers

from beliefbase.events.bundle import Bundle, export
from beliefbase.events.log import Head
from beliefbase.events.signing import AgentKey
from beliefbase.events.sync import Receiver, union
from beliefbase.replay.report import AuditReport
from beliefbase.replay.signatures import SignatureCheck


@pytest.fixture(params=BACKENDS)
def new_log(request, tmp_path):
    opened = []

    def make():
        opened.append(BACKENDS[request.param](tmp_path, f"log{len(opened)}"))
        return opened[-1]

    yield make
    for log in opened:
        log.close()


def findings(log, keys):
    report = AuditReport()
    report.add(SignatureCheck(log, keys.trust()).check(log.frontier(), report))
    return report.findings


def test_the_newest_signature_of_each_branch_is_kept(new_log):
    log, keys = new_log(), Keys()
    events = many_writers(3, 5, keys)
    log.append(events[:9])
    empty = log.signed_root()
    assert log.take_signatures(keys.signed(events[:9])) == 3
    log.append(events[9:])
    assert len(findings(log, keys)) == 3
    newest = keys.signed(events)
    assert log.take_signatures(newest) == 3 and log.take_signatures(keys.signed(events[:9])) == 0
    assert sorted(log.signatures()) == sorted(newest)
    assert log.signatures([newest[1].writer]) == [newest[1]]
    assert log.signed_root() != empty
    assert findings(log, keys) == []


def test_both_branches_of_a_fork_are_signed_apart(new_log):
    log, author = new_log(), Author()
    key = AgentKey.new("ann", b"\x01" * 32).certify(b"\x02" * 32)
    first = [author.joined(certificate=key.certificate), author.said("one")]
    twin = author.fork()
    left, right = author.said("left"), twin.said("right")
    log.merge([*first, left, right])
    signed = [key.sign(Head(author.writer, 3, event.hash)) for event in (left, right)]
    assert log.take_signatures(signed) == 2
    assert sorted(log.signatures()) == sorted(signed)


def test_signatures_come_with_a_sync_and_a_bundle(new_log, tmp_path):
    keys, here, there, third = Keys(), new_log(), new_log(), new_log()
    events = many_writers(4, 5, keys)
    here.append(events)
    here.take_signatures(keys.signed(events))
    wall = 1_800_000_000_000
    assert union(*(Receiver(log, wall=wall, max_drift_ms=60_000) for log in (here, there)))
    assert there.signed_root() == here.signed_root() and findings(there, keys) == []
    export(there, tmp_path / "all.bundle")
    with Bundle(tmp_path / "all.bundle") as bundle:
        Receiver(third, wall=wall, max_drift_ms=60_000).take(bundle.pages(), bundle.signatures)
    assert findings(third, keys) == []


@pytest.mark.parametrize("seed", range(2))
def test_the_index_is_what_the_events_give_whatever_the_order_of_arrival(new_log, seed):
    log = new_log()
    for event in interleaved(World(seed, 120).events, seed):
        log.merge([event])
    assert list(log.misindexed()) == []
