"""Logs for benchmarks: seeded, so two runs measure the same events; built without the product's checks, for speed.

Of n events a fifth are beliefs. Twenty writers take turns; one of them, five per cent, has a slow clock and its
events arrive behind all others. Supersessions form a random graph (three for ten beliefs), a belief that supersedes
n/500 others, one that n/500 others supersede, and a chain of n/500, so that dependents are real.
"""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.codec import pack
from beliefbase.events.envelope import Event, Skeleton
from beliefbase.events.ids import ZERO_HASH, name_hash
from beliefbase.events.sqlite import SQLiteLog

START_MS = 1_750_000_000_000
STEP_MS = 700
WRITERS = 20
BATCH = 2000
ACTS = ("direct_assertion", "directive", "observation", "casual_characterization", "correction", "hypothetical")
KINDS = ("fact", "rule", "decision", "preference", "note", "progress")
WORDS = "the quick brown fox jumps over one lazy dog while rain falls on old roof tiles and nobody asks why".split()


class Stream:
    """One writer's chain."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.id = rng.randbytes(16)
        self.name = f"agent {number}"
        self.slow = number == 0
        self.seq = 0
        self.prev = ZERO_HASH
        self.last = 0


class Made(NamedTuple):
    """The events of a log in order of arrival: those in time, then those of the slow writer."""

    timely: list[Event]
    late: list[Event]


class Drawing:
    """A log of about ``n`` events while it is drawn."""

    def __init__(self, n: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self._hub = n // 500
        self._streams = [Stream(self._rng, number) for number in range(WRITERS)]
        self._number = 0
        self._known = Known([], [], [], [])
        self._special = _special(self._hub, self._known.beliefs)

    def events(self, count: int) -> Iterator[tuple[Event, bool]]:
        """The next ones, each with whether it is the slow writer's."""
        for _ in range(count):
            yield self._next()

    def batches(self, count: int, events: int) -> Iterator[Made]:
        """So many ways in which the log may go on; the first is how it does, were no others drawn."""
        state, number, known = self._rng.getstate(), self._number, [len(some) for some in self._known]
        streams = self._streams
        for way in range(count):
            if way:
                self._rng.seed(f"{streams[0].id.hex()} {way}")
            self._streams = [copy.copy(stream) for stream in streams]
            yield _sorted(self.events(events))
            self._rng.setstate(state)
            self._number = number
            for some, length in zip(self._known, known, strict=True):
                del some[length:]
        self._streams = streams

    def _next(self) -> tuple[Event, bool]:
        rng, known, number = self._rng, self._known, self._number
        stream = self._streams[number % WRITERS]
        now = START_MS + number * STEP_MS // (2 if stream.slow else 1)
        self._number += 1
        if stream.seq == 0:
            joined = {"agent": stream.name, "kind": "agent", "role": "member", "max_drift": 60_000}
            return _event(stream, rng, now, CATALOG.draft("writer.joined", joined)), stream.slow
        is_special = len(known.beliefs) > 3 * self._hub + 10 and rng.random() < 0.2
        draft = next(self._special, None) if is_special else None
        draft = draft or _draft(rng, *known)
        event = _event(stream, rng, now, draft)
        if draft.type == "utterance.recorded":
            known.said.append(event.id)
        elif draft.type == "belief.extracted":
            known.beliefs.append(event.id)
        elif draft.type in {"belief.superseded", "belief.retracted"}:
            known.ended.append((event.id, draft.touches[0]))
        elif draft.type == "memory.injected":
            known.injections.append((event.id, draft.touches[0]))
        return event, stream.slow


class Known(NamedTuple):
    """What later events may name."""

    said: list[bytes]
    beliefs: list[bytes]
    ended: list[tuple[bytes, bytes]]
    """Endings, each with what it touches."""
    injections: list[tuple[bytes, bytes]]


def _sorted(events: Iterator[tuple[Event, bool]]) -> Made:
    made = Made([], [])
    for event, slow in events:
        (made.late if slow else made.timely).append(event)
    return made


def generate(n: int, seed: int = 1) -> Made:
    """About ``n`` events."""
    return _sorted(Drawing(n, seed).events(n))


def store(path: Path, events: list[Event]) -> SQLiteLog:
    """A log at ``path`` with these events; power cuts are no matter here."""
    log = SQLiteLog(path, durability="process")
    for start in range(0, len(events), BATCH):
        log.append(events[start : start + BATCH])
    return log


def fill(path: Path, n: int, seed: int, *, last: int, ways: int) -> list[list[Event]]:
    """Store about ``n`` events but the ``last`` ones, and return so many ways in which these may go.

    Only late events are held in memory.
    """
    log = SQLiteLog(path, durability="process")
    drawing = Drawing(n, seed)
    waiting, slow = list[Event](), list[Event]()
    for event, is_slow in drawing.events(n - last):
        (slow if is_slow else waiting).append(event)
        if len(waiting) == BATCH:
            log.append(waiting)
            waiting = []
    rest = waiting + slow
    for start in range(0, len(rest), BATCH):
        log.append(rest[start : start + BATCH])
    log.close()
    return [made.timely + made.late for made in drawing.batches(ways, last)]


def _special(hub: int, beliefs: list[bytes]) -> Iterator[Draft]:
    """One belief supersedes many, one is superseded by many, and a chain, in turn."""
    for index in range(hub):
        yield _superseded(beliefs[10 + index], beliefs[0])
        yield _superseded(beliefs[1], beliefs[10 + hub + index])
        yield _superseded(beliefs[10 + 2 * hub + index], beliefs[11 + 2 * hub + index])


def _draft(
    rng: random.Random,
    said: list[bytes],
    beliefs: list[bytes],
    ended: list[tuple[bytes, bytes]],
    injections: list[tuple[bytes, bytes]],
) -> Draft:
    roll = rng.random()
    if roll < 0.32 or not said:
        speaker, talk = f"person {rng.randint(1, 50)}", f"talk {rng.randint(1, 5000)}"
        payload = {"conversation": name_hash(talk), "speaker": name_hash(speaker), "turn": rng.randint(1, 400)}
        words = {"conversation": talk, "speaker": speaker, "verbatim": _sentence(rng)}
        return _plain("utterance.recorded", payload, words, subjects=(name_hash(speaker),))
    if roll < 0.53 or len(beliefs) < 20:
        return _extraction(rng, said)
    target = beliefs[rng.randrange(len(beliefs))]
    if roll < 0.63:
        session = name_hash(f"talk {rng.randint(1, 5000)}")
        return _plain(
            "belief.affirmed", {"belief_id": target, "how": "recurrence", "session": session}, touches=(target,)
        )
    if roll < 0.69:
        return _superseded(target, beliefs[rng.randrange(len(beliefs))])
    if roll < 0.70:
        return _plain("belief.retracted", {"belief_id": target, "cause": "withdrawn"}, touches=(target,))
    if roll < 0.705 and ended:
        event, belief = ended[rng.randrange(len(ended))]
        return _plain("belief.reinstated", {"belief_id": belief, "undoes": (event,)}, touches=(belief,))
    if roll < 0.80 or not injections:
        shown = sorted({beliefs[rng.randrange(len(beliefs))] for _ in range(4)})
        cards = tuple({"belief_id": key, "rank": rank, "tag": "consider"} for rank, key in enumerate(shown, 1))
        session = name_hash(f"talk {rng.randint(1, 5000)}")
        return _plain("memory.injected", {"cards": cards, "session": session}, {"query": _sentence(rng)}, tuple(shown))
    injection, belief = injections[rng.randrange(len(injections))]
    return _plain("memory.used", {"belief_id": belief, "injection_id": injection, "outcome": "used"}, touches=(belief,))


def _extraction(rng: random.Random, said: list[bytes]) -> Draft:
    payload: dict[str, Any] = {
        "assertion_class": "durable_fact",
        "confidence": rng.randint(600, 1000),
        "evidence": (said[rng.randrange(len(said))],),
        "kind": rng.choice(KINDS),
        "session": name_hash(f"talk {rng.randint(1, 5000)}"),
        "speech_act": rng.choice(ACTS),
        "speech_act_confidence": rng.randint(500, 1000),
    }
    return _plain("belief.extracted", payload, {"statement": _sentence(rng), "topic": rng.choice(WORDS)})


def _superseded(target: bytes, by: bytes) -> Draft:
    payload = {"cause": "update", "superseded_id": target, "superseding_id": by}
    return _plain("belief.superseded", payload, touches=tuple(sorted({target, by})))


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(6, 18)))


def _plain(
    name: str,
    payload: dict[str, Any],
    words: dict[str, Any] | None = None,
    touches: tuple[bytes, ...] = (),
    subjects: tuple[bytes, ...] = (),
) -> Draft:
    body = pack((1, words)) if words else None
    return Draft(name, 1, payload, words or {}, body, touches, (), (), None, None, subjects, ())


def _event(stream: Stream, rng: random.Random, now: int, draft: Draft) -> Event:
    salt = body = committed = None
    if draft.body is not None:
        salt, body = rng.randbytes(16), draft.body
        committed = hashlib.sha256(salt + body).digest()
    stream.seq += 1
    stream.last = max(now << 16, stream.last + 1)
    raw = Skeleton(
        1, stream.id, stream.seq, stream.prev, stream.last, 0, draft.type, 1,
        draft.touches, (), None, draft.payload, draft.subjects or (), committed,
    ).encode()  # fmt: skip
    event = Event(raw, salt, body)
    stream.prev = event.hash
    return event
