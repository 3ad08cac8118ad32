"""What a speech-act classifier takes and returns."""

from typing import Final, NamedTuple, Protocol

ACTS: Final = (
    "humor_or_irony",
    "hypothetical",
    "casual_characterization",
    "aspiration",
    "uncertain_assertion",
    "observation",
    "negation",
    "direct_assertion",
    "preference_statement",
    "correction",
    "directive",
    "question",
)
"""The twelve speech acts, the most conservative first; `question` is last because it is never stored."""

FAIL_OPEN_BELOW: Final = 600
"""Confidence per mille below which the store treats the act as `direct_assertion`."""


class Classification(NamedTuple):
    """A speech act with its confidence per mille and the cue that decided."""

    speech_act: str
    confidence: int
    cue: str


class SpeechActClassifier(Protocol):
    """Anything that names the speech act of an English utterance, given the utterance before it."""

    def classify(self, text: str, prev: str | None = None) -> Classification:
        """Return one of `ACTS` with a confidence of 0 to 1000; the same input gives the same answer."""
        ...
