"""The words of events, read side by side: texts stay where they are in the bodies until somebody asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple, Self

import numpy as np

from beliefbase.events.codec import unpack_all_trusted
from beliefbase.events.envelope import BODY_VERSION
from beliefbase.events.lanes import Array, Flags, Ints, Joined
from beliefbase.projections.columns import Same

_MOST: Final = 15
"""Bodies with more entries are read one by one."""
_NAMES: Final = 64
"""So many different names of texts are known in a page; who uses others is read one by one."""
_NOWHERE: Final = -1


class Spans(NamedTuple):
    """Where the texts of one name begin and end, for each event."""

    start: Ints
    """-1 where there is none."""
    end: Ints


class Words:
    """The words of some events. Anyone may have written them, so a name may stand for anything."""

    def __init__(self, here: Flags, maps: Mapping[int, Any], spans: Mapping[str, Spans], octets: bytes) -> None:
        self.here = here
        """Which events have words that are here and not erased."""
        self._maps = maps
        """Place of an event to its words, where they were read one by one."""
        self._spans = spans
        """By name, places in ``octets``."""
        self._octets = octets

    @classmethod
    def of_maps(cls, maps: Sequence[Mapping[str, Any] | None]) -> Self:
        """Words that were read one by one; None where there are none."""
        here = np.array([words is not None for words in maps], np.bool_)
        return cls(here, {place: words for place, words in enumerate(maps) if words is not None}, {}, b"")

    @classmethod
    def read(cls, bodies: Sequence[bytes | None]) -> Self:
        """Read bodies that were verified before they were stored; None where there is none.

        Raises:
            ValueError: one is no msgpack.
        """
        here = np.array([body is not None for body in bodies], np.bool_)
        places, found = np.flatnonzero(here), [body for body in bodies if body is not None]
        joined = Joined.of(found)
        spans, read = _spans(joined)
        odd = np.flatnonzero(~read).tolist()
        maps = unpack_all_trusted([found[place] for place in odd])
        return cls(
            here,
            {place: body[1] for place, body in zip(places[odd].tolist(), maps, strict=True)},
            spans if len(found) == len(bodies) else {name: _spread(one, here) for name, one in spans.items()},
            joined.octets,
        )

    def __len__(self) -> int:
        return len(self.here)

    def has(self, name: str) -> Flags:
        """Which events have a text of this name."""
        found = self._spans[name].start != _NOWHERE if name in self._spans else np.zeros(len(self), np.bool_)
        for place, words in self._maps.items():
            found[place] = isinstance(words.get(name), str)
        return found

    def text(self, name: str) -> Sequence[Any]:
        """The text of this name of each event; None where it has none."""
        if name not in self._spans and name not in self._in_maps:
            return Same(None, len(self))
        found = self._texts(name)
        for place, words in self._maps.items():
            value = words.get(name)
            found[place] = value if isinstance(value, str) else None
        return found

    def text_list(self, name: str) -> Sequence[list[str] | None]:
        """The list of texts of this name of each event; None where it has none, or an empty one."""
        if name not in self._in_maps:
            return Same(None, len(self))
        found: list[list[str] | None] = [None] * len(self)
        for place, words in self._maps.items():
            value = words.get(name)
            if value and isinstance(value, tuple) and set(map(type, value)) == {str}:
                found[place] = list(value)
        return found

    def chosen(self, is_chosen: Sequence[Any]) -> Self:
        """The words of the events for which there is something true in a column."""
        chosen = np.array(is_chosen, dtype=np.bool_)
        place_of = np.cumsum(chosen) - 1
        return type(self)(
            self.here[chosen],
            {int(place_of[place]): words for place, words in self._maps.items() if chosen[place]},
            {name: Spans(one.start[chosen], one.end[chosen]) for name, one in self._spans.items()},
            self._octets,
        )

    @cached_property
    def _in_maps(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(self._maps.values()))

    def _texts(self, name: str) -> list[str | None]:
        if name not in self._spans:
            return [None] * len(self)
        octets, (start, end) = self._latin, self._spans[name]
        parts = [octets[at:to] for at, to in zip(start.tolist(), end.tolist(), strict=True)]
        found: list[str | None] = [*(parts if all(map(str.isascii, parts)) else map(_utf8, parts))]
        for place in np.flatnonzero(start == _NOWHERE).tolist():
            found[place] = None
        return found

    @cached_property
    def _latin(self) -> str:
        """Each byte as a character: a part of it that is plain ASCII is a text already."""
        return self._octets.decode("latin-1")


def _utf8(octets: str) -> str:
    return octets if octets.isascii() else octets.encode("latin-1").decode()


def _spans(joined: Joined) -> tuple[dict[str, Spans], Flags]:
    """The texts of bodies by name, and which bodies hold nothing else."""
    lanes = joined.lanes()
    lanes.expect(bytes([0x92, BODY_VERSION]))
    left = lanes.entries(_MOST)
    found: dict[str, Spans] = {}
    while len(places := np.flatnonzero(lanes.ok & (left > 0))):
        part = lanes.part(places)
        numbers, names = part.texts()
        start, end = part.spans()
        for number, name in enumerate(names):
            here = numbers == number
            if name not in found and len(found) == _NAMES:
                part.fail(here)
                continue
            if name not in found:
                found[name] = Spans(np.full(len(lanes), _NOWHERE), np.full(len(lanes), _NOWHERE))
            found[name].start[places[here]], found[name].end[places[here]] = start[here], end[here]
        lanes.rejoin(places, part)
        left[places] -= 1
    lanes.finish()
    for spans in found.values():
        spans.start[~lanes.ok] = _NOWHERE
    return found, lanes.ok


def _spread(spans: Spans, here: Array) -> Spans:
    """The same spans as those of some events among others."""
    start, end = np.full(len(here), _NOWHERE), np.full(len(here), _NOWHERE)
    start[here], end[here] = spans
    return Spans(start, end)
