"""Dependents: which beliefs have to be folded again when events have arrived, and their new lives.

The method keeps no state. Beliefs that the moved events name are folded without and with the batch; whoever reads
what may have changed of them is next, until nobody is left. Nothing changes before the first stamp of the batch,
which is what cuts the walk short: a belief that was active before it owes nothing to those that it replaces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import zip_longest
from typing import NamedTuple

from beliefbase.beliefs.arrivals import RULE_CHANGING, Named, Without, moved_by
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import Erased, Fold, fold
from beliefbase.beliefs.intervals import Interval
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.lineage import fork_relatives
from beliefbase.beliefs.lookups import Lookups, Need, Source, Task
from beliefbase.beliefs.readers import Readers
from beliefbase.beliefs.reasons import Note
from beliefbase.beliefs.rules import DEFAULT, FOREVER, Rules, passes_entry
from beliefbase.beliefs.slices import Slice
from beliefbase.events.catalog import Role
from beliefbase.events.catalog.registry import FATE_CHANGING


class Refold(NamedTuple):
    """What a batch changes."""

    everything: bool
    """True after a profile or policy: every belief may live otherwise, and nothing was folded."""
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
    erased: Erased | None = None,
) -> Refold:
    """Fold again whatever a batch may change.

    ``source`` holds the batch already. ``horizon`` is the largest stamp of anything else in it; where it isn't
    known the walk goes further than it need. ``erased`` are all beliefs of the log whose words are erased; those
    that an event of the batch erased are refolded.
    """
    if any(fact.type in RULE_CHANGING for fact in batch):
        return Refold(True, {}, set(), {})
    return _Refolding(source, batch, rules, horizon, erased or {}).result()


class _Refolding:
    def __init__(self, source: Source, batch: Collection[Fact], rules: Rules, horizon: int, erased: Erased) -> None:
        self._batch = sorted(batch)
        self._new = {fact.id for fact in batch}
        self._rules = rules
        self._horizon = horizon
        self._erased = erased
        self._erased_before = {belief: by for belief, by in erased.items() if by[1] not in self._new}
        self._lookups = Lookups(source)
        self._before = Without(self._lookups, self._new)
        self._readers = Readers(self._lookups)
        self._start = min((fact.hlc for fact in self._batch), default=FOREVER)
        """Nothing changes before this stamp."""
        self._lives: dict[bytes, Life] = {}
        self._gone: set[bytes] = set()
        self._notes: dict[bytes, list[Note]] = {}
        self._turned: set[bytes] = set()
        """Fate-changing revisions that act, or are void, otherwise than before."""
        self._relinked: set[bytes] = set()
        """Beliefs that are merged otherwise than before."""

    def result(self) -> Refold:
        """Walk until nobody is left."""
        moved = self._lookups.run(moved_by(self._batch))
        named = Named(self._lookups, moved)
        named.loud |= self._erased.keys() - self._erased_before.keys()
        self._readers.flagged |= named.flagged
        self._turned = {fact.id for fact in moved if fact.type in FATE_CHANGING}
        loud, quiet, below = self._entities(named.loud), self._entities(named.quiet), set[bytes]()
        self._notes.update((fact.id, []) for fact in moved)
        seen_loud, seen_below, deciding = set(loud), set(below), moved
        while loud or quiet or below or deciding:
            self._follow(loud, quiet - loud, below, deciding)
            loud = self._entities(self._readers.loud) - seen_loud
            below = self._entities(self._readers.below) - seen_below
            seen_loud |= loud
            seen_below |= below
            quiet, deciding = set(), []
        flagged = self._readers.flagged | self._lookups.run(self._named_as_successors())
        flagged |= fork_relatives(self._lookups, self._batch, self._turned, self._in_force)
        self._fold_now(self._lookups.run(self._families(flagged)) - self._lives.keys(), ())
        return Refold(False, self._lives, self._gone - self._lives.keys(), self._notes)

    def _follow(self, loud: set[bytes], quiet: set[bytes], below: set[bytes], deciding: Collection[Fact]) -> None:
        """Fold beliefs without and with the batch, and collect who reads what may have changed."""
        after = self._fold_now(loud | quiet, deciding)
        faces = self._faces(loud | quiet | below)
        known = [face for many in faces.values() for face in many if face not in self._new]
        before = self._folded(self._before, known, (), self._erased_before)
        tasks = []
        for belief in sorted(loud | quiet):
            is_loud = belief in loud
            old, new = _life(before, faces[belief]), after.lives.get(belief)
            if old is not None and (new is None or old.id != new.id):
                self._gone.add(old.id)
            appeared = old is None or new is None or old.faces != new.faces or old.born != new.born
            waited_for = is_loud and not (new is not None and self._was_active(new))
            tasks.append(self._readers.of(belief, loud=is_loud, appeared=appeared, waited_for=waited_for))
            changes = self._start if is_loud else _status_changes(old, new)
            if changes is not None and not self._had_risen(old, changes):
                tasks.append(self._readers.step_below(belief))
            if is_loud:
                tasks.append(self._note_turned(faces[belief], before, after))
                if _survivors(old) != _survivors(new):
                    self._relinked.add(belief)
        tasks += [
            self._readers.step_below(belief)
            for belief in sorted(below)
            if not self._had_risen(_life(before, faces[belief]), self._start)
        ]
        self._lookups.run(_all(self._lookups, tasks))

    def _was_active(self, life: Life) -> bool:
        """Whether a belief was active before anything changed: replacements by it don't wait for it."""
        return passes_entry(life.extraction.payload) or any(
            row.status == "active" and row.since < self._start for row in life.intervals
        )

    def _had_risen(self, old: Life | None, changes: int) -> bool:
        """Whether nothing can have waited for a belief to rise just before a stamp, and nothing acts later."""
        row = old.at(changes - 1) if old is not None and self._horizon < changes else None
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
        members = yield from self._families(self._relinked)
        groups = yield from self._lookups.entities(sorted(members))
        for fact in (yield Need(Role.LINK, tuple(copy.id for copies in groups.values() for copy in copies))):
            if fact.type == "belief.superseded":
                target = yield from self._lookups.entity(fact.payload["superseded_id"])
                acting = yield from self._lookups.acting_on(target)
                if sum(other.type in FATE_CHANGING or other.type == "contradiction.raised" for other in acting) > 1:
                    found.update(copy.id for copy in target)
        return found

    def _families(self, beliefs: Iterable[bytes]) -> Task[set[bytes]]:
        """Entities of beliefs (by any id), and of all that merges connect them with."""
        found: set[bytes] = set()
        pending = sorted(beliefs)
        while pending:
            groups = yield from self._lookups.entities(pending)
            new = {copies[0].id: copies for copies in groups.values() if copies[0].type == "belief.extracted"}
            faces = tuple(copy.id for belief, copies in new.items() if belief not in found for copy in copies)
            found.update(new)
            pending = [
                fact.payload[end]
                for fact in (yield Need(Role.STATE, faces))
                if fact.type == "belief.merged"
                for end in ("duplicate_id", "surviving_id")
            ]
        return found

    # Looking up and folding

    def _entities(self, ids: Collection[bytes]) -> set[bytes]:
        groups = self._lookups.run(self._lookups.entities(sorted(ids)))
        return {copies[0].id for copies in groups.values() if copies[0].type == "belief.extracted"}

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

    def _fold_now(self, beliefs: set[bytes], deciding: Collection[Fact]) -> Fold:
        """Fold with the batch, and take the lives of beliefs and the remarks about what acts on them."""
        folded = self._folded(self._lookups, sorted(beliefs), deciding)
        self._lives.update((belief, folded.lives[belief]) for belief in sorted(beliefs) if belief in folded.lives)
        faces = [face for many in self._faces(beliefs).values() for face in many]
        events = {fact.id for fact in self._lookups.run(self._acting_on(faces))}
        events.update(faces, (fact.id for fact in deciding))
        self._notes.update((event, []) for event in sorted(events))
        for note in folded.notes:
            if note.event in events:
                self._notes[note.event].append(note)
        return folded

    def _folded(
        self, source: Source, beliefs: Collection[bytes], deciding: Iterable[Fact], erased: Erased | None = None
    ) -> Fold:
        erased = self._erased if erased is None else erased
        facts = Slice(source, beliefs, deciding).facts
        return fold(facts, self._rules, erased={fact.id: erased[fact.id] for fact in facts if fact.id in erased})

    def _in_force(self, revisions: Collection[Fact]) -> set[bytes]:
        folded = self._folded(self._lookups, (), revisions)
        return {f.id for f in revisions if folded.acted.get(f.id) == f.hlc and f.id not in folded.void}


def _all(lookups: Lookups, tasks: Iterable[Task[None]]) -> Task[None]:
    for task in tasks:
        lookups.spawn(task)
    yield from ()


def _life(folded: Fold, faces: Iterable[bytes]) -> Life | None:
    return next((folded.lives[face] for face in faces if face in folded.lives), None)


def _status_changes(old: Life | None, new: Life | None) -> int | None:
    """The first stamp from which a belief is candidate, active or ended otherwise than before."""
    rows = [_statuses(life.intervals) if life is not None else [] for life in (old, new)]
    for was, now in zip_longest(*rows):
        if was != now:
            return min(row[0] for row in (was, now) if row is not None)
    return None


def _statuses(intervals: Iterable[Interval]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for row in intervals:
        if not found or found[-1][1] != row.status:
            found.append((row.since, row.status))
    return found


def _survivors(life: Life | None) -> list[tuple[int, bytes | None]]:
    log = life.into_log if life is not None else None
    return [(at, survivor.id if survivor is not None else None) for at, survivor in log or ()]
