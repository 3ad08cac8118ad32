"""What the folding of a slice asks of an event log."""

from __future__ import annotations

from collections.abc import Collection

from beliefbase.beliefs.facts import Fact
from beliefbase.events.log import EventLog
from beliefbase.projections.reading import Reader


class LogSource:
    """The :class:`beliefbase.beliefs.lookups.Source` over a log: facts by id, or by what they name."""

    def __init__(self, log: EventLog, reader: Reader) -> None:
        self._log = log
        self._reader = reader

    def by_id(self, ids: Collection[bytes]) -> list[Fact]:
        """The stored and usable facts with these ids."""
        return self._reader.facts(self._log.by_id(ids))

    def naming(self, keys: Collection[bytes], roles: Collection[int]) -> list[Fact]:
        """The usable facts that name one of these keys in one of these roles."""
        return self._reader.facts(self._log.naming(keys, roles))

    def everywhere(self) -> list[Fact]:
        """Profiles and policies."""
        return self._reader.facts(self._log.of_types(("policy.defined", "profile.activated")))
