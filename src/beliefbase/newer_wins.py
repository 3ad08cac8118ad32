"""The switch ``newer_wins``: who raises a contradiction under it also says that the newer side holds (DESIGN 5).

The fold knows nothing of it. A resolution is an event like any other, written in the same commit as the
contradiction; that two stores each write one is normal, and the later one stands.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from beliefbase.beliefs.facts import Fact
from beliefbase.events.catalog import CATALOG, Draft, Role
from beliefbase.events.log import EventLog
from beliefbase.events.writer import Appended

if TYPE_CHECKING:
    from beliefbase.projections.source import LogSource

SIDES: Final = frozenset({"belief.extracted", "utterance.recorded"})
Order = tuple[int, bytes, int, bytes]
"""Stamp, writer, seq, id: the total order of events."""


class NewerWins:
    """Decides for one batch: what it has added isn't in the log yet and counts as well."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._sides: dict[bytes, Order] = {}
        self._profiles: list[tuple[Order, str, bool]] = []
        self._stored: list[tuple[Order, str, bool]] | None = None

    @cached_property
    def _source(self) -> LogSource:
        """Loaded when a contradiction is raised: it needs numpy, and appending must not wait for that."""
        from beliefbase.projections.reading import Reader
        from beliefbase.projections.source import LogSource

        return LogSource(self._log, Reader(self._log))

    def resolution(self, draft: Draft, appended: Appended) -> Draft | None:
        """Take note of an event that was added; the resolution to add if it raises a contradiction under the switch."""
        if appended.existing:
            return None
        order = (appended.hlc, appended.writer, appended.seq, appended.id)
        if draft.type in SIDES:
            self._sides[appended.id] = order
        elif draft.type == "profile.activated":
            self._profiles.append((order, draft.payload["profile"], bool(draft.payload.get("newer_wins"))))
        elif draft.type == "contradiction.raised":
            return self._resolve(draft, order)
        return None

    def _resolve(self, draft: Draft, order: Order) -> Draft | None:
        profile = self._profile(order)
        if profile is None:
            return None
        sides = draft.payload["left"], draft.payload["right"]
        extracted = self._extracted(sides)
        if len(extracted) < 2 or extracted[sides[0]] == extracted[sides[1]]:
            return None
        outcome = "left" if extracted[sides[0]] > extracted[sides[1]] else "right"
        fields = {"contradiction_id": order[-1], "outcome": outcome, "reason": f"newer_wins, profile {profile}"}
        return CATALOG.draft("contradiction.resolved", fields)

    def _profile(self, order: Order) -> str | None:
        """The profile in force where it is raised, if it says newer_wins."""
        if self._stored is None:
            self._stored = [
                (_order(fact), fact.payload["profile"], bool(fact.payload.get("newer_wins")))
                for fact in self._source.everywhere()
                if fact.type == "profile.activated"
            ]
        found = max((one for one in (*self._stored, *self._profiles) if one[0] < order), default=None)
        return found[1] if found is not None and found[2] else None

    def _extracted(self, sides: tuple[bytes, bytes]) -> dict[bytes, Order]:
        """Where each side stands in the order of events, of copies the earliest; absent where it isn't known."""
        stored = [
            fact
            for fact in self._source.by_id({side for side in sides if side not in self._sides})
            if fact.type in SIDES
        ]
        refs = {fact.ref for fact in stored if fact.ref is not None}
        copies = self._source.naming(refs, (Role.SELF,)) if refs else []
        found = {side: self._sides[side] for side in sides if side in self._sides}
        for fact in stored:
            same = [_order(copy) for copy in copies if (copy.type, copy.ref) == (fact.type, fact.ref) and copy.ref]
            found[fact.id] = min([_order(fact), *same])
        return found


def _order(fact: Fact) -> Order:
    return fact.hlc, fact.writer, fact.seq, fact.id
