"""The specification of a belief's status: a fold that keeps no index, goes event by event, and asks everything anew.

It knows extraction, affirmation, promotion, demotion, retraction, reinstatement, supersession and erasure (DESIGN 5),
which is what worlds with ``plain`` events hold; statuses only, no flags.
"""

from beliefbase.beliefs.facts import Fact

DAY = 86_400_000
HALF_LIVES = {"hypothetical": 14, "fact": 365, "progress": 14}
PRESUPPOSED = ("belief_id", "superseded_id")
PRECEDENCE = ("erased", "retracted", "duplicate", "superseded")


def statuses(facts, erased, until):
    """Status by belief at a stamp; ``erased`` maps beliefs to (stamp, id) of the erasure."""
    facts = {fact.id: fact for fact in facts if fact.hlc <= until}
    for belief, (hlc, event) in erased.items():
        if hlc <= until:
            made = Fact(hlc, b"", 0, event + belief, "belief.erased", {"belief_id": belief}, (), None, b"")
            facts[made.id] = made
    world = _World()
    for key, fact in _acting(facts):
        world.now = key[0][0]
        world.act(fact)
        world.settle()
    world.now = until
    return {belief: world.status(belief) for belief in world.lives}


def _acting(facts):
    """Facts in the order in which they act: (own place), or the place of what is presupposed and then the own one."""
    keys = {}

    def key(fact, above=()):
        if fact.id in above:
            return None
        if fact.id not in keys:
            places = [key(facts[name], (*above, fact.id)) if name in facts else None for name in _presupposed(fact)]
            own = fact[:4]
            if None in places:
                return None
            last = max(places, default=())
            keys[fact.id] = (own,) if (own,) > last else (*last, own)
        return keys[fact.id]

    found = [(key(fact), fact) for fact in facts.values() if fact.type.startswith("belief.")]
    return sorted((at, fact) for at, fact in found if at is not None)


def _presupposed(fact):
    named = [fact.payload[field] for field in PRESUPPOSED if field in fact.payload]
    return [*named, *fact.payload.get("undoes", ())]


class _Life:
    def __init__(self, fact, now):
        payload = fact.payload
        act = payload.get("speech_act", "direct_assertion")
        self.span = (HALF_LIVES.get(act) or HALF_LIVES[payload["kind"]]) * DAY
        self.mature = (
            payload.get("assertion_class") == "durable_fact"
            and payload.get("confidence", 0) >= 850
            and act == "direct_assertion"
        )
        self.ever = False
        self.anchor = now
        self.ends = {}

    def expires(self):
        return (self.anchor >> 16) + 2 * self.span << 16


class _World:
    def __init__(self):
        self.now = 0
        self.lives = {}
        self.waiting = []
        self.force = {}
        """Supersessions in force: event to (target, replacer)."""

    def act(self, fact):
        payload = fact.payload
        name = fact.type.removeprefix("belief.")
        if name == "extracted":
            self.lives[fact.id] = _Life(fact, self.now)
            return
        belief = payload.get("belief_id", payload.get("superseded_id"))
        life = self.lives.get(belief)
        if life is None:
            return
        if name == "superseded":
            self.waiting.append((fact.id, belief, payload["superseding_id"]))
        elif name == "retracted":
            life.ends[fact.id] = (self.now, 1, fact.id)
        elif name == "erased":
            life.ends[fact.id[:16]] = (self.now, 0, fact.id)
        elif name == "affirmed" and not life.ends:
            life.anchor, life.mature = self.now, True
        elif name in {"promoted", "demoted"} and self.live(belief):
            life.mature = name == "promoted"
        elif name == "reinstated":
            for event in payload["undoes"]:
                self.undo(life, belief, event)

    def undo(self, life, belief, event):
        waits = [edge for edge in self.waiting if edge[:2] == (event, belief)]
        ending = life.ends.get(event)
        if waits or (ending and PRECEDENCE[ending[1]] != "erased"):
            life.ends.pop(event, None)
            self.force.pop(event, None)
            self.waiting = [edge for edge in self.waiting if edge not in waits]
            life.anchor = self.now

    def settle(self):
        """Let supersessions act that can, the first one first, until none can."""
        while True:
            for belief, life in self.lives.items():
                life.ever = life.ever or self.active(belief)
            ready = [edge for edge in self.waiting if self.ready(edge)]
            if not ready:
                return
            event, target, replacer = ready[0]
            self.waiting.remove(ready[0])
            if target not in self.above(replacer):
                self.force[event] = target, replacer
                self.lives[target].ends[event] = (self.now, 3, event)

    def ready(self, edge):
        _, target, replacer = edge
        if replacer not in self.lives:
            return False
        if not self.lives[target].mature or self.lives[replacer].ever:
            return True
        return any(self.active(belief) for belief in self.above(replacer) if belief != target)

    def above(self, belief):
        """A belief and what replaced it, in turn."""
        found, todo = [belief], [belief]
        while todo:
            here = todo.pop()
            new = [by for target, by in self.force.values() if target == here and by not in found]
            found += new
            todo += new
        return found

    def live(self, belief):
        life = self.lives[belief]
        return not life.ends and life.expires() > self.now

    def active(self, belief):
        return self.lives[belief].mature and self.live(belief)

    def status(self, belief):
        life = self.lives[belief]
        first = min(life.ends.values(), default=None)
        if life.expires() <= self.now and (first is None or life.expires() <= first[0]):
            return "expired"
        if first is not None:
            return PRECEDENCE[first[1]]
        return "active" if life.mature else "candidate"
