"""What every policy states."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

Decay = Literal["by_act", "days", "none"]


@dataclass(frozen=True, slots=True)
class Policy:
    """A named, versioned rule for the ageing of beliefs; immutable once released."""

    name: str
    """``name@version``."""
    summary: str
    """One sentence for people; no part of the fingerprint."""
    decay: Decay
    """``by_act``: by speech act and kind; ``days``: a fixed half-life; ``none``: never stale, never expired."""
    days: int | None = None
    """Half-life in days where decay is ``days``."""
    ends_on_condition: bool = False
    """Whether a ``condition.met`` for the belief's condition key ends it."""

    def fingerprint(self) -> str:
        """SHA-256 (hex) over everything the rules read."""
        told = f"{self.name}\n{self.decay}\n{self.days}\n{self.ends_on_condition}\n"
        return hashlib.sha256(told.encode()).hexdigest()
