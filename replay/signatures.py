"""Part (d) of the audit, with a trust file: what no trusted agent's signature vouches for was forged, or not signed.

A signature of a writer's head vouches for all that led to it; so does a pin. What came after the newest of them is
named from its first event on. A stream that was cut is found as well while its newest signature is there; where an
older one was put back with the cut, it takes a pin (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from beliefbase.events.envelope import Event
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.log import EventLog, Head, SignedHead
from beliefbase.events.signing import Certificate, Trust
from beliefbase.replay.report import AuditReport, Finding

_PAGE: Final = 1000
"""Writers whose first events are read together."""
_STEPS: Final = 10_000
"""Events to go back at most for the id of the first that nothing vouches for."""


class SignatureCheck:
    """Checks the heads of a log, which was found whole before, against those whom somebody trusts.

    Args:
        log: The log; only read.
        trust: Public keys of agents.
        pinned: Heads that pins vouch for: what was there before anything was signed, or was looked at since.
    """

    def __init__(self, log: EventLog, trust: Trust, pinned: Iterable[Head] = ()) -> None:
        self._log = log
        self._trust = trust
        self._vouched: dict[bytes, list[Head]] = {}
        """Heads, by writer, that a pin or a trusted signature vouches for."""
        for head in pinned:
            self._vouched.setdefault(head.writer, []).append(head)
        self._signed: dict[bytes, list[SignedHead]] = {}
        for signed in log.signatures():
            self._signed.setdefault(signed.writer, []).append(signed)

    def check(self, heads: Iterable[Head], report: AuditReport) -> Iterator[Finding]:
        """What nothing vouches for; counts the signatures that hold in the report.

        Raises:
            SigningUnavailable: signatures can't be checked here.
        """
        by_writer: dict[bytes, list[Head]] = {}
        for head in heads:
            by_writer.setdefault(head.writer, []).append(head)
        report.checked["signatures"] = 0
        writers = sorted(by_writer)
        for start in range(0, len(writers), _PAGE):
            firsts: dict[bytes, list[Event]] = {}
            for event in self._log.firsts(writers[start : start + _PAGE]):
                firsts.setdefault(event.skeleton.writer, []).append(event)
            for writer in writers[start : start + _PAGE]:
                yield from self._writer(writer, by_writer[writer], firsts.get(writer, ()), report)
        for writer in sorted(self._signed.keys() - by_writer.keys()):
            last = max(signed.seq for signed in self._signed[writer])
            yield _finding(f"the writer is gone: a signature vouches for its events up to seq {last}", writer, last)

    def _writer(
        self, writer: bytes, heads: Sequence[Head], firsts: Sequence[Event], report: AuditReport
    ) -> Iterator[Finding]:
        trusted = [certificate for event in firsts if (certificate := self._trusted(event))]
        vouched = self._vouched.setdefault(writer, [])
        for signed in self._signed.get(writer, ()):
            if any(certificate.covers(signed) for certificate in trusted):
                vouched.append(signed.head)
                report.checked["signatures"] += 1
                if not self._stored(signed.head):
                    what = f"the tail is cut or was rewritten: a signature vouches for another seq {signed.seq}"
                    yield _finding(what, writer, signed.seq, signed.hash[:ID_BYTES])
            elif trusted or any(head not in vouched for head in heads):  # or else a pin vouches for all there is
                what = f"a false signature of seq {signed.seq}: no trusted agent's writer made it"
                yield _finding(what, writer, signed.seq, signed.hash[:ID_BYTES])
        for head in heads:
            if head not in vouched:
                first, event = self._first_unvouched(head, heads, firsts)
                what = f"nothing vouches for seq {first}" + (f" to {head.seq}" if first < head.seq else "")
                yield _finding(f"forged, or not signed: {what} ({_reason(firsts, trusted)})", writer, first, event)

    def _trusted(self, first: Event) -> Certificate | None:
        certificate = Certificate.of(first)
        agent = first.skeleton.payload.get("agent")
        if certificate is None or not isinstance(agent, bytes) or not self._trust.trusts(certificate, agent):
            return None
        return certificate

    def _stored(self, head: Head) -> bool:
        event = next(iter(self._log.by_id([head.hash[:ID_BYTES]])), None)
        return event is not None and event.hash == head.hash

    def _first_unvouched(self, head: Head, heads: Sequence[Head], firsts: Sequence[Event]) -> tuple[int, bytes | None]:
        """Seq and id of the first event of a branch that nothing vouches for; of far ones only the seq."""
        known = {other.hash for other in self._vouched[head.writer]}
        reach = max((other.seq for other in self._vouched[head.writer] if other.seq < head.seq), default=0)
        if len(heads) == 1 and not reach:
            return 1, next((event.id for event in firsts), None)
        forks = {fork.seq for fork in self._log.forks() if fork.writer == head.writer} if len(heads) > 1 else set()
        wanted = head.hash
        for seq in range(head.seq, max(0, head.seq - _STEPS), -1):
            event = next(iter(self._log.by_id([wanted[:ID_BYTES]])), None)
            # Where a writer forked, what was before may be vouched for by the head of another branch.
            parted = seq in forks and seq - 1 not in forks
            if event is None or seq == 1 or parted or event.skeleton.prev in known:
                return seq, wanted[:ID_BYTES]
            wanted = event.skeleton.prev
        return reach + 1, None


def _reason(firsts: Sequence[Event], trusted: Sequence[Certificate]) -> str:
    if trusted:
        return "its writer signs, and no signature covers it"
    certificates = [certificate for event in firsts if (certificate := Certificate.of(event))]
    if not certificates:
        return "its writer has no certificate"
    return f"its writer's certificate is by key {certificates[0].agent_key.hex()}, not trusted for this agent"


def _finding(what: str, writer: bytes, seq: int, event: bytes | None = None) -> Finding:
    return Finding("damage", "signature", what, writer.hex(), seq, None if event is None else event.hex())
