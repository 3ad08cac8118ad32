"""Batched questions to a log: tasks ask for facts, and each round answers what all of them wait for at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.order import PRESUPPOSED
from beliefbase.events.catalog import Role

T = TypeVar("T")


class Source(Protocol):
    """What the log can be asked for. Answers may come in any order, but each fact once per call."""

    def by_id(self, ids: Collection[bytes]) -> list[Fact]:
        """The stored facts with these ids."""

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Fact]:
        """The facts that name one of these keys in one of these roles."""

    def everywhere(self) -> list[Fact]:
        """Profiles and policies: few, and part of every slice."""


class Need(NamedTuple):
    """What a task waits for: facts by id (role None), or facts that name keys in one role."""

    role: Role | None
    keys: tuple[bytes, ...]


class TooMuch(Exception):
    """More facts would have to be looked up than is worth it."""


class Shared(NamedTuple):
    """What a task waits for: what others find about some entities; see :meth:`Lookups.shared`."""

    found: Mapping[bytes, object]
    entities: Sequence[bytes]


Task = Generator[Need | Shared, list[Fact], T]
_NOTHING: Final[Mapping[bytes, Fact]] = {}

_ACTS_ON: Final = {
    "belief.affirmed": ("belief_id",),
    "belief.promoted": ("belief_id",),
    "belief.demoted": ("belief_id",),
    "belief.reclassified": ("belief_id", "condition_key"),
    "belief.retracted": ("belief_id",),
    "belief.erased": ("belief_id",),
    "belief.reinstated": ("belief_id",),
    "belief.superseded": ("superseded_id",),
    "belief.merged": ("duplicate_id", "surviving_id"),
    "belief.extracted": ("condition_key",),
    "condition.met": ("belief_id", "condition_key"),
    "conclusion.derived": ("belief_id",),
    "contradiction.raised": ("left", "right"),
    "contradiction.resolved": ("contradiction_id",),
    "memory.revalidated": ("belief_id",),
}


def named(fact: Fact) -> Iterator[tuple[Role, bytes]]:
    """The keys that the life of beliefs may depend on, with their roles: the part of the log's index used here."""
    payload = fact.payload
    if fact.ref is not None:
        yield Role.SELF, fact.ref
    for basis in fact.basis:
        yield Role.BASIS, basis
    for field in _ACTS_ON.get(fact.type, ()):
        if field in payload:
            yield Role.STATE, payload[field]
    if fact.type == "belief.superseded":
        yield Role.LINK, payload["superseding_id"]
    elif fact.type == "belief.reinstated":
        for undone in payload["undoes"]:
            yield Role.LINK, undone
    elif fact.type == "conclusion.derived":
        for item in payload["inputs"]:
            yield Role.INPUT, item["belief_id"]
    elif fact.type == "memory.injected":
        for card in payload["cards"]:
            yield Role.SHOWN, card["belief_id"]
    elif fact.type == "memory.revalidated" and "prompt_id" in payload:
        yield Role.CITED, payload["prompt_id"]


def presupposed(fact: Fact) -> tuple[bytes, ...]:
    """The ids that must act before this fact can; a replacer is none of them."""
    payload = fact.payload
    ids = tuple(payload[field] for field in PRESUPPOSED.get(fact.type, ()) if field in payload)
    return ids + tuple(payload.get("undoes", ()))


class Lookups:
    """Runs tasks against a source; nothing is asked twice, and each round asks at most once per role.

    Raises:
        TooMuch: from whatever asks, once more than ``most`` facts have been fetched.
    """

    def __init__(self, source: Source, *, most: int | None = None) -> None:
        self.facts: dict[bytes, Fact] = {}
        """Every fact fetched so far, by id."""
        self.rounds = 0
        """How often the source was asked for what all tasks then waited for."""
        self._source = source
        self._most = most
        self._asked: dict[Role | None, set[bytes]] = defaultdict(set)
        self._naming: dict[tuple[Role, bytes], dict[bytes, Fact]] = defaultdict(dict)
        self._everywhere: list[Fact] | None = None
        self._spawned: list[Task[object]] = []
        self._begun: dict[object, set[bytes]] = defaultdict(set)
        self._found: dict[object, dict[bytes, Any]] = defaultdict(dict)

    def spawn(self, task: Task[object]) -> None:
        """Add a task to the current run; nobody waits for its result."""
        self._spawned.append(task)

    def run(self, task: Task[T]) -> T:
        """Run a task, and what it spawns, to the end."""
        result: list[T] = []

        def wrapped() -> Task[None]:
            result.append((yield from task))

        self._spawned.append(wrapped())
        waiting: list[tuple[Task[object], Need | Shared]] = []
        while True:
            while self._spawned:
                self._advance(self._spawned.pop(), None, waiting)
            if not waiting:
                return result[0]
            woken, waiting = waiting, []
            for resumed, need in woken:
                self._advance(resumed, need, waiting)
            if len(waiting) == len(woken) and not self._spawned:
                self._fetch(need for _, need in waiting if isinstance(need, Need))

    def _advance(
        self, task: Task[object], need: Need | Shared | None, waiting: list[tuple[Task[object], Need | Shared]]
    ) -> None:
        try:
            need = next(task) if need is None else need
            while self._is_there(need):
                need = task.send(self._answer(need))
        except StopIteration:
            return
        waiting.append((task, need))

    def _is_there(self, need: Need | Shared) -> bool:
        if isinstance(need, Need):
            return self._asked[need.role].issuperset(need.keys)
        return all(entity in need.found for entity in need.entities)

    def _answer(self, need: Need | Shared) -> list[Fact]:
        if isinstance(need, Shared):
            return []
        if need.role is None:
            return [self.facts[key] for key in need.keys if key in self.facts]
        if len(need.keys) == 1:
            return list(self._naming.get((need.role, need.keys[0]), _NOTHING).values())
        found: dict[bytes, Fact] = {}
        for key in need.keys:
            found.update(self._naming.get((need.role, key), _NOTHING))
        return list(found.values())

    def _fetch(self, needs: Iterable[Need]) -> None:
        self.rounds += 1
        wanted: dict[Role | None, set[bytes]] = defaultdict(set)
        for need in needs:
            wanted[need.role].update(need.keys)
        for role, keys in wanted.items():
            self._ask(role, keys)

    def _ask(self, role: Role | None, keys: Iterable[bytes]) -> None:
        new = sorted(set(keys) - self._asked[role])
        if new:
            self._asked[role].update(new)
            for fact in sorted(self._source.by_id(new) if role is None else self._source.naming(new, (role,))):
                self._store(fact)
            if self._most is not None and len(self.facts) > self._most:
                raise TooMuch

    def _store(self, fact: Fact) -> None:
        if fact.id in self.facts:
            return
        self.facts[fact.id] = fact
        self._asked[None].add(fact.id)
        for role, key in named(fact):
            self._naming[role, key][fact.id] = fact

    def shared(self, work: Callable[[Lookups, bytes], Task[T]], entities: Iterable[bytes]) -> Task[list[T]]:
        """What a task finds about each of some entities: begun once for each, whoever asks, and all side by side."""
        found, wanted = self._found[work], list(entities)
        for entity in wanted:
            if entity not in self._begun[work]:
                self._begun[work].add(entity)
                self.spawn(self._find(work, entity))
        yield Shared(found, wanted)
        return [found[entity] for entity in wanted]

    def _find(self, work: Callable[[Lookups, bytes], Task[T]], entity: bytes) -> Task[None]:
        self._found[work][entity] = yield from work(self, entity)

    def by_id(self, ids: Collection[bytes]) -> list[Fact]:
        """The stored facts with these ids; with :meth:`naming`, a source that remembers its answers."""
        self._ask(None, ids)
        return self._answer(Need(None, tuple(ids)))

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Fact]:
        """The facts that name one of these keys in one of these roles."""
        found: dict[bytes, Fact] = {}
        for role in map(Role, roles):
            self._ask(role, keys)
            found.update((fact.id, fact) for fact in self._answer(Need(role, tuple(keys))))
        return list(found.values())

    def everywhere(self) -> list[Fact]:
        """Profiles and policies."""
        if self._everywhere is None:
            self._everywhere = self._source.everywhere()
        return self._everywhere

    def entity(self, event_id: bytes) -> Task[list[Fact]]:
        """The copies of an event in order, the entity's earliest first; empty where the event isn't stored."""
        found = yield Need(None, (event_id,))
        if not found or found[0].ref is None:
            return found
        copies = yield Need(Role.SELF, (found[0].ref,))
        return sorted(copy for copy in copies if copy.type == found[0].type)

    def entities(self, event_ids: Sequence[bytes]) -> Task[dict[bytes, list[Fact]]]:
        """Like :meth:`entity` for many at once: id to copies, without those that aren't stored."""
        found = yield Need(None, tuple(event_ids))
        copies = yield Need(Role.SELF, tuple(fact.ref for fact in found if fact.ref is not None))
        by_name: dict[tuple[str, bytes | None], list[Fact]] = defaultdict(list)
        for copy in sorted(copies):
            by_name[copy.type, copy.ref].append(copy)
        return {fact.id: by_name[fact.type, fact.ref] if fact.ref is not None else [fact] for fact in found}

    def family(self, beliefs: Iterable[bytes]) -> Task[dict[bytes, list[Fact]]]:
        """Beliefs (by any id) and all that merges connect them with, in turn: entities to their copies.

        Not only duplicates: of two survivors of one duplicate the first is merged into the second.
        """
        found: dict[bytes, list[Fact]] = {}
        pending = sorted(beliefs)
        while pending:
            groups = yield from self.entities(pending)
            beliefs_found = {group[0].id: group for group in groups.values() if group[0].type == "belief.extracted"}
            new = {belief: copies for belief, copies in beliefs_found.items() if belief not in found}
            found |= new
            acting = yield Need(Role.STATE, tuple(copy.id for copies in new.values() for copy in copies))
            merged = [fact.payload for fact in acting if fact.type == "belief.merged"]
            pending = [payload[end] for payload in merged for end in ("duplicate_id", "surviving_id")]
        return found

    def acting_on(self, faces: Iterable[Fact]) -> Task[list[Fact]]:
        """The facts that act on an entity under any of its ids, in order."""
        found = yield Need(Role.STATE, tuple(face.id for face in faces))
        return sorted(found)
