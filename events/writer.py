"""Writers: the only place where an event gets its stream, its stamp, its salt and its place in the chain.

A writer is one open handle's lifetime in one process (ADR 0003): a fresh 128-bit id, never an agent's name and
never read back from disk. Everything of one :class:`Batch` is stamped and stored in one critical section of the
log, so no stamp is ever issued that isn't stored next.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.catalog.registry import FATE_CHANGING, REVISIONS
from beliefbase.events.envelope import FORMAT, SALT_BYTES, Event, Skeleton, encode_body
from beliefbase.events.errors import ClockBehind, InvalidEvent
from beliefbase.events.hlc import Clock, SourceClock, ms_of, wall_ms
from beliefbase.events.ids import ID_BYTES, ZERO_HASH, commitment, name_hash, skeleton_hash
from beliefbase.events.log import EventLog, Transaction

BODY_VERSION: Final = 1


class Appended(NamedTuple):
    """What became of one draft."""

    id: bytes
    type: str
    writer: bytes
    seq: int
    hlc: int
    existing: bool
    """Its source_ref was stored before: ``id`` is that event's, and nothing was stored."""


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
        self, pen: Pen, *, agent: str, kind: str = "agent", role: str = "member", model: str | None = None
    ) -> None:
        self.pen = pen
        self.agent = agent
        self.kind = kind
        drift = pen.clock.max_drift_ms if isinstance(pen.clock, Clock) else 0
        named = {} if model is None else {"model": model}
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
        self._tips: dict[bytes, set[bytes]] = {}
        self._subjects: dict[bytes, tuple[bytes, ...]] = {}
        self._refs: dict[tuple[str, bytes], Appended | None] = {}
        self._sides: dict[bytes, tuple[bytes, bytes] | None] = {}

    def __enter__(self) -> Self:
        self._context: AbstractContextManager[Transaction] = self._log.transaction()
        self._transaction = self._context.__enter__()
        self._pen.look(self._transaction)
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
        except BaseException:
            for writer in self._heads:  # stored or not: nobody may ever continue these streams from here
                writer.renew()
            raise
        for writer, (seq, prev) in self._heads.items():
            writer.seq, writer.prev = seq, prev

    def add(self, writer: Writer, draft: Draft, *, at: int | None = None) -> Appended:
        """Stamp one event and give it its place.

        ``at`` is the source's time in milliseconds since 1970 UTC, for importers only.
        """
        self._prefetch((draft,))
        return self._add(writer, draft, at)

    def add_all(self, writer: Writer, drafts: Sequence[Draft]) -> list[Appended]:
        """Stamp several events of one writer, with one look-up for all of them."""
        self._prefetch(drafts)
        return [self._add(writer, draft, None) for draft in drafts]

    def _add(self, writer: Writer, draft: Draft, at: int | None) -> Appended:
        ref = (draft.type, draft.source_ref) if draft.source_ref is not None else None
        known = self._refs[ref] if ref else None
        if known:
            return known
        hlc = self._pen.stamp(at, self._transaction)
        if writer.generation != self._pen.generation:
            writer.renew()
            self._heads.pop(writer, None)
        seq, prev = self._heads.get(writer) or (writer.seq, writer.prev)
        if seq == 0:
            joined = self._build(writer, writer.joined, hlc, 1, prev)
            seq, prev = 1, skeleton_hash(joined.raw)
            hlc = self._pen.stamp(at, self._transaction)
        event = self._build(writer, draft, hlc, seq + 1, prev)
        self._heads[writer] = (seq + 1, skeleton_hash(event.raw))
        appended = Appended(event.id, draft.type, writer.id, seq + 1, hlc, existing=False)
        if ref:
            self._refs[ref] = appended._replace(existing=True)
        return appended

    def _build(self, writer: Writer, draft: Draft, hlc: int, seq: int, prev: bytes) -> Event:
        revised = self._revised(draft)
        subjects = self._whose(writer, draft)
        salt = body = None
        if draft.words:
            salt = self._pen.entropy(SALT_BYTES)
            body = encode_body(BODY_VERSION, draft.words)
        raw = Skeleton(
            format=FORMAT,
            writer=writer.id,
            seq=seq,
            prev=prev,
            hlc=hlc,
            recorded=self._pen.wall() - ms_of(hlc),
            type=draft.type,
            version=draft.version,
            touches=draft.touches,
            basis=self._basis(draft, revised),
            source_ref=draft.source_ref,
            payload=draft.payload,
            subjects=subjects,
            commitment=None if salt is None or body is None else commitment(salt, body),
        ).encode()
        event = Event(raw, salt, body)
        self._events.append(event)
        self._subjects[event.id] = subjects
        if draft.source_ref is not None:
            self._subjects[draft.source_ref] = subjects
        if draft.type == "contradiction.raised":
            self._sides[event.id] = (draft.payload["left"], draft.payload["right"])
        if draft.type in FATE_CHANGING:
            for key in revised:
                tips = self._tips[key]
                tips.difference_update(draft.basis if draft.basis is not None else frozenset(tips))
                tips.add(event.id)
        return event

    def _revised(self, draft: Draft) -> tuple[bytes, ...]:
        """The beliefs that an event revises: those it touches, or a contradiction's two sides."""
        if draft.type not in REVISIONS:
            return ()
        if draft.type == "contradiction.resolved":
            contradiction = draft.payload["contradiction_id"]
            return self._sides.get(contradiction) or (contradiction,)
        return draft.touches

    def _basis(self, draft: Draft, revised: Iterable[bytes]) -> tuple[bytes | bool, ...]:
        """What the author had read; where it doesn't say, the latest revisions that this store has."""
        ids = draft.basis if draft.basis is not None else sorted(set().union(*(self._tips[key] for key in revised)))
        if len(ids) <= limits.BASIS_IDS:
            return tuple(ids)
        return (*ids[: limits.BASIS_IDS], True)

    def _whose(self, writer: Writer, draft: Draft) -> tuple[bytes, ...]:
        """Whose words the body holds: the author's, and those of everyone it cites (DESIGN 1, subjects)."""
        if not draft.words:
            return ()
        if draft.subjects is not None:
            return draft.subjects
        speaker = draft.payload.get("speaker") if draft.type == "utterance.recorded" else None
        author = (speaker,) if isinstance(speaker, bytes) else writer.author
        cited = (self._subjects.get(key, ()) for key in draft.cites)
        return tuple(sorted(set(author).union(*cited)))[: limits.LIST_ITEMS]

    def _prefetch(self, drafts: Sequence[Draft]) -> None:
        """Read in bulk what building these drafts asks of the log."""
        transaction = self._transaction
        refs = {(draft.type, draft.source_ref) for draft in drafts if draft.source_ref is not None} - self._refs.keys()
        if refs:
            found = transaction.find_refs(refs)
            self._refs.update((ref, _known(ref[0], found[ref]) if ref in found else None) for ref in refs)
        for draft in drafts:
            if draft.type == "contradiction.resolved" and draft.payload["contradiction_id"] not in self._sides:
                contradiction = draft.payload["contradiction_id"]
                self._sides[contradiction] = transaction.sides(contradiction)
        tips = {key for draft in drafts for key in self._revised(draft)}
        _fill(self._tips, tips, lambda keys: {key: set(ids) for key, ids in transaction.tips(keys).items()}, set)
        cites = {key for draft in drafts if draft.words and draft.subjects is None for key in draft.cites}
        _fill(self._subjects, cites, transaction.subjects, tuple)


def _known(type_name: str, event_id: bytes) -> Appended:
    return Appended(event_id, type_name, b"", 0, 0, existing=True)


def _fill(
    cache: dict[bytes, Any],
    wanted: Collection[bytes],
    look_up: Callable[[Collection[bytes]], Mapping[bytes, Any]],
    empty: Callable[[], Any],
) -> None:
    missing = set(wanted) - cache.keys()
    if missing:
        found = look_up(missing)
        for key in missing:
            cache[key] = found[key] if key in found else empty()
