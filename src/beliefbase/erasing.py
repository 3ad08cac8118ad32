"""Forgetting a person: the erasure, everything in the store that held their words, and a certificate of it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from beliefbase.events.envelope import Event
from beliefbase.events.erasure import coverage, reach
from beliefbase.events.errors import StoreUnavailable
from beliefbase.events.hlc import ms_of
from beliefbase.events.ids import name_hash
from beliefbase.projections.errors import BadPointer
from beliefbase.projections.projector import LOCK, WORK
from beliefbase.projections.publish import POINTER, current
from beliefbase.replay.audit import AUDITED
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import clock_text

RECALL_NAME: Final = "recall.db"
"""The recall index: made from words, and made anew by whoever next asks it."""
_LOOKED_UP: Final = 1000


class WordsLeft(StoreUnavailable):
    """Words that an erasure covers are still in a file of the store; ``data`` has what is known of them."""

    code = "words_left"


@dataclass(frozen=True)
class Certificate:
    """What an erasure did in one store; no name and no text is in it."""

    subject: str
    """Hash of the name."""
    erasure: str
    """Id of the event."""
    stamp_ms: int
    owner: str
    """Whose writer erased."""
    events: dict[str, int]
    """Events that it covers and no earlier one did, by type."""
    words: int
    """Bodies that were deleted here."""
    stamped_later: int
    """Events with words of the subject that it does not cover: they are stamped after it, their clocks were ahead."""
    store: str
    """Id of the store."""
    frontier: str
    """Root of the frontier with the erasure."""
    digest_before: str
    digest_after: str
    """Digests of the read models without and with the erasure."""
    removed: tuple[str, ...]
    """Files beside the log and the read models, which are made anew, that may have held words."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "removed": list(self.removed), "stamp": f"{clock_text(self.stamp_ms)} UTC"}

    def as_text(self) -> str:
        """For people."""
        by_type = ", ".join(f"{count} {name}" for name, count in self.events.items()) or "none"
        lines = [
            "Certificate of erasure",
            f"  subject (hash)   {self.subject}",
            f"  erasure          {self.erasure}, {clock_text(self.stamp_ms)} UTC, by {self.owner}",
            f"  events covered   {sum(self.events.values())}: {by_type}",
            f"  words deleted    {self.words}",
            f"  made anew        log pages, write-ahead file, {', '.join(['read models', *self.removed])}",
            f"  store            {self.store}",
            f"  frontier         {self.frontier}",
            f"  digest before    {self.digest_before}",
            f"  digest after     {self.digest_after}",
        ]
        if self.stamped_later:
            lines.append(f"  not covered      {self.stamped_later} events stamped later than the erasure")
        lines.append("Not reached: bundles, exports, backups and stores that have not synced since (docs/erasure.md).")
        return "\n".join(lines)


def would_go(store: BeliefStore, subject: str) -> Counter[str]:
    """What an erasure would cover now, by type."""
    return Counter(event.skeleton.type for event in reach(store.log, name_hash(subject)))


def forget(
    store: BeliefStore,
    subject: str,
    *,
    owner: str,
    reason: str | None = None,
    progress: Callable[[str, int], None] = lambda _what, _done: None,
) -> Certificate:
    """Erase a subject's words, and all that was made from them, from every file of a store.

    Raises:
        ProjectorBusy: another process projects this store; nothing was erased.
        WordsLeft: an open read keeps erased words in the write-ahead file.
        StoreUnavailable: the store can't be written.
    """
    log, hashed = store.log, name_hash(subject)
    with store.projector(progress=progress) as projector:
        projector.refresh(store.wall())
        before, digest_before = coverage(log), projector.digest()
        held = {event.id for event in _with_words(store, [event.id for event in reach(log, hashed)])}
        writer = store.writer(owner, kind="human", role="owner")
        said = {"subject": subject, **({} if reason is None else {"reason": reason})}
        erasure = bytes.fromhex(writer.append("subject.erased", said))
        found = log.by_id(coverage(log).keys() - before.keys())
        left = _with_words(store, [event.id for event in found])
        files = sweep(store)
        projector.rebuild(store.wall())
        projector.publish()
        digest_after = projector.digest()
        if left or not log.checkpoint():
            raise WordsLeft(
                "the erasure is stored, but an open read keeps erased words in the files of the log",
                hint="end the processes that read this store, then run forget again",
                erasure=erasure,
                events_with_words=len(left),
            )
        event = log.by_id([erasure])[0]
        reached = coverage(log)
        later = [one for one in reach(log, hashed) if one.id not in reached]
        return Certificate(
            hashed.hex(),
            erasure.hex(),
            ms_of(event.skeleton.hlc),
            owner,
            dict(sorted(Counter(one.skeleton.type for one in found).items())),
            len(held & {one.id for one in found}),
            len(later),
            log.store_id().hex(),
            log.root().hex(),
            digest_before,
            digest_after,
            tuple(files),
        )


def sweep(store: BeliefStore) -> list[str]:
    """Remove what may hold words beside the log and the read models in use; returns what was removed.

    That is the recall index, and what audits, replays and publications that were cut short have left behind. A
    replay that runs just now fails, and is to be run again.
    """
    folder = store.path / READ_NAME
    try:
        snapshot = current(folder)
    except BadPointer:
        snapshot = None
    kept = {WORK, f"{WORK}.wal", LOCK, POINTER, AUDITED, *([] if snapshot is None else [snapshot.name])}
    found = [path for path in _entries(folder) if path.name not in kept]
    found += [path for path in _entries(store.path) if path.name.startswith(RECALL_NAME)]
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return sorted(str(path.relative_to(store.path)) for path in found)


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _with_words(store: BeliefStore, ids: list[bytes]) -> list[Event]:
    """Of these events those whose words are here."""
    found: list[Event] = []
    for start in range(0, len(ids), _LOOKED_UP):
        found += [event for event in store.log.by_id(ids[start : start + _LOOKED_UP], words=True) if event.body]
    return found
