"""A look at a store's health: what is in it, what is odd, and the next step for each oddity."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from beliefbase.events.erasure import ERASED, coverage
from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.hlc import ms_of
from beliefbase.events.log import EventLog
from beliefbase.habits import NEW, Habits, agents_of
from beliefbase.store import LOG_NAME, READ_NAME, BeliefStore
from beliefbase.writing import clock_text

SHOWN: Final = 20
CLONED: Final = (
    "a disk was cloned, a backup restored while its store was in use, or an event forged. Nothing is lost: both"
    " branches count, in every store. End the processes that had this store open when it was copied (a store that is"
    " opened anew writes under a new id), then sync the copies; if nobody copied anything, look at both events:"
    " beliefbase show"
)


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
        lines = [f"{name.replace('_', ' ')}: {value}" for name, value in self.facts.items() if name != "agents"]
        lines += [
            f"  {one['agent']} ({one['kind']}): {one['events']} events of {one['writers']} writer(s), the last"
            f" {one['lag_ms']} ms ago; recorded up to {one['late_ms']} ms late, {one['skew_ms']} ms ahead"
            for one in self.facts["agents"][:SHOWN]
        ]
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
    events = parked = latest = 0
    writers: dict[bytes, Habits] = {}
    erased, missing = coverage(log), list[bytes]()
    for page in log.read():
        for stored in page:
            if stored.event.wants_words and stored.event.id not in erased:
                missing.append(stored.event.id)
            skeleton = stored.event.skeleton
            ms = ms_of(skeleton.hlc)
            events += 1
            if ms > now + store.max_drift_ms:
                parked += 1
            else:
                latest = max(latest, ms)
            writers[skeleton.writer] = writers.get(skeleton.writer, NEW).after(ms, skeleton.recorded)
    agents = agents_of(log, writers, now)
    wanting, pending = len(missing), _pending(log, now)
    with suppress(StoreUnavailable):  # a store that can't be written can be examined all the same
        log.want(missing)
    found.facts |= {
        "store": str(store.path),
        "events": events,
        "streams": len(log.frontier()),
        "frontier_root": log.root().hex(),
        "newest_stamp": clock_text(latest) if latest else None,
        "latest_record_ms": max((habits.late_ms for habits in writers.values()), default=0),
        "parked": parked,
        "erasures": len(log.of_types([ERASED])),
        "words_erased": len(erased),
        "words_wanted": wanting,
        "log_bytes": _size(store.path / LOG_NAME),
        "read_model_bytes": sum(_size(path) for path in (store.path / READ_NAME).glob("*.duckdb")),
        "agents": agents,
    }
    if pending:
        found.find(
            f"{len(pending)} erasure(s) are stamped ahead of this machine's clock, the next by {pending[0] - now} ms",
            "check the clock of this machine and of who erased; the words go once the clock gets there",
        )
    for one in agents:
        if one["skew_ms"] > store.max_drift_ms:
            found.find(
                f"{one['agent']} stamped up to {one['skew_ms']} ms ahead of its own clock",
                "its clock was stepped back while it wrote: let that machine keep its time by NTP",
            )
    if parked:
        found.find(
            f"{parked} event(s) are stamped more than {store.max_drift_ms} ms ahead of this machine's clock",
            "check the clocks of this machine and of the writers; until then they are invisible to 'now'",
        )
    for fork in log.forks()[:SHOWN]:
        found.find(
            f"writer {fork.writer.hex()} has {len(fork.event_ids)} events under seq {fork.seq}",
            CLONED,
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


def _pending(log: EventLog, now: int) -> list[int]:
    """When the erasures become due that are not, in milliseconds."""
    return sorted(ms for event in log.of_types([ERASED]) if (ms := ms_of(event.skeleton.hlc)) > now)


def _size(path: Path) -> int:
    total = 0
    for name in (path, path.with_name(path.name + "-wal")):
        try:
            total += name.stat().st_size
        except OSError:
            continue
    return total
