"""LoCoMo conversations: utterances of two speakers over months, and observations with the turns they rest on.

The data gives one time per session, without a zone. It is read as UTC, turns follow each other by 30 seconds, and
the observations of a session stand one second after its last turn.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from beliefbase.events.ids import name_hash
from beliefbase.importers.base import ImportFailed, Item, Source

NAME: Final = "locomo"
TURN_MS: Final = 30_000
AFTER_MS: Final = 1_000
EXTRACTOR: Final = "locomo-observation@1"
_SESSION: Final = re.compile(r"session_(\d+)$")


def recognises(path: Path) -> bool:
    """Whether a file is a LoCoMo conversation, or a list of them."""
    if path.suffix != ".json":
        return False
    try:
        samples = _samples(path)
    except ImportFailed:
        return False
    return bool(samples) and all("conversation" in sample and "sample_id" in sample for sample in samples)


def read(path: Path) -> Source:
    """Read a file.

    Raises:
        ImportFailed: it is not JSON, or has no conversation in it.
    """
    items: list[Item] = []
    counts: Counter[str] = Counter()
    notes: list[str] = []
    for sample in _samples(path):
        name, talk = sample.get("sample_id"), sample.get("conversation")
        if not isinstance(name, str) or not isinstance(talk, dict):
            raise ImportFailed(f"{path} is no LoCoMo conversation", hint="try --format auto", file=str(path))
        observed = sample.get("observation")
        counts["conversations"] += 1
        known = {
            turn["dia_id"] for _, turns in _sessions(talk) for turn in turns if isinstance(turn.get("dia_id"), str)
        }
        for number, turns in _sessions(talk):
            counts["sessions"] += 1
            start = _session_ms(talk.get(f"session_{number}_date_time"), path)
            items += _utterances(name, turns, start, counts)
            end = start + TURN_MS * max(len(turns) - 1, 0) + AFTER_MS
            stated = observed.get(f"session_{number}_observation") if isinstance(observed, dict) else None
            items += _observations(name, number, stated, end, counts, known, notes)
    return Source(NAME, items, counts, notes)


def _samples(path: Path) -> list[dict[str, Any]]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFailed(f"can't read {path} as JSON: {error}", hint="check the file", file=str(path)) from None
    samples = value if isinstance(value, list) else [value]
    return [sample for sample in samples if isinstance(sample, dict)]


def _sessions(talk: Mapping[str, Any]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    numbers = sorted(int(found[1]) for found in map(_SESSION.match, talk) if found)
    for number in numbers:
        turns = talk[f"session_{number}"]
        if isinstance(turns, list) and turns:
            yield number, [turn for turn in turns if isinstance(turn, dict)]


def _session_ms(text: Any, path: Path) -> int:
    """A time such as "1:56 pm on 8 May, 2023", in ms; English whatever the locale."""
    found = re.fullmatch(r"\s*(\d+):(\d+)\s*([ap]m)\s+on\s+(\d+)\s+(\w+),?\s+(\d+)\s*", str(text), re.IGNORECASE)
    month = found and _MONTHS.get(found[5][:3].lower())
    if not found or not month:
        raise ImportFailed(f"{path}: {str(text)[:80]!r} is not the time of a session", file=str(path))
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "pm" else 0)
    when = datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)
    return int(when.timestamp()) * 1000


_MONTHS: Final = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}


def _utterances(name: str, turns: list[dict[str, Any]], start: int, counts: Counter[str]) -> Iterator[Item]:
    for index, turn in enumerate(turns):
        speaker, text, place = (turn.get(field) for field in ("speaker", "text", "dia_id"))
        if not isinstance(speaker, str) or not isinstance(text, str) or not isinstance(place, str):
            counts["malformed turns (not imported)"] += 1
            continue
        counts["utterances"] += 1
        if turn.get("blip_caption"):
            counts["image captions (not imported)"] += 1
        fields = {
            "speaker": speaker,
            "verbatim": text,
            "conversation": name,
            "turn": index + 1,
            "channel": "chat",
            "source_ref": _ref(name, place),
        }
        yield Item(speaker, start + index * TURN_MS, "utterance.recorded", fields)


def _observations(
    name: str, number: int, stated: Any, at: int, counts: Counter[str], known: set[str], notes: list[str]
) -> Iterator[Item]:
    if not isinstance(stated, dict):
        return
    for speaker, observations in stated.items():
        for index, observation in enumerate(observations if isinstance(observations, list) else []):
            if not isinstance(observation, list) or len(observation) != 2 or not isinstance(observation[0], str):
                counts["malformed observations (not imported)"] += 1
                continue
            statement, places = observation[0], _places(observation[1])
            dangling = [place for place in places if place not in known]
            counts["extractions"] += 1
            counts["evidence"] += len(places)
            counts["dangling evidence"] += len(dangling)
            notes += [
                f"{name}: an observation of session {number} cites {place}, which does not exist" for place in dangling
            ]
            fields = {
                "statement": statement,
                "kind": "fact",
                "evidence": [name_hash(_ref(name, place)) for place in places],
                "subject": speaker,
                "session": f"{name}/S{number}",
                "extractor": EXTRACTOR,
                "source_ref": f"locomo:{name}:S{number}/{speaker}/{index}",
            }
            yield Item(speaker, at, "belief.extracted", fields)


def _places(cited: Any) -> list[str]:
    """Evidence is one place, a list of them, or several in one text."""
    texts = cited if isinstance(cited, list) else [cited]
    return list(dict.fromkeys(place for text in texts for place in re.split(r"[;,\s]+", str(text)) if place))


def _ref(name: str, place: str) -> str:
    return f"locomo:{name}:{place}"
