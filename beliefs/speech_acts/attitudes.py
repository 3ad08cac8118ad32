"""Preferences, observations, and offhand characterizations."""

from collections.abc import Iterator

from beliefbase.beliefs.speech_acts.classification import Classification
from beliefbase.beliefs.speech_acts.phrases import PhraseTable
from beliefbase.beliefs.speech_acts.utterance import Utterance

_PREFERENCES = PhraseTable(
    {
        "i|we prefer|preferred": 880,
        "i|we would|generally|usually|always|really|much|strongly|still|definitely prefer": 880,
        "i'd|we'd|i'll prefer": 850,
        "i'd|we'd|i'll|would|'d rather": 740,
        "my preference": 850,
        "my|our favorite|favorites": 740,
        "i|we don't|really|do|just| like|love|enjoy|dislike|hate|loathe|adore": 640,
        "i|we can't|couldn't stand|bear": 700,
        "i'm not|really| a| big|huge| fan|partial|fond|keen of|to|on": 760,
        "i am not|really| a| big|huge| fan|partial|fond|keen of|to|on": 760,
        "i'm|i a|more _ person": 660,
        "i|we like|love|enjoy _ better|more|best": 800,
        "i|we like|love|enjoy _ _ better|more|best": 800,
        "i favor|favour": 760,
        "to my taste|liking": 760,
        "i'm not into": 700,
        "i'm into": 640,
    }
)

_OBSERVATIONS = PhraseTable(
    {
        "i|we noticed|observed|spotted|noted": 860,
        "i've|we've|i|we have|just|already|also| noticed|observed": 860,
        "i|we notice|observe": 800,
        "i've|we've been seeing|hearing|watching|noticing": 660,
        "i|we keep seeing|hearing|noticing": 780,
        "i'm|we're seeing|noticing|observing": 760,
        "i|we can see|hear|tell": 640,
        "i|we see that|a|an": 620,
        "i|we saw|heard that": 620,
        "^ it|this|that looks|sounds like|as": 640,
        "^ looks|sounds like": 640,
        "^ interesting|interestingly , _": 600,
        "the logs|log|data|output|screen|dashboard|numbers|results|tests show|shows|showed|say|says": 660,
        "it|this|that turns out": 600,
        "^ turns out": 620,
        "as you|we can see": 640,
        "^ i found|find that": 620,
    }
)

_CASUAL = PhraseTable(
    {
        "i'd|i'll|would describe|characterize|characterise it|this|that|him|her|them|myself|the": 820,
        "i'd|i'll|would call|put it|this|that|him|her|them|myself|the": 820,
        "i'd say": 700,
        "i would say": 700,
        "let's call it|that|this": 820,
        "call it|that a|an|about|maybe|roughly": 700,
        "roughly|approximately|around|about|maybe|say|probably|basically|like|mostly _ % _": 760,
        "_ % _ and|, _ %": 740,
        "it's|that's|this|is|was sort|kind of a|an": 740,
        "it's|that's|this|is|was roughly|basically|essentially|mostly|sort|kind of|a|an|the|": 640,
        "basically a|an|the|just": 680,
        "^ basically|essentially a|an": 760,
        "^ sort|kind of a|an": 760,
        "it's|that's|he's|she's|they're|i'm|you're more or less|of|like": 680,
        "more or less": 680,
        "sort|kind of": 620,
        "kinda|sorta": 620,
        "roughly|approximately": 620,
        "give or take": 760,
        "ballpark|ish": 740,
        "- ish": 740,
        "or so": 480,
        "pretty much": 600,
        "something like": 600,
        "fifty fifty": 640,
        "half _ half": 700,
        "half and half": 700,
        "in a nutshell": 700,
        "for the most part": 600,
        "a glorified": 740,
        "so to speak": 700,
        "as it were": 640,
    }
)

_DELIBERATE = 740
"""Weight from which a phrase is offhand by choice, and not the filler that "sort of" is in talk."""


def rules(utterance: Utterance) -> Iterator[Classification]:
    """Yield the readings of each sentence as a preference, an observation or an offhand characterization."""
    for sentence in utterance.sentences:
        if hit := _PREFERENCES.best(sentence.stream):
            yield Classification("preference_statement", hit.weight, f"preference: {hit.words}")
        if hit := _OBSERVATIONS.best(sentence.stream):
            yield Classification("observation", hit.weight, f"observation: {hit.words}")
        if hit := _CASUAL.best(sentence.stream):
            filler = hit.weight < _DELIBERATE and (utterance.spoken or utterance.encyclopedic)
            yield Classification("casual_characterization", hit.weight - 200 * filler, f"offhand: {hit.words}")
