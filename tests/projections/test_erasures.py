"""Read models and erasures: whatever arrives first, tables are those of a rebuild, and no erased word is in them."""

import itertools
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.events.build import START_MS, Author
from tests.events.test_erasure import LATER, by_definition, histories
from tests.scale import scaled

from beliefbase.events.envelope import Event
from beliefbase.events.sqlite import SQLiteLog
from beliefbase.projections.projector import Projector
from beliefbase.projections.publish import current
from beliefbase.replay.audit import audit

AS_OF = LATER


@settings(max_examples=scaled(8), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_refreshed_tables_are_those_of_a_rebuild_in_any_order_of_arrival(data):
    events = data.draw(histories())
    arrivals = data.draw(st.permutations(events))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(events)), max_size=3)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = SQLiteLog(folder / "log.db", durability="process", wall=lambda: LATER)
        with Projector(log, folder / "read") as projector:
            for start, end in itertools.pairwise([0, *cuts, len(events)]):
                log.merge(arrivals[start:end])
                projector.refresh(AS_OF)
            digest = projector.digest()
            projector.publish()
            shown = projector.rows("SELECT belief_id FROM belief_intervals WHERE status = 'erased'")
        report = audit(log, folder / "read", as_of_ms=AS_OF)
        assert report.exit_code == 0, report.as_text()
        assert report.digest == digest
        erased = {key.hex() for key in by_definition(events)}
        assert {row[0] for row in shown} <= erased
        log.close()


def test_a_belief_is_erased_from_the_erasures_stamp_on_and_what_quotes_it_later_from_its_own(tmp_path):
    log = SQLiteLog(tmp_path / "log.db", durability="process")
    ann = Author()
    said = ann.said("a", subjects=["will"])
    belief = ann.extracted("b", evidence=[said.id])
    erased = ann.write("subject.erased", {"subject": "will"})
    quote = ann.extracted("c", evidence=[belief.id])
    with Projector(log, tmp_path / "read") as projector:
        log.append([said, belief])
        projector.refresh(AS_OF)
        before = projector.digest()
        log.append([erased])
        assert projector.refresh(AS_OF).how == "rebuilt"
        log.append([quote])
        assert projector.refresh(AS_OF).how == "refreshed"
        rows = projector.rows(
            "SELECT belief_id, since_hlc, cause_id, by_id FROM belief_intervals"
            " WHERE status = 'erased' ORDER BY since_hlc"
        )
        assert rows == [
            (belief.id.hex(), erased.skeleton.hlc, erased.id.hex(), erased.id.hex()),
            (quote.id.hex(), quote.skeleton.hlc, erased.id.hex(), erased.id.hex()),
        ]
        assert projector.digest() != before
    log.close()


def test_words_that_go_or_come_without_a_new_event_reach_tables_and_snapshots(tmp_path):
    wall = START_MS
    log = SQLiteLog(tmp_path / "log.db", durability="process", wall=lambda: wall)
    ann = Author()
    said = ann.said("canary bird", subjects=["will"])
    future = Author("peer").write("subject.erased", {"subject": "will"}, hlc=(START_MS + 1000) << 16)
    log.merge([Event(said.raw), future])

    def texts():
        with Projector(log, tmp_path / "read") as projector:
            projector.refresh(AS_OF)
            projector.publish()
            return projector.rows("SELECT verbatim FROM utterances")

    assert texts() == [(None,)]
    log.merge([said])
    assert texts() == [("canary bird",)]
    wall += 1000
    assert log.carry_out_erasures() == 1
    assert texts() == [(None,)]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert current(tmp_path / "read") in files
    assert [file for file in files if b"canary bird" in file.read_bytes()] == []
    log.close()
