"""Negations and corrections: what only makes sense against something said before."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.alternatives import CONTRAST, alternative
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

_WRONG = (
    "wrong", "incorrect", "false", "not right", "not correct", "not true", "not accurate", "not quite right",
    "outdated",
)  # fmt: skip

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
        "^ no way $": 800,
        "^ no need ,": 640,
        "that|it is|was not|never true|right|correct|so|accurate|it": 760,
        "that's|it's not|hardly|far|never true|right|correct|so|accurate|it|from": 760,
        "that|it isn't|wasn't true|right|correct|so|accurate|it": 760,
        "^ that's|it's wrong|incorrect|untrue": 640,
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
        "^ actually it's|that's|it": 720,
        "^ actually ,": 620,
        "^ actually|well|no , it's|its|it|that's|the": 680,
        "^ actually , i|we|they": 620,
        "^ no , actually|make": 640,
        "no , i mean|meant": 920,
        "no i mean|meant": 900,
        "i meant": 760,
        "rather $": 660,
        "^ or|no rather": 800,
        "or rather": 780,
        "^ sorry , i|it's|that's meant|not": 780,
        "^ sorry , not|make": 780,
        "sorry i|it's|that meant|not": 780,
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
        "that should read": 640,
        "should read|say": 560,
        "it's|that's|is|are|was not _ , it's|that's|but|rather": 760,
        "it's|that's|is|are|was not _ _ , it's|that's|but|rather": 760,
        "isn't|aren't|wasn't _ , it's|that's|it|they're|they": 740,
        "isn't|aren't|wasn't _ _ , it's|that's|it|they're|they": 740,
        ", not _ $": 640,
        ", not _ _ $": 620,
        "not _ anymore , it's|but|now": 700,
        "on second thought|thoughts": 760,
        "^ edit|erratum :": 640,
        "^ wait , no|actually|it's|that's": 900,
        "^ wait no|actually": 900,
    }
)

_FRAGMENT_WORDS = 4
_HEAD_WORDS = 4
_POLITE = frozenset({"sorry", "i'm", "excuse", "wait"})
_ONLY_POLITE = 140
"""What a value counts less behind an apology, which may be for something else: "sorry, it took three days"."""

_TAKEN_BACK = frozenset(
    tuple(head.split())
    for head in (
        *_NO,
        *(f"{subject} {wrong}" for subject in ("that's", "that is", "it's", "this is") for wrong in _WRONG),
        *("wrong", "incorrect", "not true", "not quite", "sorry", "i'm sorry", "excuse me", "wait", "actually"),
    )
)
"""Openings after which an alternative is a correction."""


def rules(utterance: Utterance, prev: Utterance | None) -> Iterator[Classification]:
    """Yield the readings as a denial of, or a repair to, what was said before."""
    first = utterance.first
    answers = prev is not None and (prev.last.end == "?" or _asks(prev.last))
    repairs = [*_alternatives(utterance, prev.last if prev is not None else None, answers)]
    yield from repairs or _denials(first, answers, prev is not None)
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


def _alternatives(utterance: Utterance, before: Sentence | None, answers: bool) -> Iterator[Classification]:
    """Yield a correction where a denial or an apology is followed by what is so instead, in one sentence or two."""
    tokens = utterance.first.tokens
    size = next(_heads(tokens), 0)
    if not size:
        return
    while size < len(tokens) and (tokens[size] in (",", "sorry") or tokens[size] in _NO):
        size += 1
    rest = tokens[size:]
    asked = utterance.first.end == "?"
    if not rest and len(utterance.sentences) > 1:
        rest, asked = utterance.sentences[1].tokens, utterance.sentences[1].end == "?"
    if asked or not rest or rest[0] in _NO_IDIOMS:
        return
    weight, what = alternative(rest, None if answers else before, utterance.names, utterance.spoken)
    if weight and (not answers or weight == CONTRAST):
        weight -= _ONLY_POLITE if weight < CONTRAST and tokens[0] in _POLITE else 0
        yield Classification("correction", weight, f"{tokens[0]}, but: {what}")


def _heads(tokens: tuple[str, ...]) -> Iterator[int]:
    """Yield the length of each opening that takes back what was said, the longest first."""
    for size in range(min(_HEAD_WORDS, len(tokens)), 0, -1):
        after = tokens[size] if size < len(tokens) else ","
        if tokens[:size] in _TAKEN_BACK and (after == "," or (tokens[0] in _NO and after in _AFTER_NO | _NO)):
            yield size


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
