"""The table of docs/audit.md, row by row: twelve kinds of tampering, with and without a pin and signatures.

Nobody's read models help here: whoever can change a log can delete them. Who tampers has no key, and does the best that
can be done without: signatures of what is gone are deleted, those of earlier days are put back. Rows that say "not
found" are as much a promise as the others: that is what the other columns are for.
"""

import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from tests.events.build import Author
from tests.projections.worlds import open_log
from tests.replay.tampering import (
    Keys,
    edit,
    field_ends,
    flipped,
    going_on,
    many_writers,
    put_signatures,
    store,
    tamper,
)

from beliefbase.events.ids import name_hash
from beliefbase.events.signing import Trust
from beliefbase.replay.audit import Request, audit, pin_of

DOCS = Path(__file__).parents[2] / "docs" / "audit.md"
KEYS = Keys()
EVENTS = many_writers(4, 8, KEYS)
SIGNED = KEYS.signed(EVENTS)
VICTIM = EVENTS[13]
STREAM = [event for event in EVENTS if event.skeleton.writer == VICTIM.skeleton.writer]
OTHERS = [event for event in EVENTS if event.skeleton.writer != VICTIM.skeleton.writer]
SPEAKING = next(event for event in STREAM if event.body is not None and event.skeleton.seq > 1)
WRITER = VICTIM.skeleton.writer.hex()
(EARLIER,) = KEYS.signed(STREAM[:-2])
"""A signature that was genuine two events ago."""


def by_sql(*statements):
    return lambda folder: tamper(folder, *statements)


def with_events(events):
    """Somebody who makes a whole new log of these events, hashes and heads and all, in the place of the old one."""

    def forge(folder):
        for path in folder.glob("log.db*"):
            path.unlink()
        open_log(folder, events).close()
        put_signatures(folder, [one for one in SIGNED if one.writer in {event.skeleton.writer for event in events}])

    return forge


def with_the_tail_cut(folder):
    with_events([*OTHERS, *STREAM[:-2]])(folder)
    put_signatures(folder, [*(one for one in SIGNED if one.writer != VICTIM.skeleton.writer), EARLIER])


def rewritten():
    """The victim's stream with another third event, and everything after it hashed anew."""
    author = going_on(STREAM[:2])
    return [*OTHERS, *STREAM[:2], author.said("I never said that."), author.said("Nor that."), *author.utterances(4)]


def forged_event():
    return [*EVENTS, going_on(STREAM).retracted(SPEAKING.id)]


def forged_writer():
    forger = Author("nobody")
    genuine = STREAM[0].skeleton.payload["certificate"]
    return [*EVENTS, forger.joined("agent 1", certificate=genuine), forger.retracted(SPEAKING.id)]


SKIP = "UPDATE events SET originator_version = -originator_version WHERE state IN (?, ?)"
SWAP = "UPDATE events SET originator_version = CASE state WHEN ? THEN ? ELSE ? END WHERE state IN (?, ?)"
ONE, TWO = STREAM[3], STREAM[5]

KINDS = {
    "a bit of any field": by_sql(
        (
            "UPDATE events SET state = ? WHERE state = ?",
            flipped(VICTIM.raw, 8 * field_ends(VICTIM.raw)["payload"]),
            VICTIM.raw,
        )
    ),
    "an event deleted": by_sql(("DELETE FROM events WHERE state = ?", VICTIM.raw)),
    "events reordered": by_sql(
        (SKIP, ONE.raw, TWO.raw),
        (SWAP, ONE.raw, TWO.skeleton.seq, ONE.skeleton.seq, ONE.raw, TWO.raw),
    ),
    "an event doubled": by_sql(
        (
            "INSERT INTO events SELECT NULL, originator_id, 9, topic, state FROM events WHERE state = ?",
            VICTIM.raw,
        )
    ),
    "the tail of a stream cut, with its head": with_the_tail_cut,
    "a writer dropped": with_events(OTHERS),
    "history rewritten and hashed anew": with_events(rewritten()),
    "an event forged at the end of a stream": with_events(forged_event()),
    "a writer forged": with_events(forged_writer()),
    "words edited": by_sql(("UPDATE words SET body = ? WHERE event_id = ?", flipped(SPEAKING.body, 70), SPEAKING.id)),
    "a read model edited": lambda folder: edit(folder, "UPDATE belief_intervals SET status = 'retracted'"),
    "words and a read model edited": lambda folder: (
        tamper(folder, ("UPDATE words SET body = ? WHERE event_id = ?", flipped(SPEAKING.body, 70), SPEAKING.id)),
        edit(folder, "UPDATE belief_texts SET statement = 'edited'"),
    ),
    "the log's index edited": by_sql(
        ("DELETE FROM refs WHERE position = (SELECT rowid FROM events WHERE state = ?)", VICTIM.raw)
    ),
}
FOUND_ALONE = {
    "a bit of any field": (4, True),
    "an event deleted": (4, True),
    "events reordered": (4, True),
    "an event doubled": (4, True),
    "the tail of a stream cut, with its head": (0, False),
    "a writer dropped": (0, False),
    "history rewritten and hashed anew": (0, False),
    "an event forged at the end of a stream": (0, False),
    "a writer forged": (0, False),
    "words edited": (4, True),
    "a read model edited": (1, False),
    "words and a read model edited": (4, True),
    "the log's index edited": (4, True),
}
FOUND_BY_PIN = FOUND_ALONE | {
    "the tail of a stream cut, with its head": (4, True),
    "a writer dropped": (4, True),
    "history rewritten and hashed anew": (4, True),
}
FOUND_BY_SIGNATURES = FOUND_ALONE | {
    "history rewritten and hashed anew": (4, True),
    "an event forged at the end of a stream": (4, True),
    "a writer forged": (4, True),
}
FOUND_BY_BOTH = FOUND_BY_PIN | {
    "an event forged at the end of a stream": (4, True),
    "a writer forged": (4, True),
}
COLUMNS = {(False, False): FOUND_ALONE, (True, False): FOUND_BY_PIN, (False, True): FOUND_BY_SIGNATURES}
COLUMNS[True, True] = FOUND_BY_BOTH
GUILTY = {"a writer forged": Author("nobody").writer.hex()}
"""Who is named, where it isn't the victim's writer."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = store(tmp_path_factory.mktemp("made"), EVENTS)
    with closing(open_log(folder)) as log:
        assert log.take_signatures(SIGNED) == len(SIGNED) == 4
    return folder


@pytest.fixture(scope="module")
def pin(made):
    with closing(open_log(made)) as log:
        return pin_of(audit(log, made / "read"), 0)


def tampered(made, tmp_path, kind):
    folder = Path(shutil.copytree(made, tmp_path / "store"))
    if "read model" not in kind:
        shutil.rmtree(folder / "read")
    KINDS[kind](folder)
    return folder


@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("pinned", [False, True], ids=["alone", "with a pin"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_found_and_named(made, pin, tmp_path, kind, pinned, signed):
    folder = tampered(made, tmp_path, kind)
    request = Request({"the pin": pin} if pinned else {}, trust=KEYS.trust() if signed else None)
    with closing(open_log(folder)) as log:
        report = audit(log, folder / "read", request)
    code, named = COLUMNS[pinned, signed][kind]
    assert report.exit_code == code, report.as_text()
    graves = [finding for finding in report.findings if finding.severity != "note"]
    assert (GUILTY.get(kind, WRITER) in {finding.writer for finding in graves}) == named
    assert bool(graves) == bool(code)
    if kind == "a read model edited":
        assert graves[0].table == "belief_intervals" and graves[0].belief and graves[0].events


def test_a_signature_that_is_left_of_a_cut_tail_or_of_a_dropped_writer_gives_it_away(made, tmp_path):
    for left, what in ((STREAM[:-2], "the tail is cut"), ([], "the writer is gone")):
        folder = Path(shutil.copytree(made, tmp_path / str(len(left))))
        shutil.rmtree(folder / "read")
        with_events([*OTHERS, *left])(folder)
        put_signatures(folder, SIGNED)
        with closing(open_log(folder)) as log:
            report = audit(log, folder / "read", Request(trust=KEYS.trust()))
        (finding, *_) = [finding for finding in report.findings if finding.what.startswith(what)]
        assert (report.exit_code, finding.writer, finding.seq) == (4, WRITER, STREAM[-1].skeleton.seq)


def test_a_pin_vouches_for_the_events_of_an_agent_whom_nobody_trusts(made, pin):
    trust = Trust({name_hash(key.agent): frozenset({key.public}) for key in KEYS.agents[1:]})
    with closing(open_log(made)) as log:
        assert audit(log, made / "read", Request(trust=trust)).exit_code == 4
        report = audit(log, made / "read", Request({"the pin": pin}, trust=trust))
    assert report.exit_code == 0, report.as_text()


def test_the_table_in_the_docs_says_the_same():
    (table,) = re.findall(r"## Twelve kinds.*?(?=\n## )", DOCS.read_text("utf-8"), re.DOTALL)
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", table, re.MULTILINE)
    cells = [row.split(" | ") for _, row in rows]
    assert [kind for kind, *_ in cells] == list(KINDS)
    for kind, *told in cells:
        assert len(told) == len(COLUMNS)
        for text, column in zip(told, COLUMNS.values(), strict=True):
            code, _ = column[kind]
            assert text.startswith(f"exit {code}" if code else "not found"), (kind, text)
