"""The hybrid logical clock: unique, increasing and causal stamps near the wall clock, whatever the walls do.

A failure here means that replay may see an effect before its cause, or that one wrong clock spoils a whole log.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beliefbase.events.errors import ClockBehind, InvalidStamp, UsedAfterFork
from beliefbase.events.hlc import (
    MAX_COUNTER,
    MAX_HLC,
    MAX_MS,
    MAX_PARKED,
    Clock,
    SourceClock,
    Stamp,
    counter_of,
    ms_of,
    stamp,
    steady_ms,
    wall_ms,
)

NOON = 1_700_000_000_000
DRIFT = 60_000
WRITER = bytes(range(16))
STAMPS = st.builds(
    Stamp, st.integers(0, MAX_MS), st.integers(0, MAX_COUNTER), st.binary(min_size=16, max_size=16)
) | st.builds(Stamp, st.integers(0, 2), st.sampled_from([0, 1, 255, 256]), st.sampled_from([WRITER, b"\xff" * 16]))


class Wall:
    """A wall clock that a test sets."""

    def __init__(self, ms: int = NOON) -> None:
        self.ms = ms

    def __call__(self) -> int:
        return self.ms


# --- R1: forms -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=1000)
@given(STAMPS, STAMPS)
def test_r1_tuples_integers_bytes_and_texts_sort_alike(left: Stamp, right: Stamp) -> None:
    assert (
        (left < right)
        == (left.to_bytes() < right.to_bytes())
        == (left.to_text() < right.to_text())
        == ((left.hlc, left.writer) < (right.hlc, right.writer))
    )


@settings(deadline=None, max_examples=500)
@given(STAMPS)
def test_r1_every_form_leads_back(given_stamp: Stamp) -> None:
    assert given_stamp == Stamp.from_bytes(given_stamp.to_bytes())
    assert given_stamp == Stamp.parse(given_stamp.to_text())
    assert given_stamp == Stamp.of(given_stamp.hlc, given_stamp.writer)
    assert (given_stamp.ms, given_stamp.counter) == (ms_of(given_stamp.hlc), counter_of(given_stamp.hlc))
    assert 0 <= given_stamp.hlc < 2**63


def test_r1_the_forms_are_the_same_on_every_machine() -> None:
    known = Stamp(NOON, 258, WRITER)
    assert 111_411_200_000_000_258 == known.hlc
    assert "018bcfe568000102000102030405060708090a0b0c0d0e0f" == known.to_bytes().hex()
    assert "018bcfe56800-0102-000102030405060708090a0b0c0d0e0f" == known.to_text()


@settings(deadline=None, max_examples=1000)
@given(st.binary(max_size=40))
@example(b"")
@example(b"\x7f" + b"\xff" * 23)
def test_r1_bytes_are_a_stamp_or_refused(raw: bytes) -> None:
    if len(raw) == 24 and raw[0] < 0x80:
        assert raw == Stamp.from_bytes(raw).to_bytes()
        return
    with pytest.raises(InvalidStamp):
        Stamp.from_bytes(raw)


@settings(deadline=None, max_examples=500)
@given(STAMPS, st.integers(0, 50), st.text(max_size=2))
def test_r1_a_text_has_one_spelling(given_stamp: Stamp, at: int, patch: str) -> None:
    text = given_stamp.to_text()
    spoilt = text[:at] + patch + text[at + len(patch) :]
    try:
        assert spoilt == Stamp.parse(spoilt).to_text()
    except InvalidStamp:
        assert spoilt != text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "018BCFE56800-0102-000102030405060708090a0b0c0d0e0f",
        "+18bcfe56800-0102-000102030405060708090a0b0c0d0e0f",
        " 18bcfe56800-0102-000102030405060708090a0b0c0d0e0f",
        "018bcfe56800-0102-000102030405060708090a0b0c0d0e0f ",
        "018bcfe56800-0102-000102030405060708090a0b0c0d0e0f\n",
        "018bcfe56800-_102-000102030405060708090a0b0c0d0e0f",
        "0x8bcfe56800-0102-000102030405060708090a0b0c0d0e0f",
        "018bcfe5680٣-0102-000102030405060708090a0b0c0d0e0f",
        "18bcfe56800-0102-000102030405060708090a0b0c0d0e0f",
        "018bcfe56800-00102-00102030405060708090a0b0c0d0e0f",
        "018bcfe56800.0102.000102030405060708090a0b0c0d0e0f",
        "800000000000-0000-000102030405060708090a0b0c0d0e0f",
        b"018bcfe56800-0102-000102030405060708090a0b0c0d0e0f",
        None,
    ],
)
def test_r1_other_texts_are_refused(text: Any) -> None:
    with pytest.raises(InvalidStamp):
        Stamp.parse(text)


@pytest.mark.parametrize("junk", [True, False, 1.0, -1, MAX_HLC + 1, "5", None, b"\x00"])
def test_r1_what_is_no_stamp_is_refused_everywhere(junk: Any) -> None:
    clock = Clock(Wall())
    refusing: list[Callable[[], object]] = [
        lambda: stamp(junk),
        lambda: stamp(0, junk),
        lambda: Stamp(junk, 0, WRITER).to_bytes(),
        lambda: Stamp(0, junk, WRITER).to_text(),
        lambda: Stamp.of(junk, WRITER),
        lambda: Clock(Wall(), last=junk),
        lambda: SourceClock(last=junk),
        lambda: SourceClock().at(junk),
        lambda: clock.observe(junk),
        lambda: Clock.restart([junk], Wall()),
    ]
    for refuse in refusing:
        with pytest.raises(InvalidStamp):
            refuse()
    assert 0 == clock.last


@pytest.mark.parametrize("junk", [b"", b"x" * 15, b"x" * 17, "x" * 16, bytearray(16), None])
def test_r1_a_writer_is_16_bytes(junk: Any) -> None:
    for refuse in (Stamp(0, 0, junk).to_bytes, Stamp(0, 0, junk).to_text, lambda: Stamp.of(0, junk)):
        with pytest.raises(InvalidStamp):
            refuse()


@pytest.mark.parametrize("junk", [True, -1, 1.5, None])
def test_the_drift_is_a_whole_number_of_milliseconds(junk: Any) -> None:
    with pytest.raises(InvalidStamp):
        Clock(Wall(), max_drift_ms=junk)


# --- R2, R3: one table of sends and receipts -----------------------------------------------------------------------

SEND, RECEIVE = "send", "receive"


def test_r2_r3_table_of_sends_and_receipts() -> None:
    """Wall, what is done, the stamp received, and the clock afterwards: (ms after noon, counter)."""
    wall = Wall()
    clock = Clock(wall)
    table = [
        (10, SEND, None, (10, 0)),
        (10, SEND, None, (10, 1)),
        (11, SEND, None, (11, 0)),
        (5, SEND, None, (11, 1)),  # the wall stepped back: the counter goes on
        (12, RECEIVE, (11, 9), (11, 9)),  # observing issues nothing and takes no wall time
        (12, RECEIVE, (11, 3), (11, 9)),
        (12, SEND, None, (12, 0)),
        (12, RECEIVE, (12, 7), (12, 7)),  # equal milliseconds: the larger counter counts
        (12, RECEIVE, (12, 6), (12, 7)),
        (12, SEND, None, (12, 8)),
        (13, RECEIVE, (500, 3), (500, 3)),
        (13, SEND, None, (500, 4)),
        (499, SEND, None, (500, 5)),
        (501, SEND, None, (501, 0)),
        (501, RECEIVE, (501, MAX_COUNTER), (501, MAX_COUNTER)),
        (501, SEND, None, (502, 0)),  # a full counter borrows the next millisecond
        (501, SEND, None, (502, 1)),
        (502, SEND, None, (502, 2)),
        (600, RECEIVE, (600 + DRIFT, 5), (600 + DRIFT, 5)),  # just within the drift
        (600, SEND, None, (600 + DRIFT, 6)),
        (600, RECEIVE, (601 + DRIFT, 0), (600 + DRIFT, 6)),  # just beyond: parked
        (600, SEND, None, (600 + DRIFT, 7)),
        (601, SEND, None, (601 + DRIFT, 1)),  # the wall got there: absorbed first
        (601 + DRIFT, SEND, None, (601 + DRIFT, 2)),
        (602 + DRIFT, SEND, None, (602 + DRIFT, 0)),
    ]
    for line, (ms, act, received, expected) in enumerate(table):
        wall.ms = NOON + ms
        if received is None:
            assert clock.last < clock.now(), line
        else:
            clock.observe(stamp(NOON + received[0], received[1]))
        assert (NOON + expected[0], expected[1]) == (ms_of(clock.last), counter_of(clock.last)), (line, act)


def test_r2_a_frozen_wall_runs_over_into_the_next_millisecond() -> None:
    for drift in (0, DRIFT):
        clock = Clock(Wall(), max_drift_ms=drift)
        stamps = [clock.now() for _ in range(70_000)]
        assert stamps == sorted(set(stamps))
        assert (stamp(NOON), stamp(NOON + 1, 70_000 - 1 - 2**16)) == (stamps[0], stamps[-1])


def test_r2_a_wall_stepped_back_beyond_the_drift_stops_the_writer_and_moves_nothing() -> None:
    wall = Wall()
    clock = Clock(wall)
    before = clock.now()
    wall.ms = NOON - DRIFT - 2
    for _ in range(2):
        with pytest.raises(ClockBehind) as caught:
            clock.now()
    assert (DRIFT + 2, DRIFT) == (caught.value.data["behind_ms"], caught.value.data["max_drift_ms"])
    assert caught.value.hint
    assert before == clock.last
    wall.ms = NOON - DRIFT
    assert before + 1 == clock.now()


def test_r2_after_a_step_back_a_new_clock_goes_on_from_the_wall() -> None:
    wall = Wall()
    old = Clock(wall)
    last = [old.now() for _ in range(3)][-1]
    wall.ms = NOON - DRIFT - 2
    new = Clock.restart([last], wall)
    assert (last,) == new.parked
    assert stamp(wall.ms) == new.now()


def test_r2_another_machines_full_counter_at_the_very_edge_of_the_drift_stops_nobody() -> None:
    clock = Clock(Wall())
    assert clock.observe(stamp(NOON + DRIFT, MAX_COUNTER))
    assert stamp(NOON + DRIFT + 1) == clock.now()
    for _ in range(MAX_COUNTER):
        last = clock.now()
    assert stamp(NOON + DRIFT + 1, MAX_COUNTER) == last
    with pytest.raises(ClockBehind):
        clock.now()


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("wall"), st.integers(-2 * DRIFT, 2 * DRIFT) | st.integers(-2, 2)),
            st.tuples(st.just("now"), st.integers(1, 4)),
            st.tuples(
                st.just("observe"),
                st.tuples(
                    st.integers(-DRIFT, DRIFT) | st.integers(DRIFT - 2, 4 * DRIFT) | st.integers(-1, 1),
                    st.sampled_from([0, 1, 7, MAX_COUNTER - 1, MAX_COUNTER]),
                ),
            ),
            st.tuples(st.just("restart"), st.booleans()),
        ),
        max_size=60,
    ),
    st.sampled_from([0, 1, 1000, DRIFT]),
)
def test_r2_to_r4_monotone_causal_and_bounded_under_any_walls_and_restarts(
    steps: list[tuple[str, Any]], drift: int
) -> None:
    wall = Wall()
    clock = Clock(wall, max_drift_ms=drift)
    seen: set[int] = set()  # the log: every stamp observed or issued
    reached = -1  # the greatest stamp that some time since the last restart was within the drift
    issued = -1
    for what, argument in steps:
        if what == "wall":
            wall.ms += argument
        elif what == "observe":
            other = stamp(wall.ms + argument[0], argument[1])
            seen.add(other)
            in_range = ms_of(other) <= wall.ms + drift
            reached = max([reached, *(hlc for hlc in seen if ms_of(hlc) <= wall.ms + drift)])
            assert (in_range or other <= reached) == clock.observe(other)
        elif what == "restart":
            clock = Clock.restart(seen if argument else sorted(seen, reverse=True), wall, max_drift_ms=drift)
            reached = max([-1, *(hlc for hlc in seen if ms_of(hlc) <= wall.ms + drift)])
            issued = -1
        else:
            for _ in range(argument):
                reached = max([reached, *(hlc for hlc in seen if ms_of(hlc) <= wall.ms + drift)])
                try:
                    new = clock.now()
                except ClockBehind:
                    assert ms_of(reached + 1) > wall.ms + drift + 1
                    continue
                assert new > issued
                assert new > reached
                assert wall.ms <= ms_of(new) <= wall.ms + drift + 1
                issued = reached = new
                seen.add(new)


def test_r2_threads_get_unique_stamps_in_increasing_order() -> None:
    clock = Clock()
    taken: list[list[int]] = [[] for _ in range(8)]
    start = threading.Barrier(8)

    def run(mine: list[int]) -> None:
        start.wait()
        mine.extend(clock.now() for _ in range(3000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(mine,)) for mine in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert all(mine == sorted(mine) for mine in taken)
    assert 24_000 == len({hlc for mine in taken for hlc in mine})


def test_r2_the_wall_is_read_inside_the_lock() -> None:
    """A reading taken outside would be overtaken: the stamp would still increase, but lie about its time."""
    clock: Clock | None = None
    held: list[bool] = []

    def wall() -> int:
        if clock is not None:
            held.append(clock._lock.locked())
        return NOON

    clock = Clock(wall)
    clock.now()
    clock.observe(stamp(NOON))
    assert [True, True] == held


# --- R3: parking ---------------------------------------------------------------------------------------------------


def test_r3_a_future_stamp_is_parked_not_adopted_and_absorbed_when_the_wall_gets_there() -> None:
    wall = Wall()
    clock = Clock(wall)
    future = stamp(NOON + 10 * DRIFT, 4)
    assert not clock.observe(future)
    assert not clock.observe(future)
    assert (future,) == clock.parked
    assert stamp(NOON) == clock.now()
    wall.ms = NOON + 9 * DRIFT - 1
    assert stamp(wall.ms) == clock.now()
    wall.ms += 1
    assert future + 1 == clock.now()
    assert not clock.parked


def test_r3_a_stamp_that_the_clock_is_past_is_never_parked() -> None:
    wall = Wall()
    clock = Clock(wall)
    last = clock.now()
    wall.ms = NOON - 2 * DRIFT
    assert clock.observe(last)
    assert clock.observe(last - 1)
    assert not clock.observe(last + 1)
    assert (last + 1,) == clock.parked


def test_r3_a_parked_stamp_that_the_clock_has_passed_does_not_set_it_back() -> None:
    """A borrowed millisecond can pass a parked stamp before the wall comes within the drift of it."""
    wall = Wall()
    clock = Clock(wall)
    clock.observe(stamp(NOON + DRIFT + 1))
    clock.observe(stamp(NOON + DRIFT, MAX_COUNTER))
    last = [clock.now() for _ in range(3)][-1]
    assert stamp(NOON + DRIFT + 1, 2) == last
    wall.ms += 1
    assert last + 1 == clock.now()


def test_r3_only_what_is_in_range_is_absorbed() -> None:
    wall = Wall()
    clock = Clock(wall)
    minutes = [stamp(NOON + minute * DRIFT) for minute in (5, 2, 4, 3)]
    assert [False] * 4 == [clock.observe(hlc) for hlc in minutes]
    wall.ms = NOON + 2 * DRIFT
    assert clock.observe(stamp(NOON))
    assert (minutes[2], minutes[0]) == clock.parked
    assert minutes[3] == clock.last


def test_r3_a_clock_three_years_ahead_does_not_poison_the_others() -> None:
    """Cases: a persisted far-future time that can't be undone, and one bad clock that stops every peer."""
    liar = Clock(Wall(NOON + 3 * 365 * 86_400_000))
    wall = Wall()
    honest = Clock(wall)
    for _ in range(1000):
        honest.observe(liar.now())
        assert ms_of(honest.now()) == NOON
    assert 1 == len(honest.parked)
    assert ms_of(Clock.restart([honest.last, *honest.parked], wall).now()) == NOON


def test_r3_clocks_that_talk_to_each_other_do_not_run_away() -> None:
    """Case: merging processed the logical time twice, and the clocks ran off into the future."""
    wall = Wall()
    left, right = Clock(wall), Clock(wall)
    for _ in range(5000):
        right.observe(left.now())
        left.observe(right.now())
    assert stamp(NOON, 9999) == max(left.last, right.last)


@pytest.mark.parametrize("count", [MAX_PARKED + 1, MAX_PARKED + 2, 3 * MAX_PARKED])
def test_r3_the_memory_of_parked_stamps_is_bounded_and_never_early(count: int) -> None:
    wall = Wall()
    clock = Clock(wall)
    far = [stamp(NOON + DRIFT + 1 + 7 * n, n % 5) for n in range(count)]
    for hlc in far:
        clock.observe(hlc)
    kept = clock.parked
    assert len(kept) <= MAX_PARKED
    assert kept == tuple(sorted(set(kept))) and set(kept) <= set(far)
    assert far[-1] == kept[-1]
    for hlc in kept[: -1 : MAX_PARKED // 8]:
        wall.ms = ms_of(hlc) - DRIFT
        assert hlc + 1 == clock.now()
    wall.ms = ms_of(far[-1]) - DRIFT
    assert far[-1] + 1 == clock.now()


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, MAX_COUNTER)), max_size=30))
def test_r3_of_each_parked_millisecond_the_greatest_stamp_is_kept(ahead: list[tuple[int, int]]) -> None:
    clock = Clock(Wall(), max_drift_ms=0)
    greatest: dict[int, int] = {}
    for ms, counter in ahead:
        hlc = stamp(NOON + 1 + ms, counter)
        clock.observe(hlc)
        greatest[ms] = max(hlc, greatest.get(ms, 0))
    assert tuple(sorted(greatest.values())) == clock.parked


def test_r3_the_horizon_separates_what_is_absorbed_from_what_is_parked() -> None:
    clock = Clock(Wall())
    assert not clock.observe(clock.horizon + 1)
    assert clock.observe(clock.horizon)
    assert MAX_HLC == Clock(Wall(MAX_MS)).horizon


# --- R4: restart ---------------------------------------------------------------------------------------------------


def test_r4_a_restart_under_an_earlier_wall_continues_after_the_log() -> None:
    """Case: the wall clock goes back between two runs and the order of events breaks."""
    wall = Wall()
    log = [Clock(wall).now()]
    for back in (1, 500, DRIFT):
        wall.ms = NOON - back
        log.append(Clock.restart(log, wall).now())
        log.append(Clock(wall, last=max(log)).now())
    assert log == sorted(set(log))


def test_r4_the_greatest_stamp_within_the_horizon_and_all_above_it_are_enough() -> None:
    wall = Wall()
    log = [stamp(NOON + offset, 3) for offset in (-9, -1, 0, DRIFT, DRIFT + 1, 9 * DRIFT)]
    whole = Clock.restart(log, wall)
    short = Clock.restart(log[3:], wall)
    assert (log[3], tuple(log[4:])) == (whole.last, whole.parked) == (short.last, short.parked)


def test_r4_a_far_future_stamp_given_at_the_start_is_parked_too() -> None:
    clock = Clock(Wall(), last=stamp(NOON + 2 * DRIFT))
    assert (0, (stamp(NOON + 2 * DRIFT),)) == (clock.last, clock.parked)


def test_r4_an_empty_log_starts_at_the_wall() -> None:
    assert stamp(NOON) == Clock.restart([], Wall()).now() == Clock(Wall()).now()


# --- R5: two processes on one log ----------------------------------------------------------------------------------


def test_r5_writers_that_observe_each_commit_append_in_increasing_order() -> None:
    walls = [Wall(), Wall(NOON - 4000), Wall(NOON + 50)]
    clocks = [Clock(wall) for wall in walls]
    log = [0]
    for turn in range(300):
        clock = clocks[turn * turn % 3]
        walls[turn % 3].ms += turn % 7
        clock.observe(log[-1])
        log.append(clock.now())
    assert log == sorted(set(log))


# --- R6: fork ------------------------------------------------------------------------------------------------------


def in_child(action: Callable[[], object]) -> str:
    """The name of what ``action`` raises in a forked child, or "hangs"; never returns in the child."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        name = b"nothing"
        try:
            threading.Timer(5, lambda: (os.write(writer, b"hangs"), os._exit(0))).start()
            action()
        except BaseException as error:  # noqa: BLE001 - the child must not run the rest of the test suite
            name = type(error).__name__.encode()
        os.write(writer, name)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        answer = answers.read()
    os.waitpid(pid, 0)
    return answer.decode()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_r6_a_child_process_gets_no_stamp_from_its_parents_clock() -> None:
    clock, source = Clock(), SourceClock()
    last = clock.now()
    for action in (clock.now, lambda: clock.observe(last), lambda: source.at(NOON)):
        assert UsedAfterFork.__name__ == in_child(action)
    assert "nothing" == in_child(lambda: Clock.restart([last]).now())
    assert last < clock.now()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_r6_a_fork_while_the_clock_is_locked_raises_in_the_child_rather_than_hang() -> None:
    inside, go_on = threading.Event(), threading.Event()
    slow = False

    def wall() -> int:
        if slow:
            inside.set()
            go_on.wait()
        return NOON

    clock = Clock(wall)
    slow = True
    thread = threading.Thread(target=clock.now)
    thread.start()
    try:
        inside.wait()
        assert UsedAfterFork.__name__ == in_child(clock.now)
    finally:
        go_on.set()
        thread.join()


# --- R8, R9: drift, jumps, walls -----------------------------------------------------------------------------------


def test_r8_the_drift_can_be_set() -> None:
    assert Clock(Wall(), max_drift_ms=5).observe(stamp(NOON + 5))
    assert not Clock(Wall(), max_drift_ms=5).observe(stamp(NOON + 6))
    assert DRIFT == Clock(Wall()).max_drift_ms


def test_r8_a_jump_of_the_wall_is_told_and_a_pause_is_none() -> None:
    """Case: a guard against forward jumps that took a pause at start-up for one."""
    wall, steady = Wall(), Wall(77)
    clock = Clock(wall, steady=steady)
    assert 0 == clock.jumped_ms
    wall.ms += 30_000
    steady.ms += 30_000
    assert 0 == clock.jumped_ms
    wall.ms += 3_600_000
    assert 3_600_000 == clock.jumped_ms
    assert stamp(wall.ms) == clock.now()
    wall.ms -= 7_200_000
    assert -3_600_000 == clock.jumped_ms


def test_r9_the_wall_is_injected_and_by_default_the_systems() -> None:
    assert stamp(5) == Clock(lambda: 5).now()
    before = wall_ms()
    issued = Clock().now()
    assert before <= ms_of(issued) <= wall_ms()
    assert 1_600_000_000_000 < before < MAX_MS
    assert steady_ms() <= steady_ms()


def test_r9_a_wall_before_1970_or_beyond_the_last_stamp_is_refused() -> None:
    wall = Wall(MAX_MS)
    clock = Clock(wall, last=MAX_HLC - 1)
    assert MAX_HLC == clock.now()
    with pytest.raises(InvalidStamp):
        clock.now()
    assert MAX_HLC == clock.last
    for ms in (-1, MAX_MS + 1):
        with pytest.raises(InvalidStamp):
            Clock(Wall(ms)).now()


# --- the clock of an importer --------------------------------------------------------------------------------------


def test_a_source_keeps_its_own_times() -> None:
    clock = SourceClock()
    assert [stamp(5), stamp(9), stamp(1000)] == [clock.at(ms) for ms in (5, 9, 1000)]


def test_a_source_stays_causal_where_its_times_go_back_or_stand_still() -> None:
    clock = SourceClock(last=stamp(8, MAX_COUNTER - 1))
    assert [stamp(8, MAX_COUNTER), stamp(9), stamp(9, 1), stamp(10), stamp(10, 1)] == [
        clock.at(ms) for ms in (8, 3, 9, 10, 0)
    ]
    assert stamp(10, 1) == clock.last


@settings(deadline=None, max_examples=300)
@given(st.lists(st.integers(0, 50) | st.integers(0, MAX_MS - 1), max_size=60))
def test_stamps_of_a_source_increase_and_never_lie_before_their_time(times: list[int]) -> None:
    clock = SourceClock()
    stamps = [clock.at(ms) for ms in times]
    assert stamps == sorted(set(stamps))
    latest = 0
    for ms, hlc in zip(times, stamps, strict=True):
        latest = max(latest, ms)
        assert latest == ms_of(hlc)


def test_the_end_of_time_is_refused_and_moves_nothing() -> None:
    clock = SourceClock(last=MAX_HLC)
    with pytest.raises(InvalidStamp):
        clock.at(0)
    assert MAX_HLC == clock.last
