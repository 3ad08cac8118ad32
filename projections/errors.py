"""What can go wrong between the log and an analyst's answer."""

from __future__ import annotations

from beliefbase.events.errors import BeliefbaseError, StoreUnavailable


class ProjectorBusy(StoreUnavailable):
    """Another process projects this store at the moment; ``data`` names the lock file."""

    code = "projector_busy"


class NoSnapshot(StoreUnavailable):
    """Nothing was published yet."""

    code = "no_snapshot"


class BadPointer(StoreUnavailable):
    """The file that names the newest snapshot can't be used."""

    code = "bad_pointer"


class LogMoved(StoreUnavailable):
    """The log didn't come to rest for long enough to be read up to one frontier."""

    code = "log_moved"


class FoldingFailed(StoreUnavailable):
    """The process that folds the beliefs of a large log ended otherwise than it should; ``data`` has its status."""

    code = "folding_failed"


class QueryRefused(BeliefbaseError):
    """A query that is not one single SELECT."""

    code = "query_refused"
    exit_code = 2


class QueryFailed(BeliefbaseError):
    """DuckDB can't answer a query; the message is its own."""

    code = "query_failed"
    exit_code = 2
