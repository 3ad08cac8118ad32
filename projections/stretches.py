"""Lives of beliefs as columns: hundreds of thousands of them become rows without a loop over each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from beliefbase.beliefs.intervals import CODE, CONTESTED, FORKED, LIVE, STALE, STATUS_BITS, STATUSES
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.rules import FOREVER
from beliefbase.events.index import key_of
from beliefbase.projections.columns import Flags, Ints, Texts, keys_of, texts

_NAMES: Final = np.array(STATUSES, dtype=object)
_IS_LIVE: Final = np.array([status in LIVE for status in STATUSES])
ACTIVE: Final = CODE["active"]


class Stretches:
    """The stretches of some beliefs' lives, belief by belief and in order of time."""

    def __init__(self, lives: Sequence[Life]) -> None:
        flat: list[Any] = []
        ends: list[int] = []
        for life in lives:
            flat += life.whole_line
            ends.append(len(flat) >> 2)
        bounds = np.array([0, *ends], dtype=np.int64)
        lengths = bounds[1:] - bounds[:-1]
        codes = np.array(flat[1::4], dtype=np.int64)
        status = codes & STATUS_BITS
        self.lives = lives
        self.ids: Texts = texts([life.id.hex() for life in lives])
        """The beliefs, as they are shown."""
        self.keys: Ints = keys_of([life.id for life in lives])
        """Their row keys."""
        self.born: Ints = np.array([life.born for life in lives], dtype=np.int64)
        """Stamp of each belief's extraction."""
        self.owner: Ints = np.repeat(np.arange(len(lives), dtype=np.int64), lengths)
        """Position of each stretch's belief in ``ids``."""
        self.since: Ints = np.array(flat[0::4], dtype=np.int64)
        self.last: Flags = np.append(self.owner[1:] != self.owner[:-1], True)[: len(self.owner)]
        """Whether a stretch is its belief's last."""
        self.until: Ints = np.where(self.last, FOREVER, np.append(self.since[1:], FOREVER)[: len(self.since)])
        self.status: Ints = status
        """Positions in ``beliefs.intervals.STATUSES``."""
        self.live: Flags = _IS_LIVE[status]
        self.stale: Flags = codes & STALE != 0
        self.contested: Flags = codes & CONTESTED != 0
        self.forked: Flags = codes & FORKED != 0
        self.cause: list[bytes | None] = flat[2::4]
        self.by: list[bytes | None] = flat[3::4]

    @property
    def first(self) -> Flags:
        """Whether a stretch is its belief's first."""
        return np.append(True, self.last[:-1])[: len(self.last)]

    def runs(self) -> Ints:
        """For each stretch the position of the one from which on status and cause are what they are in it."""
        cause = np.array([0 if cause is None else key_of(cause) for cause in self.cause], dtype=np.int64)
        begins = self.first.copy()
        begins[1:] |= (self.status[1:] != self.status[:-1]) | (cause[1:] != cause[:-1])
        return np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))


def statuses(codes: Ints) -> Texts:
    """Names of statuses."""
    return _NAMES[codes]


def shown(ids: Iterable[bytes | None]) -> Texts:
    """Ids as they are shown, None for NULL."""
    return texts([None if id_ is None else id_.hex() for id_ in ids])
