"""The life of one belief: its state while events are folded, and what is read of it afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from beliefbase.beliefs import intervals
from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.intervals import CODE, CONTESTED, EXPIRED, STALE, Interval, Line, Spell
from beliefbase.beliefs.rules import FOREVER, HalfLife, Profile

if TYPE_CHECKING:
    from beliefbase.beliefs.contradictions import Contradiction
    from beliefbase.beliefs.edges import Replacement
    from beliefbase.beliefs.forks import Fate, Forks
    from beliefbase.beliefs.policies import Policy

_ACTIVE: Final = CODE["active"]
_CANDIDATE: Final = CODE["candidate"]
_UNAGED: Final = HalfLife(None, "")

Ending = tuple[int, int, bytes, int]
"""Stamp at which it acts, precedence, event, code of the status: sorts by which names the cause."""


class Life:
    """A belief (or an utterance that takes part in a contradiction: it lives for ever).

    The fold changes it; readers use ``id``, ``faces``, ``extraction``, ``born``, ``attributes``, ``intervals``,
    ``spells``, ``at``, ``half_life``, ``affirmed``, ``promotions``, ``endings``, ``inputs``.
    """

    __slots__ = (
        "absorbed",
        "active",
        "affirmed",
        "aged",
        "anchor",
        "announced",
        "attributes",
        "base",
        "born",
        "by",
        "challenges",
        "classes",
        "code",
        "disputes",
        "ends",
        "ever",
        "expired",
        "expires_at",
        "extraction",
        "faces",
        "falsified",
        "falsifiers",
        "fates",
        "feeds",
        "first_end",
        "forks",
        "half_life",
        "inherits",
        "inputs",
        "into",
        "into_log",
        "level",
        "line",
        "live",
        "mature",
        "on",
        "policy",
        "profile",
        "promoted",
        "promotions",
        "reclassified_at",
        "recurred",
        "scheduled",
        "shown",
        "span",
        "stale_at",
        "tied",
        "touched",
        "waits",
        "watched",
    )  # fmt: skip

    def __init__(self, extraction: Fact, born: int, profile: Profile) -> None:
        # What is read most comes first: compiled, it lies close together in memory.
        self.level = 0
        """Replacements in force never lead to a lower level."""
        self.watched = 0
        """Kinds of replacements that may wait for this belief, or for what replaces it, to rise, as bits."""
        self.on: dict[bytes, Replacement] | None = None
        """Replacements of this belief, by event."""
        self.by: list[Replacement] | None = None
        """Replacements by this belief."""
        self.into: Life | None = None
        """The belief that it is merged into."""
        self.tied = False
        """Whether other lives may depend on this one."""
        self.touched = False
        self.live = False
        self.active = False
        self.mature = False
        self.promoted = False
        self.ever = False
        """Whether it has ever been active."""
        self.inherits = False
        """Whether it takes the half-life of what it corrects."""
        self.scheduled = False
        """Whether others have to learn of its expiry at once."""
        self.ends: dict[bytes, Ending] = {}
        """Endings in force, by event."""
        self.first_end: Ending | None = None
        self.expired: int | None = None
        self.stale_at = FOREVER
        self.expires_at = FOREVER
        self.line: Line = []
        self.code = -1
        """Status and flags of the line's last row."""
        self.challenges = 0
        """Waiting replacements and contradictions that contest this belief or one merged into it."""
        self.waits = 0
        """How many replacements by this belief wait."""
        self.inputs: list[bytes] | None = None
        """Essential inputs of a conclusion, as named."""
        self.falsifiers: set[bytes] | None = None
        """Those of the endings in force that say it was wrong."""
        self.feeds: dict[Life, None] | None = None
        """Conclusions to look at again when anything changes here."""
        self.absorbed: list[Life] | None = None
        """The beliefs merged directly into this one."""
        self.disputes: list[Contradiction] | None = None
        self.fates: dict[bytes, Fate] | None = None
        """What revisions make of it, by event."""

        self.extraction = extraction
        """The fact that created it: the earliest of its copies."""
        self.born = born
        """Stamp from which it exists."""
        self.attributes: Mapping[str, Any] = extraction.payload
        """The extraction's payload with the reclassifications so far."""
        self.classes: list[tuple[int, Mapping[str, Any]]] | None = None
        """Stamps of reclassifications, in order, with the attributes from there on; None if there were none."""
        self.faces: tuple[bytes, ...] = (extraction.id,)
        """Every id that names it, the entity's own first."""
        self.falsified: list[tuple[int, bool]] | None = None
        """Stamps from which there are such endings, or no more; None if there never were."""
        self.into_log: list[tuple[int, Life | None]] | None = None
        self.announced: int | None = None
        """The bound of expiry under which it stands in the queue."""

        self.policy: Policy | None = None
        self.profile = profile
        self.half_life = _UNAGED
        self.span = 0
        """The half-life as a difference of stamps; 0 where there is none."""
        self.aged: list[tuple[int, int | None]] | None = None
        """Stamps from which another half-life counted, with its days; None if none ever did."""
        self.anchor = born
        """Stamp of the last affirmation."""
        self.base = born
        """Stamp that the half-life counts from: the anchor, or where a half-life from elsewhere began."""
        self.reclassified_at = -1

        self.affirmed: list[int] | None = None
        """Stamps of affirmations and reinstatements, in order; None if there were none."""
        self.promotions: list[tuple[int, bytes, bool]] | None = None
        """Stamp, event, and whether it promoted (or demoted)."""
        self.recurred: set[tuple[bytes, bytes | None]] | None = None
        self.shown: set[bytes] | None = None
        """Sessions in which it was injected."""
        self.forks: Forks | None = None

    @property
    def id(self) -> bytes:
        """The belief's id: that of its extraction."""
        return self.extraction.id

    # -- while folding ----------------------------------------------------------------------------------------------

    def alive(self, now: int, but: Collection[bytes] = ()) -> bool:
        """Whether no ending is in force, except by some events, and the bound of expiry hasn't come."""
        return (
            (not self.ends or (bool(but) and all(event in but for event in self.ends)))
            and self.expired is None
            and self.expires_at > now
        )

    def pass_bounds(self, now: int) -> None:
        """Write the rows of bounds up to and including ``now``."""
        if self.expired is not None or self.stale_at > now:
            return
        expires = self.expires_at
        if not self.ends:
            if not self.code & STALE:
                self.code |= STALE
                self.line += (self.stale_at, self.code, None, None)
            if expires <= now:
                self.code = EXPIRED
                self.line += (expires, EXPIRED, None, None)
        if expires <= now:
            self.expired = expires
            if not self.scheduled:
                self.live = self.active = False

    def begin(self) -> None:
        """Write the first row, where nothing has waited for the belief: there is nobody to tell."""
        self.live = True
        self.active = self.ever = self.mature
        self.code = _ACTIVE if self.mature else _CANDIDATE
        self.line = [self.born, self.code, None, self.extraction.id]

    def write(self, now: int, by: bytes | None) -> None:
        """Write a row if the belief stands otherwise than before; of several at one stamp the last counts."""
        first = self.first_end
        cause = None
        if first is not None and (self.expired is None or first[0] < self.expired):
            code, cause = first[3], first[2]
        elif self.expired is not None:
            code = EXPIRED
        else:
            code = _ACTIVE if self.active else _CANDIDATE
            if self.stale_at <= now:
                code |= STALE
            if self.challenges:
                code |= CONTESTED
        line = self.line
        if line:
            if self.code == code and line[-2] == cause:
                return
            if line[-4] == now:
                del line[-4:]
                if line and line[-3] == code and line[-2] == cause:
                    self.code = code
                    return
        self.code = code
        line += (now, code, cause, by)

    def end(self, ending: Ending) -> None:
        """Put an ending in force."""
        self.ends[ending[2]] = ending
        if self.first_end is None or ending < self.first_end:
            self.first_end = ending

    def lift(self, event: bytes, now: int) -> None:
        """Take an ending by this event out of force, if there is one."""
        ending = self.ends.pop(event, None)
        if ending is not None and ending == self.first_end:
            self.first_end = min(self.ends.values(), default=None)
        if self.falsifiers is not None and event in self.falsifiers:
            self.falsifiers.remove(event)
            if not self.falsifiers and self.falsified is not None:
                self.falsified.append((now, False))

    def falsify(self, event: bytes, now: int) -> None:
        """Remember that an ending says the belief was wrong."""
        if self.falsifiers is None or self.falsified is None:
            self.falsifiers, self.falsified = set(), []
        if not self.falsifiers:
            self.falsified.append((now, True))
        self.falsifiers.add(event)

    def falsified_at(self, hlc: int) -> bool:
        """Whether an ending as contradicted or as wrong is in force at a stamp."""
        found = False
        for since, falsified in self.falsified or ():
            if since <= hlc:
                found = falsified
        return found

    def set_bounds(self) -> None:
        """Place the bounds of staleness and expiry: one span and two after the millisecond of the base; saturating."""
        span = self.span
        if not span:
            self.stale_at = self.expires_at = FOREVER
            return
        stale_at = (self.base >> 16 << 16) + span
        expires_at = stale_at + span
        if expires_at > FOREVER:
            stale_at, expires_at = min(FOREVER, stale_at), FOREVER
        self.stale_at, self.expires_at = stale_at, expires_at

    def chain(self) -> list[Life]:
        """This belief and, if it is merged, its survivors in turn."""
        found = [self]
        while (survivor := found[-1].into) is not None:
            found.append(survivor)
        return found

    def canon(self) -> Life:
        """The belief that stands for this one: itself, or its last survivor."""
        life = self
        while life.into is not None:
            life = life.into
        return life

    def family(self) -> Iterator[Life]:
        """This belief and every duplicate merged into it, directly or in turn."""
        stack = [self]
        while stack:
            life = stack.pop()
            yield life
            if life.absorbed:
                stack += life.absorbed

    def let_go(self) -> None:
        """Forget what refers to other lives, and with them to this one."""
        self.on = self.by = self.into = self.into_log = self.absorbed = self.disputes = self.feeds = self.forks = None

    # -- afterwards -------------------------------------------------------------------------------------------------

    @property
    def intervals(self) -> list[Interval]:
        """Its rows, in order, without gaps from ``born`` to ``FOREVER``."""
        return intervals.rows(self.whole_line)

    @property
    def whole_line(self) -> Line:
        """Its rows laid end to end, forks included."""
        forks = [] if self.forks is None else self.forks.of(self)
        return intervals.with_forks(self.line, forks) if forks else self.line

    @property
    def spells(self) -> list[Spell]:
        """Its live stretches."""
        return intervals.spells(self.intervals)

    @property
    def endings(self) -> list[Ending]:
        """Every ending in force at the end, the one that names the cause first."""
        return sorted(self.ends.values())

    def at(self, hlc: int) -> Interval | None:
        """The interval that holds a stamp; None before the belief exists."""
        return intervals.at(self.intervals, hlc)
