"""Large logs in the order of their stamps: what one belief's slice costs must not grow with them."""

from __future__ import annotations

from typing import Any

from beliefbase.beliefs.facts import Fact

WRITER = bytes(16)


class Log:
    """Appends facts one second apart; revisions cite the latest ones of the beliefs that they name."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self._latest: dict[bytes, bytes] = {}

    @property
    def newest(self) -> int:
        """The largest stamp."""
        return self.facts[-1].hlc

    def put(self, name: str, at: int | None = None, basis: tuple[bytes, ...] = (), **payload: Any) -> bytes:
        """Append a fact, or with ``at`` (seconds) one that comes late; returns its id."""
        number = len(self.facts) + 1
        stamp = (number if at is None else at) * 1000 << 16 | (at is not None)
        event = number.to_bytes(16, "big")
        self.facts.append(Fact(stamp, WRITER, number, event, name, payload, basis, None, WRITER))
        return event

    def belief(self, *, active: bool = True, **fields: Any) -> bytes:
        """Extract a belief that enters as active, or as a candidate."""
        maturity = "durable_fact" if active else "passing"
        return self.put("belief.extracted", kind="fact", assertion_class=maturity, confidence=900, **fields)

    def supersede(self, old: bytes, new: bytes, at: int | None = None) -> bytes:
        """Replace a belief by another."""
        basis = tuple(self._latest[belief] for belief in (old, new) if belief in self._latest)
        event = self.put("belief.superseded", at, basis, superseded_id=old, superseding_id=new, cause="update")
        self._latest[old] = self._latest[new] = event
        return event

    def affirm(self, belief: bytes, how: str = "confirmation") -> bytes:
        """Say it again."""
        return self.put("belief.affirmed", belief_id=belief, how=how)
