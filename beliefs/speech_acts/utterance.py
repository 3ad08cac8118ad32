"""An utterance cut into sentences of lower-case tokens, with disfluencies removed."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from beliefbase.beliefs.speech_acts import vocabulary

_TOKEN = re.compile(r"https?://\S+|[@#]\w+|(?:[^\W\d_]\.){2,}|[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\s]|\n")
_WORD = re.compile(r"[^\W\d_]")
_NAME = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z]\w*")
_ENDS = frozenset(".?!\n…;")
_EDGE = frozenset('"“”()*_-–—`<>')


@dataclass(frozen=True)
class Sentence:
    """One sentence: the openers in front ("well", "so"), the tokens after them, and the mark it ends with."""

    openers: tuple[str, ...]
    tokens: tuple[str, ...]
    end: str

    @cached_property
    def stream(self) -> tuple[str, ...]:
        """The tokens between `^` and `$`, for anchored phrases."""
        return ("^", *self.tokens, "$")

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens without punctuation."""
        return tuple(token for token in self.tokens if token[0].isalnum())

    def word(self, place: int) -> str:
        """Return the word at a place, or the empty string past the end."""
        return self.words[place] if place < len(self.words) else ""


@dataclass(frozen=True)
class Utterance:
    """The sentences of an utterance with what the whole text shows about its register."""

    text: str
    sentences: tuple[Sentence, ...]
    raw: tuple[str, ...]
    disfluent: bool
    in_dialogue: bool

    @cached_property
    def last(self) -> Sentence:
        """The last sentence, an empty one if there is none."""
        return self.sentences[-1] if self.sentences else Sentence((), (), "")

    @cached_property
    def first(self) -> Sentence:
        """The first sentence, an empty one if there is none."""
        return self.sentences[0] if self.sentences else Sentence((), (), "")

    @cached_property
    def names(self) -> frozenset[str]:
        """The words written with a capital within a sentence, in lower case."""
        return frozenset(word.lower() for word in _NAME.findall(self.text))

    @cached_property
    def spoken(self) -> bool:
        """Whether fillers and restarts, or lower case without a figure, show transcribed speech."""
        return self.disfluent or not any(one.isupper() or one.isdecimal() for one in self.text)

    @cached_property
    def post(self) -> bool:
        """Whether mentions, hash tags, links or pictographs show a post on a social network."""
        return any(token[0] in "@#" or token.startswith("http") or is_pictograph(token) for token in self.raw)

    @cached_property
    def encyclopedic(self) -> bool:
        """Whether it reads like edited third-person prose: a full sentence in which nobody speaks or is spoken to."""
        if self.in_dialogue or self.spoken or self.post or len(self.raw) < 8:
            return False
        if vocabulary.INTERJECTIONS & set(self.raw[:2]):
            return False
        return not any(token in vocabulary.DIALOGUE or token.endswith(vocabulary.CONTRACTED) for token in self.raw)


def is_pictograph(token: str) -> bool:
    """Return whether a token is one of the emoji blocks' characters."""
    return len(token) == 1 and ("\U0001f300" <= token <= "\U0001faff" or "\u2600" <= token <= "\u27bf")


def parse(text: str, *, in_dialogue: bool = False) -> Utterance:
    """Cut a text into sentences, in time linear in its length; `in_dialogue` says that another utterance precedes."""
    plain = text.replace("\u2019", "'").replace("\u2018", "'").replace("&quot;", '"').replace("...", "…")
    raw = tuple(_TOKEN.findall(plain.lower()))
    sentences: list[Sentence] = []
    pending: list[str] = []
    for token in raw:
        if token in _ENDS:
            if pending or not sentences:
                _close(sentences, pending, token)
            elif token == "?" and sentences[-1].end != "?":
                sentences[-1] = Sentence(sentences[-1].openers, sentences[-1].tokens, "?")
            pending = []
        elif token not in _EDGE:
            pending.extend(vocabulary.SPELLINGS.get(token, (token,)))
    _close(sentences, pending, "")
    return Utterance(text, tuple(sentences), raw, _disfluent(raw), in_dialogue)


def _disfluent(raw: tuple[str, ...]) -> bool:
    """Return whether fillers, words said twice or a trailing comma show unedited speech."""
    if any(token in vocabulary.FILLERS for token in raw) or raw[-1:] == (",",):
        return True
    pairs = set(pairwise(raw))
    if ("you", "know") in pairs or ("i", "mean") in pairs:
        return True
    return any(one == two and one in vocabulary.RESTARTED for one, two in pairs)


def _close(sentences: list[Sentence], tokens: list[str], end: str) -> None:
    fluent = _fluent(tokens)
    if not any(_WORD.match(token) or token.isdigit() for token in fluent):
        return
    place = 0
    while place < len(fluent):
        if fluent[place] in vocabulary.OPENERS or fluent[place] == "," or fluent[place][0] == "@":
            place += 1
        elif tuple(fluent[place : place + 2]) in vocabulary.OPENER_PAIRS and place + 2 < len(fluent):
            place += 2
        else:
            break
    while len(fluent) > place and fluent[-1] == ",":
        fluent.pop()
    sentences.append(Sentence(tuple(fluent[:place]), tuple(fluent[place:]), end))


def _fluent(tokens: list[str]) -> list[str]:
    """Drop fillers and words said twice in a row, as in "do you, uh, do you"."""
    out: list[str] = []
    for token in tokens:
        if token in vocabulary.FILLERS or (token == "," and out[-1:] == [","]):
            continue
        out.append(token)
        for size in (3, 2, 1):
            said = out[-size:]
            if not all(_WORD.match(word) for word in said):
                continue
            if said == out[-2 * size : -size]:
                del out[-size:]
                break
            if out[-size - 1 : -size] == [","] and said == out[-2 * size - 1 : -size - 1]:
                del out[-size - 1 :]
                break
    return out
