"""Part (a) on one stream: whatever bit is flipped, whatever is removed, moved or doubled, is found and named."""

from itertools import groupby

import pytest
from tests.events.build import Author
from tests.replay.tampering import FIELDS, field_ends, flipped, many_writers
from tests.scale import scaled

from beliefbase.events.envelope import Event
from beliefbase.events.index import topic
from beliefbase.events.log import Filed, Head
from beliefbase.replay.chain import Surroundings, check_stream


def filed(events):
    """As a store files a stream: the newest first."""
    return [
        Filed(event.skeleton.seq, event, topic(event.skeleton), event.id if event.body is not None else None)
        for event in reversed(events)
    ]


def head_of(events):
    last = events[-1]
    return Head(last.skeleton.writer, last.skeleton.seq, last.hash)


def check(rows, head, *, stored=(), erased=()):
    by_hash = {event.hash: event for event in stored}
    illegible = []
    around = Surroundings(by_hash.get, lambda id_: id_ in erased, lambda: illegible.append(1))
    stream = (head.writer if head else rows[0].event.skeleton.writer).hex()
    return [finding for finding in check_stream(stream, rows, head, around) if finding.severity == "damage"]


def named(findings):
    return {(finding.writer, finding.seq) for finding in findings}


def streams(events):
    ordered = sorted(events, key=lambda event: (event.skeleton.writer, event.skeleton.seq))
    return [list(of_writer) for _, of_writer in groupby(ordered, key=lambda event: event.skeleton.writer)]


def changed(row, **parts):
    event = row.event
    made = Event(parts.get("raw", event.raw), parts.get("salt", event.salt), parts.get("body", event.body))
    return row._replace(event=made)


def short_stream():
    ann = Author()
    return [ann.joined(), ann.said("one"), ann.extracted("two", source_ref="a"), ann.said("three"), ann.said("four")]


def test_a_whole_stream_has_no_findings():
    events = short_stream()
    assert check(filed(events), head_of(events)) == []


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("place", range(5))
def test_a_flip_in_a_field_names_that_event_and_no_other(field, place):
    events = short_stream()
    rows = filed(events)
    raw = events[place].raw
    rows[-1 - place] = changed(rows[-1 - place], raw=flipped(raw, 8 * field_ends(raw)[field]))
    writer = events[0].skeleton.writer.hex()
    assert named(check(rows, head_of(events))) == {(writer, place + 1)}


def every_flip(events):
    """(what is wrong, findings) for every bit of every skeleton, salt and body of these streams."""
    for stream in streams(events):
        rows, head = filed(stream), head_of(stream)
        for place, row in enumerate(rows):
            for part in ("raw", "salt", "body"):
                data = getattr(row.event, part)
                for bit in range(8 * len(data or b"")):
                    tampered = [*rows]
                    tampered[place] = changed(row, **{part: flipped(data, bit)})
                    yield (head.writer.hex(), row.seq), check(tampered, head)


@pytest.mark.slow
def test_every_single_bit_flip_in_a_log_of_200_events_is_found_and_named():
    events = many_writers(scaled(20), 10)
    flips = 0
    for where, findings in every_flip(events):
        assert named(findings) == {where}
        flips += 1
    assert flips > len(events) * 8 * 200


def test_every_single_bit_flip_in_a_short_log_is_found_and_named():
    for where, findings in every_flip(many_writers(2, 3)):
        assert named(findings) == {where}


def test_every_deletion_and_cut_but_the_tail_with_its_head_is_found():
    events = many_writers(1, 12)
    rows, head = filed(events), head_of(events)
    writer = head.writer.hex()
    for first in range(12):
        for last in range(first, 12):
            left = rows[:first] + rows[last + 1 :]
            assert (writer, rows[last].seq) in named(check(left, head)), (first, last)


def test_without_its_head_a_stream_is_damaged_and_a_head_without_a_stream_is():
    events = short_stream()
    assert named(check(filed(events), None)) == {(events[0].skeleton.writer.hex(), 5)}
    assert named(check([], head_of(events))) == {(events[0].skeleton.writer.hex(), 1)}


def test_every_swap_is_found_and_both_are_named():
    events = many_writers(1, 9)
    rows, head = filed(events), head_of(events)
    writer = head.writer.hex()
    for one in range(9):
        for other in range(one):
            swapped = [*rows]
            swapped[one] = rows[one]._replace(event=rows[other].event, words_of=rows[other].words_of)
            swapped[other] = rows[other]._replace(event=rows[one].event, words_of=rows[one].words_of)
            assert {(writer, rows[one].seq), (writer, rows[other].seq)} <= named(check(swapped, head))


def test_a_head_that_was_set_back_leaves_events_behind_it():
    events = short_stream()
    found = check(filed(events), head_of(events[:3]))
    assert {finding.seq for finding in found} >= {5} and "behind the stream's head" in found[0].what


def test_two_changed_events_next_to_each_other_are_found():
    events = short_stream()
    rows = filed(events)
    for place in (1, 2):
        rows[place] = changed(rows[place], raw=flipped(rows[place].event.raw, 8 * 60))
    assert named(check(rows, head_of(events))) >= {(events[0].skeleton.writer.hex(), 4)}


def test_missing_words_are_found_unless_an_erasure_covers_them():
    events = short_stream()
    rows = filed(events)
    rows[0] = rows[0]._replace(event=Event(rows[0].event.raw), words_of=None)
    (finding,) = check(rows, head_of(events))
    assert (finding.check, finding.seq) == ("words", 5)
    assert check(rows, head_of(events), erased={events[-1].id}) == []


def test_words_where_none_belong_or_under_another_event_are_found():
    ann = Author()
    events = [ann.joined(), ann.said("one"), ann.retracted(b"b" * 16)]
    rows = filed(events)
    rows[0] = rows[0]._replace(event=Event(rows[0].event.raw, b"s" * 16, b"\x92\x01\x80"), words_of=events[2].id)
    assert named(check(rows, head_of(events))) == {(events[0].skeleton.writer.hex(), 3)}
    rows = filed(events)
    rows[1] = rows[1]._replace(words_of=events[0].id)
    (finding,) = check(rows, head_of(events))
    assert finding.seq == 2 and "filed under another event" in finding.what


def test_an_event_listed_under_another_type_is_found():
    events = short_stream()
    rows = filed(events)
    rows[2] = rows[2]._replace(topic="belief.retracted/1")
    (finding,) = check(rows, head_of(events))
    assert finding.seq == 3 and "another type" in finding.what


def test_a_branch_must_leave_a_stored_event_of_its_writer():
    ann = Author()
    before = [ann.joined(), ann.said("one")]
    twin = ann.fork()
    branch = [twin.said("two"), twin.said("three")]
    assert check(filed(branch), head_of(branch), stored=before) == []
    (finding,) = check(filed(branch), head_of(branch), stored=before[:1])
    assert (finding.what, finding.seq) == ("seq 1 to 2 of this writer is missing", 1)


def test_a_stamp_that_goes_back_is_noted_and_is_no_damage():
    ann = Author()
    events = [ann.joined(), ann.write("utterance.recorded", {"speaker": "will", "verbatim": "x"}, hlc=5)]
    around = Surroundings(lambda _: None, lambda _: False, lambda: None)
    (finding,) = check_stream(ann.writer.hex(), filed(events), head_of(events), around)
    assert (finding.severity, finding.check, finding.seq) == ("note", "clock", 2)


def test_hostile_bytes_that_are_no_skeleton_are_found_without_taking_memory():
    events = short_stream()
    rows = filed(events)
    rows[1] = changed(rows[1], raw=b"\xdd\xff\xff\xff\xff" * 4000)
    assert named(check(rows, head_of(events))) == {(events[0].skeleton.writer.hex(), 4)}
