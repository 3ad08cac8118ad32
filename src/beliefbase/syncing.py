"""Two stores, or a store and a bundle, brought to the same events; and what somebody should know of what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beliefbase.erasing import sweep
from beliefbase.events.bundle import Bundle, Contents, export
from beliefbase.events.catalog import CATALOG, Unreadable
from beliefbase.events.envelope import Event
from beliefbase.events.log import EventLog
from beliefbase.events.postgres_url import is_address
from beliefbase.events.sync import Received, Receiver, strangers, union
from beliefbase.projections.errors import ProjectorBusy
from beliefbase.projections.projector import WORK
from beliefbase.projections.publish import POINTER
from beliefbase.store import READ_NAME, BeliefStore

Progress = Callable[[str, int], None]
SHOWN = 20
"""Agents of a store that are listed before two stores meet."""


@dataclass(frozen=True)
class Synced:
    """What a sync did."""

    same: bool
    """Whether both hold the same events now; otherwise somebody wrote meanwhile, or events wait for others."""
    root: str
    """Root of the frontier here."""
    here: dict[str, Any]
    """What came here."""
    there: dict[str, Any]
    """What went there."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"same": self.same, "root": self.root, "here": self.here, "there": self.there}

    def as_text(self) -> str:
        """For people."""
        lines = []
        for name, got in (("here", self.here), ("there", self.there)):
            lines.append(f"{name}: {got['stored']} new events ({got['sent_bytes']:,} bytes sent)")
            lines += [f"  ! {note}" for note in got["notes"]]
        ending = "both hold the same events" if self.same else "they differ still: sync again once nobody writes"
        return "\n".join([*lines, f"{ending}; frontier {self.root}"])


def sync(here: BeliefStore, other: str | Path, *, progress: Progress = lambda _what, _done: None) -> Synced:
    """Set union with another store (a directory, or an address), or with a bundle file, which is written anew.

    Raises:
        StoreUnavailable: either can't be read or written; what was merged before stays, and a next run goes on.
        BundleDamaged: the bundle isn't whole; nothing of it was used.
        NotCanonical, LimitExceeded: the other sent what no release may store; what came before it is stored.
    """
    if not _is_store(other):
        return _with_bundle(here, Path(other), progress)
    with BeliefStore.open(other, wall=here.wall, max_drift_ms=here.max_drift_ms) as there:
        mine, theirs = _receiver(here, progress), _receiver(there, progress)
        same = union(mine, theirs)
        told = (_settled(here, mine), _settled(there, theirs))
        return Synced(same, mine.root.hex(), *told)


def take_bundle(here: BeliefStore, path: Path, *, progress: Progress = lambda _what, _done: None) -> dict[str, Any]:
    """Merge a bundle, after all of it was checked; raises as :func:`sync` does."""
    with Bundle(path) as bundle:
        receiver = _receiver(here, progress)
        receiver.take(bundle.pages(), bundle.signatures)
    return _settled(here, receiver)


def never_met(here: BeliefStore, other: str | Path) -> dict[str, list[dict[str, Any]]] | None:
    """The agents of two stores that have no writer in common, for a person to look at; None for those that met.

    Raises:
        StoreUnavailable: the other can't be read.
    """
    if not _is_store(other):
        if not Path(other).exists():
            return None
        with Bundle(Path(other)) as bundle:
            writers, theirs = set[bytes](), list[tuple[str, str]]()
            for page in bundle.pages():
                for event in page:
                    writers.add(event.skeleton.writer)
                    if event.skeleton.type == "writer.joined":
                        theirs.append(_joined(event))
        if writers & {head.writer for head in here.log.frontier()}:
            return None
        return {"here": agents(here.log), "there": _counted(theirs)}
    with BeliefStore.open(other) as there:
        if not strangers(here.log, there.log):
            return None
        return {"here": agents(here.log), "there": agents(there.log)}


def _is_store(other: str | Path) -> bool:
    return is_address(other) or Path(other).is_dir()


def agents(log: EventLog) -> list[dict[str, Any]]:
    """Who wrote into a log: name, kind, and how many writers each had."""
    return _counted(_joined(event) for event in log.of_types(["writer.joined"], words=True))


def write_bundle(store: BeliefStore, path: Path) -> Contents:
    """Write a store's log into a bundle."""
    return export(store.log, path)


def _with_bundle(here: BeliefStore, path: Path, progress: Progress) -> Synced:
    got = take_bundle(here, path, progress=progress) if path.exists() else _told(here, Received())
    before = got["sent"]
    if got["waiting"]:
        same = False  # the file has what this store can't pass on yet: it stays as it is
        count = 0
    else:
        same, count = True, write_bundle(here, path).events
    sent = Received(sent=count, stored=max(0, count - before), sent_bytes=path.stat().st_size)
    return Synced(same, here.log.root().hex(), got, _told(here, sent))


def _receiver(store: BeliefStore, progress: Progress) -> Receiver:
    return Receiver(store.log, wall=store.wall(), max_drift_ms=store.max_drift_ms, progress=progress)


def _settled(store: BeliefStore, receiver: Receiver) -> dict[str, Any]:
    """What came, for people; where words went, they go from the files beside the log as well."""
    got = receiver.got
    told = _told(store, got)
    if got.words_erased and not store.log.checkpoint():
        told["notes"].append("an open read keeps erased words in the files of the log: sync again once it has ended")
    if got.words_erased:
        try:
            _renew_read_models(store)
        except ProjectorBusy:
            told["notes"].append("another process projects this store: it makes the read models anew when it looks")
    return told


def _renew_read_models(store: BeliefStore) -> None:
    folder = store.path / READ_NAME
    if (folder / WORK).exists():
        with store.projector() as projector:
            sweep(store)
            projector.refresh(store.wall())
            if (folder / POINTER).exists():
                projector.publish()
    else:
        sweep(store)


def _told(store: BeliefStore, got: Received) -> dict[str, Any]:
    notes = []
    if got.parked:
        notes.append(f"{got.parked} events are stamped ahead of this machine's clock: parked until it gets there")
    if got.before_newest:
        notes.append(
            f"{got.before_newest} events came late, by up to {_span(got.before_newest_ms)}:"
            " what was answered about that time may change"
        )
    names = _names(store.log, got.backdated)
    for writer, late in sorted(got.backdated.items(), key=lambda item: (-item[1].most_ms, item[0]))[:SHOWN]:
        span = _span(late.most_ms)
        notes.append(f"{late.events} events of {names[writer]} were written up to {span} after their stamps")
    if got.words_erased or got.words_refused:
        notes.append(f"erasures: {got.words_erased} texts deleted, {got.words_refused} dropped at the door")
    notes += [
        f"writer {fork.writer.hex()} forked at seq {fork.seq} (a cloned disk, a restored backup): beliefbase doctor"
        for fork in got.forks[:SHOWN]
    ]
    if got.gaps:
        notes.append(f"{len(got.gaps)} events wait for others that neither has")
    return {
        "sent": got.sent,
        "sent_bytes": got.sent_bytes,
        "stored": got.stored,
        "words_filled": got.words_filled,
        "words_erased": got.words_erased,
        "words_refused": got.words_refused,
        "signatures": got.signatures,
        "parked": got.parked,
        "late": got.before_newest,
        "late_by_ms": got.before_newest_ms,
        "backdated": [
            {"writer": writer.hex(), "agent": names[writer], "events": late.events, "late_by_ms": late.most_ms}
            for writer, late in sorted(got.backdated.items())
        ],
        "forks": [fork.writer.hex() for fork in got.forks],
        "waiting": len(got.gaps),
        "notes": notes,
    }


def _names(log: EventLog, writers: Iterable[bytes]) -> dict[bytes, str]:
    found = {writer: writer.hex() for writer in writers}
    for event in log.firsts(list(found)):
        name = event.words.get("agent")
        if isinstance(name, str):
            found[event.skeleton.writer] = name
    return found


def _joined(event: Event) -> tuple[str, str]:
    payload = CATALOG.read(event.skeleton)
    if isinstance(payload, Unreadable):
        return event.skeleton.writer.hex(), "unknown"
    name = event.words.get("agent")
    return name if isinstance(name, str) else payload["agent"].hex(), payload.get("kind", "agent")


def _counted(joined: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    found = Counter(joined)
    return [{"agent": name, "kind": kind, "writers": count} for (name, kind), count in sorted(found.items())]


def _span(ms: int) -> str:
    for unit, size in (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1000)):
        if ms >= 2 * size:
            return f"{ms // size} {unit}"
    return f"{ms} ms"
