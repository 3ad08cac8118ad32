"""Questions: by mark, by word order, by tag; with or without capitals and punctuation."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.clauses import PLURAL, is_plural
from beliefbase.beliefs.speech_acts.phrases import PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Sentence, Utterance

_PHRASES = PhraseTable(
    {
        "^ how about|come": 850,
        "^ what about|if|else|kind|sort|type|time|color|other": 850,
        "^ how many|much|often|long|far|old|big": 800,
        "^ why not|would": 800,
        "^ any idea|ideas|chance|thoughts|questions|comments": 700,
        "^ anything|anybody|anyone else": 800,
        "^ any reason|objections|objection|update|luck|word|news|progress": 700,
        "^ anybody|anyone know|knows|seen|tried|using|got|have|has|had|up|here": 740,
        "^ who|what else": 850,
        "^ you ever": 750,
        "^ have you ever": 900,
        "^ want to": 600,
        "i was wondering|curious if|whether|what|how|about|": 700,
        "^ wonder if|whether|what|how|why": 640,
        "i|i'm don't|not know|sure if|whether you|you've|you're|your": 790,
        "^ you mean": 640,
        "i wonder if|whether|what|how|why|": 620,
        "the question is whether|what|how|should": 620,
        "you mean $": 750,
        "or what|not $": 700,
        "or something|anything else $": 450,
    }
)

_SEEKING = PhraseTable(
    {
        "do|did|have|are|were|will you": 700,
        "what|how|where|why|who do|did|does|is|are|would|can|could|should you|they|we|it": 800,
    }
)

_TAGS = PhraseTable(
    {
        "right $": 640,
        "huh $": 650,
        ", okay|ok $": 600,
        "is|do|did|does|was|were|are|have|can|could|would|should it|you|they|he|she|we|i $": 600,
    }
)

_NOT_BEFORE_TAG = frozenset(
    "all the that's is was are were be it's not just to it my your him them quite far exactly".split()
)

_ALSO_MAIN_VERBS = frozenset({"do", "don't", "have"})
"""Auxiliaries that also open an instruction: "do that", "have a seat"."""


def rules(utterance: Utterance) -> Iterator[Classification]:
    """Yield the readings of the last sentence as a question; an earlier one counts less."""
    sentences = utterance.sentences
    if not sentences:
        return
    if sentences[-1].end == "?":
        yield Classification("question", 960, "question mark")
    elif any(sentence.end == "?" for sentence in sentences):
        yield Classification("question", 560, "question mark, earlier sentence")
    yield from _unmarked(sentences[-1])
    if len(sentences) > 1 and len(sentences[-1].words) <= 3:
        yield from _unmarked(sentences[-2])


def _unmarked(sentence: Sentence) -> Iterator[Classification]:
    if hit := _PHRASES.best(sentence.stream):
        yield Classification("question", hit.weight, f"question phrase: {hit.words}")
    for clause, first in _clauses(sentence):
        yield from _inverted(clause, first)
    if hit := _TAGS.best(sentence.stream[-4:]):
        negative = any(word in v.NEGATIVE_AUXILIARIES for word in sentence.words[-2:])
        asked = hit.words == "right" and sentence.words[-2] not in _NOT_BEFORE_TAG if len(sentence.words) > 3 else False
        if len(sentence.words) > 3 and (negative or asked or "," in sentence.tokens[-4:]):
            yield Classification("question", hit.weight, f"question tag: {hit.words}")
    last = sentence.words[-2:]
    if len(last) == 2 and last[0] in v.NEGATIVE_AUXILIARIES and last[1] in v.SUBJECTS:
        yield Classification("question", 850, f"question tag: {last[0]} {last[1]}")


def _clauses(sentence: Sentence) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the words of each stretch between commas, and whether it is the first."""
    clause: list[str] = []
    first = True
    for token in (*sentence.tokens, ","):
        if token != ",":
            clause.append(token)
        elif clause:
            yield tuple(clause), first
            clause, first = [], False


def _inverted(clause: tuple[str, ...], first: bool) -> Iterator[Classification]:
    one, two, three, asked = (*clause, "", "", "", "")[:4]
    cut = 0 if first else 150
    noun_phrase = first and two in v.DETERMINERS and one not in _ALSO_MAIN_VERBS
    if one in v.AUXILIARIES and (two in v.SUBJECTS or noun_phrase):
        if one not in _ALSO_MAIN_VERBS or two not in ("it", "that", "this", "these", "those"):
            yield Classification("question", 880 - cut, f"inversion: {one} {two}")
    elif first and one == "do" and is_plural(two) and (three in v.IMPERATIVES or three in PLURAL):
        yield Classification("question", 840, f"inversion: {one} {two} {three}")
    elif one in v.WH:
        noun = two not in v.SUBJECTS | v.AUXILIARIES and three in v.AUXILIARIES and asked in v.SUBJECTS
        which = one == "which" and first and noun
        if (_cleft(clause) and not which) or (
            one in ("which", "whose") and not noun and two not in ("do", "did", "are", "one")
        ):
            return
        if two in v.AUXILIARIES and (three in v.SUBJECTS or three in v.DETERMINERS):
            yield Classification("question", 900 - cut, f"wh-inversion: {one} {two} {three}")
        elif noun and one in ("what", "which", "whose"):
            yield Classification("question", 820 - cut, f"wh-inversion: {one} {two} {three} {asked}")
        elif two in v.AUXILIARIES:
            yield Classification("question", 700 - cut, f"wh-question: {one} {two}")
        elif one.endswith("'s"):
            yield Classification("question", 760 - cut, f"wh-question: {one}")
        elif len(clause) <= 3 and first:
            yield Classification("question", 620, f"short wh-question: {one}")
    if (hit := _SEEKING.best(clause[1:])) and not v.QUOTING & set(clause[: hit.position + 1]):
        yield Classification("question", hit.weight - cut // 3, f"inversion inside: {hit.words}")


def _cleft(clause: tuple[str, ...]) -> bool:
    """Return whether a wh-clause is the subject of a statement, as in "what's new is the layout"."""
    return clause[0].startswith("wh") and any(word in ("is", "was") for word in clause[2:])
