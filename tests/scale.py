"""How much the slow tests do: everything by default, a part of it where BELIEFBASE_SLOW_SCALE says so."""

import os


def scaled(n: int) -> int:
    """Return n examples, events or rounds times BELIEFBASE_SLOW_SCALE (a decimal, 1 if unset), at least 1."""
    return max(1, round(n * float(os.environ.get("BELIEFBASE_SLOW_SCALE", "1"))))
