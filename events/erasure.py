"""Which words an erasure covers (DESIGN 3): its subject's from before it, and all that was made from them.

Covered are the words of every event that lists the subject and is stamped before the erasure, and, whatever its
stamp, of every event that names a covered event, directly or through others. To name is to refer to it in any role
but a basis, which says only what an author had read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from beliefbase.events.catalog import CATALOG, Role
from beliefbase.events.envelope import Event
from beliefbase.events.log import EventLog

_NAMING: Final = (Role.STATE, Role.LINK, Role.SHOWN, Role.CITED)


def covered(log: EventLog) -> frozenset[bytes]:
    """The ids of all stored events whose words an erasure covers; costs by what the erasures reach."""
    found: dict[bytes, Event] = {}
    for erasure in log.of_types(["subject.erased"]):
        payload = CATALOG.read(erasure.skeleton)
        if isinstance(payload, tuple):
            continue
        subject = payload["subject"]
        for event in log.naming([subject], [Role.CITED]):
            if subject in event.skeleton.subjects and event.skeleton.hlc < erasure.skeleton.hlc:
                found[event.id] = event
    new: Iterable[Event] = list(found.values())
    while new:
        keys = {key for event in new for key in (event.id, event.skeleton.source_ref) if key is not None}
        new = [event for event in log.naming(keys, _NAMING) if event.id not in found]
        found.update((event.id, event) for event in new)
    return frozenset(found)
