"""A look at a store's health: what is in it, what is odd, and the next step for each oddity."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from beliefbase.events.erasure import covered
from beliefbase.events.hlc import ms_of
from beliefbase.store import LOG_NAME, READ_NAME, BeliefStore
from beliefbase.writing import clock_text

SHOWN: Final = 20


@dataclass
class Examination:
    """What was found."""

    facts: dict[str, Any] = field(default_factory=dict)
    """Counts, sizes and settings."""
    findings: list[dict[str, str]] = field(default_factory=list)
    """What needs somebody's attention: what it is, and what to do."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**self.facts, "findings": self.findings}

    def as_text(self) -> str:
        """For people."""
        lines = [f"{name.replace('_', ' ')}: {value}" for name, value in self.facts.items()]
        lines += ["Nothing needs attention."] if not self.findings else []
        for finding in self.findings:
            lines += [f"! {finding['what']}", f"  → {finding['next']}"]
        return "\n".join(lines)

    def find(self, what: str, next_step: str) -> None:
        """Note something and its next step."""
        self.findings.append({"what": what, "next": next_step})


def examine(store: BeliefStore) -> Examination:
    """Examine an open store; costs one pass over the skeletons."""
    found = Examination()
    log, now = store.log, store.wall()
    events = wanting = parked = 0
    latest = 0
    late_ms = 0
    erased = covered(log)
    for page in log.read():
        for stored in page:
            skeleton = stored.event.skeleton
            events += 1
            if ms_of(skeleton.hlc) > now + store.max_drift_ms:
                parked += 1
            else:
                latest = max(latest, ms_of(skeleton.hlc))
            late_ms = max(late_ms, skeleton.recorded)
            wanting += stored.event.wants_words and stored.event.id not in erased
    found.facts |= {
        "store": str(store.path),
        "events": events,
        "streams": len(log.frontier()),
        "frontier_root": log.root().hex(),
        "newest_stamp": clock_text(latest) if latest else None,
        "latest_record_ms": late_ms,
        "parked": parked,
        "words_erased": len(erased),
        "words_wanted": wanting,
        "log_bytes": _size(store.path / LOG_NAME),
        "read_model_bytes": sum(_size(path) for path in (store.path / READ_NAME).glob("*.duckdb")),
    }
    if parked:
        found.find(
            f"{parked} event(s) are stamped more than {store.max_drift_ms} ms ahead of this machine's clock",
            "check the clocks of this machine and of the writers; until then they are invisible to 'now'",
        )
    for fork in log.forks()[:SHOWN]:
        found.find(
            f"writer {fork.writer.hex()} has {len(fork.event_ids)} events under seq {fork.seq}",
            "a disk was cloned, a backup restored or an event forged: both branches count; find out which process wrote"
            " under the old handle, and stop it",
        )
    for gap in log.gaps()[:SHOWN]:
        found.find(
            f"seq {gap.seq} of writer {gap.writer.hex()} is kept aside: seq {gap.seq - 1} isn't here",
            "sync with a store that has it",
        )
    if wanting:
        found.find(
            f"the words of {wanting} event(s) are missing, and no erasure covers them",
            "sync with a store that has them",
        )
    return found


def _size(path: Path) -> int:
    total = 0
    for name in (path, path.with_name(path.name + "-wal")):
        try:
            total += name.stat().st_size
        except OSError:
            continue
    return total
