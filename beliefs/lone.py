"""Lives of beliefs of which only their extraction says anything: they live alike, from another moment on.

What the rules read of an extraction is in its attributes, and its stamp moves all that follows by as much. So one
belief of each sort is folded, by the rules that all are folded by, and the others take its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.fold import fold
from beliefbase.beliefs.rules import FOREVER, outline
from beliefbase.events.ids import ID_BYTES

FOLDED: Final = -1
"""Instead of a course's number: such a belief has to be folded like others."""
_MOST: Final = 1000
"""So many sorts of beliefs are told apart; where there are more, few are alike."""
_ID: Final = bytes(ID_BYTES)


class Course(NamedTuple):
    """How a lone belief lives, whatever its stamp is; its first row begins with it, and names it as the reason."""

    codes: tuple[int, ...]
    """Status and flags of each row."""
    since: tuple[int, ...]
    """Where each row begins, as a difference to the millisecond of the extraction; the first one is 0."""

    @property
    def latest(self) -> int:
        """The last stamp from which it is lived like this; bounds that come later than FOREVER saturate."""
        return FOREVER - self.since[-1] - 1


class Courses:
    """The courses of lone beliefs where no profile was activated and no policy defined."""

    def __init__(self) -> None:
        self.found: list[Course] = []
        self._numbers: dict[tuple[object, ...], int] = {}

    def number(self, attributes: Mapping[str, Any]) -> int:
        """Which of those found is that of a belief with these attributes, or FOLDED."""
        sort = outline(attributes), attributes.get("policy")
        number = self._numbers.get(sort)
        if number is None:
            if len(self._numbers) == _MOST:
                return FOLDED
            course = _course(attributes)
            number = self._numbers[sort] = FOLDED if course is None else len(self.found)
            if course is not None:
                self.found.append(course)
        return number


def _course(attributes: Mapping[str, Any]) -> Course | None:
    """The course of one such belief; None for a question, and where something is remarked about it."""
    folded = fold([Fact(0, _ID, 1, _ID, "belief.extracted", attributes, (), None, _ID)])
    life = folded.of(_ID)
    if life is None or folded.notes:
        return None
    since, codes, causes, by = (life.whole_line[column::4] for column in range(4))
    if since[0] != 0 or any(causes) or by[0] != _ID or any(by[1:]):
        return None
    return Course(tuple(codes), tuple(since))  # type: ignore[arg-type]  # a line has columns of different types
