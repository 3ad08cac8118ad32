"""Writers: the only place where an event gets its stream, its stamp, its salt and its place in the chain.

A writer is one open handle's lifetime in one process (ADR 0003): a fresh 128-bit id, never an agent's name and
never read back from disk. Everything of one :class:`Batch` is stamped and stored in one critical section of the
log, so no stamp is ever issued that isn't stored next.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, NamedTuple, Self

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.catalog.registry import FATE_CHANGING, REVISIONS
from beliefbase.events.envelope import FORMAT, SALT_BYTES, Event, Skeleton
from beliefbase.events.erasure import ERASED
from beliefbase.events.errors import ClockBehind, InvalidEvent
from beliefbase.events.hlc import Clock, SourceClock, ms_of, wall_ms
from beliefbase.events.ids import ID_BYTES, ZERO_HASH, commitment, name_hash
from beliefbase.events.log import EventLog, Head, SignedHead, Transaction
from beliefbase.events.signing import KEY_BYTES, AgentKey


def new_seed() -> bytes:
    """What a new key is made from."""
    return secrets.token_bytes(KEY_BYTES)


class Appended(NamedTuple):
    """What became of one draft."""

    id: bytes
    type: str
    writer: bytes
    seq: int
    hlc: int
    existing: bool
    """Its source_ref was stored before: all of the above is that event's, and nothing was stored."""


class Pen:
    """What one open handle writes with: a clock, the wall for ``recorded``, and a source of random bytes.

    With a :class:`SourceClock` it is an importer's: stamps carry the source's own times (DESIGN 2).
    """

    def __init__(
        self,
        clock: Clock | SourceClock | None = None,
        *,
        wall: Callable[[], int] = wall_ms,
        entropy: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.clock = clock if clock is not None else Clock(wall)
        self.wall = wall
        self.entropy = entropy
        self.generation = 0
        """Grows when the wall was stepped back and every writer must go on under a new id."""

    def look(self, transaction: Transaction) -> None:
        """Take note of everything that was stored before this transaction (R4, R5)."""
        if isinstance(self.clock, Clock):
            self.clock.observe(transaction.max_hlc(self.clock.horizon))

    def pass_over(self, hlc: int) -> None:
        """Take note of an item of the source that is stored already."""
        if isinstance(self.clock, SourceClock):
            self.clock.observe(hlc)

    def stamp(self, at: int | None, transaction: Transaction) -> int:
        """The next stamp; ``at`` is the source's time in ms, for importers only."""
        if isinstance(self.clock, SourceClock):
            return self.clock.at(ms_of(self.clock.last) if at is None else at)
        if at is not None:
            raise InvalidEvent("only an importer may say when it happened", hint="append with --importer", field="at")
        try:
            return self.clock.now()
        except ClockBehind:
            self.clock = Clock(self.wall, max_drift_ms=self.clock.max_drift_ms)
            self.generation += 1
            self.look(transaction)
            return self.clock.now()


class Writer:
    """One stream of events; use it through a :class:`Batch`."""

    def __init__(
        self,
        pen: Pen,
        *,
        agent: str,
        kind: str = "agent",
        role: str = "member",
        model: str | None = None,
        key: AgentKey | None = None,
    ) -> None:
        self.pen = pen
        self.agent = agent
        self.kind = kind
        self.role = role
        drift = pen.clock.max_drift_ms if isinstance(pen.clock, Clock) else 0
        self.key = None if key is None else key.certify(pen.entropy(KEY_BYTES))
        """What its heads are signed with, if they are."""
        named: dict[str, Any] = {} if model is None else {"model": model}
        if self.key is not None:
            named["certificate"] = self.key.certificate
        self.joined = CATALOG.draft(
            "writer.joined", {"agent": agent, "kind": kind, "role": role, "max_drift": drift, **named}
        )
        """Its first event, stored only together with another."""
        self.author = (name_hash(agent),) if kind == "human" else ()
        """Whose words this writer's own texts are: a person's are theirs, an agent's are nobody's."""
        self.renew()

    def renew(self) -> None:
        """Go on as a new writer."""
        self.id = self.pen.entropy(ID_BYTES)
        self.generation = self.pen.generation
        self.seq = 0
        self.prev = ZERO_HASH


class Batch:
    """Events that are stored together or not at all.

    Use as a context manager: leaving the block commits, an exception rolls everything back and leaves the writers
    where they were. The log stays locked inside the block, so prepare the drafts before.

    Raises, on entering and leaving, what :meth:`EventLog.transaction` raises.
    """

    def __init__(self, log: EventLog, pen: Pen) -> None:
        self._log = log
        self._pen = pen
        self._events: list[Event] = []
        self._heads: dict[Writer, tuple[int, bytes]] = {}
        self._signed: list[SignedHead] = []
        self._tips: dict[bytes, set[bytes]] = {}
        self._subjects: dict[bytes, tuple[bytes, ...]] = {}
        self._refs: dict[tuple[str, bytes], Appended | None] = {}
        self._sides: dict[bytes, tuple[bytes, bytes] | None] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._transaction = stack.enter_context(self._log.transaction())
            self._pen.look(self._transaction)
            self._context: AbstractContextManager[object] = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._context.__exit__(kind, error, trace)
            return
        try:
            with ExitStack() as stack:
                stack.push(self._context)
                self._transaction.insert(self._events)
                for writer, head in self._heads.items():
                    self._sign(writer, head)
                if self._signed:
                    self._transaction.sign(self._signed)
        except BaseException:
            for writer in self._heads:  # stored or not: nobody may ever continue these streams from here
                writer.renew()
            raise
        for writer, (seq, prev) in self._heads.items():
            writer.seq, writer.prev = seq, prev

    def __len__(self) -> int:
        """How many events it has so far."""
        return len(self._events)

    def add(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Appended:
        """Stamp one event and give it its place.

        ``at`` is the source's time in milliseconds since 1970 UTC, for importers only.
        """
        self.expect((draft,))
        return self._add(writer, draft, at, self._pen.entropy(SALT_BYTES))

    def add_all(self, writer: Writer, drafts: Sequence[Draft]) -> list[Appended]:
        """Stamp several events of one writer, with one look-up for all of them."""
        self.expect(drafts)
        random = self._pen.entropy(SALT_BYTES * len(drafts))
        return [
            self._add(writer, draft, None, random[SALT_BYTES * number : SALT_BYTES * (number + 1)])
            for number, draft in enumerate(drafts)
        ]

    def _add(self, writer: Writer, draft: Draft, at: int | None, salt: bytes) -> Appended:
        ref = (draft.type, draft.source_ref) if draft.source_ref is not None else None
        known = self._refs[ref] if ref else None
        if known:
            self._pen.pass_over(known.hlc)
            return known
        pen = self._pen
        if draft.type == ERASED and writer.role != "owner":
            raise InvalidEvent(
                f"{writer.agent} writes as {writer.role}; only an owner erases",
                hint="beliefbase forget SUBJECT --as NAME writes as an owner",
                field="type",
            )
        hlc = pen.stamp(at, self._transaction)
        if writer.generation != pen.generation:
            self._sign(writer, self._heads.pop(writer, None))
            writer.renew()
        seq, prev = self._heads.get(writer) or (writer.seq, writer.prev)
        if seq == 0:
            joined = self._build(writer, writer.joined, hlc, 1, prev, pen.entropy(SALT_BYTES))
            seq, prev = 1, joined.hash
            hlc = pen.stamp(at, self._transaction)
            event = self._build(writer, draft, hlc, 2, prev, salt)
            self._take(writer, writer.joined, joined)
        else:
            event = self._build(writer, draft, hlc, seq + 1, prev, salt)
        self._take(writer, draft, event)
        appended = Appended(event.id, draft.type, writer.id, seq + 1, hlc, False)
        if ref:
            self._refs[ref] = appended._replace(existing=True)
        return appended

    def _sign(self, writer: Writer, head: tuple[int, bytes] | None) -> None:
        if writer.key is not None and head is not None:
            self._signed.append(writer.key.sign(Head(writer.id, *head)))

    def _build(self, writer: Writer, draft: Draft, hlc: int, seq: int, prev: bytes, salt: bytes) -> Event:
        body = draft.body
        skeleton = Skeleton(
            FORMAT,
            writer.id,
            seq,
            prev,
            hlc,
            self._pen.wall() - (hlc >> 16),
            draft.type,
            draft.version,
            draft.touches,
            self._basis(draft) if draft.type in REVISIONS else (),
            draft.source_ref,
            draft.payload,
            () if body is None else self._whose(writer, draft),
            None if body is None else commitment(salt, body),
        )
        return Event.build(skeleton, None if body is None else salt, body, draft.names)

    def _take(self, writer: Writer, draft: Draft, event: Event) -> None:
        """Keep a built event, and what later ones of this batch have to know of it."""
        skeleton = event.skeleton
        self._events.append(event)
        self._heads[writer] = (skeleton.seq, event.hash)
        if skeleton.subjects:
            self._subjects[event.id] = skeleton.subjects
            if draft.source_ref is not None:
                self._subjects[draft.source_ref] = skeleton.subjects
        if draft.type == "contradiction.raised":
            self._sides[event.id] = (draft.payload["left"], draft.payload["right"])
        if draft.type in FATE_CHANGING:
            for key in self._revised(draft):
                tips = self._tips[key]
                tips.difference_update(skeleton.basis_ids)
                tips.add(event.id)

    def _revised(self, draft: Draft) -> tuple[bytes, ...]:
        """What a revision revises: the beliefs it touches, or a contradiction and its two sides."""
        if draft.type == "contradiction.resolved":
            return (*draft.touches, *(self._sides.get(draft.touches[0]) or ()))
        return draft.touches

    def _basis(self, draft: Draft) -> tuple[bytes | bool, ...]:
        """What the author had read; where it doesn't say, the latest revisions that this store has."""
        ids = draft.basis
        if ids is None:
            ids = tuple(sorted(set().union(*(self._tips[key] for key in self._revised(draft)))))
        return ids if len(ids) <= limits.BASIS_IDS else (*ids[: limits.BASIS_IDS], True)

    def _whose(self, writer: Writer, draft: Draft) -> tuple[bytes, ...]:
        """Whose words the body holds: the author's, and those of everyone it cites (DESIGN 1, subjects).

        HAZARD: beyond 256 the last ones are left out. Their erasure reaches these words all the same, because it
        covers what names a covered event.
        """
        if draft.subjects is not None:
            return draft.subjects
        author = (draft.payload["speaker"],) if draft.type == "utterance.recorded" else writer.author
        if not draft.cites:
            return author
        subjects = self._subjects
        cited = [subjects[key] for key in draft.cites if subjects.get(key)]
        return tuple(sorted(set(author).union(*cited)))[: limits.LIST_ITEMS] if cited else author

    def expect(self, drafts: Collection[Draft]) -> None:
        """Read in bulk what adding these drafts will ask of the log: one look-up instead of one for each."""
        transaction = self._transaction
        refs, cites, revising = set[tuple[str, bytes]](), set[bytes](), list[Draft]()
        for draft in drafts:
            if draft.source_ref is not None and (draft.type, draft.source_ref) not in self._refs:
                refs.add((draft.type, draft.source_ref))
            if draft.cites and draft.subjects is None:
                cites.update(draft.cites)
            if draft.type in REVISIONS:
                revising.append(draft)
        if refs:
            found = transaction.find_refs(refs)
            for ref in refs:
                known = found.get(ref)
                self._refs[ref] = (
                    Appended(known.id, ref[0], known.writer, known.seq, known.hlc, existing=True) if known else None
                )
        for draft in revising:
            if draft.type == "contradiction.resolved" and draft.touches[0] not in self._sides:
                self._sides[draft.touches[0]] = transaction.sides(draft.touches[0])
        tips = {key for draft in revising for key in self._revised(draft)}
        _fill(self._tips, tips, lambda keys: {key: set(ids) for key, ids in transaction.tips(keys).items()}, set)
        _fill(self._subjects, cites, transaction.subjects, tuple)
        if not self._log.in_order and (refs or tips or cites):
            self._pen.look(transaction)  # what was read may have been stored since the block was entered


def _fill(
    cache: dict[bytes, Any],
    wanted: Collection[bytes],
    look_up: Callable[[Collection[bytes]], Mapping[bytes, Any]],
    empty: Callable[[], Any],
) -> None:
    missing = {key for key in wanted if key not in cache}  # not `- cache.keys()`, which walks the whole cache
    if missing:
        found = look_up(missing)
        for key in missing:
            cache[key] = found[key] if key in found else empty()
