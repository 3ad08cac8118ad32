"""A machine that is cloned as it runs: both copies go on writing under the ids of the open handles (DESIGN 3)."""

import shutil

import pytest

from beliefbase import BeliefStore
from beliefbase.doctor import examine
from beliefbase.events.errors import Equivocation
from beliefbase.syncing import sync


def twin_of(writer, store):
    """The writer of a running process, as its copy in another machine's memory."""
    inner = writer._writer
    twin = store.writer(inner.agent)
    for field in ("id", "seq", "prev"):
        setattr(twin._writer, field, getattr(inner, field))
    return twin


def test_both_go_on_and_nothing_is_lost_and_doctor_names_the_fork(tmp_path):
    with BeliefStore.open(tmp_path / "one", create=True) as one:
        writer = one.writer("planner")
        before = writer.extract("before", kind="fact")
        one.log.checkpoint()
        shutil.copytree(tmp_path / "one", tmp_path / "other")
        with BeliefStore.open(tmp_path / "other") as other:
            twin = twin_of(writer, other)
            told = [writer.affirm(before), writer.extract("here", kind="fact"), writer.retract(before)]
            told += [twin.extract("there", kind="fact"), twin.affirm(before)]
            assert writer.id == twin.id
            assert sync(one, tmp_path / "other").same
            told.append(writer.extract("here again", kind="fact"))
            with pytest.raises(Equivocation):
                twin.extract("there again", kind="fact")  # its seq is taken by the other branch, which is here now
            told.append(twin.extract("there again", kind="fact"))
            assert twin.id != writer.id
            assert sync(other, tmp_path / "one").same

            streams = {
                stored.event.id.hex(): stored.event.skeleton.writer for page in one.log.read() for stored in page
            }
            assert {before, *told} <= streams.keys()
            assert {streams[event].hex() for event in told[:-1]} == {writer.id}
            assert one.log.root() == other.log.root()
            assert one.digest() == other.digest()
            for store in (one, other):
                heads = [head.writer.hex() for head in store.log.frontier()]
                assert sorted(heads) == sorted([writer.id, writer.id, twin.id])
                told_by = [finding for finding in examine(store).findings if writer.id in finding["what"]]
                assert told_by and all("cloned" in finding["next"] for finding in told_by)
                assert store.audit().exit_code == 0
