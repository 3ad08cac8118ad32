"""A log in tables as an audit reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from beliefbase.events.frontier import root_hash
from beliefbase.events.log import Filed, FiledHead, Head
from beliefbase.events.tables import Tables

if TYPE_CHECKING:
    from beliefbase.events.filed_pages import Sweep


class TablesFiling:
    """Implements :class:`beliefbase.events.log.Filing`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def heads(self) -> Mapping[str, Head]:
        """Every stream with its head, off the heads."""
        return {stream: filed.head for stream, filed in self._tables.filed_heads()}

    def branches(self) -> Sequence[tuple[str, FiledHead]]:
        """All that the store keeps about its branches."""
        return list(self._tables.filed_heads())

    def skeleton(self, stream: str, seq: int) -> bytes | None:
        """The skeleton that is filed in a stream under a seq."""
        found = self._tables.at(stream, seq)
        return None if found is None else found.raw

    def unusable(self) -> Iterable[str]:
        """What is wrong with settings and rows about the frontier that can't have been stored as they are."""
        return self._tables.unusable()

    def streams(self) -> Iterable[str]:
        """Every stream that has events, off the events."""
        return self._tables.stream_ids()

    def stream(self, stream: str) -> Iterator[Filed]:
        """The events of a stream from the newest back."""
        return self._tables.filed(stream)

    def newest_first(self) -> Iterator[tuple[str, Filed]]:
        """All events with their streams, in the order of arrival turned round."""
        return self._tables.all_filed()

    @property
    def sweep(self) -> Sweep | None:
        """Reads all of it by the page; None for a store that is read one by one."""
        return self._tables.sweep

    def root(self) -> bytes:
        """The root of the frontier by the hashes that the store keeps."""
        return root_hash(self._tables.buckets()[0])

    def loose_words(self) -> list[bytes]:
        """Ids that words are filed under for which no event is stored."""
        return self._tables.loose_words()
