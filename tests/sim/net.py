"""The network: a peer's log that is reached over a bad line, and packets that are under way."""

from typing import NamedTuple

from beliefbase.events.envelope import Event


class Down(Exception):
    """The line went dead."""


class Line:
    """Another machine's log as it is seen over the network; keeps what came over.

    Whatever isn't a page of events comes over whole: a protocol has its own checks for that.
    """

    def __init__(self, log, mix, random, *, cut_after=None):
        self._log = log
        self._mix = mix
        self._random = random
        self._left = cut_after
        self.given = []
        """Events that came over, in order."""

    def __getattr__(self, name):
        return getattr(self._log, name)

    def since(self, frontier, buckets=None):
        """Pages of what a holder of the frontier lacks, as far as they come over."""
        events = [event for page in self._log.since(frontier, buckets) for event in page]
        for page in self._pages(events):
            self.given += page
            yield page

    def by_id(self, ids, *, words=False):
        """The events with these ids, as far as they come over; none of them if the line goes dead."""
        found = [event for page in self._pages(self._log.by_id(ids, words=words)) for event in page]
        self.given += found
        return found

    def _pages(self, events):
        size = self._mix.page
        pages = [events[start : start + size] for start in range(0, len(events), size)]
        for page in under_way(pages, self._mix, self._random):
            if self._left is not None:
                if not self._left:
                    raise Down
                self._left -= 1
            yield page


def under_way(pages, mix, random):
    """The pages that arrive of those that were sent."""
    for page in pages:
        if random.random() < mix.loss:
            continue
        page = [Event(event.raw) if random.random() < mix.wordless else event for event in page]
        for _ in range(2 if random.random() < mix.repeat else 1):
            yield [Event(event.raw, event.salt, event.body) for event in page]


class Packet(NamedTuple):
    """Events on their way."""

    due_ms: int
    number: int
    to: str
    events: list
    damaged: bool
    """A bit of the last event's words flipped on the way."""
