"""Uncertain assertions: doubt owned by the speaker, and hedges and vague sources of edited prose."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.phrases import Hit, PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Utterance

_DOUBT = PhraseTable(
    {
        "i|we don't know|remember|recall": 720,
        "i|we don't really|actually|even|quite|exactly|still know|remember|recall|understand": 720,
        "i still don't know|understand": 720,
        "i don't understand": 600,
        "i forget": 640,
        "i just|honestly|really don't know|remember": 720,
        "^ i don't know $": 900,
        "^ don't know $": 850,
        "i don't know , $": 880,
        "i don't know if|whether|how|what|where|why|who|exactly|about": 780,
        "i'm|we're not sure|certain|positive": 850,
        "i'm|we're not really|quite|entirely|exactly|too|so|totally|actually|a sure|certain|hundred": 820,
        "not sure": 760,
        "i'm|i|am|^ pretty|fairly|almost|reasonably sure|certain": 640,
        "iirc|afaik|afaict|ianal": 640,
        "if i remember|recall|understand|understood correctly|right|rightly|it": 640,
        "i can't|couldn't remember|recall|think|say|tell": 640,
        "i have no idea|clue": 850,
        "no idea|telling": 700,
        "who knows": 700,
        "it|that depends": 650,
        "i doubt": 700,
        "i suspect|suppose|assume|presume|imagine": 640,
        "i'd|i would guess": 640,
        "i think so": 640,
        "as far as i know|can": 650,
        "it's|is not|still|not clear|unclear|certain": 640,
    }
)

_HEDGES = PhraseTable(
    {
        "i guess": 560,
        "^ i guess": 610,
        "i think": 480,
        "^ i think": 610,
        "i believe": 500,
        "^ i believe": 580,
        "maybe": 560,
        "^ maybe": 640,
        "perhaps": 640,
        "possibly": 700,
        "probably": 520,
        "presumably": 680,
        "apparently": 600,
        "might": 540,
        "might|may be|have|not": 610,
        "could be": 520,
        "^ could be $": 700,
        "seems|seem|seemed|appears|appear|appeared to|like|that": 560,
        "it|that|there seems|seemed|appears": 560,
    }
)

_PROSE = PhraseTable(
    {
        "may": 570,
        "may have|also|not": 640,
        "might": 840,
        "possibly|perhaps|probably|presumably|supposedly|allegedly|reportedly|arguably|seemingly|apparently": 880,
        "likely|unlikely|speculate|speculates|speculated|speculation|hypothesized|rumored|rumoured|suspected": 840,
        "suggest|suggests|suggested|suggesting that|a|the|to": 780,
        "suggest|suggested|suggests": 700,
        "possible|possibility|potential|potentially|uncertain|unclear|unknown|doubtful|debated|disputed": 590,
        "believed|thought|alleged|purported|reputed|assumed": 760,
        "believe|believes|argue|argues|argued|claimed|contend": 620,
        "considered|regarded|reported|viewed": 610,
        "seem|seems|seemed|appear|appears|appeared to|that": 760,
        "it is|was|has been|often|widely|generally|also said|thought|believed|reported|claimed": 800,
        "it is|was|has been|often|widely|generally|also argued|suggested|known|noted": 800,
        "is|are|was|were said|rumored|claimed|known": 620,
        "some|many|several": 660,
        "certain": 630,
        "most": 590,
        "various|numerous|few|others": 540,
        "some|many|several|most of": 700,
        "^ some|many|several|most": 720,
        "in some|many|most|several|certain cases|ways|areas|parts|countries|instances|respects": 720,
        "critics|scholars|historians|scientists|researchers|experts|observers say|believe|argue|claim|have": 760,
        "evidence|scholars|historians|experts|observers|critics|studies": 620,
        "widely|sometimes|essentially|largely": 650,
        "generally|typically|commonly|in general": 610,
        "frequently|usually|often": 470,
        "one of": 740,
        "the most": 630,
        "best|well known": 650,
        "famous|renowned|celebrated|notable|popular|prominent": 570,
        "very|highly|extremely|almost|still|either|somewhat|relatively": 560,
        "to some|an|certain extent": 760,
        "number|variety|majority of": 600,
        "however|although|though|while": 450,
        "could|would": 500,
        "about|around|approximately|nearly": 500,
    }
)

_PROSE_BAR = 600
_QUANTIFIERS = frozenset("some many several most certain".split())


def rules(utterance: Utterance) -> Iterator[Classification]:
    """Yield the readings as an uncertain assertion; prose is judged by more and weaker cues than talk."""
    for sentence in utterance.sentences:
        if hit := _DOUBT.best(sentence.stream):
            yield Classification("uncertain_assertion", hit.weight, f"doubt: {hit.words}")
        if hit := _HEDGES.best(sentence.stream):
            weight = hit.weight - (120 if utterance.spoken else 0)
            yield Classification("uncertain_assertion", weight, f"hedge: {hit.words}")
    if utterance.encyclopedic:
        yield from _prose(utterance)


def _prose(utterance: Utterance) -> Iterator[Classification]:
    found: dict[tuple[int, int], Hit] = {}
    for number, sentence in enumerate(utterance.sentences):
        for hit in _PROSE.hits(sentence.stream):
            place = (number, max(hit.position, 1))
            found[place] = max(hit, found.get(place, hit))
    if not found:
        return
    best = max(found.values(), key=lambda hit: (hit.weight, hit.words))
    weight = min(940, best.weight + 30 * (len(found) - 1))
    if weight >= _PROSE_BAR:
        alone = len(found) == 1 and best.words.split()[0] in _QUANTIFIERS
        yield Classification("uncertain_assertion", 580 if alone else weight, f"prose hedge: {best.words}")
