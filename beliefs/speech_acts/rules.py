"""The classifier by rules: every rule speaks, the most confident one decides."""

from collections.abc import Iterator
from typing import Final

from beliefbase.beliefs.speech_acts import attitudes, directives, hedges, hypotheticals, irony, questions, replies
from beliefbase.beliefs.speech_acts.classification import ACTS, Classification
from beliefbase.beliefs.speech_acts.utterance import Utterance, parse

_RANK: Final = {act: rank for rank, act in enumerate(ACTS)}
_BAR: Final = 500
"""Confidence per mille a cue needs to outweigh the plain reading."""

_PLAIN: Final = Classification("direct_assertion", 700, "no cue")
_VOIDED: Final = frozenset({"preference_statement", "aspiration", "casual_characterization", "observation"})
"""Attitudes that irony takes back: "I love waiting" states no preference."""

_EMPTY: Final = Classification("direct_assertion", 0, "no words")


class RuleClassifier:
    """A `SpeechActClassifier` made of phrase tables and sentence shapes; it keeps no state."""

    def classify(self, text: str, prev: str | None = None) -> Classification:
        """Return the reading with the highest confidence, of equal ones the most conservative act."""
        utterance = parse(text, in_dialogue=bool(prev))
        before = parse(prev) if prev else None
        readings = [reading for reading in _readings(utterance, before) if reading.confidence >= _BAR]
        if any(reading.speech_act == "humor_or_irony" for reading in readings):
            readings = [reading for reading in readings if reading.speech_act not in _VOIDED]
        if not readings:
            return _PLAIN if utterance.sentences else _EMPTY
        return min(readings, key=lambda one: (-one.confidence, _RANK[one.speech_act], one.cue))


def _readings(utterance: Utterance, before: Utterance | None) -> Iterator[Classification]:
    yield from questions.rules(utterance)
    yield from replies.rules(utterance, before)
    yield from directives.rules(utterance)
    yield from hypotheticals.rules(utterance)
    yield from hedges.rules(utterance)
    yield from attitudes.rules(utterance)
    yield from irony.rules(utterance)


def classify(text: str, prev: str | None = None) -> Classification:
    """Classify one utterance by the rules; `prev` is the utterance before it."""
    return RuleClassifier().classify(text, prev)
