"""Part (a) of the audit for a whole log in one sweep over its file: plain pages are passed over as such (ADR 0029).

The index is compared on the way, as far as that can say that it is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from beliefbase.events.envelope import Event
from beliefbase.events.filed_pages import FiledPage, Irregular, Sweep
from beliefbase.events.ids import ID_BYTES
from beliefbase.events.index_check import IndexCheck
from beliefbase.events.index_columns import given
from beliefbase.events.lanes import Ints
from beliefbase.replay.plain import PlainPage, PlainPages
from beliefbase.replay.report import AuditReport
from beliefbase.replay.streams import Streams

LEAST: Final = 1000
"""Logs with fewer events are read one by one."""
PAGE: Final = 20_000
STEPPED: Final = 1000
"""A page with something to be found is halved down to so few events, which are then gone through one by one."""
_NONE: Final = np.zeros(0, np.int64)
_NO_IDS: Final = np.zeros((0, ID_BYTES), np.uint8)


class Sweeping:
    """One sweep; what it finds stands in its own report, because a sweep that is given up has found nothing.

    Args:
        streams: The streams of the log, none of which was begun.
        sweep: The log.
        erased: The ids of the events whose words an erasure covers, None where that can't be known.
        indexed: Whether the index is compared.
        progress: Hears how many more events were looked at, and how many more texts.
    """

    def __init__(
        self,
        streams: Streams,
        sweep: Sweep,
        erased: Callable[[], frozenset[bytes] | None],
        progress: Callable[[int, int], None],
        *,
        indexed: bool,
    ) -> None:
        self._streams, self._sweep, self._progress = streams, sweep, progress
        self._plain = PlainPages(streams, erased)
        self._indexed = indexed
        self.report = AuditReport()
        self.index_holds = False
        """Whether the index is known to be what the events give."""

    def run(self) -> bool:
        """Look at everything; False, and nothing done, for a log that is too small for this to pay.

        Raises:
            Irregular: the log has to be read one by one; what was found means nothing.
        """
        if self._sweep.last_position() < LEAST:
            return False
        with IndexCheck() as check:
            for page in self._sweep.pages(PAGE):
                self._take(page, check)
            self.report.add(self._streams.finish())
            if self._indexed and not self.report.damaged:
                try:
                    self.index_holds = check.holds(self._sweep)
                except (Irregular, OSError):
                    self._indexed = False
        return True

    def _take(self, page: FiledPage, check: IndexCheck) -> None:
        plain = self._plain.take(page)
        if plain is not None:
            self._progress(len(page.positions), len(page.digests))
            self._give(check, plain, page.positions)
        elif len(page.positions) > STEPPED:
            for half in page.halves():
                self._take(half, check)
        else:
            self._step(page, check)

    def _step(self, page: FiledPage, check: IndexCheck) -> None:
        positions: list[int] = page.positions.tolist()
        words = self._sweep.words(positions[-1], positions[0])
        spoken = next(words, None)
        for place, position in enumerate(positions):
            mine = spoken if spoken is not None and spoken[0] == position else None
            if mine is not None:
                spoken = next(words, None)
            self._progress(1, int(mine is not None))
            stream = page.stream_names[page.streams[place]]
            self.report.add(self._streams.step(stream, page.filed(place, mine)))
        others = [(position, Event(page.raw(place))) for place, position in enumerate(positions)]
        self._give(check, PlainPage(_NO_IDS, _NONE, (), others), _NONE)

    def _give(self, check: IndexCheck, page: PlainPage, positions: Ints) -> None:
        """Gather what events give the index, as long as that can be compared."""
        if self._indexed and not self.report.damaged:
            try:
                check.add(given(page.groups, positions, page.ids, page.stamps, page.others))
            except (Irregular, OSError):
                self._indexed = False
