"""Plants bugs in the lifecycle fold, one at a time, and says whether the tests find them: ``make mutants``.

Each mutant is a patch of one file of beliefs/ in a temporary copy of the package; the tests of beliefs/ run against the
copy until the first one fails. docs/mutants.md lists them. Exit code 1 if any survives, or no longer applies.
``python bench/mutants.py WORD...`` runs those with one of the words in their names; ``--list`` prints the page.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("beliefs", "events", "projections", "replay")
TESTS = tuple(
    f"tests/beliefs/{name}.py" for name in ("test_scenarios", "test_policies", "test_oracle", "test_postulates")
)
TIME_LIMIT_S = 600


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
    Mutant("duplicates are applied twice", "order.py", "if event in acted: continue", "if False: continue"),
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
        'or (get("confidence") or 0) < ENTRY_CONFIDENCE:',
        'or (get("confidence") or 0) <= ENTRY_CONFIDENCE:',
    ),
    Mutant(
        "an unsure speech act passes the gate",
        "rules.py",
        'return get("speech_act_confidence", 1000) >= CERTAIN_ACT and',
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
    Mutant("a demotion does not start the count anew", "acts.py", "life.recurred = set() replacements", "replacements"),
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
        "HalfLife(min((days",
        "HalfLife(max((days",
    ),
    Mutant(
        "a correction takes a half-life one link far, not along the chain",
        "half_lives.py",
        "todo += _correctors(life)",
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
        "replacements.py",
        "if edge.kind == SUPERSESSION and (replacer.ever or not target.mature):",
        "if edge.kind == SUPERSESSION:",
    ),
    Mutant(
        "merges act at once, whatever becomes of the survivor",
        "replacements.py",
        "return survivor.alive(world.now) and (not target.mature or active(world, survivor))",
        "return True",
    ),
    Mutant(
        "a resolution for a side that has ended still ends the other",
        "replacements.py",
        "if edge.kind == SUPERSESSION and (",
        "if (edge.kind == SUPERSESSION or edge.contradiction is not None) and (",
    ),
    Mutant(
        "a replacement waits for its replacer itself, not for what replaced that",
        "replacements.py",
        "return any(fit(world, life, lifted) for life in successors(replacer, undone) if life is not target)",
        "return fit(world, replacer, lifted)",
    ),
    Mutant(
        "the last resolution waits for a side that an earlier one ended",
        "replacements.py",
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


def copy_tree(to: Path) -> Path:
    """A copy of the package and of the tests of beliefs/, with the reading of the rules beside it if there is one."""
    skip = shutil.ignore_patterns("__pycache__", *FOLDERS)
    tree = to / "tree"
    shutil.copytree(ROOT / "src/beliefbase", tree / "package/beliefbase", ignore=skip)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tree / "package/beliefbase" / folder, ignore=skip)
    shutil.copytree(ROOT / "tests/beliefs", tree / "tests/beliefs", ignore=skip)
    for file in ("tests/conftest.py", "tests/scale.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tree / file)
    reading = ROOT.parent / "shared"
    if reading.is_dir():
        (to / "shared").symlink_to(reading)
    return tree


def failing_test(tree: Path) -> str | None:
    """The first test that fails against the copy; None if all pass."""
    environment = {
        **os.environ,
        "CI": "true",  # fixed seeds
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(tree / "package"),
    }
    command = [str(Path(sys.executable).with_name("pytest")), "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    try:
        run = subprocess.run(
            [*command, *TESTS],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {TIME_LIMIT_S} s"
    if run.returncode == 0:
        return None
    if "NameError" in run.stdout:
        raise SystemExit(f"this is no bug but a typo:\n{run.stdout[-2000:]}")
    named = re.search(r"^(?:FAILED|ERROR) \S*?([^/\s]+?)(?: - |$)", run.stdout, re.MULTILINE)
    if run.returncode != 1 or named is None:
        raise SystemExit(f"the tests did not run (exit {run.returncode}):\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return named[1]


def page() -> str:
    """docs/mutants.md."""
    lines = [
        "# Mutants of the fold",
        "",
        "Planted bugs that the tests of `beliefs/` have to find: `make mutants` applies them one at a time to a copy",
        "and runs the tests against it. `python bench/mutants.py --list` writes this page; a test compares it.",
        "",
        "| | bug | file |",
        "|---|---|---|",
        *(f"| {number} | {mutant.bug} | `beliefs/{mutant.file}` |" for number, mutant in enumerate(MUTANTS, 1)),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the mutants; 1 if any survives or no longer applies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutants with one of these in their description")
    parser.add_argument("--list", action="store_true", help="print docs/mutants.md")
    options = parser.parse_args()
    if options.list:
        print(page(), end="")
        return 0
    chosen = [m for m in MUTANTS if not options.words or any(word in m.bug for word in options.words)]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_tree(Path(folder))
        found = failing_test(tree)
        if found is not None:
            print(f"without any mutant the tests fail already: {found}")
            return 1
        for number, mutant in enumerate(chosen, 1):
            began = time.monotonic()
            file = tree / "package/beliefbase/beliefs" / mutant.file
            source = file.read_text("utf-8")
            bug = mutated(mutant, source)
            if bug is None:
                outcome = f"does not apply: beliefs/{mutant.file} holds its text not exactly once"
            else:
                file.write_text(bug, "utf-8")
                found = failing_test(tree)
                file.write_text(source, "utf-8")
                outcome = f"caught by {found}" if found else "SURVIVED"
            bad += not outcome.startswith("caught")
            print(f"{number:3} {mutant.bug}\n    {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{len(chosen)} mutants, {len(chosen) - bad} caught, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
