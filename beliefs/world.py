"""The state of a fold: every life so far, what has to be looked at again, and which bounds have to be kept on time."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from beliefbase.beliefs.life import Life
from beliefbase.beliefs.policies import BUILT_IN, Policy, versioned
from beliefbase.beliefs.reasons import Note, Reason
from beliefbase.beliefs.rules import DEFAULT_PROFILE, FOREVER, Character, HalfLife, Profile, Rules, character, outline
from beliefbase.beliefs.settled import Settled

if TYPE_CHECKING:
    from beliefbase.beliefs.contradictions import Contradiction
    from beliefbase.beliefs.edges import Replacement
    from beliefbase.beliefs.facts import Fact


class World:
    """What the modules of the lifecycle share while events act one after the other."""

    def __init__(self, rules: Rules, entity: dict[bytes, bytes], settled: Settled) -> None:
        self.rules = rules
        self.refused = settled.void
        """Supersessions of which it is known that they are void."""
        self.settled = {**settled.acts, **dict.fromkeys(settled.until, False)}
        """Supersessions of which it is known whether they are ready now."""
        self.deferred = settled.until
        """Those that are known not to act where they are written."""
        self.until: dict[bytes, list[bytes]] = {}
        """Events to the settled supersessions that act with them."""
        for event, trigger in settled.until.items():
            self.until.setdefault(trigger, []).append(event)
        self.unready: dict[bytes, list[Replacement]] = {}
        """What these would replace, as far as they wait."""
        self.ticks = settled.ticks
        self.waits = settled.waits
        self.ever = settled.ever
        self.fit = settled.fit
        self.unfit = settled.unfit
        self.entity = entity
        """Copy to the earliest event of its entity, of all that have acted so far."""
        self.now = 0
        """Stamp at which the present event acts."""
        self.lives: dict[bytes, Life] = {}
        """Beliefs by their own id."""
        self.known: dict[bytes, Life] = {}
        """Beliefs by every id that names them."""
        self.said: dict[bytes, Fact] = {}
        """Utterances so far, by their own id."""
        self.utterances: dict[bytes, Life] = {}
        """Those that take part in a contradiction, as lives without an end."""
        self.contradictions: dict[bytes, Contradiction] = {}
        self.resolved: dict[bytes, Contradiction] = {}
        """Resolutions that have acted, to their contradiction."""
        self.profile: Profile = DEFAULT_PROFILE
        self.policies: dict[str, Policy] = dict(BUILT_IN)
        self.without_policy: dict[str, dict[Life, None]] = {}
        """Beliefs that named a policy that isn't defined yet; they may name another one since."""
        self.under_key: dict[bytes, dict[Life, None]] = {}
        """Beliefs that stand under a condition key, by key."""
        self.awaited: dict[bytes, list[Replacement]] = {}
        """Replacements by a belief that isn't known yet, by the id they name."""
        self.awaited_inputs: dict[bytes, dict[Life, None]] = {}
        """Conclusions with an input that isn't known yet, by the id they name."""
        self.void: dict[bytes, Note] = {}
        self.voided_at: dict[bytes, int] = {}
        self.notes: list[Note] = []
        self.forkable: list[Life] = []
        """Lives with more than one fate."""
        self.edges = 0
        self.effects = 0

        self.touched: list[Life] = []
        """Lives whose row may change with the present event."""
        self.dirty: list[Life] = []
        """Lives whose liveness or activity may have changed."""
        self.aging: dict[Life, int | None] = {}
        """Lives whose half-life may have changed, to the days below which it can't have come; None: not known."""
        self.queue: list[tuple[int, Replacement]] = []
        """Waiting replacements that may act now, the oldest first."""
        self._characters: dict[tuple[object, ...], Character] = {}
        self.bounds: list[tuple[int, int, Life]] = []
        """Expiries that others have to learn of: stamp, a running number, life. A heap; some have moved since."""
        self._scheduled = 0

    # -- what changed -----------------------------------------------------------------------------------------------

    def touch(self, life: Life) -> None:
        """Announce that a flag of a life may change; bounds that have passed are written first."""
        if not life.touched:
            if life.stale_at <= self.now:
                life.pass_bounds(self.now)
            life.touched = True
            self.touched.append(life)

    def change(self, life: Life) -> None:
        """Announce a change of what a life is; to be called before the change."""
        if not life.touched:
            if life.stale_at <= self.now:
                life.pass_bounds(self.now)
            life.touched = True
            self.touched.append(life)
        self.dirty.append(life)

    def refresh(self, life: Life) -> None:
        """Start a life's ageing anew, as an affirmation does."""
        now = self.now
        life.anchor = life.base = now
        life.expired = None
        if life.profile is not self.profile:
            life.profile = self.profile
            self.aging[life] = None
        if life.affirmed is None:
            life.affirmed = [now]
        elif life.affirmed[-1] != now:
            life.affirmed.append(now)
        life.set_bounds()
        if life.scheduled:
            self.push(life)

    def age(self, life: Life, half_life: HalfLife) -> None:
        """Give a life its half-life and place its bounds by it."""
        life.half_life = half_life
        life.span = ((half_life.days or 0) * self.rules.day_ms) << 16
        life.set_bounds()
        if life.scheduled:
            self.push(life)

    def place_bounds(self, life: Life) -> None:
        """Place a life's bounds, and keep them on time if others depend on it."""
        life.set_bounds()
        if life.scheduled:
            self.push(life)

    def refuse(self, event: bytes, reason: Reason, about: bytes | None) -> None:
        """Note that an event is void."""
        if event not in self.void:
            self.voided_at[event] = self.now
        self.void[event] = Note(event, reason, about)

    def character(self, life: Life) -> Character:
        """What the rules make of a life's attributes under its policy and profile."""
        key = outline(life.attributes), life.policy, life.profile.place
        found = self._characters.get(key)
        if found is None:
            found = self._characters[key] = character(life.attributes, life.policy, life.profile, self.rules)
        return found

    def policy_of(self, life: Life) -> Policy | None:
        """The policy that a belief's attributes name, if it is defined; otherwise the belief is kept for later."""
        name = life.attributes.get("policy")
        if name is None:
            return None
        policy = self.policies.get(versioned(name))
        if policy is None:
            self.without_policy.setdefault(versioned(name), {})[life] = None
        return policy

    def lacking_policy(self) -> list[Life]:
        """The beliefs that name a policy that isn't defined."""
        return [
            life
            for name, lives in self.without_policy.items()
            for life in lives
            if versioned(life.attributes.get("policy") or "") == name
        ]

    # -- bounds -----------------------------------------------------------------------------------------------------

    def schedule(self, life: Life) -> None:
        """Have a life's expiry announced when it comes: something depends on it."""
        if not life.scheduled:
            if not life.touched:
                life.pass_bounds(self.now)
            life.scheduled = life.tied = True
            if life.expired is None:
                self.push(life)

    def push(self, life: Life) -> None:
        """Keep a life's expiry on time."""
        if not self.now < life.expires_at < FOREVER or (life.announced or FOREVER) <= life.expires_at:
            return  # what stands in the queue already comes first, and puts it there anew
        life.announced = life.expires_at
        self._scheduled += 1
        heapq.heappush(self.bounds, (life.expires_at, self._scheduled, life))
