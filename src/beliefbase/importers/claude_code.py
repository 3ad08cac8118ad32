"""Claude Code transcripts: what people and models said, in causal order.

The format is internal to that program and changes, so this reader is tolerant: only what it needs has to be there,
unknown lines are counted, and a line that isn't JSON is counted too. Order is causal first (a parent before its
children, by ``parentUuid``), then by time, then by place in the file. A sub-agent's file is a stream of its own; where
sub-agents stand in the main file without a name, each of their chains is one. Progress lines repeat what stands in
sub-agents' files; they are counted, not imported.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from beliefbase.events.errors import InvalidEvent
from beliefbase.importers.base import Item, Source, name, numbered_lines, pieces, source_ref
from beliefbase.writing import milliseconds

NAME: Final = "claude-code"
AGENT: Final = "claude-code"
LOOKED_AT: Final = 50
"""Lines that are looked at to recognise a file."""
_SPEAKING: Final = frozenset({"user", "assistant"})
_TELLING: Final = frozenset({"summary", "file-history-snapshot", "queue-operation"})
"""Types whose lines may have neither session nor uuid; other programs' lines have the other types as well."""
_KNOWN: Final = _SPEAKING | _TELLING | {"progress", "system"}
ROOT_CHARACTERS: Final = 8
"""So much of the uuid of its first line names a sub-agent that has no other name."""


class Entry(NamedTuple):
    """One line that has a place in the tree."""

    place: int
    uuid: str
    parent: str | None
    at: int | None
    line: dict[str, Any]


def recognises(path: Path) -> bool:
    """Whether a file looks like a transcript: JSON lines of its types, or with a type and a session or a uuid."""
    if path.suffix != ".jsonl":
        return False
    for number, raw in numbered_lines(path):
        line = _line(raw) or {}
        kind = line.get("type")
        if isinstance(kind, str) and (kind in _TELLING or "sessionId" in line or "uuid" in line):
            return "." not in kind
        if number > LOOKED_AT:
            return False
    return False


def read(path: Path) -> Source:
    """Read a file; what can't be used is counted."""
    counts: Counter[str] = Counter()
    entries: list[Entry] = []
    for place, (_, raw) in enumerate(numbered_lines(path), 1):
        counts["lines"] += 1
        line = _line(raw)
        if line is None:
            counts["malformed lines (not imported)"] += 1
            continue
        kind = line.get("type")
        kind = kind if isinstance(kind, str) else None
        if kind in _KNOWN:
            counts[f"{kind} lines"] += 1
        else:
            counts[f"unknown lines of type {ascii(kind)[:40]} (not imported)"] += 1
        uuid = line.get("uuid")
        if not isinstance(uuid, str) or not uuid:
            if kind in _SPEAKING:
                counts[f"{kind} lines without uuid (not imported)"] += 1
        else:
            counts["with uuid"] += 1
            parent = line.get("parentUuid") or line.get("logicalParentUuid")
            entries.append(Entry(place, uuid, parent if isinstance(parent, str) else None, _ms(line), line))
        _count_tools(line, counts)
    items: list[Item] = []
    subs = _sub_agents(entries)
    at: int | None = None
    for entry in _causal(entries, counts):
        at = entry.at if entry.at is not None else at
        items += _utterances(entry, at, subs.get(entry.uuid), path, counts)
    return Source(NAME, items, +counts, [])


def _line(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _ms(line: dict[str, Any]) -> int | None:
    stamp = line.get("timestamp")
    try:
        return milliseconds(datetime.fromisoformat(stamp)) if isinstance(stamp, str) else None
    except (ValueError, InvalidEvent):
        return None


def _causal(entries: list[Entry], counts: Counter[str]) -> Iterator[Entry]:
    """Parents first, then by time, then by place; a ring of parents (malformed) is broken at its first line."""
    first: dict[str, Entry] = {}
    for entry in entries:
        first.setdefault(entry.uuid, entry)
    counts["repeated uuids (not imported)"] += len(entries) - len(first)
    children: dict[str, list[Entry]] = defaultdict(list)
    ready: list[tuple[int, int, Entry]] = []
    waiting = set(first)
    in_order = iter(first.values())
    for entry in first.values():
        if entry.parent is None or entry.parent not in first or entry.parent == entry.uuid:
            heapq.heappush(ready, (entry.at or 0, entry.place, entry))
        else:
            children[entry.parent].append(entry)
    while waiting:
        if not ready:
            stuck = next(entry for entry in in_order if entry.uuid in waiting)
            heapq.heappush(ready, (stuck.at or 0, stuck.place, stuck))
        at, _, entry = heapq.heappop(ready)
        if entry.uuid not in waiting:
            continue
        waiting.remove(entry.uuid)
        yield entry
        for child in children[entry.uuid]:
            heapq.heappush(ready, (max(child.at or 0, at), child.place, child))


def _sub_agents(entries: list[Entry]) -> dict[str, str]:
    """The name of the sub-agent, of every line that is one's: its id, or else the line with which its chain begins."""
    theirs: dict[str, Entry] = {}
    for entry in entries:
        if entry.line.get("isSidechain") is True or _agent_id(entry):
            theirs.setdefault(entry.uuid, entry)
    names = {uuid: f"agent-{_agent_id(entry)}" for uuid, entry in theirs.items() if _agent_id(entry)}
    for entry in theirs.values():
        chain: dict[str, Entry] = {}
        here: Entry | None = entry
        while here is not None and here.uuid not in names and here.uuid not in chain:
            chain[here.uuid] = here
            here = theirs.get(here.parent) if here.parent is not None else None
        if chain:
            found = names.get(here.uuid) if here is not None else None
            names |= dict.fromkeys(chain, found or f"agent-{_root(list(chain.values()), here).uuid[:ROOT_CHARACTERS]}")
    return names


def _root(chain: list[Entry], end: Entry | None) -> Entry:
    """The first line of a chain that was walked upwards; of one that ends in a ring, the ring's first in the file."""
    return chain[-1] if end is None else min(chain[chain.index(end) :])


def _agent_id(entry: Entry) -> str | None:
    found = entry.line.get("agentId")
    return found if isinstance(found, str) and found else None


def _utterances(entry: Entry, at: int | None, sub: str | None, path: Path, counts: Counter[str]) -> Iterator[Item]:
    line = entry.line
    role = line.get("type")
    if role not in _SPEAKING:
        return
    text = _text(line)
    if not text.strip():
        counts[f"{role} lines without text (not imported)"] += 1
        return
    if at is None:
        counts[f"{role} lines without any time (not imported)"] += 1
        return
    counts[f"{role} lines with text"] += 1
    session = line.get("sessionId")
    speaker = ("assistant" if role == "user" else sub) if sub else role
    for number, verbatim in enumerate(pieces(text), 1):
        counts["utterances"] += 1
        yield Item(
            name(f"{AGENT}/{sub}" if sub else AGENT),
            at,
            "utterance.recorded",
            {
                "speaker": name(str(speaker)),
                "verbatim": verbatim,
                "conversation": name(session if isinstance(session, str) and session else path.stem),
                "turn": entry.place,
                "channel": NAME,
                "source_ref": source_ref(NAME, entry.uuid if number == 1 else f"{entry.uuid}#{number}"),
            },
        )


def _text(line: dict[str, Any]) -> str:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return "\n\n".join(text for text in texts if text.strip())


def _count_tools(line: dict[str, Any], counts: Counter[str]) -> None:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") in {"tool_use", "tool_result"}:
            counts["tool calls" if block["type"] == "tool_use" else "tool results"] += 1
