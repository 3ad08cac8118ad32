"""Where a clause has its finite verb: what tells "build servers are down" from "build servers for the lab"."""

from typing import Final, NamedTuple

from beliefbase.beliefs.speech_acts import vocabulary as v

BE: Final = frozenset("is are was were isn't aren't wasn't weren't".split())
_MODALS: Final = frozenset(
    "will would can could shall should may might must won't wouldn't can't couldn't shouldn't mustn't".split()
)
FINITE: Final = BE | _MODALS | frozenset("has had does did hasn't hadn't doesn't didn't".split())
"""Forms that no imperative has after its verb, unless a subordinate clause begins in between."""

_THIRD: Final = frozenset(
    "takes fails breaks requires seems gets goes comes gives keeps depends stays happens contains includes allows "
    "becomes remains exists expects belongs matters varies hangs lasts begins survives serves knows says brings "
    "took broke went came became ran gave fell grew rose began got".split()
)
"""Third persons and past tenses that are seldom nouns or participles."""

_THIRD_OR_NOUN: Final = frozenset(
    "needs uses works looks means costs holds supports covers defaults causes runs lives sits ends starts stops "
    "returns shows makes finishes points".split()
)
PLURAL: Final = frozenset(
    "have haven't do don't need vary take depend differ live stay get go come seem look tend exist belong remain "
    "become contain include require fail break cost matter".split()
)
"""Base forms that are verbs after a plural noun."""

_OPEN: Final = frozenset("in on at for with from of by about under over up out off down back away".split())
_PLACE: Final = frozenset("in on at from with under every once to again here fine like as".split())
_SINCE: Final = frozenset("to from after since again twice".split()) | {""}
_ARTICLES: Final = frozenset("the a an my your our its their his her".split())
_STOP: Final = (
    v.SUBJECTS
    | v.WH
    | frozenset(
        "me him us them her whatever whichever whoever wherever whenever if whether because since unless until till "
        "to once while before after as than and or but so though although everything everyone something someone "
        "anything one yourself".split()
    )
)
"""Words that begin another clause, whose verb is not this one's."""

_NEVER_NOUNS: Final = frozenset(
    "ensure verify confirm assume remember mention explain forget note tell ask remind inform notify guess be "
    "do".split()
)
"""Verbs that take a clause without "that", or are no nouns: "verify backups are running"."""

_CAUSATIVES: Final = frozenset("let make help watch get keep".split())
_DOUBLE: Final = frozenset(
    "give tell show send ask buy hand pass pay bring let make leave keep get stay go consider".split()
)
_CHECKING: Final = frozenset({"check", "validate"})
_REACH = 4
_FAR = 9


class Verb(NamedTuple):
    """A finite verb found; `sure` is False where a noun or an object clause would read as well."""

    word: str
    sure: bool


def finite_verb(first: str, rest: tuple[str, ...]) -> Verb | None:
    """
    Return the finite verb that makes a noun of a first word that could be an imperative, else None.

    `rest` are the tokens behind it, with punctuation. The verb has to come within three words, or after one
    prepositional phrase ("work on the parser is done"), before anything that opens a clause of its own.
    """
    if first in _NEVER_NOUNS or rest[:1] in (("sure",), ("certain",)):
        return None
    phrase = False
    reach = _REACH
    for place, word in enumerate(rest[:_FAR]):
        after = rest[place + 1] if place + 1 < len(rest) else ""
        if place >= reach or word in _STOP or word in (",", ":"):
            return None
        if verb := _verb(first, rest[place - 1] if place else "", word, after):
            return verb._replace(sure=verb.sure and (not phrase or word in FINITE))
        if word in _OPEN:
            if phrase:
                return None
            phrase, reach = True, place + _REACH + 1
        elif word in v.DETERMINERS and not (phrase and rest[place - 1] in _OPEN):
            return None
    return None


def _verb(first: str, before: str, word: str, after: str) -> Verb | None:
    if word in FINITE:
        return Verb(word, first not in _CHECKING)
    if word in _THIRD:
        return Verb(word, True)
    if word in _THIRD_OR_NOUN:
        if word == "lives" and after in _PLACE:
            return Verb(word, True)
        if word == "needs" and (after in _ARTICLES or after == "to" or after[:1].isdigit()):
            return Verb(word, True)
        value = after in _ARTICLES or after in _PLACE or after in v.NUMBERS or after[:1].isdigit()
        return Verb(word, False) if value else None
    if is_plural(before) and word in PLURAL and first not in _CAUSATIVES:
        return Verb(word, first not in _CHECKING)
    if first in _DOUBLE:
        return None
    if not before and len(word) > 4 and word.endswith("ed") and after in (_OPEN | _ARTICLES | {"again", ""}):
        return Verb(word, True)
    if before and not is_plural(before) and word.endswith("ed") and after in _SINCE:
        return Verb(word, False)
    return Verb(word, False) if is_plural(word) and after in _ARTICLES else None


def is_plural(word: str) -> bool:
    """Return whether a word may be a plural noun, by its ending."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "'s")) and word not in _NOT_PLURAL


_NOT_PLURAL: Final = frozenset("this always sometimes perhaps does towards besides whereas".split())
