"""Lives of beliefs of which only their extraction says anything, straight from its columns."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from beliefbase.beliefs.attributes import CORRECTABLE
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lone import FOLDED, Courses
from beliefbase.projections.batch import Batch
from beliefbase.projections.stretches import Stretches


def taken_apart(extractions: Batch, courses: Courses, erased: Collection[bytes]) -> tuple[Stretches, list[Fact]]:
    """The lives of lone beliefs, and the facts of those that have to be folded; ``erased`` names some of these."""
    numbers = np.array(list(map(courses.number, extractions.maps(*CORRECTABLE))), dtype=np.int64)
    latest = np.array([*(course.latest for course in courses.found), FOLDED], dtype=np.int64)
    told = extractions.stamps <= latest[numbers]
    if erased:
        told &= [id_.tobytes() not in erased for id_ in extractions.ids]
    stretches = Stretches.along(extractions.ids[told], extractions.stamps[told], courses.found, numbers[told])
    return stretches, [] if told.all() else extractions.chosen((~told).tolist()).facts()
