"""Dependents: which beliefs have to be folded again when events have arrived, and their new lives.

The method keeps no state. Beliefs that the moved events name are folded without and with the batch; whoever reads
those that came out otherwise is next, until nobody is left. All share one slice and one fold without and with the
batch, which grow by rounds; what may be met next is taken in ahead, so that long chains take few rounds. Nothing
changes before the first stamp of the batch: a belief that was active before it owes nothing to those that it replaces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from beliefbase.beliefs.arrivals import RULE_CHANGING, Named, Without, moved_by
from beliefbase.beliefs.changes import Change, change, is_other
from beliefbase.beliefs.collector import paused
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fitness import Fitness
from beliefbase.beliefs.fold import Erased, Fold
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.lineage import fork_relatives
from beliefbase.beliefs.lookups import Lookups, Need, Source, Task, TooMuch
from beliefbase.beliefs.past import Known, Outcomes, Past
from beliefbase.beliefs.readers import Readers
from beliefbase.beliefs.reasons import Note
from beliefbase.beliefs.rules import DEFAULT, FOREVER, Rules, passes_entry
from beliefbase.beliefs.sides import Side
from beliefbase.beliefs.slices import Slice
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING

_FURTHER: Final = 4
"""How many times as far each round of a walk looks ahead; the first looks at nothing but what events name."""
_AHEAD: Final = 4
"""How many beliefs a look ahead may take in for each that is known."""
_RESHAPING: Final = frozenset({"belief.merged", "belief.reclassified"})


class Refold(NamedTuple):
    """What a batch changes."""

    everything: bool
    """True after a profile or policy, or where too much hangs on the batch: every belief may live otherwise, and
    nothing was folded."""
    lives: dict[bytes, Life]
    """The beliefs that may live otherwise than before, as they live now."""
    gone: set[bytes]
    """Ids of beliefs that are none any more: an earlier copy came, under whose id the belief goes from now on."""
    notes: dict[bytes, list[Note]]
    """Event to all that a fold remarks about it now, for every event about which that may have changed."""


def refold(
    source: Source,
    batch: Collection[Fact],
    rules: Rules = DEFAULT,
    *,
    horizon: int = FOREVER,
    past: Past | None = None,
    erased: Erased | None = None,
    most: int | None = None,
) -> Refold:
    """Fold again whatever a batch may change, unless that takes more than ``most`` facts.

    ``source`` holds the batch already. ``horizon`` is the largest stamp of anything else in it, and ``past`` what a
    fold of all else said; where these aren't known the walk goes further than it need. ``erased`` are all beliefs of
    the log whose words are erased; those that an event of the batch erased are refolded.
    """
    if any(fact.type in RULE_CHANGING for fact in batch):
        return Refold(True, {}, set(), {})
    with paused():
        outcomes = Outcomes(past, {fact.id for fact in batch}, horizon)
        try:
            return _Refolding(Lookups(source, most=most), batch, rules, horizon, outcomes, erased or {}).result()
        except TooMuch:
            return Refold(True, {}, set(), {})


class _Refolding:
    def __init__(
        self,
        lookups: Lookups,
        batch: Collection[Fact],
        rules: Rules,
        horizon: int,
        outcomes: Outcomes,
        erased: Erased,
    ) -> None:
        self._batch = sorted(batch)
        self._new = {fact.id for fact in batch}
        self._horizon = horizon
        self._newest = max(horizon, max((fact.hlc for fact in batch), default=0))
        """Nothing acts later."""
        self._lookups = lookups
        self._outcomes = outcomes
        before = {belief: by for belief, by in erased.items() if by[1] not in self._new}
        self._erased_now = {belief: by[0] for belief, by in erased.items() if belief not in before}
        moved = self._lookups.run(moved_by(self._batch))
        self._since: dict[bytes, int] = {}
        """Beliefs that may live otherwise than before, to the stamp from which on."""
        self._reshaped = _reshaped(moved, outcomes.past)
        known = Known(outcomes, self._changes, self._newest, self._reshaped)
        now = then = Slice(self._lookups, known=known)
        if any(fact.ref is not None and fact.id not in self._new for fact in moved):
            # A copy that comes first can make a slice smaller.
            then = Slice(Without(self._lookups, self._new), known=known)
        self._moved = moved
        self._now = Side(now, rules, erased)
        self._then = Side(then, rules, before, self._new)
        self._slices = [now] if now is then else [now, then]
        self._readers = Readers(self._lookups, outcomes, self._had_risen)
        self._fitness = Fitness(self._lookups, known)
        self._opened: dict[bytes, int] = {}
        """Beliefs of which other replacements may act than before, to the stamp from which on."""
        self._matured: dict[bytes, int] = {}
        """Beliefs that may have become mature earlier, from a stamp on."""
        self._shaken: Counter[bytes] = Counter()
        """How often something was no longer known to be fit that a belief's replacements needed."""
        self._known: dict[bytes, tuple[int, int]] = {}
        """Beliefs whose lives are exact in the folds, with what these were made with; see :meth:`_made_with`."""
        self._told: dict[bytes, Life | None] = {}
        """The lives of which readers were told."""
        self._old: dict[bytes, Life] = {}
        """The lives of these without the batch."""
        self._lives: dict[bytes, Life] = {}
        self._gone: set[bytes] = set()
        self._notes: dict[bytes, list[Note]] = {}
        self._turned: set[bytes] = set()
        """Fate-changing revisions that act, or are void, otherwise than before."""
        self._relinked: set[bytes] = set()
        """Beliefs that are replaced or merged otherwise than before."""

    def result(self) -> Refold:
        """Walk until nobody is left."""
        named = Named(self._lookups, self._moved)
        self._turned = {fact.id for fact in self._moved if fact.type in FATE_CHANGING}
        self._opened, self._matured = self._entities(named.opened), self._entities(named.matured)
        beliefs = _earliest([*named.beliefs.items(), *self._erased_now.items()])
        self._walk(self._with_families(self._entities(beliefs)))
        flagged = named.flagged | self._readers.flagged | self._lookups.run(self._named_as_successors())
        flagged |= fork_relatives(self._lookups, self._batch, self._turned, self._in_force)
        self._take(self._since.keys() | self._lookups.run(self._lookups.family(flagged)).keys())
        return Refold(False, self._lives, self._gone - self._lives.keys(), self._notes)

    def _walk(self, beliefs: dict[bytes, int]) -> None:
        """From some beliefs to their readers, to the readers of those that changed, and so on."""
        rounds = 0
        while beliefs:
            likely = self._readers_to_come(beliefs, rounds, most=_AHEAD * len(self._known))
            rounds += 1
            self._since |= beliefs
            self._know(beliefs.keys() | likely)
            ready = beliefs | {belief: self._since[belief] for belief in self._told if self._is_stale(belief)}
            beliefs = {}
            while ready:
                self._since |= ready
                self._tell_readers(ready)
                self._tell_of_lost_footings()
                loud = self._with_families(self._entities(self._readers.loud))
                self._opened |= _earlier(self._entities(self._readers.opened), self._opened)
                behind = {belief for belief in loud if self._known.get(belief) != self._made_with(belief)}
                loud = {belief: min(since, self._since.get(belief, since)) for belief, since in loud.items()}
                ready = {b: since for b, since in _earlier(loud, self._since).items() if b not in behind}
                beliefs = {belief: loud[belief] for belief in sorted(behind)}
                self._since |= loud

    def _tell_of_lost_footings(self) -> None:
        for lost in [lost for known in self._slices for lost in known.lost()]:
            for belief in self._entities({lost.user.belief: lost.changed}):
                self._shaken[belief] += 1
                self._readers.tell((belief,), lost.changed)

    def _is_stale(self, belief: bytes) -> bool:
        """Whether what a belief's readers were told of is no more what a fold says, which knows more since."""
        told, now = self._told[belief], self._now.folded.lives.get(belief)
        if told is None or now is None:
            return told is not now
        return told is not now and is_other(told, now)

    def _made_with(self, belief: bytes) -> tuple[int, int]:
        return self._opened.get(belief, FOREVER), self._shaken[belief]

    def _changes(self, belief: bytes) -> int:
        """The stamp from which on a belief may live otherwise than before."""
        return self._since.get(belief, FOREVER)

    def _readers_to_come(self, beliefs: dict[bytes, int], rounds: int, most: int) -> set[bytes]:
        """Beliefs that may be next: folding them now spares rounds. Each round looks further than the last."""
        found, frontier, aged = dict(beliefs), beliefs, self._readers.aged if rounds > 1 else set()
        for _ in range(_FURTHER**rounds if rounds else 0):
            if not frontier or len(found) > most:
                break
            readers = Readers(self._lookups, self._outcomes)
            tasks = [
                readers.of(belief, since, appeared=False, waited_for=True, aged=belief in aged)
                for belief, since in sorted(frontier.items())
            ]
            self._lookups.run(_all(self._lookups, tasks))
            frontier, aged = _earlier(self._entities(readers.loud), found), readers.aged
            found |= frontier
            self._opened |= _earlier(self._entities(readers.opened), self._opened)
        return found.keys() - beliefs.keys()

    def _tell_readers(self, beliefs: dict[bytes, int]) -> None:
        """Compare lives without and with the batch, and collect who reads what has changed."""
        before, after = self._then.folded, self._now.folded
        faces = self._faces(beliefs)
        tasks, linked = list[Task[None]](), list[tuple[bytes, frozenset[bytes], int]]()
        for belief, since in sorted(beliefs.items()):
            old, new = self._old.get(belief), after.lives.get(belief)
            self._told[belief] = new
            if old is not None and (new is None or old.id != new.id):
                self._gone.add(old.id)
            tasks.append(self._note_turned(faces[belief], before, after))
            found = change(old, new, since)
            if found is None:
                continue
            start = found.since if found.since is not None and (old is None or new is None) else since
            appeared = old is None or new is None or old.faces != new.faces or old.born != new.born
            waited_for = found.since is not None and not (new is not None and _was_active(new, start))
            tasks.append(
                self._readers.of(
                    belief, start, appeared=appeared, waited_for=waited_for, aged=found.aged, replacers=found.by
                )
            )
            if found.since is not None and found.since <= self._newest and not self._had_risen(belief, found.since):
                tasks.append(self._readers.risen(belief, found.by, start, self._newest, self._fitness, self._changed))
            if found.linked:
                linked.append((belief, found.by, start))
                self._relinked.add(belief)
            tasks += self._for_relatives(belief, found, start)
        self._lookups.run(_all(self._lookups, tasks))
        self._readers.replaced.update(belief for belief, _, _ in linked)
        tasks = [
            self._readers.relinked(belief, by, since, closes=since <= self._horizon) for belief, by, since in linked
        ]
        self._lookups.run(_all(self._lookups, tasks))

    def _changed(self, belief: bytes) -> list[Life] | None:
        """The lives of a belief without and with the batch, if they may differ."""
        if belief not in self._since:
            return None
        return [life for life in (self._old.get(belief), self._now.folded.lives.get(belief)) if life is not None]

    def _for_relatives(self, belief: bytes, found: Change, start: int) -> list[Task[None]]:
        """Whoever reads a belief that is merged with this one may read this one."""
        tasks = []
        for member in sorted(self._lookups.run(self._lookups.family((belief,))).keys() - {belief}):
            self._readers.tell((member,), start)
            waited_for = found.since is not None
            tasks.append(self._readers.of(member, start, appeared=False, waited_for=waited_for))
            if waited_for:
                tasks.append(self._readers.below(member, start))
        return tasks

    def _had_risen(self, belief: bytes, changes: int) -> bool:
        """Whether nothing can have waited for a belief to rise just before a stamp, and nothing acts later."""
        old = self._old.get(belief) if self._horizon < changes else None
        row = old.at(changes - 1) if old is not None else None
        return row is not None and row.status == "active"

    def _note_turned(self, faces: Collection[bytes], before: Fold, after: Fold) -> Task[None]:
        for fact in (yield from self._acting_on(faces)):
            was = before.acted.get(fact.id), fact.id in before.void
            if fact.type in FATE_CHANGING and was != (after.acted.get(fact.id), fact.id in after.void):
                self._turned.add(fact.id)

    # Who only has flags to change

    def _named_as_successors(self) -> Task[set[bytes]]:
        """Beliefs with several fates, one of them a successor that is now merged otherwise."""
        found: set[bytes] = set()
        groups = yield from self._lookups.family(self._mergeable(self._relinked))
        for fact in (yield Need(Role.LINK, tuple(copy.id for copies in groups.values() for copy in copies))):
            if fact.type == "belief.superseded":
                target = yield from self._lookups.entity(fact.payload["superseded_id"])
                acting = yield from self._lookups.acting_on(target)
                if sum(other.type in FATE_CHANGING or other.type == "contradiction.raised" for other in acting) > 1:
                    found.update(copy.id for copy in target)
        return found

    # Looking up and folding

    def _entities(self, since: Mapping[bytes, int]) -> dict[bytes, int]:
        """Beliefs for ids that have stamps, each with the earliest of its own."""
        groups = self._lookups.run(self._lookups.entities(sorted(since)))
        return _earliest(
            (copies[0].id, since[named]) for named, copies in groups.items() if copies[0].type == "belief.extracted"
        )

    def _with_families(self, since: Mapping[bytes, int]) -> dict[bytes, int]:
        """Beliefs with stamps, and all that merges connect them with: what replaces a duplicate may replace those."""
        merged = sorted(self._mergeable(since.keys()))
        families = {belief: self._lookups.run(self._lookups.family((belief,))) for belief in merged}
        relatives = [(member, since[belief]) for belief, family in families.items() for member in family]
        return _earliest([*since.items(), *relatives])

    def _mergeable(self, beliefs: AbstractSet[bytes]) -> AbstractSet[bytes]:
        """Those that merges may connect with others."""
        return beliefs if self._reshaped is None else beliefs & self._reshaped

    def _faces(self, beliefs: Collection[bytes]) -> dict[bytes, list[bytes]]:
        groups = self._lookups.run(self._lookups.entities(sorted(beliefs)))
        return {belief: [copy.id for copy in copies] for belief, copies in groups.items()}

    def _acting_on(self, faces: Collection[bytes]) -> Task[list[Fact]]:
        """The facts that act on beliefs, resolutions of their contradictions included."""
        acting = yield Need(Role.STATE, tuple(faces))
        raised = [fact.id for fact in acting if fact.type == "contradiction.raised"]
        if not raised:
            return acting
        groups = yield from self._lookups.entities(raised)
        return acting + (yield Need(Role.STATE, tuple(copy.id for copies in groups.values() for copy in copies)))

    def _know(self, beliefs: Iterable[bytes]) -> None:
        """Fold what these and the known beliefs need, without and with the batch."""
        self._known = {belief: self._made_with(belief) for belief in (*self._known, *sorted(beliefs))}
        faces = self._faces(self._known | self._opened | self._matured)
        old = {belief: [face for face in faces[belief] if face not in self._new] for belief in faces}
        self._now.know(self._known, opened=self._opened, matured=self._matured)
        folded = self._then.know(
            [face for belief in self._known for face in old[belief]],
            opened={face: since for belief, since in self._opened.items() for face in old[belief]},
            matured={face: since for belief, since in self._matured.items() for face in old[belief]},
        )
        lives = {belief: _life(folded, old[belief]) for belief in self._known}
        self._old = {belief: life for belief, life in lives.items() if life is not None}

    def _take(self, beliefs: set[bytes]) -> None:
        """Take the rows of beliefs and the remarks about what acts on them, and about what moved."""
        folded = self._now.rows(beliefs, self._moved)
        self._lives = {belief: folded.lives[belief] for belief in sorted(beliefs) if belief in folded.lives}
        faces = [face for many in self._faces(beliefs).values() for face in many]
        events = {fact.id for fact in self._lookups.run(self._acting_on(faces))}
        events.update(faces, (fact.id for fact in self._moved))
        self._notes = {event: [] for event in sorted(events)}
        for note in folded.notes:
            if note.event in events:
                self._notes[note.event].append(note)

    def _in_force(self, revisions: Collection[Fact]) -> set[bytes]:
        folded = self._now.know((), deciding=revisions)
        return {f.id for f in revisions if folded.acted.get(f.id) == f.hlc and f.id not in folded.void}


def _all(lookups: Lookups, tasks: Iterable[Task[None]]) -> Task[None]:
    for task in tasks:
        lookups.spawn(task)
    yield from ()


def _life(folded: Fold, faces: Iterable[bytes]) -> Life | None:
    return next((folded.lives[face] for face in faces if face in folded.lives), None)


def _reshaped(moved: Collection[Fact], past: Past | None) -> set[bytes] | None:
    """The beliefs that merges and reclassifications name with a batch; None where that isn't known or plain."""
    before = past.reshaped() if past is not None else None
    extracted = [fact.ref for fact in moved if fact.type == "belief.extracted" and fact.ref is not None]
    if before is None or len(set(extracted)) < len(extracted):
        return None
    new = [fact.payload for fact in moved if fact.type in _RESHAPING]
    ends = ("belief_id", "duplicate_id", "surviving_id")
    return {*before, *(payload[end] for payload in new for end in ends if end in payload)}


def _was_active(life: Life, before: int) -> bool:
    """Whether a belief was active before a stamp: replacements by it don't wait for it."""
    return passes_entry(life.extraction.payload) or any(
        row.status == "active" and row.since < before for row in life.intervals
    )


def _earliest(stamps: Iterable[tuple[bytes, int]]) -> dict[bytes, int]:
    """Each key with the earliest of its stamps."""
    found: dict[bytes, int] = {}
    for key, stamp in stamps:
        found[key] = min(stamp, found.get(key, stamp))
    return found


def _earlier(stamps: Mapping[bytes, int], known: Mapping[bytes, int]) -> dict[bytes, int]:
    """Those that aren't known by so early a stamp."""
    return {key: stamp for key, stamp in stamps.items() if stamp < known.get(key, stamp + 1)}
