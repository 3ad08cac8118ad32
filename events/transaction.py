"""One critical section on the log: what is read before events are stamped, and how built events are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from beliefbase.events import index, tips
from beliefbase.events.catalog import Role
from beliefbase.events.covering import Covering
from beliefbase.events.envelope import Event, Skeleton
from beliefbase.events.erasure import ERASED
from beliefbase.events.errors import BrokenChain, Equivocation, StoreUnavailable
from beliefbase.events.frontier import Branch, branch_stream, bucket_of, main_stream
from beliefbase.events.ids import ZERO_HASH, skeleton_hash
from beliefbase.events.log import Head, Known, SignedHead, Stored
from beliefbase.events.tables import Placed, Tables


class LogTransaction:
    """Implements :class:`beliefbase.events.log.Transaction` on the tables of a backend."""

    def __init__(self, tables: Tables, wall: int) -> None:
        self._tables: Tables | None = tables
        self._wall = wall
        self._branches: dict[bytes, dict[str, Branch]] = {}
        self.stored: list[Event] = []
        """What this transaction has stored so far."""
        self.erased = 0
        """Bodies that were here and that it has deleted."""
        self.refused = 0
        """Bodies that it was given and has not stored, because an erasure covers them."""
        self.whole = True
        """False once storing has failed half way: such a transaction can't be committed."""

    @property
    def tables(self) -> Tables:
        """The tables, as long as the transaction is open."""
        if self._tables is None:
            raise StoreUnavailable("this transaction has ended", hint="begin another one")
        return self._tables

    def end(self) -> None:
        """Make every later use raise StoreUnavailable."""
        self._tables = None

    # ------------------------------------------------------------------ reading

    def max_hlc(self, below: int) -> int:
        """The largest stored stamp that is at most ``below``, 0 where there is none."""
        return self.tables.max_stamp(below)

    def head(self, writer: bytes) -> Head | None:
        """The newest head of a writer's main branch, None for a writer that has no events."""
        branch = self.branches_of([writer])[writer].get(main_stream(writer))
        return None if branch is None else branch.head

    def find_refs(self, refs: Collection[tuple[str, bytes]]) -> Mapping[tuple[str, bytes], Known]:
        """Of (type, source_ref) pairs those that are stored, with the entity's earliest event."""
        if not refs:
            return {}
        earliest: dict[tuple[str, bytes], Known] = {}
        for _, event in self.tables.naming({ref for _, ref in refs}, {Role.SELF}):
            skeleton = event.skeleton
            pair = (skeleton.type, skeleton.source_ref or b"")
            known = Known(skeleton.hlc, skeleton.writer, skeleton.seq, event.id)
            earliest[pair] = min(known, earliest.get(pair, known))
        return {pair: earliest[pair] for pair in refs if pair in earliest}

    def tips(self, keys: Collection[bytes]) -> Mapping[bytes, frozenset[bytes]]:
        """For beliefs, contradictions or condition keys: their latest fate-changing revisions; absent for none."""
        return {key: frozenset(found) for key, found in self.tables.tips(keys).items()}

    def subjects(self, ids: Collection[bytes]) -> Mapping[bytes, tuple[bytes, ...]]:
        """For stored events (by id or source_ref hash): whose words they hold."""
        found: dict[bytes, set[bytes]] = {}
        for _, event in self.tables.naming(ids, {Role.SELF}) if ids else ():
            for name in (event.id, event.skeleton.source_ref):
                if name in ids and name is not None:
                    found.setdefault(name, set()).update(event.skeleton.subjects)
        return {name: tuple(sorted(subjects)) for name, subjects in found.items()}

    def sides(self, contradiction: bytes) -> tuple[bytes, bytes] | None:
        """The two sides of a stored contradiction."""
        for _, event in self.tables.naming([contradiction], {Role.SELF}):
            if event.id == contradiction:
                return index.sides(event.skeleton)
        return None

    # ------------------------------------------------------------------ storing

    def insert(self, events: Sequence[Event]) -> None:
        """Store events that continue their writers' streams; those that are stored byte for byte are passed over.

        Whoever built them answers for their words being those that the skeletons commit to.

        Raises:
            BrokenChain: seq or prev doesn't follow the head.
            Equivocation: other bytes stand under the same (writer, seq).
        """
        skeletons = [event.skeleton for event in events]
        if ERASED in {skeleton.type for skeleton in skeletons}:
            self.tables.alone()
        branches = self.copied_branches({skeleton.writer for skeleton in skeletons})
        placed: list[Placed] = []
        for event, skeleton in zip(events, skeletons, strict=True):
            seq, of_writer = skeleton.seq, branches[skeleton.writer]
            branch = continued(of_writer, skeleton)
            if branch is None or len(of_writer) > 1:
                covering = [other.stream for other in of_writer.values() if other.covers(seq)]
                if covering:
                    if not self._is_stored(covering, event, placed):
                        raise _equivocation(event)
                    continue
                if branch is None:
                    if of_writer or seq != 1 or skeleton.prev != ZERO_HASH:
                        raise _broken(skeleton, of_writer)
                    branch = begun(of_writer, event, None)
            branch.seq, branch.hash = seq, event.hash
            placed.append(Placed(branch.stream, event))
        self.store(placed, branches, local=True)

    def sign(self, signed: Iterable[SignedHead]) -> int:
        """Keep the signatures of stored events, of a branch the newest; returns how many were kept."""
        kept = 0
        for one in signed:
            for branch in self.branches_of([one.writer])[one.writer].values():
                if branch.head == one.head or (branch.covers(one.seq) and self._has(branch.stream, one.head)):
                    before = self.tables.signatures.at(branch.stream)
                    if before is None or before.seq < one.seq:
                        self.tables.signatures.put(branch.stream, one)
                        kept += 1
        return kept

    def erase_words(self, ids: Collection[bytes]) -> int:
        """Delete the bodies of these events, stored or kept aside; returns how many there were.

        The pages that held them are overwritten. The write-ahead file is emptied when the transaction ends, unless an
        open read needs it: the log's ``checkpoint()`` says so.
        """
        ids = frozenset(ids)
        found = [stored for stored in self.tables.naming(ids, {Role.SELF}) if stored.event.id in ids]
        erasures = self.tables.erasures
        positions = [stored.position for stored in found]
        deleted = erasures.delete(positions)
        if deleted:
            erasures.reword()
            erasures.want(stored.position for stored in found if stored.event.skeleton.commitment is not None)
        deleted += erasures.delete_aside([event.hash for event in self.tables.aside() if event.id in ids])
        self.erased += deleted
        return deleted

    def carry_out(self) -> None:
        """Delete the words of erasures that were stamped ahead of the wall, and no longer are."""
        if self.tables.erasures.pending():
            covering = Covering(self.tables, self._wall)
            covering.carry_out()
            self.erased += covering.erased

    def cover(self, stored: Sequence[Stored]) -> None:
        """Work out anew what covers events that are stored, and delete the words of those that an erasure covers."""
        covering = Covering(self.tables, self._wall)
        without = covering.take_in(stored, local=False)
        self.erased += covering.erased + self.tables.erasures.delete(without)

    def fill(self, position: int, event: Event) -> bool:
        """Store the words of an event that is stored without them; False where an erasure covers them."""
        if Covering(self.tables, self._wall).refuses(position):
            self.refused += 1
            return False
        self.tables.add_words([(position, event.id, event.salt, event.body or b"")])
        self.tables.erasures.fill(position)
        return True

    def strip(self, waiting: Sequence[Event]) -> None:
        """Drop covered words of events that are to be kept aside, and of those that are."""
        if not self.tables.erasures.any():
            return
        covering = Covering(self.tables, self._wall)
        covered = covering.clean_aside(waiting)
        self.erased += covering.erased
        for event in waiting:
            if event.hash in covered and event.body is not None:
                event.salt = event.body = None
                self.refused += 1

    def branches_of(self, writers: Collection[bytes]) -> dict[bytes, dict[str, Branch]]:
        """The branches of these writers, by stream, this transaction's events included; not to be changed."""
        missing = [writer for writer in writers if writer not in self._branches]
        if missing:
            found = self.tables.branches(missing)
            for writer in missing:
                self._branches[writer] = found.get(writer, {})
        return {writer: self._branches[writer] for writer in writers}

    def copied_branches(self, writers: Collection[bytes]) -> dict[bytes, dict[str, Branch]]:
        """The branches of these writers, to work on and to hand to :meth:`store`."""
        return {
            writer: {stream: replace(branch) for stream, branch in found.items()}
            for writer, found in self.branches_of(writers).items()
        }

    def clashing(self, events: Sequence[Event]) -> list[Event]:
        """Of events that aren't stored those whose id another skeleton has."""
        ids = {event.id for event in events}
        taken = {stored.event.id for stored in self.tables.naming(ids, {Role.SELF})} & ids if ids else set()
        return [event for event in events if event.id in taken]

    def store(
        self, placed: Sequence[Placed], branches: Mapping[bytes, dict[str, Branch]], *, local: bool = False
    ) -> None:
        """Insert events that have their places, and bring heads, buckets, tips and coverage up to date.

        Words that an erasure covers are not stored; ``local`` events were appended here, none of them by a merge.
        ``branches`` are the writers' branches as they are with these events; they are handed over.
        """
        if not placed:
            return
        tables = self.tables
        self.whole = False
        positions = tables.reserve(len(placed))
        tables.store(placed, positions)
        changed = [
            branch
            for writer, of_writer in branches.items()
            for stream, branch in of_writer.items()
            if self._branches[writer].get(stream) != branch
        ]
        tables.put_branches(changed, {bucket_of(branch.writer) for branch in changed})
        self._branches.update(branches)
        events = [event for _, event in placed]
        tips.update(tables, events)
        self._store_words(positions, events, local=local)
        self.stored += events
        self.whole = True

    def _store_words(self, positions: Sequence[int], events: Sequence[Event], *, local: bool) -> None:
        tables, without = self.tables, set[int]()
        if tables.erasures.any() or any(event.skeleton.type == ERASED for event in events):
            covering = Covering(tables, self._wall)
            without = covering.take_in(list(map(Stored, positions, events)), local=local)
            self.erased += covering.erased
        words, wanting = [], []
        for position, event in zip(positions, events, strict=True):
            if event.body is None:
                if event.skeleton.commitment is not None:
                    wanting.append(position)
            elif position in without:
                self.refused += 1
            else:
                words.append((position, event.id, event.salt, event.body))
        tables.add_words(words)
        if wanting:
            tables.erasures.want(wanting)

    def _has(self, stream: str, head: Head) -> bool:
        found = self.tables.at(stream, head.seq)
        return found is not None and skeleton_hash(found.raw) == head.hash

    def _is_stored(self, streams: Sequence[str], event: Event, placed: Sequence[Placed]) -> bool:
        for stream in streams:
            found = self.tables.at(stream, event.skeleton.seq)
            if found is not None and found.raw == event.raw:
                return True
        return any(other.raw == event.raw for _, other in placed)


def continued(branches: Mapping[str, Branch], skeleton: Skeleton) -> Branch | None:
    """The branch whose head this event continues."""
    for branch in branches.values():
        if branch.hash == skeleton.prev and branch.seq == skeleton.seq - 1:
            return branch
    return None


def begun(branches: dict[str, Branch], event: Event, parent: str | None) -> Branch:
    """A new branch of a writer that starts with this event; it is added to the others."""
    skeleton = event.skeleton
    writer, seq = skeleton.writer, skeleton.seq
    stream = branch_stream(writer, event.id) if branches else main_stream(writer)
    branches[stream] = branch = Branch(writer, stream, seq, seq, event.hash, parent)
    return branch


def _equivocation(event: Event) -> Equivocation:
    skeleton = event.skeleton
    return Equivocation(
        f"other bytes stand under seq {skeleton.seq} of writer {skeleton.writer.hex()}",
        hint="nothing was stored; close this writer and open a new one: a copy of this store may be in use elsewhere",
        writer=skeleton.writer,
        seq=skeleton.seq,
        event_id=event.id,
    )


def _broken(skeleton: Skeleton, branches: Mapping[str, Branch]) -> BrokenChain:
    main = branches.get(main_stream(skeleton.writer))
    stands = f"its head has seq {main.seq}" if main else "it has no events here"
    return BrokenChain(
        f"seq {skeleton.seq} doesn't continue writer {skeleton.writer.hex()}: {stands}, or prev names another event",
        hint="nothing was stored; read the head in the transaction that appends, and give foreign events to merge",
        writer=skeleton.writer,
        seq=skeleton.seq,
    )
