"""Hypotheticals (what is not, but could be) and aspirations (what the speaker wants to be)."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.phrases import PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Sentence, Utterance

_MODALS = frozenset("would should could wouldn't shouldn't couldn't i'd you'd he'd she'd we'd they'd it'd".split())
_ADVERBS = frozenset("not also just really probably never easily definitely certainly at least only still ever".split())
_PARTICIPLES = frozenset(
    "been had done gone made got gotten given taken seen known come become kept held told said paid sold sent spent "
    "bought brought thought taught caught fought found left lost won run begun read put set cut let hit cost hurt "
    "shut fit met felt built meant dealt slept swept stood understood led fed bled sat spoken sprung stuck struck "
    "sung worn torn grown thrown shown drawn flown blown went took gave did come saw".split()
)
_PAST = frozenset(
    "were was had did weren't wasn't hadn't didn't came went made knew got gave took put used fit "
    "worked looked felt".split()
)

_CONSEQUENT = frozenset("would could wouldn't couldn't might i'd we'd they'd it'd he'd she'd you'd".split())
_ASKING = frozenset("wonder wondering wondered know see ask asked asking sure tell doubt as even unsure".split())

_UNREAL = PhraseTable(
    {
        "if only": 850,
        "what if": 650,
        "^ suppose|supposing|hypothetically|imagine": 720,
        "^ let's suppose|assume|imagine|pretend": 750,
        "^ assuming": 620,
        "in a perfect|ideal world": 750,
        "in theory": 600,
        "^ had i|it|they|he|she|we|you|this|there": 850,
        "were it not for": 900,
        "if it weren't|wasn't for": 900,
        "if i|he|she|it|this|that|there were": 800,
        "would have been|liked|loved|preferred|given|gotten|thought": 900,
        "would be better|bigger|longer|nicer|cheaper|easier|shorter|perfect if": 750,
        "could be better|bigger|longer|nicer|cheaper|shorter|smaller|thicker|higher|larger|simpler|faster": 640,
        "could be a little|bit|lot|tad _": 600,
        "could be even|much|far|slightly _": 600,
        "would be nice|great|good|perfect|ideal|helpful|better|cool if|to": 720,
        "^ would be nice|great|good|perfect|ideal|helpful|better|cool if|to": 720,
    }
)

_WANT = PhraseTable(
    {
        "i want to": 640,
        "^ we want to": 600,
        "i|we really|do|just|also|still want to": 680,
        "i'd|we'd love|like|really to|love|like": 700,
        "i|we would love|like to": 700,
        "i|we hope to": 750,
        "i|we hope": 640,
        "i'm|we're hoping|aiming|dreaming|aspiring|planning|determined to|of|for": 720,
        "i|we dream|aspire|aim|plan|intend of|to": 720,
        "my|our goal|dream|aim|ambition|hope|aspiration|plan is|was": 750,
        "one|some day i|we|i'll|we'll|i'd": 720,
        "someday|eventually i|we|i'll|we'll|i'd": 720,
        "i'm|we're looking forward to": 640,
        "i can't wait to": 620,
        "^ hoping|hope|hopefully": 620,
    }
)

_WISH = PhraseTable(
    {
        "^ wish|wishing|wished": 860,
        "i|we wish|wished": 860,
        "i|we only|just|really|do|did|also|still|kind wish": 860,
        "but|and|, wish|wishing": 800,
        "wishing|wished i|it|they|there|that|he|she|we": 780,
        "wish i|it|they|there|the|that|this|we|he|she|you|my": 760,
    }
)


def rules(utterance: Utterance) -> Iterator[Classification]:
    """Yield the readings of each sentence as a hypothetical or an aspiration."""
    for sentence in utterance.sentences:
        yield from _unreal(sentence)
        yield from _wanted(sentence)


def _unreal(sentence: Sentence) -> Iterator[Classification]:
    words = sentence.words
    for place, word in enumerate(words):
        if word in _MODALS and (perfect := _perfect(words, place)):
            yield Classification("hypothetical", 880 if word != "should" else 860, f"modal perfect: {perfect}")
            break
    if (hit := _UNREAL.best(sentence.stream)) and hit.weight:
        yield Classification("hypothetical", hit.weight, f"unreal: {hit.words}")
    if "if" in words:
        place = words.index("if")
        condition = words[place + 1 : place + 8]
        modal = next((word for word in words if word in _CONSEQUENT), "")
        past = next((word for word in condition[1:] if word in _PAST or (len(word) > 4 and word.endswith("ed"))), "")
        if not modal or (place and words[place - 1] in _ASKING):
            return
        if past:
            yield Classification("hypothetical", 820, f"unreal condition: if … {past}, {modal}")
        elif "you" not in condition[:2]:
            yield Classification("hypothetical", 540, f"condition: if …, {modal}")


def _perfect(words: tuple[str, ...], place: int) -> str:
    """Return "would have seen" where a modal perfect starts at a place, else an empty string."""
    for gap in range(1, 4):
        word = words[place + gap] if place + gap < len(words) else ""
        if word in ("have", "of") and place + gap + 1 < len(words):
            participle = words[place + gap + 1]
            if participle in _ADVERBS and place + gap + 2 < len(words):
                participle = words[place + gap + 2]
            return f"{words[place]} {word} {participle}" if _is_participle(participle) else ""
        if word not in _ADVERBS and word not in v.SUBJECTS:
            return ""
    return ""


def _is_participle(word: str) -> bool:
    return word in _PARTICIPLES or (len(word) > 4 and word.endswith(("ed", "en")))


def _wanted(sentence: Sentence) -> Iterator[Classification]:
    if hit := _WISH.best(sentence.stream):
        after = sentence.stream[hit.position :][:9]
        if "had" in after or ("would" in after and "have" in after) or ("could" in after and "have" in after):
            yield Classification("hypothetical", hit.weight + 10, f"wish about the past: {hit.words}")
        else:
            yield Classification("aspiration", hit.weight, f"wish: {hit.words}")
    if (hit := _WANT.best(sentence.stream)) and hit.weight:
        yield Classification("aspiration", hit.weight, f"want: {hit.words}")
