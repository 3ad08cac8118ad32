"""Signed heads: who made them, that they travel, and that nobody else can make them."""

import os
import sys
from contextlib import closing
from dataclasses import replace

import pytest
from tests.cli.world import beliefbase
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import Keys, many_writers, tamper

from beliefbase import BeliefStore
from beliefbase.events.bundle import Bundle, BundleDamaged, export
from beliefbase.events.catalog import CATALOG
from beliefbase.events.hlc import Clock
from beliefbase.events.ids import name_hash
from beliefbase.events.log import Head, SignedHead
from beliefbase.events.signing import AgentKey, BadKey, Certificate, SigningUnavailable, Trust, key_file
from beliefbase.events.writer import Batch, Pen, Writer
from beliefbase.replay.portable import read_log, write_log
from beliefbase.replay.report import AuditReport
from beliefbase.replay.signatures import SignatureCheck
from beliefbase.syncing import sync, take_bundle, write_bundle

ANN = AgentKey.new("ann", b"\x01" * 32)
TRUST = Trust({name_hash("ann"): frozenset({ANN.public})})


def findings(log, trust=TRUST, pinned=()):
    report = AuditReport()
    report.add(SignatureCheck(log, trust, pinned).check(log.frontier(), report))
    return report.findings


@pytest.fixture
def keys(tmp_path):
    ANN.write(key_file(tmp_path / "keys", "ann"))
    return tmp_path / "keys"


def written(folder, keys, *texts, agent="ann"):
    with BeliefStore.open(folder, create=True, keys=keys) as store:
        writer = store.writer(agent)
        for text in texts:
            writer.record_utterance(text, speaker="will")
        return store.log.frontier(), store.log.signatures()


def test_every_commit_signs_the_head_and_only_the_newest_signature_is_kept(tmp_path, keys):
    heads, signed = written(tmp_path / "store", keys, "one", "two", "three")
    assert [one.head for one in signed] == list(heads) and heads[0].seq == 4
    with BeliefStore.open(tmp_path / "store") as store:
        (joined,) = store.log.firsts([heads[0].writer])
        certificate = Certificate.of(joined)
        assert certificate.agent_key == ANN.public
        assert certificate.holds(name_hash("ann")) and not certificate.holds(name_hash("bob"))
        assert certificate.covers(signed[0])
        assert not certificate.covers(signed[0]._replace(seq=3))
        assert findings(store.log) == []


def test_an_agent_without_a_key_signs_nothing(tmp_path, keys):
    heads, signed = written(tmp_path / "store", keys, "one", agent="bob")
    assert signed == []
    with BeliefStore.open(tmp_path / "store") as store:
        (finding,) = findings(store.log)
    assert (finding.seq, finding.writer) == (1, heads[0].writer.hex())
    assert "no certificate" in finding.what


def test_the_folder_of_keys_comes_from_the_environment(tmp_path, keys, monkeypatch):
    monkeypatch.setenv("BELIEFBASE_KEYS", str(keys))
    assert len(written(tmp_path / "store", None, "one")[1]) == 1


def test_a_writer_that_goes_on_after_its_clock_was_stepped_back_signs_both_its_streams(tmp_path):
    wall = [10_000_000]
    pen = Pen(Clock(lambda: wall[0]), wall=lambda: wall[0])
    writer = Writer(pen, agent="ann", key=ANN)
    say = {"speaker": "will", "verbatim": "It rains."}
    with closing(open_log(tmp_path)) as log:
        with Batch(log, pen) as batch:
            batch.add(writer, drafted(say))
            wall[0] -= 1_000_000
            batch.add(writer, drafted(say))
        assert sorted(one.head for one in log.signatures()) == list(log.frontier())
        assert len(log.frontier()) == 2
        assert findings(log) == []


def drafted(fields):
    return CATALOG.draft("utterance.recorded", fields)


def test_a_batch_that_is_rolled_back_signs_nothing(tmp_path):
    pen = Pen()
    with closing(open_log(tmp_path)) as log:
        batch = Batch(log, pen)
        batch.__enter__()
        batch.add(Writer(pen, agent="ann", key=ANN), drafted({"speaker": "will", "verbatim": "x"}))
        batch.__exit__(RuntimeError, RuntimeError(), None)
        assert log.signatures() == []


def test_signatures_travel_by_sync_both_ways(tmp_path, keys):
    written(tmp_path / "one", keys, "here")
    written(tmp_path / "two", keys, "there")
    with BeliefStore.open(tmp_path / "one") as one:
        told = sync(one, tmp_path / "two")
        assert (told.here["signatures"], told.there["signatures"]) == (1, 1)
        assert findings(one.log) == []
    with BeliefStore.open(tmp_path / "two") as two:
        assert findings(two.log) == [] and len(two.log.signatures()) == 2


def test_a_sync_that_was_cut_before_the_signatures_catches_up(tmp_path, keys):
    written(tmp_path / "one", keys, "here")
    with BeliefStore.open(tmp_path / "one") as one, BeliefStore.open(tmp_path / "two", create=True) as two:
        two.log.merge(event for page in one.log.since(()) for event in page)
        assert findings(two.log)
        sync(two, tmp_path / "one")
        assert findings(two.log) == []


def test_signatures_travel_in_bundles_and_log_files(tmp_path, keys):
    written(tmp_path / "one", keys, "here")
    with BeliefStore.open(tmp_path / "one") as one, BeliefStore.open(tmp_path / "two", create=True) as two:
        write_bundle(one, tmp_path / "all.bundle")
        write_log(one.log, tmp_path / "all.bblog")
        assert take_bundle(two, tmp_path / "all.bundle")["signatures"] == 1
        assert findings(two.log) == []
        assert read_log(tmp_path / "all.bblog").signatures() == one.log.signatures()


def test_a_bundle_that_was_cut_within_its_signatures_is_refused(tmp_path):
    keys = Keys()
    events = many_writers(3, 4, keys)
    with closing(open_log(tmp_path, events)) as log:
        log.take_signatures(keys.signed(events))
        export(log, tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    for cut in range(len(data) - 73 - 3 * 120 - 5, len(data), 7):
        (tmp_path / "cut").write_bytes(data[:cut])
        with pytest.raises(BundleDamaged):
            Bundle(tmp_path / "cut")


def test_foreign_signatures_that_do_not_hold_replace_none_that_does(tmp_path):
    keys = Keys()
    events = many_writers(2, 6, keys)
    with closing(open_log(tmp_path, events)) as log:
        (genuine, other) = keys.signed(events)
        shorter = keys.signed(events[:-4])[0]
        assert log.take_signatures([shorter]) == 1
        forged = genuine._replace(signature=os.urandom(64))
        assert log.take_signatures([forged, genuine._replace(signature=other.signature)]) == 0
        assert log.take_signatures([genuine, genuine, shorter]) == 1
        assert log.signatures() == [genuine]
        stranger = SignedHead(*Head(b"x" * 16, 1, bytes(32)), bytes(64))
        assert log.take_signatures([stranger]) == 0


def test_the_first_event_that_nothing_vouches_for_is_named(tmp_path):
    keys = Keys()
    events = many_writers(1, 8, keys)
    with closing(open_log(tmp_path, events)) as log:
        log.take_signatures(keys.signed(events[:5]))
        (finding,) = findings(log, keys.trust())
        assert (finding.seq, finding.event) == (6, events[5].id.hex())
        pinned = [Head(events[6].skeleton.writer, 7, events[6].hash)]
        (finding,) = findings(log, keys.trust(), pinned)
        assert (finding.seq, finding.event) == (8, events[7].id.hex())


def test_a_pin_vouches_for_what_was_never_signed(tmp_path):
    events = many_writers(3, 4)
    with closing(open_log(tmp_path, events)) as log:
        assert len(findings(log)) == 3
        assert findings(log, pinned=log.frontier()) == []


def test_a_forged_branch_of_a_signed_writer_is_named_from_where_it_leaves(tmp_path):
    author = Author()
    key = ANN.certify(b"\x02" * 32)
    events = [author.joined("ann", certificate=key.certificate), author.said("one"), author.said("two")]
    twin = author.fork()
    genuine = [author.said("three"), author.said("four")]
    forged = [twin.said("forged"), twin.said("forged, too"), twin.said("and again")]
    with closing(open_log(tmp_path, [*events, *genuine])) as log:
        log.merge(forged)
        log.take_signatures([key.sign(Head(author.writer, 5, genuine[-1].hash))])
        (finding,) = findings(log)
    assert (finding.seq, finding.event) == (4, forged[0].id.hex())


def test_a_certificate_by_a_key_that_is_not_trusted_or_for_another_agent_does_not_count(tmp_path):
    stranger = AgentKey.new("ann", b"\x03" * 32)
    for number, (name, key) in enumerate((("ann", stranger), ("bob", ANN))):
        author, writer = Author(name), key.certify(b"\x04" * 32)
        events = [author.joined(name, certificate=writer.certificate), author.said("hello")]
        with closing(open_log(tmp_path / str(number), events)) as log:
            log.take_signatures([writer.sign(Head(author.writer, 2, events[-1].hash))])
            assert {"a false signature" in finding.what for finding in findings(log)} == {True, False}


def test_key_files_are_private_never_overwritten_and_read_again(tmp_path):
    path = tmp_path / "keys" / "ann.key"
    ANN.write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert AgentKey.read(path).public == ANN.public
    with pytest.raises(BadKey, match="never overwritten"):
        ANN.write(path)
    path.chmod(0o640)
    with pytest.raises(BadKey, match="others can read"):
        AgentKey.read(path)
    with pytest.raises(BadKey):
        AgentKey.read(tmp_path / "none.key")


def test_a_trust_file_holds_lines_of_keys_and_comments(tmp_path):
    path = tmp_path / "trusted.keys"
    path.write_text(f"# of the team\n\n{ANN.line}\ned25519 {'0' * 64} Zoë of the lab\n", "utf-8")
    genuine = Certificate.of(Author().joined("ann", certificate=ANN.certify(b"\x05" * 32).certificate))
    trust = Trust.read(path)
    assert trust.trusts(genuine, name_hash("ann")) and not trust.trusts(genuine, name_hash("Zoë of the lab"))
    assert not trust.trusts(replace(genuine, writer_key=bytes(32)), name_hash("ann"))
    for line in ("ed25519 00 ann", "rsa " + "0" * 64 + " ann", "ed25519 " + "0" * 64):
        path.write_text(line, "utf-8")
        with pytest.raises(BadKey, match="line 1"):
            Trust.read(path)


def test_without_the_extra_nothing_is_signed_and_signatures_are_still_passed_on(tmp_path, keys, monkeypatch):
    signing = Keys()
    events = many_writers(2, 4, signing)
    signed = signing.signed(events)
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with closing(open_log(tmp_path / "log", events)) as log:
        assert log.take_signatures(signed) == 2
        with pytest.raises(SigningUnavailable) as caught:
            findings(log, signing.trust())
    assert "beliefbase[sign]" in caught.value.hint
    with pytest.raises(SigningUnavailable):
        written(tmp_path / "store", keys, "one")
    assert written(tmp_path / "store", None, "one")[1] == []


def test_a_log_of_before_signatures_is_given_their_table(tmp_path, keys):
    written(tmp_path / "store", None, "one")
    tamper(tmp_path / "store", ("DROP TABLE signatures",))
    _, signed = written(tmp_path / "store", keys, "two")
    assert len(signed) == 1


# ---------------------------------------------------------------------- the commands


def test_keys_by_command_and_audits_of_stores_bundles_and_log_files(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFBASE_KEYS", str(tmp_path / "keys"))

    def run(*arguments, code=0, given=""):
        done = beliefbase(monkeypatch, "-s", tmp_path / "team", *arguments, given=given)
        assert done.code == code, done.out + done.err
        return done.out

    trusted = tmp_path / "trusted.keys"
    trusted.write_text(run("key", "new", "ann", "bob"), "utf-8")
    assert run("key", "show", "ann", "bob") == trusted.read_text("utf-8")
    run("key", "new", "ann", code=2)
    run("init")
    say = '{"type": "utterance.recorded", "agent": "%s", "speaker": "will", "verbatim": "It rains."}'
    run("append", given=say % "ann")
    run("bundle", "export", tmp_path / "team.bundle")
    with BeliefStore.open(tmp_path / "team") as store:
        write_log(store.log, tmp_path / "team.bblog")
    for logs in ((), (tmp_path / "team.bundle",), (tmp_path / "team.bblog",)):
        assert "1 signatures" in run("audit", *logs, "--keys", trusted)
    run("audit", "--quick", "--keys", trusted)
    run("append", given=say % "somebody")
    assert "forged, or not signed" in run("audit", "--keys", trusted, code=4)
    run("audit", code=0)
    run("pin", "--out", tmp_path / "pin.json")
    run("audit", "--keys", trusted, "--pin", tmp_path / "pin.json")
