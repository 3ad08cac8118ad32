"""beliefbase: an event-sourced belief store for agents.

The names below are loaded on first use, so that ``import beliefbase.events``
pulls in neither duckdb nor numpy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beliefbase.store import BeliefStore

    __version__: str

__all__ = ["BeliefStore", "__version__"]


def __getattr__(name: str) -> object:
    """Load a public name of the package on first use."""
    if name == "BeliefStore":
        from beliefbase.store import BeliefStore

        return BeliefStore
    if name == "__version__":
        from importlib.metadata import version

        return version("beliefbase")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
