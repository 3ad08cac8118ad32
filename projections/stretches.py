"""Lives of beliefs as columns: hundreds of thousands of them become rows without a loop over each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np

from beliefbase.beliefs.intervals import CODE, CONTESTED, FORKED, LIVE, STALE, STATUS_BITS, STATUSES
from beliefbase.beliefs.life import Life
from beliefbase.beliefs.lone import Course
from beliefbase.beliefs.rules import FOREVER
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.lanes import Octets, laid_out
from beliefbase.projections.columns import Flags, Ints, Texts, keys_in, octets, shown

_NAMES: Final = np.array(STATUSES, dtype=object)
_IS_LIVE: Final = np.array([status in LIVE for status in STATUSES])
ACTIVE: Final = CODE["active"]


class Stretches:
    """The stretches of some beliefs' lives, belief by belief and in order of time.

    Args:
        ids: The beliefs, one in each row.
        born: Stamp of each belief's extraction.
        lengths: How many stretches each has.
        since: Where each stretch begins.
        codes: Status and flags of each.
        cause: The event that ended the belief, as it is shown; None while it lives and where time ended it.
        by: The event whose acting began it, likewise; None where time did.
        lives: The lives that were folded, for what is not in stretches.
    """

    def __init__(
        self, ids: Octets, born: Ints, lengths: Ints, since: Ints, codes: Ints, cause: Texts, by: Texts,
        lives: Sequence[Life],
    ) -> None:  # fmt: skip
        self.lives = lives
        self.ids: Texts = shown(ids)
        """The beliefs, as they are shown."""
        self.keys: Ints = keys_in(ids)
        """Their row keys."""
        self.born = born
        self.owner: Ints = np.repeat(np.arange(len(ids), dtype=np.int64), lengths)
        """Position of each stretch's belief in ``ids``."""
        self.since = since
        self.last: Flags = np.append(self.owner[1:] != self.owner[:-1], True)[: len(self.owner)]
        """Whether a stretch is its belief's last."""
        self.until: Ints = np.where(self.last, FOREVER, np.append(since[1:], FOREVER)[: len(since)])
        self.status: Ints = codes & STATUS_BITS
        """Positions in ``beliefs.intervals.STATUSES``."""
        self.live: Flags = _IS_LIVE[self.status]
        self.stale: Flags = codes & STALE != 0
        self.contested: Flags = codes & CONTESTED != 0
        self.forked: Flags = codes & FORKED != 0
        self.cause = cause
        self.by = by

    @classmethod
    def of(cls, lives: Sequence[Life]) -> Self:
        """Those of lives that were folded."""
        flat: list[Any] = []
        ends = [0]
        for life in lives:
            flat += life.line if life.forks is None else life.whole_line
            ends.append(len(flat) >> 2)
        bounds = np.array(ends, dtype=np.int64)
        return cls(
            octets([life.extraction[3] for life in lives], ID_BYTES),
            np.array([life.born for life in lives], dtype=np.int64),
            bounds[1:] - bounds[:-1],
            np.array(flat[0::4], dtype=np.int64),
            np.array(flat[1::4], dtype=np.int64),
            _shown(flat[2::4]),
            _shown(flat[3::4]),
            lives,
        )

    @classmethod
    def along(cls, ids: Octets, born: Ints, courses: Sequence[Course], numbers: Ints) -> Self:
        """Those of lone beliefs, each of which lives one of these courses."""
        sizes = np.array([len(course.codes) for course in courses], dtype=np.int64)
        codes = np.array([code for course in courses for code in course.codes], dtype=np.int64)
        later = np.array([since for course in courses for since in course.since], dtype=np.int64)
        lengths = sizes[numbers]
        owner, place = laid_out(lengths)
        row = (np.cumsum(sizes) - sizes)[numbers][owner] + place
        since = np.where(place == 0, born[owner], (born >> 16 << 16)[owner] + later[row])
        by: Texts = np.full(len(owner), None, dtype=object)
        by[place == 0] = shown(ids)
        return cls(ids, born, lengths, since, codes[row], np.full(len(owner), None, dtype=object), by, ())

    @property
    def first(self) -> Flags:
        """Whether a stretch is its belief's first."""
        return np.append(True, self.last[:-1])[: len(self.last)]

    def runs(self) -> Ints:
        """For each stretch the position of the one from which on status and cause are what they are in it."""
        begins = self.first.copy()
        begins[1:] |= (self.status[1:] != self.status[:-1]) | (self.cause[1:] != self.cause[:-1])
        return np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))


def statuses(codes: Ints) -> Texts:
    """Names of statuses."""
    return _NAMES[codes]


def _shown(ids: Sequence[bytes | None]) -> Texts:
    """Ids as they are shown, None for NULL."""
    found: Texts = np.full(len(ids), None, dtype=object)
    found[np.array([id_ is not None for id_ in ids], dtype=np.bool_)] = shown(
        octets([id_ for id_ in ids if id_ is not None], ID_BYTES)
    )
    return found
