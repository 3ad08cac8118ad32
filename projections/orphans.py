"""Processes that work for another one end with it."""

from __future__ import annotations

import os
from threading import Thread
from typing import Final

_STANDARD_INPUT: Final = 0


def end_with_parent() -> None:
    """End this process as soon as its standard input, a pipe from its parent, is closed: whoever started it is gone."""
    Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    while os.read(_STANDARD_INPUT, 1):  # not sys.stdin: its lock can't be had at the end of the interpreter
        pass
    os._exit(1)
