"""The event catalogue: a closed registry of types, versions and upcasters."""

from __future__ import annotations

from beliefbase.events.catalog.base import Role
from beliefbase.events.catalog.drafting import Draft
from beliefbase.events.catalog.registry import CATALOG, Catalog, Unreadable

__all__ = ["CATALOG", "Catalog", "Draft", "Role", "Unreadable"]
