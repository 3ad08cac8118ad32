"""Negations and corrections: what only makes sense against something said before."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.phrases import PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Sentence, Utterance

_NO = frozenset({"no", "nope", "nah", "nay"})
_NO_IDIOMS = frozenset("problem one doubt matter wonder idea way worries need kidding telling offense thanks".split())
_AFTER_NO = (
    v.SUBJECTS
    | v.DETERMINERS
    | v.WH
    | v.NEGATIONS
    | frozenset(
        ", i'm i've i'll i'd it's that's you're they're we're we'd he's she's there's because but actually".split()
    )
)

_DENIALS = PhraseTable(
    {
        "^ not really|quite|exactly|yet|at|necessarily|anymore": 780,
        "^ not that|in|on|for|too|very|much|so|as|right|now|a": 640,
        "i don't think so": 850,
        "^ i don't think it's|it|that|that's|they|he|she|you": 560,
        "^ actually no": 760,
        "^ absolutely|definitely|certainly|probably|of|maybe|actually|or not $": 800,
        "^ of course not": 850,
        "^ i guess|think|hope|suppose|assume|believe not $": 760,
        "^ never $": 800,
        "that|it is|was not|never true|right|correct|so|accurate|it": 760,
        "that's|it's not|hardly|far|never true|right|correct|so|accurate|it|from": 760,
        "that|it isn't|wasn't true|right|correct|so|accurate|it": 760,
        "^ i disagree": 820,
        "i don't agree|disagree": 720,
        "^ i never said|meant|claimed": 760,
        "it is not the case": 850,
        "^ on the contrary": 820,
        "^ quite the opposite|contrary|reverse": 800,
        "^ far from it": 800,
        "^ neither|nor": 500,
    }
)

_SHORT_DENIALS = PhraseTable(
    {
        "^ i|we|you|they|he|she|it don't|didn't|doesn't|haven't|hasn't|can't|won't|wouldn't $": 740,
        "^ i|we|you|they|he|she|it wasn't|weren't|isn't|aren't|couldn't|shouldn't $": 740,
        "^ i|we|you|they did|do|am|have|would|will|can not $": 740,
        "^ it's|that's|i'm|they're|he's|she's|we're|you're not $": 740,
    }
)

_REPAIRS = PhraseTable(
    {
        "^ correction": 900,
        "^ actually": 600,
        "^ actually it's|that's|it|,": 720,
        "^ actually|well|no , it's|its|it|that's|the|i|we|they": 680,
        "^ no , actually|make": 640,
        "no , i mean|meant": 920,
        "no i mean|meant": 900,
        "i meant": 760,
        "rather $": 660,
        "^ or|no rather": 800,
        "or rather": 780,
        "^ sorry , i|it's|that's|it|not|the|make": 780,
        "sorry i|it's|that meant|not": 780,
        "^ excuse me , _": 640,
        "^ i'm sorry , _": 640,
        "scratch|strike that": 850,
        "^ make that _": 740,
        ", make that _": 740,
        "let me rephrase|correct|restate|clarify": 850,
        "i misspoke|misstated|mistyped": 900,
        "i was wrong|mistaken": 780,
        "i stand corrected": 900,
        "i take that|it back": 820,
        "to correct myself|that|the|my|what": 850,
        "i said _ but": 640,
        "i should have said": 850,
        "i got that|it|this wrong": 750,
        "that should be|read": 640,
        "should read|say": 560,
        "it's|that's|is|are|was not _ , it's|that's|but|rather": 760,
        "it's|that's|is|are|was not _ _ , it's|that's|but|rather": 760,
        "isn't|aren't|wasn't _ , it's|that's|it|they're|they": 740,
        "isn't|aren't|wasn't _ _ , it's|that's|it|they're|they": 740,
        ", not _ $": 640,
        ", not _ _ $": 620,
        "not _ anymore , it's|but|now": 700,
        "on second thought|thoughts": 760,
        "^ edit|update|erratum": 560,
        "^ wait , _": 620,
        "^ wait , no|actually|it's|that's": 900,
        "^ wait no|actually": 900,
    }
)

_FRAGMENT_WORDS = 4


def rules(utterance: Utterance, prev: Utterance | None) -> Iterator[Classification]:
    """Yield the readings as a denial of, or a repair to, what was said before."""
    first = utterance.first
    answers = prev is not None and (prev.last.end == "?" or _asks(prev.last))
    yield from _denials(first, answers, prev is not None)
    if len(utterance.sentences) > 1 and len(utterance.last.words) <= 2 and set(utterance.last.words) & _NO:
        yield Classification("negation", 740, "closing no")
    for sentence in utterance.sentences:
        if hit := _REPAIRS.best(sentence.stream):
            weight = hit.weight - (120 if hit.words == "actually" and utterance.spoken else 0)
            yield Classification("correction", weight, f"repair: {hit.words}")
        if sentence.words[-2:] == ("i", "mean") and len(sentence.words) <= 2 * _FRAGMENT_WORDS:
            yield Classification("correction", 700, "repair: i mean")
    if prev is not None and not answers:
        yield from _fragment(first, prev.last)


def _asks(sentence: Sentence) -> bool:
    """Return whether a sentence without a mark has the word order of a yes-no question."""
    return sentence.word(0) in v.AUXILIARIES and sentence.word(1) in v.SUBJECTS


def _denials(sentence: Sentence, answers: bool, replies: bool) -> Iterator[Classification]:
    words = sentence.words
    if sentence.word(0) in _NO:
        second = sentence.tokens[1] if len(sentence.tokens) > 1 else ""
        if second in _NO_IDIOMS:
            yield Classification("negation", 420, f"no as determiner: no {second}")
        elif not second or second in _AFTER_NO or answers:
            yield Classification("negation", 880, "answer no")
        else:
            yield Classification("negation", 760 if replies else 480, "leading no")
    if hit := _DENIALS.best(sentence.stream):
        yield Classification("negation", hit.weight, f"denial: {hit.words}")
    if replies and sentence.word(0) == "not" and len(words) <= _FRAGMENT_WORDS + 1:
        yield Classification("negation", 640 if answers else 560, f"short denial: not {sentence.word(1)}")
    if hit := _SHORT_DENIALS.best(sentence.stream):
        yield Classification("negation", hit.weight, f"short denial: {hit.words}")
    if answers and (negation := next((word for word in words[:6] if word in v.NEGATIONS), "")):
        yield Classification("negation", 680, f"negative answer: {negation}")


def _fragment(sentence: Sentence, before: Sentence) -> Iterator[Classification]:
    """Yield a correction where a few words repeat part of the sentence before and change the rest."""
    said, again = set(before.words), set(sentence.words)
    if not 0 < len(sentence.words) <= _FRAGMENT_WORDS or sentence.openers or again & v.AUXILIARIES:
        return
    if any("'" in word for word in again) or again & v.SUBJECTS:
        return
    shared = {word for word in again & said if len(word) > 3}
    if shared and again - said and len(before.words) > len(again):
        yield Classification("correction", 560, "fragment that repairs the words before")
