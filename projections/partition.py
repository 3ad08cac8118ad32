"""The facts that the rules read, cut into sets that can be folded apart: a rebuild needs no more at once.

Two facts belong together if one names the other, or both name the same thing: a belief, a condition's key, a
contradiction, a source_ref, a revision that an author had read. Profiles and policies belong to every set. The sets
come from the log's index (ADRs 0008 and 0028), where keys that collide only make larger ones: of all facts just the
answers to prompts are read to find out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Source
from beliefbase.events.catalog import Role
from beliefbase.events.ids import ids_of
from beliefbase.events.log import EventLog
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import Ints
from beliefbase.projections.reading import Reader
from beliefbase.projections.recurrences import Recurrences
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
_EXTRACTED: Final = "belief.extracted"
_PROMPT: Final = "memory.requires_revalidation_prompt"
_ANSWER: Final = "memory.revalidated"
"""It also belongs to its prompt, which it cites."""
_PAGE: Final = 20_000
_NOWHERE: Final = -1


class Plan(NamedTuple):
    """How the facts of a log are cut into sets, by positions alone: several processes can share one."""

    positions: Ints
    """Of all facts, one set behind the other; each set's rise."""
    ends: Ints
    """Where each set ends among them: of sets as small as what belongs together and CHUNK allow."""
    lone: Ints
    """Positions of the extractions with which nothing belongs together, rising; they are in sets of their own."""
    injections: Ints
    """Positions of all injections, rising."""

    @classmethod
    def of(cls, log: EventLog, reader: Reader) -> Self:
        """The facts that a log has now; ``reader`` reads it."""
        extracted, others, injections = (
            np.array(log.positions(types), dtype=np.int64)
            for types in ((_EXTRACTED,), RULED - {_EXTRACTED}, ("memory.injected",))
        )
        positions = np.sort(np.concatenate((extracted, others)), kind="stable")
        labels = _labels(positions, log, reader)
        alone = np.zeros(len(positions), np.bool_)
        alone[np.searchsorted(positions, extracted)] = True
        alone &= (np.bincount(labels, minlength=len(labels)) == 1)[labels]
        lone, positions, labels = positions[alone], positions[~alone], labels[~alone]
        order = np.argsort(labels, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(labels[order])) + 1, len(order))
        wanted = np.searchsorted(ends, np.arange(CHUNK, len(order) + CHUNK, CHUNK))
        ends = np.unique(ends[np.minimum(wanted, len(ends) - 1)])
        return cls(positions[order], ends, lone, injections)

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
        self._of_lone = max(1, len(plan.ends))
        """Number of the first set of lone beliefs."""

    def __len__(self) -> int:
        return self._of_lone + -(-len(self._plan.lone) // CHUNK)

    def __getitem__(self, number: int) -> tuple[list[Fact], list[Fact]]:
        facts = [fact for batch in self.batches(number) for fact in batch.facts()]
        context = [*_sides(self._source, facts), *self._injections(facts)]
        return (facts, self._everywhere + context) if number else (facts + self._everywhere, context)

    def __iter__(self) -> Iterator[tuple[list[Fact], list[Fact]]]:
        return (self[number] for number in range(len(self)))

    def is_lone(self, number: int) -> bool:
        """Whether how the beliefs of a set live depends on nothing but their extractions."""
        return number >= self._of_lone and not self._everywhere

    def batches(self, number: int) -> Iterator[Batch]:
        """The facts of a set as they were read, but those that every fold needs."""
        if number >= self._of_lone:
            start = (number - self._of_lone) * CHUNK
            positions = self._plan.lone[start : start + CHUNK]
        else:
            start, end = [0, *self._plan.ends.tolist(), 0][number : number + 2]
            positions = np.sort(self._plan.positions[start:end])
        return _batches(self._log, self._reader, positions.tolist())

    def _injections(self, facts: list[Fact]) -> list[Fact]:
        """Those that decide which recurrences count (DESIGN 5, entry), where they may decide anything."""
        recurrences = Recurrences.of(facts)
        shown = self._log.positions_naming(recurrences.sessions, (Role.SHOWN,))
        positions = np.intersect1d(np.array(list(shown), dtype=np.int64), self._plan.injections, assume_unique=True)
        found = list[Fact]()
        for page in self._log.scan_at(positions.tolist(), limit=_PAGE):
            chosen = [scanned for scanned in page if recurrences.may_count(shown[scanned[0]], scanned[1])]
            batches = self._reader.side_by_side(chosen).batches if chosen else ()
            found += [fact for batch in batches for fact in batch.facts() if recurrences.counts(fact)]
        return found


def _batches(log: EventLog, reader: Reader, positions: Sequence[int]) -> Iterator[Batch]:
    for page in log.scan_at(positions, limit=_PAGE):
        yield from reader.side_by_side(page).batches


def _facts(log: EventLog, reader: Reader, positions: Sequence[int]) -> list[Fact]:
    return [fact for batch in _batches(log, reader, positions) for fact in batch.facts()]


def _labels(positions: Ints, log: EventLog, reader: Reader) -> Ints:
    """For the event at each of these positions the place of the first one that it belongs together with."""
    place_of = np.full(positions.max(initial=0) + 2, _NOWHERE)
    place_of[positions] = np.arange(len(positions))
    pairs = [_neighbours(page, place_of) for page in log.shared(_TYING, limit=_PAGE)]
    left, right = (np.concatenate(sides) for sides in zip(*pairs, _answers(positions, log, reader), strict=True))
    return _connected(len(positions), left, right)


def _neighbours(shared: Sequence[str], place_of: Ints) -> tuple[Ints, Ints]:
    """Places that stand side by side in lists of positions, those of other events left out."""
    position = np.fromstring(",".join(shared), dtype=np.int64, sep=",")
    owner = np.repeat(np.arange(len(shared)), [positions.count(",") + 1 for positions in shared])
    place = place_of[np.minimum(position, len(place_of) - 1)]  # later ones arrived meanwhile
    owner, place = owner[place != _NOWHERE], place[place != _NOWHERE]
    alike = owner[1:] == owner[:-1]
    return place[:-1][alike], place[1:][alike]


def _answers(positions: Ints, log: EventLog, reader: Reader) -> tuple[Ints, Ints]:
    """Places of prompts and answers that belong together: the index has the prompt of an answer as merely cited."""
    named: dict[bytes, list[int]] = {}
    prompts, answers = log.positions((_PROMPT,)), log.positions((_ANSWER,))
    for prompt, position in _ids_at(log, prompts).items():
        named[prompt] = [position]
    position_of = _ids_at(log, answers)
    for fact in _facts(log, reader, answers):
        if "prompt_id" in fact.payload:
            named.setdefault(fact.payload["prompt_id"], []).append(position_of[fact.id])
    pairs = np.array([pair for alike in named.values() for pair in pairwise(alike)], dtype=np.int64).reshape(-1, 2)
    left, right = np.searchsorted(positions, pairs.T)
    return left, right


def _ids_at(log: EventLog, positions: Sequence[int]) -> dict[bytes, int]:
    """The ids of the events at these positions, with their positions."""
    pages = log.scan_at(positions, limit=_PAGE)
    return dict(zip((id_ for page in pages for id_ in ids_of([raw for _, raw, _ in page])), positions, strict=True))


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
