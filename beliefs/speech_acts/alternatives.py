"""What a denial puts in the place of what it denies: "no, it's 30 seconds, not 60"."""

from collections.abc import Sequence
from typing import Final

from beliefbase.beliefs.speech_acts import vocabulary as v
from beliefbase.beliefs.speech_acts.clauses import BE, FINITE, is_plural
from beliefbase.beliefs.speech_acts.utterance import Sentence

CONTRAST: Final = 900
VALUE: Final = 820
REPEATED: Final = 740

_COPULAS: Final = BE | frozenset("it's that's its thats he's she's they're we're i'm you're there's".split())
_SPEAKERS: Final = frozenset("i i've i'd i'll you you've you'd you'll we we've we'd we'll let's".split())
_HEDGED: Final = frozenset(
    "think guess maybe perhaps probably possibly might suppose believe sure wonder if would could should".split()
)
_NOT_TAILS: Final = frozenset(
    "yet really at that now today anymore always necessarily exactly quite so if even just only sure too very for "
    "on in yesterday because when".split()
)
_BEFORE_NOT: Final = FINITE | frozenset(
    "it's that's i'm he's she's they're we're you're there's why or if but and of course certainly definitely probably "
    "just still really do have may absolutely am be guess hope think better , so".split()
)
_TAIL = 4
_NEAR = 5


def alternative(tokens: Sequence[str], before: Sentence | None, names: frozenset[str], spoken: bool) -> tuple[int, str]:
    """
    Return the weight and the sort of alternative that a clause states, (0, "") if it states none.

    A contrast ("…, not 60", "… instead of ten") is one by itself. So is a value or name behind a verb. A clause that
    repeats a word of the statement `before` and changes others is one in writing; talk does that all the time.
    """
    stated, contrasted = _contrast(tokens, names)
    words = tuple(word for word in stated if word[0].isalnum())
    if not words or v.NEGATIONS & set(words) or _HEDGED & set(words):
        return 0, ""
    if contrasted:
        return CONTRAST, f"not {contrasted}"
    if len(words) > 1 and (words[0] == "make" or (words[0] == "actually" and not spoken)):
        return VALUE, words[0]
    if words[0] in v.IMPERATIVES or words[0] in v.WH:
        return 0, ""
    repeated = _repeated(words, before) if before is not None and not spoken else ""
    if (value := _value(words, names, spoken)) and (repeated or words[0] not in _SPEAKERS):
        return VALUE, value
    return (REPEATED, repeated) if repeated else (0, "")


def _contrast(tokens: Sequence[str], names: frozenset[str]) -> tuple[Sequence[str], str]:
    """Return what comes before a contrast, and its first word; all and nothing without one."""
    for place in range(1, len(tokens)):
        word, before = tokens[place], tokens[place - 1]
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if (word, after) in (("instead", "of"), ("rather", "than")) and place + 2 < len(tokens):
            return tokens[:place], tokens[place + 2]
        if word != "not" or not after or after in _NOT_TAILS or len(tokens) - place - 1 > _TAIL:
            continue
        if before == "," or (before not in _BEFORE_NOT and is_value(after, names)):
            return tokens[:place], after
    return tokens, ""


def is_value(word: str, names: frozenset[str]) -> bool:
    """Return whether a word is a figure, a number, a date or a name."""
    return word[0].isdigit() or word in v.NUMBERS or word in v.DATES or word in names


def _value(words: Sequence[str], names: frozenset[str], spoken: bool) -> str:
    """
    Return the value within a few words behind a verb, or an empty string.

    Talk has values everywhere: there it has to follow a form of "be" and to end the clause, but for a unit.
    """
    left = 0
    for place, word in enumerate(words):
        if left and word != "one" and is_value(word, names) and (not spoken or place >= len(words) - 2):
            return word
        left -= left > 0
        if word in _COPULAS or (place and not spoken and (word in FINITE or (not left and _looks_finite(word)))):
            left = _NEAR if not spoken else 2
    return ""


def _looks_finite(word: str) -> bool:
    return is_plural(word) or (len(word) > 3 and word.endswith("ed")) or word in _PAST


_PAST: Final = frozenset(
    "took broke went came became ran gave got made said chose wrote left sent kept cost use run need have take".split()
)


def _repeated(words: Sequence[str], before: Sentence) -> str:
    """Return a content word that the clause shares with the statement before, if others differ."""
    said = {word for word in before.words if len(word) > 2 and word not in _COMMON}
    again = [word for word in words if len(word) > 2 and word not in _COMMON]
    shared = [word for word in again if word in said]
    return shared[0] if shared and set(again) - said and len(words) > 2 else ""


_COMMON: Final = (
    FINITE | v.SUBJECTS | v.DETERMINERS | v.WH | v.QUOTING | _COPULAS | _SPEAKERS
    | frozenset("have don't and but with for from not out just then because about like".split())
)  # fmt: skip
