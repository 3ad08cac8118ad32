"""Lifecycle policies: how long a belief stays fresh, and what ends it besides time.

One policy is one module here with one constant, ``POLICY``. A released policy is never edited: a change is a new
version in a new module. Tests pin the fingerprint of each.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from beliefbase.beliefs.policies.base import Decay, Policy


def _found() -> dict[str, Policy]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "base")
    policies = [importlib.import_module(f"{__name__}.{name}").POLICY for name in names]
    return {policy.name: policy for policy in policies}


BUILT_IN: Mapping[str, Policy] = _found()
"""The released policies by ``name@version``."""


def versioned(name: str) -> str:
    """``name@version`` of what a belief or an event calls its policy: a bare name means version 1."""
    return name if "@" in name else f"{name}@1"


__all__ = ["BUILT_IN", "Decay", "Policy", "versioned"]
