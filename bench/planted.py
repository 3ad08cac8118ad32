"""The bugs that ``make mutants`` plants in the lifecycle fold, and how a patch is applied."""

from __future__ import annotations

import re
from typing import NamedTuple


class Mutant(NamedTuple):
    """A planted bug: ``old``, found exactly once whatever its line breaks, becomes ``new``."""

    bug: str
    file: str
    old: str
    new: str


MUTANTS = (
    # -- order
    Mutant(
        "events of one stamp act as they arrived: no tie-break",
        "order.py",
        "self.facts = sorted(facts)",
        "self.facts = sorted(facts, key=lambda fact: fact.hlc)",
    ),
    Mutant("duplicates are applied twice", "order.py", "if event == last: continue", "if False: continue"),
    Mutant(
        "plain HLC order: what presupposes a later event is lost",
        "order.py",
        "if blocked and event in blocked:",
        "if False:",
    ),
    Mutant(
        "what acts directly after another event keeps its own stamp",
        "order.py",
        "self.acted[fact.id] = stamp",
        "self.acted[fact.id] = fact.hlc",
    ),
    Mutant(
        "dangling targets are ignored: what waits is not listed",
        "order.py",
        "self.waiting = {fact.id: (fact, missing) for missing, facts in blocked.items() for fact in facts}",
        "self.waiting = {}",
    ),
    Mutant(
        "a reinstatement does not presuppose the endings that it undoes",
        "order.py",
        'if fact.type == "belief.reinstated":',
        'if fact.type == "never":',
    ),
    Mutant("questions become beliefs", "order.py", 'get("speech_act") == "question"', 'get("speech_act") == "?"'),
    # -- entry, promotion
    Mutant(
        "the gate asks for more than 850",
        "rules.py",
        "or confidence_of(attributes) < ENTRY_CONFIDENCE:",
        "or confidence_of(attributes) <= ENTRY_CONFIDENCE:",
    ),
    Mutant(
        "an unsure speech act passes the gate",
        "rules.py",
        "return certainty_of(attributes) >= CERTAIN_ACT and",
        "return",
    ),
    Mutant(
        "sessions in which it had been shown count as recurrences",
        "acts.py",
        "if life.shown is None or session not in life.shown:",
        "if True:",
    ),
    Mutant(
        "recurrences in one session name count once for all agents",
        "acts.py",
        "life.recurred.add((fact.agent, session))",
        "life.recurred.add((life.extraction.agent, session))",
    ),
    Mutant("a demotion does not start the count anew", "acts.py", "life.recurred = set() waiting", "waiting"),
    Mutant(
        "a reclassification takes back an earlier promotion",
        "acts.py",
        "life.mature = life.promoted or world.character(life).mature",
        "life.mature = world.character(life).mature",
    ),
    Mutant(
        "affirming an ended belief is not void",
        "acts.py",
        "if life.ends: continue acted = True world.change(life) world.refresh(life)",
        "acted = True; world.change(life); world.refresh(life)",
    ),
    # -- half-lives
    Mutant(
        "a half-life taken over by a correction counts from its last affirmation",
        "half_lives.py",
        "life.base = life.anchor if life.reclassified_at == world.now else world.now",
        "life.base = life.anchor",
    ),
    Mutant(
        "of several corrected beliefs the longest half-life counts",
        "half_lives.py",
        "days < shortest",
        "days > shortest",
    ),
    Mutant(
        "a correction takes a half-life one link far, not along the chain",
        "half_lives.py",
        "todo += [(corrector, half_life.days) for corrector in _correctors(life, new, before, half_life)]",
        "todo += ()",
    ),
    Mutant(
        "expired after three half-lives", "life.py", "expires_at = stale_at + span", "expires_at = stale_at + 2 * span"
    ),
    Mutant(
        "the profile at the extraction counts for ever",
        "world.py",
        "if life.profile is not self.profile:",
        "if False:",
    ),
    Mutant("a policy can be defined again", "acts.py", "if name in world.policies:", "if False:"),
    Mutant(
        "a condition ends also those that have left its key",
        "acts.py",
        "lives.pop(life, None)",
        "lives.get(life)",
    ),
    # -- endings
    Mutant("the later ending names the cause", "life.py", "or ending < self.first_end:", "or ending > self.first_end:"),
    Mutant(
        "a retraction yields to a merge at one place",
        "rules.py",
        '("erased", "retracted", "duplicate",',
        '("erased", "duplicate", "retracted",',
    ),
    Mutant(
        "undoing one ending revives although another is in force",
        "life.py",
        "ending = self.ends.pop(event, None)",
        "ending = self.ends.pop(event, None); self.ends.clear()",
    ),
    Mutant(
        "a reinstatement does not restart the half-life",
        "replacements.py",
        "target.lift(event, world.now) world.refresh(target)",
        "target.lift(event, world.now)",
    ),
    Mutant(
        "an erasure can be undone",
        "acts.py",
        "if not open_edge and (ending is None or ending[3] == _ERASED):",
        "if not open_edge and ending is None:",
    ),
    # -- replacements
    Mutant(
        "a superseder that was never active ends an active belief",
        "waiting.py",
        "if edge.kind == SUPERSESSION and (replacer.ever or not target.mature or _known(world, world.ever, replacer)):",
        "if edge.kind == SUPERSESSION:",
    ),
    Mutant(
        "merges act at once, whatever becomes of the survivor",
        "waiting.py",
        "return survivor.alive(world.now) and (not target.mature or active(world, survivor))",
        "return True",
    ),
    Mutant(
        "a resolution for a side that has ended still ends the other",
        "waiting.py",
        "if edge.kind == SUPERSESSION and (",
        "if (edge.kind == SUPERSESSION or edge.contradiction is not None) and (",
    ),
    Mutant(
        "a replacement waits for its replacer itself, not for what replaced that",
        "waiting.py",
        "for life in successors(replacer, undone):",
        "for life in (replacer,):",
    ),
    Mutant(
        "the last resolution waits for a side that an earlier one ended",
        "waiting.py",
        "lifted = [old.event for old in undone]",
        "lifted = [old.event for old in ()]",
    ),
    Mutant(
        "a waiting replacement that was undone acts later",
        "acts.py",
        "edge.state in (WAITING, EFFECTIVE)",
        "edge.state in (EFFECTIVE, EFFECTIVE)",
    ),
    Mutant(
        "resolutions take no part in the rule against cycles",
        "replacements.py",
        "if not topology.admit(target, replacer):",
        "if edge.contradiction is None and not topology.admit(target, replacer):",
    ),
    Mutant(
        "waiting replacements count as in force in the rule against cycles",
        "topology.py",
        "if edge.state is EFFECTIVE and life.level == start.level and life not in found:",
        "if life.level == start.level and life not in found:",
    ),
    Mutant("a belief can replace itself", "topology.py", "if target is replacer: return False", ""),
    Mutant(
        "waiting merges contest",
        "replacements.py",
        "edge.state is WAITING and edge.kind != MERGE and",
        "edge.state is WAITING and",
    ),
    # -- duplicates
    Mutant(
        "a duplicate's revisions are lost for its survivor",
        "acts.py",
        "for life in named.chain(): replacements.end(world, life, event, status)",
        "for life in (named,):\n        replacements.end(world, life, event, status)",
    ),
    Mutant(
        "a duplicate's revisions count for its survivor instead",
        "acts.py",
        "for life in named.chain(): replacements.end(world, life, event, status)",
        "for life in (named.canon(),):\n        replacements.end(world, life, event, status)",
    ),
    Mutant(
        "waiting replacements stay with the duplicate",
        "replacements.py",
        "kind, survivor = edge.kind, target.into",
        "kind, survivor = edge.kind, None",
    ),
    Mutant(
        "the survivor forgets the duplicate's last affirmation",
        "replacements.py",
        "if duplicate.anchor > survivor.anchor and",
        "if duplicate.anchor > survivor.anchor and False and",
    ),
    # -- contradictions, conclusions
    Mutant(
        "reinstating the loser does not reopen the contradiction",
        "acts.py",
        "contradictions.set_open(world, resolution, True)",
        "contradictions.set_open(world, resolution, resolution.open)",
    ),
    Mutant(
        "an essential input replaced by its own conclusion counts as not live",
        "conclusions.py",
        "return life.alive(world.now, but) or _replaced_only_by(world, life, conclusion, but)",
        "return life.alive(world.now, but)",
    ),
    Mutant(
        "supporting inputs are essential, too",
        "acts.py",
        'if item["role"] == "essential"]',
        'if item["role"]]',
    ),
    # -- forks
    Mutant(
        "basis is what the store held, not what the author had read",
        "ancestry.py",
        "for fact in facts: if fact.basis:",
        "for fact in [f._replace(basis=tuple(g.id for g in facts if g < f)) for f in facts]:\n"
        "            if fact.basis:",
    ),
    Mutant(
        "ancestry ignores the moment asked about",
        "ancestry.py",
        "(self._node(fact.id), max(since, fact.hlc)) for",
        "(self._node(fact.id), 0) for",
    ),
    Mutant(
        "an affirmation that saw both ends a fork",
        "ancestry.py",
        "if self._types.get(node) not in DECIDING or node not in self._acted:",
        "if node not in self._acted:",
    ),
    Mutant(
        "a void revision ends a fork",
        "ancestry.py",
        "return self._acted[node], self._voided_at.get(node, FOREVER)",
        "return self._acted[node], FOREVER",
    ),
)


def pattern(text: str) -> re.Pattern[str]:
    """The text, whatever its spaces and line breaks."""
    return re.compile(r"\s*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", text))))


def mutated(mutant: Mutant, source: str) -> str | None:
    """The source with the bug; None where the patch doesn't apply exactly once."""
    found = list(pattern(mutant.old).finditer(source))
    if len(found) != 1:
        return None
    return source[: found[0].start()] + (mutant.new or "pass") + source[found[0].end() :]
