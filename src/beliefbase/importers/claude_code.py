"""Claude Code transcripts: what people and models said, in causal order.

The format is internal to that program and changes, so this reader is tolerant: only what it needs has to be there,
unknown lines are counted, and a line that isn't JSON is counted too. Order is causal first (a parent before its
children, by ``parentUuid``), then by time, then by place in the file. A sub-agent's file is a stream of its own.
Progress lines repeat what stands in sub-agents' files; they are counted, not imported.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from beliefbase.events import limits
from beliefbase.importers.base import Item, Source, numbered_lines

NAME: Final = "claude-code"
AGENT: Final = "claude-code"
_KNOWN: Final = frozenset(
    {"user", "assistant", "progress", "system", "summary", "file-history-snapshot", "queue-operation"}
)


class Entry(NamedTuple):
    """One line that has a place in the tree."""

    index: int
    uuid: str
    parent: str | None
    at: int | None
    line: dict[str, Any]


def recognises(path: Path) -> bool:
    """Whether a file looks like a transcript: JSON lines with a type, and a session or a uuid."""
    if path.suffix != ".jsonl":
        return False
    for number, text in numbered_lines(path):
        try:
            line = json.loads(text)
        except ValueError:
            return False
        if isinstance(line, dict) and isinstance(line.get("type"), str) and ("sessionId" in line or "uuid" in line):
            return "." not in line["type"]
        if number > 50:
            return False
    return False


def read(path: Path) -> Source:
    """Read a file; what can't be used is counted."""
    counts: Counter[str] = Counter()
    entries: list[Entry] = []
    for index, (_, text) in enumerate(numbered_lines(path)):
        counts["lines"] += 1
        line = _line(text)
        if line is None:
            counts["malformed lines (not imported)"] += 1
            continue
        kind = line.get("type")
        counts[f"{kind} lines" if kind in _KNOWN else f"unknown lines of type {kind!r} (not imported)"] += 1
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            counts["with uuid"] += 1
            parent = line.get("parentUuid") or line.get("logicalParentUuid")
            entries.append(Entry(index, uuid, parent if isinstance(parent, str) else None, _ms(line), line))
        _count_tools(line, counts)
    items: list[Item] = []
    at: int | None = None
    for entry in _causal(entries, counts):
        at = entry.at if entry.at is not None else at
        items += _utterances(entry, at, path, counts)
    return Source(NAME, items, counts, [])


def _line(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _ms(line: dict[str, Any]) -> int | None:
    stamp = line.get("timestamp")
    if not isinstance(stamp, str):
        return None
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    value = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    return value if 0 <= value < 1 << 47 else None


def _causal(entries: list[Entry], counts: Counter[str]) -> Iterator[Entry]:
    """Parents first, then by time, then by place; a ring of parents (malformed) is broken at its first line."""
    first = {entry.uuid: entry for entry in reversed(entries)}
    counts["repeated uuids (not imported)"] += len(entries) - len(first)
    children: dict[str, list[Entry]] = defaultdict(list)
    ready: list[tuple[int, int, Entry]] = []
    waiting = dict(first)
    for entry in first.values():
        if entry.parent is None or entry.parent not in first or entry.parent == entry.uuid:
            heapq.heappush(ready, (entry.at or 0, entry.index, entry))
        else:
            children[entry.parent].append(entry)
    while waiting:
        if not ready:
            stuck = min(waiting.values(), key=lambda entry: entry.index)
            heapq.heappush(ready, (stuck.at or 0, stuck.index, stuck))
        at, _, entry = heapq.heappop(ready)
        if waiting.pop(entry.uuid, None) is None:
            continue
        yield entry
        for child in children[entry.uuid]:
            heapq.heappush(ready, (max(child.at or 0, at), child.index, child))


def _utterances(entry: Entry, at: int | None, path: Path, counts: Counter[str]) -> Iterator[Item]:
    line = entry.line
    role = line.get("type")
    if role not in {"user", "assistant"}:
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
    agent_id = line.get("agentId")
    sub = f"agent-{agent_id}" if isinstance(agent_id, str) and agent_id else None
    speaker = ("assistant" if role == "user" else sub) if sub else role
    for part, verbatim in enumerate(_parts(text)):
        counts["utterances"] += 1
        suffix = f"#{part + 1}" if part else ""
        yield Item(
            _name(f"{AGENT}/{sub}" if sub else AGENT),
            at,
            "utterance.recorded",
            {
                "speaker": _name(str(speaker)),
                "verbatim": verbatim,
                "conversation": _name(session if isinstance(session, str) and session else path.stem),
                "turn": entry.index + 1,
                "channel": NAME,
                "source_ref": _name(f"{NAME}:{entry.uuid}{suffix}"),
            },
        )


def _text(line: dict[str, Any]) -> str:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return _storable(content)
    blocks = content if isinstance(content, list) else []
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return _storable("\n\n".join(text for text in texts if text.strip()))


def _storable(text: str) -> str:
    """Lone surrogates, which JSON can escape and UTF-8 can't hold, become U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _parts(text: str) -> Iterator[str]:
    """A text in pieces that can be stored; nearly always one."""
    raw = text.encode()
    start = 0
    while start < len(raw):
        end = min(start + limits.VERBATIM_BYTES, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:
            end -= 1
        yield raw[start:end].decode()
        start = end


def _name(text: str) -> str:
    return text[: limits.NAME_CHARACTERS]


def _count_tools(line: dict[str, Any], counts: Counter[str]) -> None:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") in {"tool_use", "tool_result"}:
            counts["tool calls" if block["type"] == "tool_use" else "tool results"] += 1
