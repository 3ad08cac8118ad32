"""What an agent or a person writes with: one method per thing that can be said, each an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from beliefbase.events.catalog import CATALOG, Draft
from beliefbase.events.errors import InvalidEvent
from beliefbase.events.hlc import MAX_MS
from beliefbase.events.writer import Appended, Writer

if TYPE_CHECKING:
    from beliefbase.store import BeliefStore

When = int | datetime | None
"""A time of the source: milliseconds since 1970 UTC, or a datetime (naive ones are UTC). Importers only."""


class Common(TypedDict, total=False):
    """What every event may carry."""

    source_ref: str
    basis: Iterable[str]
    subjects: Iterable[str]
    at: When


class Extraction(Common, total=False):
    """What else can be said of a belief; see ``belief.extracted`` in docs/events.md."""

    node_kind: str
    speech_act: str
    speech_act_confidence: int
    voice: str
    assertion_type: str
    assertion_class: str
    confidence: int
    policy: str
    condition_key: str
    session: str
    extractor: str
    subject: str
    predicate: str
    topic: str
    excerpts: Iterable[str]
    obsolete_when: str
    kind_misfit: bool
    kind_misfit_reason: str
    supersedes_note: str
    tags: Iterable[str]
    raw_reply: str


class Change(Common, total=False):
    """What a reclassification can set."""

    kind: str
    node_kind: str
    speech_act: str
    speech_act_confidence: int
    voice: str
    assertion_type: str
    assertion_class: str
    confidence: int
    policy: str
    condition_key: str
    reason: str


class Revision(Common, total=False):
    """What every revision may carry."""

    reason: str


class StoreWriter:
    """One stream of one agent or person, open until the store is closed.

    Every method returns the id of the event that it stored, as 32 hex digits, after the commit that holds it (inside
    ``store.batch()``: after the block). With a ``source_ref`` that is stored already it returns the existing id.

    Raises, from every method:
        InvalidEvent: a field is missing or malformed; nothing was stored.
        StoreUnavailable: the store can't be written; nothing was stored.
        AppendUnknown: the outcome of the commit could not be found out.
    """

    def __init__(self, store: BeliefStore, writer: Writer) -> None:
        self._store = store
        self._writer = writer

    @property
    def agent(self) -> str:
        """The name under which this writer joined."""
        return self._writer.agent

    @property
    def id(self) -> str:
        """The stream's id as 32 hex digits; it changes when the wall clock was stepped back too far."""
        return self._writer.id.hex()

    def append(self, type_name: str, fields: Mapping[str, Any], *, at: When = None) -> str:
        """Append an event of any type from its fields as they are written on the wire."""
        return self.append_draft(CATALOG.draft(type_name, fields), at=at).id.hex()

    def append_draft(self, draft: Draft, *, at: When = None) -> Appended:
        """Append an event that was checked before."""
        return self._store.append_draft(self._writer, draft, at=milliseconds(at))

    def record_utterance(
        self,
        verbatim: str,
        *,
        speaker: str,
        conversation: str | None = None,
        turn: int | None = None,
        channel: str | None = None,
        topic: str | None = None,
        entities: Iterable[str] = (),
        **common: Unpack[Common],
    ) -> str:
        """Record what somebody said, word for word."""
        said = {"verbatim": verbatim, "speaker": speaker, "conversation": conversation, "turn": turn}
        where = {"channel": channel, "topic": topic, "entities": tuple(entities)}
        return self._say("utterance.recorded", said | where, common)

    def extract(self, statement: str, *, kind: str, evidence: Iterable[str] = (), **more: Unpack[Extraction]) -> str:
        """Record a belief that was read out of utterances; the id is the belief's."""
        return self._say("belief.extracted", {"statement": statement, "kind": kind, "evidence": tuple(evidence)}, more)

    def affirm(
        self,
        belief: str,
        *,
        how: Literal["confirmation", "recurrence", "review"] = "confirmation",
        session: str | None = None,
        evidence: Iterable[str] = (),
        **more: Unpack[Revision],
    ) -> str:
        """Say that a belief was confirmed or found again; restarts its half-life."""
        fields = {"belief_id": belief, "how": how, "session": session, "evidence": tuple(evidence)}
        return self._say("belief.affirmed", fields, more)

    def promote(self, belief: str, **more: Unpack[Revision]) -> str:
        """Make a candidate active."""
        return self._say("belief.promoted", {"belief_id": belief}, more)

    def demote(self, belief: str, **more: Unpack[Revision]) -> str:
        """Make an active belief a candidate."""
        return self._say("belief.demoted", {"belief_id": belief}, more)

    def reclassify(self, belief: str, **change: Unpack[Change]) -> str:
        """Correct how a belief was meant; only the fields named change."""
        return self._say("belief.reclassified", {"belief_id": belief}, change)

    def supersede(
        self,
        belief: str,
        *,
        by: str,
        cause: Literal["update", "correction", "refinement"] = "update",
        **more: Unpack[Revision],
    ) -> str:
        """Put another belief in a belief's place."""
        return self._say("belief.superseded", {"superseded_id": belief, "superseding_id": by, "cause": cause}, more)

    def merge(self, duplicate: str, *, into: str, **more: Unpack[Revision]) -> str:
        """Say that a belief duplicates another."""
        return self._say("belief.merged", {"duplicate_id": duplicate, "surviving_id": into}, more)

    def retract(
        self, belief: str, *, cause: Literal["wrong", "withdrawn", "asked"] = "withdrawn", **more: Unpack[Revision]
    ) -> str:
        """End a belief without a successor."""
        return self._say("belief.retracted", {"belief_id": belief, "cause": cause}, more)

    def reinstate(self, belief: str, *, undoes: Iterable[str], **more: Unpack[Revision]) -> str:
        """Undo endings of a belief; those that aren't named stay in force."""
        return self._say("belief.reinstated", {"belief_id": belief, "undoes": tuple(undoes)}, more)

    def meet_condition(
        self,
        *,
        belief: str | None = None,
        key: str | None = None,
        evidence: Iterable[str] = (),
        **more: Unpack[Revision],
    ) -> str:
        """Say that an ``obsolete_when`` came true, for a belief or for all under a condition key."""
        fields = {"belief_id": belief, "condition_key": key, "evidence": tuple(evidence)}
        return self._say("condition.met", fields, more)

    def judge(self, about: str, *, judge: str, verdicts: Iterable[Mapping[str, Any]], **more: Unpack[Revision]) -> str:
        """Record a judge's verdicts on one belief against others, every "no" included."""
        fields = {"about": about, "judge": judge, "verdicts": tuple(dict(verdict) for verdict in verdicts)}
        return self._say("judgement.recorded", fields, more)

    def raise_contradiction(
        self, left: str, right: str, *, judgement: str | None = None, **more: Unpack[Revision]
    ) -> str:
        """Say that two beliefs, or a belief and an utterance, can't both hold."""
        return self._say("contradiction.raised", {"left": left, "right": right, "judgement": judgement}, more)

    def resolve(
        self,
        contradiction: str,
        outcome: Literal["left", "right", "both_hold", "neither"],
        *,
        judgement: str | None = None,
        **more: Unpack[Revision],
    ) -> str:
        """Say what holds of a contradiction's sides."""
        fields = {"contradiction_id": contradiction, "outcome": outcome, "judgement": judgement}
        return self._say("contradiction.resolved", fields, more)

    def conclude(self, belief: str, *, inputs: Iterable[Mapping[str, Any]], **more: Unpack[Revision]) -> str:
        """Say that a belief is a conclusion from others."""
        fields = {"belief_id": belief, "inputs": tuple(dict(item) for item in inputs)}
        return self._say("conclusion.derived", fields, more)

    def inject(
        self,
        cards: Iterable[Mapping[str, Any] | str],
        *,
        conversation: str | None = None,
        session: str | None = None,
        turn: int | None = None,
        query: str | None = None,
        context: str | None = None,
        rendered: str | None = None,
        **common: Unpack[Common],
    ) -> str:
        """Record which beliefs were put before an agent; a card is a belief id or a map with one."""
        shown = tuple({"belief_id": card} if isinstance(card, str) else dict(card) for card in cards)
        where = {"conversation": conversation, "session": session, "turn": turn}
        words = {"query": query, "context": context, "rendered": rendered}
        return self._say("memory.injected", {"cards": shown} | where | words, common)

    def use(
        self,
        injection: str,
        belief: str,
        outcome: Literal["used", "ignored", "corrected"],
        *,
        evidence: Iterable[str] = (),
        **common: Unpack[Common],
    ) -> str:
        """Record what became of a belief that was shown."""
        fields = {"injection_id": injection, "belief_id": belief, "outcome": outcome, "evidence": tuple(evidence)}
        return self._say("memory.used", fields, common)

    def ask(
        self,
        question: str,
        *,
        session: str | None = None,
        evidence: Iterable[str] = (),
        topic: str | None = None,
        **common: Unpack[Common],
    ) -> str:
        """Put a question into the curiosity queue."""
        fields = {"question": question, "session": session, "evidence": tuple(evidence), "topic": topic}
        return self._say("question.raised", fields, common)

    def _say(self, type_name: str, fields: Mapping[str, Any], more: Mapping[str, Any]) -> str:
        said = {name: value for name, value in fields.items() if value is not None}
        for name, value in more.items():
            if name != "at" and value is not None:
                said[name] = tuple(value) if name in _LISTS else value
        return self.append(type_name, said, at=more.get("at"))


_LISTS = frozenset({"basis", "subjects", "excerpts", "tags"})


def milliseconds(when: When) -> int | None:
    """A time as milliseconds since 1970 UTC.

    Raises:
        InvalidEvent: for a time before 1970 or after 6429, or something that is no time.
    """
    if when is None:
        return None
    if isinstance(when, datetime):
        aware = when if when.tzinfo else when.replace(tzinfo=UTC)
        since = aware - datetime(1970, 1, 1, tzinfo=UTC)
        when = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if isinstance(when, bool) or not isinstance(when, int) or not 0 <= when <= MAX_MS:
        raise InvalidEvent(
            f"not a time from 1970 to 6429: {when!r}",
            hint="give milliseconds since 1970 UTC, or a datetime",
            field="at",
        )
    return when


def moment(text: str) -> int:
    """Read a time as people write it: RFC 3339, a date (its first instant), or milliseconds since 1970 UTC.

    A time without a zone is UTC, whatever the machine's zone.

    Raises:
        InvalidEvent: for anything else.
    """
    stripped = text.strip()
    when: int | datetime
    try:
        whole = stripped.isdecimal() and stripped.isascii() and 8 < len(stripped) < 19
        when = int(stripped) if whole else datetime.fromisoformat(stripped)
    except ValueError:
        raise InvalidEvent(
            f"not a time: {text[:80]!r}", hint="write 2026-01-31, 2026-01-31T12:00:00Z, or milliseconds", field="at"
        ) from None
    return milliseconds(when) or 0


def clock_text(ms: int) -> str:
    """Milliseconds since 1970 UTC as people read them, in UTC."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).strftime("%Y-%m-%d %H:%M:%S")
