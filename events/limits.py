"""The size limits of stored events, by DESIGN 1; an error that refuses something names the limit."""

from __future__ import annotations

SKELETON_BYTES = 64 * 1024
"""Largest skeleton of a format that this release knows."""
FOREIGN_SKELETON_BYTES = 1024 * 1024
"""Largest skeleton of a format that this release doesn't know."""
BODY_BYTES = 256 * 1024
"""Largest body of words."""
VERBATIM_BYTES = 64 * 1024
"""Largest verbatim text, and any other single text, in UTF-8 bytes."""
NAME_CHARACTERS = 200
"""Longest name of a person, agent, conversation, session, condition key or source_ref."""
LIST_ITEMS = 256
"""Longest list in a payload or body."""
EXCERPT_CHARACTERS = 500
"""Longest excerpt."""
BASIS_IDS = 64
"""Most ids in a basis; the least ones are kept and a trailing ``true`` says that there were more."""
SLUG_CHARACTERS = 64
"""Longest identifier of software or configuration."""
