"""A look at a store's health: what is in it, what is odd, and the next step for each oddity."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from beliefbase.beliefs.rules import RULES_VERSION
from beliefbase.events.catalog import CATALOG, Unreadable
from beliefbase.events.envelope import FORMAT
from beliefbase.events.erasure import ERASED, coverage
from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.hlc import ms_of
from beliefbase.events.index import INDEX_VERSION
from beliefbase.events.log import EventLog, Fork
from beliefbase.events.postgres_url import is_address
from beliefbase.habits import NEW, Habits, agents_of, names_of
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import clock_text

SHOWN: Final = 20
TOLD_MS: Final = 7 * 86_400_000
"""How long a restart of the machine is told."""
NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "fuse.glusterfs"}
)
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
        facts = {name: value for name, value in self.facts.items() if name not in {"agents", "settings"}}
        lines = [f"{name.replace('_', ' ')}: {value}" for name, value in {**facts, **self.facts["settings"]}.items()]
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
        "store": store.name,
        "events": events,
        "streams": len(log.frontier()),
        "frontier_root": log.root().hex(),
        "newest_stamp": clock_text(latest) if latest else None,
        "latest_record_ms": max((habits.late_ms for habits in writers.values()), default=0),
        "parked": parked,
        "erasures": len(log.of_types([ERASED])),
        "words_erased": len(erased),
        "words_wanted": wanting,
        "log_bytes": store.log.size(),
        "read_model_bytes": sum(_size(path) for path in (store.path / READ_NAME).glob("*.duckdb")),
        "settings": _settings(store),
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
    for what in _forks(log):
        found.find(what, CLONED)
    for what in _gaps(log):
        found.find(what, "sync with a store that has it")
    if wanting:
        found.find(
            f"the words of {wanting} event(s) are missing, and no erasure covers them",
            "sync with a store that has them",
        )
    restart = log.restarted()
    if restart is not None and now - restart.ms < TOLD_MS:
        found.find(
            "this machine was started anew since the store was written with durability=process; if its power failed,"
            f" events that were acknowledged last are gone: {restart.position} were left",
            "sync with a store that may have them, or append them again; this is told for a week",
        )
    kind = None if is_address(store.name) else network_file_system(store.path)
    if kind is not None:
        found.find(
            f"the store is on a network file system ({kind}): its locks and its memory map don't hold between machines",
            "move it to a local disk; for several machines use sync, or a store in PostgreSQL",
        )
    return found


def _settings(store: BeliefStore) -> dict[str, Any]:
    """What this handle and this store go by."""
    restart = store.log.restarted()
    return {
        "store_id": store.log.store_id().hex(),
        "max_drift_ms": store.max_drift_ms,
        "profile": _profile(store.log),
        "event_format": FORMAT,
        "index_version": INDEX_VERSION,
        "rules": RULES_VERSION,
        "keys": None if store.keys is None else str(store.keys),
        "restart_noticed": None if restart is None else clock_text(restart.ms),
    }


def _profile(log: EventLog) -> str | None:
    """The profile that was activated last."""
    activated = [(event.skeleton.hlc, event.skeleton.writer, event) for event in log.of_types(["profile.activated"])]
    if not activated:
        return None
    payload = CATALOG.read(max(activated, key=lambda one: one[:2])[2].skeleton)
    return None if isinstance(payload, Unreadable) else str(payload["profile"])


def _forks(log: EventLog) -> list[str]:
    """The writers that forked, each with where."""
    forked: dict[bytes, list[Fork]] = {}
    for fork in log.forks():
        forked.setdefault(fork.writer, []).append(fork)
    names = names_of(log, forked)
    told = []
    for writer, forks in forked.items():
        seqs = sorted(fork.seq for fork in forks)
        where = f"seq {seqs[0]}" if len(seqs) == 1 else f"{len(seqs)} seqs from {seqs[0]} to {seqs[-1]}"
        first = " and ".join(key.hex() for key in min(forks, key=lambda fork: fork.seq).event_ids)
        name = names[writer][0] if writer in names else "unknown"
        told.append(f"writer {writer.hex()} ({name}) has more than one event under {where}: {first}")
    return _shown(told, "writers that forked")


def _gaps(log: EventLog) -> list[str]:
    """The events that wait for others, each with what it waits for."""
    told = [
        f"seq {gap.seq} of writer {gap.writer.hex()} is kept aside: seq {gap.seq - 1} isn't here" for gap in log.gaps()
    ]
    return _shown(told, "events that are kept aside")


def _shown(told: list[str], what: str) -> list[str]:
    """The first ones, and how many more there are."""
    return told if len(told) <= SHOWN else [*told[:SHOWN], f"and {len(told) - SHOWN} more {what}"]


def network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """The kind of network file system that a folder is on; None for others, and where the system doesn't say."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    found = ("", "")
    for _, place, kind, *_ in (line.split(" ") for line in lines if line.count(" ") >= 3):
        point = place.replace("\\040", " ")
        if path.resolve().is_relative_to(point) and len(point) >= len(found[0]):
            found = (point, kind)
    return found[1] if found[1] in NETWORK else None


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
