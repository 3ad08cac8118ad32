"""Replay: rebuild, audit, pins, explanations and differences."""
