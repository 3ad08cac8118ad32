"""Speech acts of English utterances: a protocol, and a classifier by rules."""

from beliefbase.beliefs.speech_acts.classification import ACTS, FAIL_OPEN_BELOW, Classification, SpeechActClassifier
from beliefbase.beliefs.speech_acts.rules import RuleClassifier, classify

__all__ = ["ACTS", "FAIL_OPEN_BELOW", "Classification", "RuleClassifier", "SpeechActClassifier", "classify"]
