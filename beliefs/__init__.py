"""Beliefs: the rules of their lifecycle, pure functions of events."""
