"""LoCoMo conversations: utterances of two speakers over months, and observations with the turns they rest on.

The data gives one time per session, without a zone. It is read as UTC, turns follow each other by 30 seconds, and
the observations of a session stand one second after its last turn.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from beliefbase.events import limits
from beliefbase.events.errors import InvalidEvent
from beliefbase.events.ids import name_hash
from beliefbase.importers.base import ImportFailed, Item, Source, name, pieces, source_ref, storable
from beliefbase.writing import milliseconds

NAME: Final = "locomo"
TURN_MS: Final = 30_000
AFTER_MS: Final = 1_000
EXTRACTOR: Final = "locomo-observation@1"
_SESSION: Final = re.compile(r"session_([0-9]{1,9})(?:_date_time)?")
_TIME: Final = re.compile(r"\s*(\d+):(\d+)\s*([ap]m)\s+on\s+(\d+)\s+(\w+),?\s+(\d+)\s*", re.ASCII | re.IGNORECASE)


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
        title, talk = sample.get("sample_id"), sample.get("conversation")
        if not isinstance(title, str) or not title or not isinstance(talk, dict):
            raise ImportFailed(f"{path} is no LoCoMo conversation", hint="try --format auto", file=str(path))
        observed = sample.get("observation")
        counts["conversations"] += 1
        sessions = _sessions(talk)
        known: set[str] = set()
        spoken = {number: list(_turns(turns, known, counts)) for number, turns in sessions.items()}
        for number, turns in spoken.items():
            stated = observed.get(f"session_{number}_observation") if isinstance(observed, dict) else None
            if not turns:
                counts["sessions without dialogue (not imported)"] += 1
                counts["observations of sessions without dialogue (not imported)"] += len(list(_stated(stated)))
                continue
            counts["sessions"] += 1
            start = _session_ms(talk.get(f"session_{number}_date_time"), path)
            items += _utterances(title, turns, start, counts)
            items += _observations(
                title, number, stated, start + TURN_MS * (len(turns) - 1) + AFTER_MS, counts, notes, known
            )
    return Source(NAME, items, +counts, notes)


def _samples(path: Path) -> list[dict[str, Any]]:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFailed(f"can't read {path} as JSON: {error}", hint="check the file", file=str(path)) from None
    samples = value if isinstance(value, list) else [value]
    return [sample for sample in samples if isinstance(sample, dict)]


def _sessions(talk: Mapping[str, Any]) -> dict[int, list[Any]]:
    """The turns of every session, in order; none for one that only has a time."""
    numbers = {int(found[1]) for found in map(_SESSION.fullmatch, talk) if found}
    turns = {number: talk.get(f"session_{number}") for number in sorted(numbers)}
    return {number: found if isinstance(found, list) else [] for number, found in turns.items()}


def _turns(turns: list[Any], known: set[str], counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The turns that can be used; adds their places to those that are ``known``."""
    for turn in turns:
        fields = [turn.get(field) for field in ("speaker", "text", "dia_id")] if isinstance(turn, dict) else [None]
        if not all(isinstance(value, str) for value in fields) or not (turn["speaker"] and turn["dia_id"]):
            counts["malformed turns (not imported)"] += 1
        elif turn["dia_id"] in known:
            counts["repeated turns (not imported)"] += 1
        else:
            known.add(turn["dia_id"])
            yield turn


def _session_ms(text: Any, path: Path) -> int:
    """A time such as "1:56 pm on 8 May, 2023", in ms; English whatever the locale."""
    found = _TIME.fullmatch(str(text))
    month = found and _MONTHS.get(found[5][:3].lower())
    try:
        if found and month:
            hour = int(found[1]) % 12 + (12 if found[3].lower() == "pm" else 0)
            when = milliseconds(datetime(int(found[6]), month, int(found[4]), hour, int(found[2])))  # noqa: DTZ001
            return when or 0
    except (ValueError, InvalidEvent):
        pass
    raise ImportFailed(
        f"{path}: {str(text)[:80]!a} is not the time of a session", hint='like "1:56 pm on 8 May, 2023"', file=str(path)
    )


_MONTHS: Final = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}


def _utterances(title: str, turns: list[dict[str, Any]], start: int, counts: Counter[str]) -> Iterator[Item]:
    for index, turn in enumerate(turns):
        if turn.get("blip_caption"):
            counts["image captions (not imported)"] += 1
        speaker = name(turn["speaker"])
        for number, verbatim in enumerate(pieces(turn["text"]), 1):
            counts["utterances"] += 1
            place = turn["dia_id"] if number == 1 else f"{turn['dia_id']}#{number}"
            fields = {
                "speaker": speaker,
                "verbatim": verbatim,
                "conversation": name(title),
                "turn": index + 1,
                "channel": "chat",
                "source_ref": source_ref(NAME, title, place),
            }
            yield Item(speaker, start + index * TURN_MS, "utterance.recorded", fields)


def _stated(observed: Any) -> Iterator[tuple[str, int, Any]]:
    """Every observation of a session: of whom, the how manieth of those, and what it is."""
    for speaker, observations in observed.items() if isinstance(observed, dict) else ():
        for index, observation in enumerate(observations if isinstance(observations, list) else [None]):
            yield speaker, index, observation


def _observations(
    title: str, number: int, stated: Any, at: int, counts: Counter[str], notes: list[str], known: set[str]
) -> Iterator[Item]:
    for speaker, index, observation in _stated(stated):
        shaped = isinstance(observation, list) and len(observation) == 2 and isinstance(observation[0], str)
        if not shaped or not speaker or not _fits(observation[0]):
            counts["malformed observations (not imported)"] += 1
            continue
        places = _places(observation[1])
        if len(places) > limits.LIST_ITEMS:
            counts["evidence beyond what one observation can have (not imported)"] += len(places) - limits.LIST_ITEMS
            places = places[: limits.LIST_ITEMS]
        dangling = [place for place in places if place not in known]
        counts["extractions"] += 1
        counts["evidence"] += len(places)
        counts["dangling evidence"] += len(dangling)
        notes += [
            f"{title}: an observation of session {number} cites {place[:80]!a}, which does not exist"
            for place in dangling
        ]
        fields = {
            "statement": storable(observation[0]),
            "kind": "fact",
            "evidence": [name_hash(source_ref(NAME, title, place)) for place in places],
            "subject": storable(speaker),
            "session": name(f"{title}/S{number}"),
            "extractor": EXTRACTOR,
            "source_ref": source_ref(NAME, title, f"S{number}/{speaker}/{index}"),
        }
        yield Item(name(speaker), at, "belief.extracted", fields)


def _fits(statement: str) -> bool:
    return bool(statement.strip()) and len(storable(statement).encode()) <= limits.VERBATIM_BYTES


def _places(cited: Any) -> list[str]:
    """Evidence is one place, a list of them, or several in one text; other things are no evidence."""
    texts = cited if isinstance(cited, list) else [cited]
    found = (re.split(r"[;,\s]+", text) for text in texts if isinstance(text, str))
    return list(dict.fromkeys(place for places in found for place in places if place))
