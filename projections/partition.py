"""The facts that the rules read, cut into sets that can be folded apart: a rebuild needs no more at once.

Two facts belong together if one names the other, or both name the same thing: a belief, a condition's key, a
contradiction, a source_ref, a revision that an author had read. Profiles and policies belong to every set. The sets
come from the log's index (ADRs 0008 and 0028), where keys that collide only make larger ones: of all facts just the
answers to prompts are read to find out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Source
from beliefbase.beliefs.rules import may_promote, passes_entry
from beliefbase.events.catalog import Role
from beliefbase.events.ids import ids_of
from beliefbase.events.index import key_of
from beliefbase.events.log import EventLog
from beliefbase.projections.columns import NO_INTEGER, Ints
from beliefbase.projections.reading import Reader
from beliefbase.projections.source import LogSource

CHUNK: Final = 10_000
"""About so many facts are folded together."""
EVERYWHERE: Final = frozenset({"policy.defined", "profile.activated"})
"""Types of facts that every fold needs."""
RULED: Final = frozenset(
    {
        "belief.extracted",
        "belief.affirmed",
        "belief.promoted",
        "belief.demoted",
        "belief.reclassified",
        "belief.superseded",
        "belief.merged",
        "belief.retracted",
        "belief.reinstated",
        "condition.met",
        "contradiction.raised",
        "contradiction.resolved",
        "conclusion.derived",
        "memory.requires_revalidation_prompt",
        "memory.revalidated",
    }
)
"""Types of facts that are folded; utterances and injections that matter are looked up."""
KEPT: Final = EVERYWHERE | RULED
_TYING: Final = (Role.SELF, Role.STATE, Role.LINK, Role.BASIS, Role.INPUT)
"""Roles in which an event names what it belongs together with."""
_ANSWER: Final = "memory.revalidated"
"""It also belongs to its prompt, which it cites."""
_PAGE: Final = 20_000
_UNSETTLING: Final = frozenset({"belief.demoted", "belief.reclassified"})


class Plan(NamedTuple):
    """How the facts of a log are cut into sets, by positions alone: several processes can share one."""

    positions: Ints
    """Of all facts, one set behind the other; each set's rise."""
    ends: Ints
    """Where each set ends among them: of sets as small as what belongs together and CHUNK allow."""
    injections: Ints
    """Positions of injections, once for each belief that one shows."""
    shown: Ints
    """The belief's key in the log's index, rising."""

    @classmethod
    def of(cls, log: EventLog, reader: Reader) -> Self:
        """The facts that a log has now; ``reader`` reads it."""
        positions = np.array(log.positions(RULED), dtype=np.int64)
        labels = _labels(positions, log, reader)
        order = np.argsort(labels, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(labels[order])) + 1, len(order))
        wanted = np.searchsorted(ends, np.arange(CHUNK, len(order) + CHUNK, CHUNK))
        ends = np.unique(ends[np.minimum(wanted, len(ends) - 1)])
        injections = np.array(log.positions(("memory.injected",)), dtype=np.int64)
        shown, places = _places(injections, log.links((Role.SHOWN,), limit=_PAGE))
        return cls(positions[order], ends, injections[places], shown)

    def save(self, path: Path) -> None:
        """Write it to a file, for another process; the file is there once it is whole."""
        unfinished = path.with_suffix(".tmp.npz")
        np.savez(unfinished, **self._asdict())
        unfinished.rename(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read it from a file."""
        with np.load(path) as stored:
            return cls(**stored)


class Sets:
    """Sets of facts, each fact in one of them, and what else is needed to fold the beliefs of a set.

    ``reader`` reads the log; what arrived in it after the plan was made is in no set.
    """

    def __init__(self, log: EventLog, reader: Reader, plan: Plan) -> None:
        self._log = log
        self._reader = reader
        self._plan = plan
        self._source = LogSource(log, reader)
        self._everywhere = self._source.everywhere()

    def __len__(self) -> int:
        return max(1, len(self._plan.ends))

    def __getitem__(self, number: int) -> tuple[list[Fact], list[Fact]]:
        start, end = [0, *self._plan.ends.tolist(), 0][number : number + 2]
        facts = self._read(np.sort(self._plan.positions[start:end]))
        context = [*_sides(self._source, facts), *self._read(self._showing(facts))]
        return (facts, self._everywhere + context) if number else (facts + self._everywhere, context)

    def __iter__(self) -> Iterator[tuple[list[Fact], list[Fact]]]:
        return (self[number] for number in range(len(self)))

    def _read(self, positions: Ints) -> list[Fact]:
        return _facts(self._log, self._reader, positions.tolist())

    def _showing(self, facts: list[Fact]) -> Ints:
        """Injections that decide which recurrences count (DESIGN 5, entry), where they may decide anything."""
        keys = np.array([key_of(belief) for belief in _shown(facts)], dtype=np.int64)
        first, last = (np.searchsorted(self._plan.shown, keys, side) for side in ("left", "right"))
        found = [self._plan.injections[start:end] for start, end in zip(first, last, strict=True)]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def _facts(log: EventLog, reader: Reader, positions: Sequence[int]) -> list[Fact]:
    pages = log.scan_at(positions, limit=_PAGE)
    return [fact for page in pages for batch in reader.side_by_side(page).batches for fact in batch.facts()]


def _labels(positions: Ints, log: EventLog, reader: Reader) -> Ints:
    """For the event at each of these positions the place of the first one that it belongs together with."""
    key, place = _places(positions, chain(log.links(_TYING, limit=_PAGE), [_answers(log, reader)]))
    alike = key[1:] == key[:-1]
    return _connected(len(positions), place[:-1][alike], place[1:][alike])


def _places(positions: Ints, pages: Iterable[list[tuple[int, int]]]) -> tuple[Ints, Ints]:
    """Pages of keys and positions as columns by key; instead of positions their places among these, if they are."""
    keys, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for page in pages:
        key, position = np.fromiter(chain.from_iterable(page), np.int64, 2 * len(page)).reshape(-1, 2).T
        place = np.searchsorted(positions, position)
        known = np.append(positions, NO_INTEGER)[place] == position
        keys.append(key[known])
        places.append(place[known])
    key, place = np.concatenate(keys), np.concatenate(places)
    order = np.argsort(key, kind="stable")
    return key[order], place[order]


def _answers(log: EventLog, reader: Reader) -> list[tuple[int, int]]:
    """Index keys of the prompts that are answered, each with the position of an answer."""
    positions = log.positions((_ANSWER,))
    pages = log.scan_at(positions, limit=_PAGE)
    place_of = dict(zip((id_ for page in pages for id_ in ids_of([raw for _, raw, _ in page])), positions, strict=True))
    answers = ((fact.payload.get("prompt_id"), fact.id) for fact in _facts(log, reader, positions))
    return [(key_of(prompt), place_of[answer]) for prompt, answer in answers if prompt is not None]


def _connected(count: int, left: Ints, right: Ints) -> Ints:
    """The components of a graph: for each of its ``count`` nodes the smallest one that edges lead to, in turn.

    Of two roots that an edge joins the larger goes under the smaller, all edges at once, until none joins two.
    """
    roots = np.arange(count, dtype=np.int64)
    while len(left):
        one, other = roots[left], roots[right]
        low = np.minimum(one, other)
        np.minimum.at(roots, one, low)
        np.minimum.at(roots, other, low)
        while not np.array_equal(above := roots[roots], roots):
            roots = above
        apart = roots[left] != roots[right]
        left, right = left[apart], right[apart]
    return roots


def _sides(source: Source, facts: list[Fact]) -> list[Fact]:
    """The utterances that take part in contradictions, with their copies."""
    sides = {fact.payload[side] for fact in facts if fact.type == "contradiction.raised" for side in ("left", "right")}
    if not sides:
        return []
    found = [fact for fact in source.by_id(sides) if fact.type == "utterance.recorded"]
    names = {fact.ref for fact in found if fact.ref is not None}
    copies = source.naming(names, (Role.SELF,)) if names else []
    known = {fact.id: fact for fact in (*found, *copies) if fact.type == "utterance.recorded"}
    return list(known.values())


def _shown(facts: list[Fact]) -> set[bytes]:
    """The beliefs for which it may matter in which sessions they were shown."""
    recurrences = Counter(
        fact.payload["belief_id"]
        for fact in facts
        if fact.type == "belief.affirmed" and fact.payload.get("how") == "recurrence"
    )
    if not recurrences:
        return set()
    shown = {belief for belief, count in recurrences.items() if may_promote(count)}
    shown -= _steady(facts, shown)
    named_alike = Counter(fact.ref for fact in facts if fact.type == "belief.extracted" and fact.ref is not None)
    for fact in facts:  # what counts for a duplicate or a copy counts for others as well
        if fact.type == "belief.merged":
            shown.update((fact.payload["duplicate_id"], fact.payload["surviving_id"]))
        elif fact.type == "belief.extracted" and fact.ref is not None and named_alike[fact.ref] > 1:
            shown.add(fact.id)
    return shown


def _steady(facts: list[Fact], among: set[bytes]) -> set[bytes]:
    """Those of these beliefs that are active from birth, whatever recurs."""
    unsteady = {fact.payload["belief_id"] for fact in facts if fact.type in _UNSETTLING}
    born = (fact for fact in facts if fact.type == "belief.extracted" and fact.id in among)
    return {fact.id for fact in born if passes_entry(fact.payload)} - unsteady
