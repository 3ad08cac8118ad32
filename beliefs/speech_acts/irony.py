"""Humor and irony: markers the writer set, or enough weak signs that praise is not meant."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.phrases import PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Sentence, Utterance

_MARKERS = PhraseTable(
    {
        "[ laughter|laughs|laughing|chuckles": 760,
        "/ s|j|jk|joking|sarcasm $": 900,
        "just|only kidding|joking": 880,
        "i'm|im kidding|joking": 880,
        "^ jk|kidding": 740,
        "asking for a friend": 850,
        "surprise , surprise": 800,
        "who'da|whoda thunk|thought": 850,
        "who would have thought|thunk|guessed": 700,
        "oh the irony": 700,
        "^ yeah , right $": 700,
        "^ yeah right $": 700,
        "said no one ever|": 850,
        "pun intended": 800,
        "lol|lmao|rofl|haha|hahaha $": 560,
        "^ lol|lmao|rofl|haha|hahaha": 560,
    }
)

_TAGS = frozenset(
    "#sarcasm #sarcastic #irony #ironic #joke #jokes #joking #kidding #humor #humour #justkidding #jk #satire".split()
)

_SIGNS = PhraseTable(
    {
        "love how|when|that|a|being|getting|having": 110,
        "love it when": 130,
        "^ i|we|gotta|just absolutely|really|just| love": 65,
        "^ got to love": 130,
        "don't you|ya| just| love": 130,
        "so|really|very glad|happy|excited|proud|thrilled|grateful": 45,
        "honored|honoured|thrilled|delighted to": 55,
        "nothing like|says|screams|better|beats|warms": 90,
        "^ nothing|not": 60,
        "what a|an": 25,
        "^ what a|an": 30,
        "oh|ah wow|great|joy|good|yes|no|look|fun|nice|cool|my": 90,
        "oh|ah": 50,
        "wow": 45,
        "can't|not wait": 55,
        "well|nicely done": 40,
        "good|nice|great job|work|one": 40,
        "thanks|thank|congrats|congratulations": 25,
        "apparently": 75,
        "clearly|obviously|surely": 50,
        "of course": 50,
        "i'm sure": 70,
        "literally|totally|absolutely|definitely": 30,
        "at least": 30,
        "my|absolute favorite": 40,
        "enough": 60,
        "also me": 80,
        "must be nice": 110,
        "who knew": 80,
        "big fan|surprise|shock": 60,
        "highlight of my": 90,
        "living|livin the dream": 110,
        "shocker|groundbreaking|riveting": 80,
    }
)

_LITERAL = PhraseTable(
    {
        "i|you|they|we|it|there am|are|is|was": 90,
        "do|does|did|is|am|are not": 60,
        "hate|dislike|annoying|annoyed|annoys|worst|terrible|awful": 60,
        "don't like": 60,
        "need|needs|needed|please": 55,
        "more": 50,
        "would|want|wanted|wants": 50,
        "wish|hope|hoping": 35,
        "really|very": 20,
        "but": 20,
    }
)

_WRY = frozenset("🙃🙄😒🥴🤡🤔😏💀🤦😑😩🥲😬🙂")
_WARM = frozenset("🥰❤✨👍😍💕👌👏🎉😘😊💖😀")
_COARSE = frozenset("fuck fucking shit shitty damn bitch ass crap wtf ffs".split())

_BAR = 95
_SURE = 170


def rules(utterance: Utterance) -> Iterator[Classification]:
    """Yield the reading as humor or irony; weak signs count only where no talk precedes and the style is informal."""
    if marker := _MARKERS.best(("^", *utterance.raw, "$")):
        yield Classification("humor_or_irony", marker.weight, f"marker: {marker.words}")
    if tags := sorted(_TAGS.intersection(utterance.raw)):
        yield Classification("humor_or_irony", 950, f"marker: {tags[0]}")
    if not utterance.sentences or utterance.in_dialogue or utterance.encyclopedic or len(utterance.text) > 600:
        return
    signs = dict(_signs(utterance))
    points = sum(signs.values())
    against = sum({hit.words: hit.weight for s in utterance.sentences for hit in _LITERAL.hits(s.stream)}.values())
    points -= against + _plainness(utterance)
    if points >= _BAR:
        strongest = sorted(signs, key=lambda name: (-signs[name], name))[:3]
        confidence = 640 if points >= _SURE else 560
        yield Classification("humor_or_irony", confidence, "irony signs: " + ", ".join(strongest))


def _signs(utterance: Utterance) -> Iterator[tuple[str, int]]:
    for sentence in utterance.sentences:
        for hit in _SIGNS.hits(sentence.stream):
            yield hit.words, hit.weight
    words = {word for sentence in utterance.sentences for word in sentence.words}
    positive, negative, marks = words & v.POSITIVE, words & v.NEGATIVE, set(utterance.raw)
    if positive:
        yield "praise", 30
    if positive and negative:
        yield f"{min(positive)} beside {min(negative)}", 70
    if marks & _WRY:
        yield f"wry face {min(marks & _WRY)}", 100
    if marks & _WARM:
        yield f"warm face {min(marks & _WARM)}", 90
    if words & _COARSE:
        yield "coarse word", 50
    if "?" in marks:
        yield "rhetorical question", 35 if utterance.last.end == "?" else 65
    if len(utterance.sentences) > 1 and 0 < len(utterance.last.words) <= 3:
        yield "short last sentence", 65 if _praises(utterance.last) else 50
    if "…" in marks or ". ." in utterance.text or ".." in utterance.text:
        yield "trailing off", 35
    if utterance.raw[0].startswith("@"):
        yield "said to somebody", 70
    if {"you", "your"} & words:
        yield "you", 35
    if not any(map(str.isupper, utterance.text)):
        yield "lower case", 30
    if any(map(str.isdecimal, utterance.text)):
        yield "number", 35


def _plainness(utterance: Utterance) -> int:
    """Return the points against irony that the plain style of a literal statement gives."""
    points = 40 if utterance.raw[-1] == "." else 0
    points += 30 if utterance.first.word(0) in ("i", "i'm", "my", "we") else 0
    points += 50 if any(token.startswith("http") for token in utterance.raw) else 0
    points += 25 if any(token[0] == "#" for token in utterance.raw) else 0
    return points + (25 if '"' in utterance.raw else 0)


def _praises(sentence: Sentence) -> bool:
    return sentence.words[-1] in v.POSITIVE
