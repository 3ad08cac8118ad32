"""Fixed phrases found in a token sequence in time linear in its length."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple


class Hit(NamedTuple):
    """A phrase found: its weight, the position of its first token, the tokens matched."""

    weight: int
    position: int
    words: str


class PhraseTable:
    """
    Phrases with a weight, kept as a tree of tokens; of two that read alike the one written first counts.

    A phrase is written as words with blanks between them. `a|b` is either word, `a|` is an optional word, `_` is any
    one token (not at the start). `^` and `$` are the start and the end of a sentence, as `Sentence.stream` marks them.
    """

    def __init__(self, phrases: Mapping[str, int]) -> None:
        self._root: dict[str, Any] = {}
        for phrase, weight in phrases.items():
            for words in product(*(part.split("|") for part in phrase.split())):
                node = self._root
                for word in filter(None, words):
                    node = node.setdefault(word, {})
                node.setdefault("", weight)

    def hits(self, tokens: Sequence[str]) -> Iterator[Hit]:
        """Yield every phrase found, by position."""
        for position, token in enumerate(tokens):
            if token in self._root:
                yield from self._follow(self._root[token], tokens, position, position + 1)

    def _follow(self, node: dict[str, Any], tokens: Sequence[str], start: int, place: int) -> Iterator[Hit]:
        if "" in node:
            yield Hit(node[""], start, " ".join(word for word in tokens[start:place] if word not in "^$"))
        if place < len(tokens):
            if (token := tokens[place]) in node:
                yield from self._follow(node[token], tokens, start, place + 1)
            if "_" in node:
                yield from self._follow(node["_"], tokens, start, place + 1)

    def best(self, tokens: Sequence[str]) -> Hit | None:
        """Return the heaviest phrase found, of equal ones the first; None without any."""
        return max(self.hits(tokens), key=lambda hit: (hit.weight, -hit.position, hit.words), default=None)
