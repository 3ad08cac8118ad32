"""Whether stored values have the shape that a field writes: one value, or a column of them at a fraction of the cost.

A check of a column that says yes is right; one that says no may be too strict, and is followed by checks one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from beliefbase.events import limits

SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:/+-]*")


class Check:
    """The shape of a field's values."""

    def __call__(self, value: object) -> bool:
        """Whether a value has it."""
        raise NotImplementedError

    def every(self, values: Sequence[Any]) -> bool:
        """Whether all of these have it."""
        return all(map(self, values))


class IsBytes(Check):
    """So many bytes, such as an id or a hash has."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return isinstance(value, bytes) and len(value) == self.length

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        return set(map(type, values)) <= {bytes} and set(map(len, values)) <= {self.length}


class IsWord(Check):
    """One of some words."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = allowed

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return isinstance(value, str) and value in self._allowed

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        return set(map(type, values)) <= {str} and self._allowed.issuperset(values)


class IsSlug(Check):
    """An identifier of software or configuration."""

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return isinstance(value, str) and len(value) <= limits.SLUG_CHARACTERS and SLUG.fullmatch(value) is not None

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        return set(map(type, values)) <= {str} and all(map(self, set(values)))


class IsFlag(Check):
    """True or False."""

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return isinstance(value, bool)

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        return set(map(type, values)) <= {bool}


class IsWhole(Check):
    """A whole number within bounds, both of them included."""

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return type(value) is int and self.least <= value <= self.most

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        if not set(map(type, values)) <= {int}:
            return False
        return not values or (self.least <= min(values) and max(values) <= self.most)


class IsList(Check):
    """A list of values of one shape."""

    def __init__(self, item: Check) -> None:
        self.item = item

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return isinstance(value, tuple) and len(value) <= limits.LIST_ITEMS and all(map(self.item, value))

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        return (
            set(map(type, values)) <= {tuple}
            and max(map(len, values), default=0) <= limits.LIST_ITEMS
            and self.item.every(list(chain.from_iterable(values)))
        )


class IsTable(Check):
    """A map from keys of one shape to values of another."""

    def __init__(self, key: Check, item: Check) -> None:
        self._key, self.item = key, item

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        return isinstance(value, dict) and all(self._key(key) and self.item(item) for key, item in value.items())


class IsMap(Check):
    """A map with fields: those that are needed, and of the others those that are known."""

    def __init__(self, fields: Mapping[str, Check], needed: frozenset[str]) -> None:
        self.fields, self.needed = fields, needed

    def __call__(self, value: object) -> bool:  # noqa: D102  of the base
        fields = self.fields
        return (
            isinstance(value, dict)
            and self.needed <= value.keys()
            and all(name in fields and fields[name](item) for name, item in value.items())
        )

    def every(self, values: Sequence[Any]) -> bool:  # noqa: D102  of the base
        if not set(map(type, values)) <= {dict}:
            return False
        names = set(chain.from_iterable(values))
        if not names <= self.fields.keys():
            return False
        try:
            columns = {name: [value[name] for value in values] for name in self.needed}
        except KeyError:
            return False
        for name in names - self.needed:
            columns[name] = [value[name] for value in values if name in value]
        return all(self.fields[name].every(column) for name, column in columns.items())
