"""All streams of a log at once, each on its way back: part (a) of the audit in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from beliefbase.events.ids import ZERO_HASH
from beliefbase.events.log import Filed, FiledHead, Filing, Head
from beliefbase.replay.branches import check_beginning
from beliefbase.replay.chain import Surroundings, Walk
from beliefbase.replay.report import Finding


class Streams:
    """The walks through streams that are not at their end; memory goes by how many those are."""

    def __init__(
        self, heads: Mapping[str, Head], branches: Mapping[str, FiledHead], around: Surroundings, filing: Filing
    ) -> None:
        self._heads, self._branches = heads, branches
        self._around, self._filing = around, filing
        self._walks: dict[str, Walk] = {}
        self._ended: set[str] = set()

    @property
    def seen(self) -> set[str]:
        """All streams that have events."""
        return self._ended | self._walks.keys()

    def step(self, stream: str, filed: Filed) -> Iterator[Finding]:
        """All findings about the next event back."""
        walk = self._walks.get(stream)
        if walk is None:
            walk = self._walks[stream] = Walk(stream[:32], self._heads.get(stream), self._around)
            if stream in self._ended:
                what = "it is filed before the first event of its stream"
                yield Finding("damage", "chain", what, stream[:32], filed.seq, filed.event.id.hex())
        yield from walk.step(filed)
        if filed.seq == 1:  # nothing is left of this stream, so that memory goes by those that are open
            yield from self._end(stream, walk)
            del self._walks[stream]
            self._ended.add(stream)

    def finish(self) -> Iterator[Finding]:
        """All findings about how streams begin, and about heads without a stream."""
        for stream in sorted(self._walks):
            yield from self._end(stream, self._walks[stream])
        for stream in sorted(self._heads.keys() - self.seen):
            yield from Walk(stream[:32], self._heads[stream], self._around).end()

    def _end(self, stream: str, walk: Walk) -> Iterator[Finding]:
        found = list(walk.end())
        yield from found
        kept = self._branches.get(stream)
        if not found and kept is not None and walk.oldest is not None:
            yield from check_beginning(stream, kept, walk.oldest, self._filing)

    def wanted(self, stream: str) -> tuple[int, bytes, int | None] | None:
        """Seq and hash of a stream's next event back, and the stamp that its own must be before.

        None where only :meth:`step` can say what may come.
        """
        walk, head = self._walks.get(stream), self._heads.get(stream)
        if head is None:
            return None
        if walk is None:
            return None if stream in self._ended else (head.seq, head.hash, None)
        wanted = walk.wanted
        return wanted if wanted is not None and wanted[0] < head.seq else None

    def may_begin(self, stream: str, prev: bytes) -> bool:
        """Whether there is nothing to be found about a stream whose first event has seq 1 and this ``prev``."""
        kept = self._branches.get(stream)
        return kept is not None and (kept.first, kept.parent) == (1, None) and prev == ZERO_HASH

    def pass_over(self, stream: str, filed: Filed) -> None:
        """Go on behind an event up to which, it included, nothing is to be found."""
        if filed.seq == 1:
            self._walks.pop(stream, None)
            self._ended.add(stream)
        else:
            walk = self._walks.get(stream)
            if walk is None:
                walk = self._walks[stream] = Walk(stream[:32], self._heads.get(stream), self._around)
            walk.pass_over(filed)
