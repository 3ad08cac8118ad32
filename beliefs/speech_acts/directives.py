"""Directives: imperatives, obligations put on the hearer, proposals for the group."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.clauses import finite_verb
from beliefbase.beliefs.speech_acts.phrases import Hit, PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Sentence, Utterance

_LEADS = frozenset("just please always never first then maybe kindly simply only therefore next finally do".split())
_NOT_FORBIDDEN = frozenset(
    "know think like love want need care mind see understand remember have recall hate really".split()
)
_STANDING = frozenset({"always", "never", "please", "kindly"})

_PHRASES = PhraseTable(
    {
        "^ let's|let": 800,
        "let's": 700,
        "please": 640,
        "can|could|would|will you|someone|somebody|anyone please": 900,
        "we|someone|somebody ought to": 680,
        "someone|somebody should|must": 680,
        "someone|somebody has|needs|have to": 640,
        "^ please": 850,
        "you|y'all should|must|need|ought|shouldn't": 720,
        "you have to": 560,
        "you had better": 760,
        "you could": 600,
        "you'd better": 800,
        "you've got to": 700,
        "you|we might|may want to": 760,
        "we should|could": 680,
        "^ we can": 640,
        "we need|have to": 640,
        "maybe|perhaps we|you|i could|should|can|might": 760,
        "so|then|and we|you should|could": 700,
        "i|we|i'd|i'll|would actually|highly|strongly| suggest|recommend|propose|advise": 740,
        "highly|strongly suggest|recommend": 740,
        "^ see if|how|whether|what": 640,
        "^ might want to": 720,
        "you|we probably|also|really|at might|may|should|need|want to|": 640,
        "might be good|nice|neat|better|useful|helpful|worth|interesting to": 640,
        "it's|is time to": 620,
        "should be used|done|kept|made|avoided|removed|added|written|run": 640,
        "should|must not|always|never|only": 680,
        "should": 540,
        "i|they|he|she|it|that|there should": 400,
        "^ don't ever|even|forget|worry|be|do|go|let|make|use|try|tell": 800,
        "^ you|just| make sure": 760,
        "^ go ahead": 950,
        "go ahead": 800,
        "^ hold on": 950,
        "^ feel free": 900,
        "^ no need to": 650,
        "how about if|we": 500,
        "why don't you|we": 500,
        "it is|it's important|essential|necessary|better|best to": 540,
        "^ under no circumstances": 850,
    }
)

_ATTENTION = frozenset("look listen note wait say update help".split())
"""Verbs that with a comma or colon behind only call for attention: "look, the servers are down"."""

_UNSURE = 560
"""Weight of an imperative that may be a noun as well: the store ignores it."""

_NOT_ASKED = PhraseTable(
    {
        "let's say|see|hope|face": 1,
        "you should have|see|find|hear|get": 1,
        "you should be able": 1,
        "you need a|an|the|no|more|at|some|any|two|three|both": 1,
        "we|you could hear|see|tell|feel|smell": 1,
    }
)
"""What begins like a directive and tells the hearer something: what is so, or what will be found."""

_CLEAR = 600
"""Weight below which a phrase is too common in talk to make a directive of it."""


def rules(utterance: Utterance) -> Iterator[Classification]:
    """Yield the readings of each sentence as a directive."""
    for sentence in utterance.sentences:
        if sentence.end == "?":
            continue
        if hit := _asked(sentence.stream):
            weight = hit.weight - (80 if utterance.spoken and hit.weight < _CLEAR else 0)
            yield Classification("directive", weight, f"directive phrase: {hit.words}")
        yield from _imperative(sentence)


def _asked(stream: tuple[str, ...]) -> Hit | None:
    """Return the heaviest phrase that does not lie in one of those that only look like it."""
    spoilt = {hit.position for hit in _NOT_ASKED.hits(stream)}
    spoilt |= {place - 1 for place in spoilt if stream[place - 1] in ("^", "so", "then", "and")}
    hits = (hit for hit in _PHRASES.hits(stream) if hit.position not in spoilt)
    return max(hits, key=lambda hit: (hit.weight, -hit.position, hit.words), default=None)


def _imperative(sentence: Sentence) -> Iterator[Classification]:
    words = sentence.words
    place = 0
    while place < min(3, len(words)) and words[place] in _LEADS and words[place] != "do":
        place += 1
    leads = words[:place]
    standing = next((word for word in leads if word in _STANDING), "")
    verb, follower = sentence.word(place), sentence.word(place + 1)
    if verb in ("don't", "do") and (verb == "don't" or follower == "not"):
        place += 1 if verb == "don't" else 2
        base = sentence.word(place)
        if base in v.IMPERATIVES:
            yield Classification("directive", 850, f"prohibition: {verb} {base}")
        elif base and base not in v.SUBJECTS and base not in _NOT_FORBIDDEN:
            yield Classification("directive", 660, f"prohibition: {verb} {base}")
    elif verb in v.IMPERATIVES:
        rest = _after(sentence, place)
        statement = None if standing else finite_verb(verb, rest)
        if standing:
            yield Classification("directive", 900, f"standing instruction: {standing} {verb}")
        elif statement or (verb in _ATTENTION and rest[:1] in ((",",), (":",)) and len(rest) > 2):
            if statement is not None and not statement.sure:
                yield Classification("directive", _UNSURE, f"imperative or noun: {verb}")
        elif follower in v.IMPERATIVE_OBJECTS or (follower and follower[0].isdigit()):
            yield Classification("directive", 820, f"imperative: {verb} {follower}")
        elif not follower and len(verb) > 2:
            yield Classification("directive", 640, f"imperative: {verb}")
        else:
            yield Classification("directive", 620, f"imperative: {verb}")
    elif standing in ("always", "never") and leads[0] == standing and verb and verb[-2:] not in ("ed", "ng"):
        yield Classification("directive", 560, f"standing instruction: {standing} {verb}")


def _after(sentence: Sentence, place: int) -> tuple[str, ...]:
    """Return the tokens behind the word at a place, with punctuation."""
    seen = -1
    for at, token in enumerate(sentence.tokens):
        seen += token[0].isalnum()
        if seen == place:
            return sentence.tokens[at + 1 :]
    return ()
