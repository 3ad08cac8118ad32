"""What to tell whoever appends an event that was stored and yet isn't quite right: never an error."""

from __future__ import annotations

from beliefbase.beliefs.coherence import incoherence
from beliefbase.events.catalog import Draft


def notes_on(draft: Draft) -> list[str]:
    """Observe-only fields that were malformed and left out, and a class that doesn't fit together."""
    found = list(draft.notes)
    warning = incoherence(draft.payload) if draft.type in {"belief.extracted", "belief.reclassified"} else None
    return [*found, *([warning] if warning else [])]
