"""Plants bugs in the product, one at a time, and says which seed finds each: ``make sim-bugs``.

Exit code 1 if a bug survives 500 seeds, or no longer applies. ``python tests/sim/bugs.py WORD...`` runs those with one
of the words in their names; ``--write`` writes docs/simulator-bugs.md, which names the seeds; ``--known`` begins with
those, which is faster.
"""

import argparse
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if not __package__:  # run as a script
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.sim.planting import ROOT, Bug, caught_by

MOST_SEEDS = 500
PAGE = ROOT / "docs" / "simulator-bugs.md"
HLC, WRITER, TRANSACTION = "events/hlc.py", "events/writer.py", "events/transaction.py"
MERGING, SYNC, SENDING, TIPS = "events/merging.py", "events/sync.py", "events/sending.py", "events/tips.py"
FRONTIER, COVERING, ERASURE = "events/frontier.py", "events/covering.py", "events/erasure.py"
TABLES, LOG, SCHEMA, ROWS = (
    "events/sqlite_tables.py",
    "events/table_log.py",
    "events/sqlite_schema.py",
    "events/sqlite_erasure.py",
)
BUNDLE, CODEC, ENVELOPE, CATALOG = (
    "events/bundle.py",
    "events/codec.py",
    "events/envelope.py",
    "events/catalog/registry.py",
)
ORDER, DEPENDENTS, ARRIVALS = "beliefs/order.py", "beliefs/dependents.py", "beliefs/arrivals.py"

BUGS = (
    # -- clock
    Bug(
        "a clock starts from nothing: what was stored before is not looked at",
        WRITER,
        "self.clock.observe(transaction.max_hlc(self.clock.horizon))",
        "pass",
    ),
    Bug(
        "only the newest stamp is looked at, even if it is too far ahead",
        WRITER,
        "transaction.max_hlc(self.clock.horizon)",
        "transaction.max_hlc((1 << 63) - 1)",
    ),
    Bug(
        "future stamps are adopted, not parked",
        HLC,
        "return stamp(min(self._wall() + self.max_drift_ms, MAX_MS), MAX_COUNTER)",
        "return (1 << 63) - 1",
    ),
    Bug(
        "the horizon leaves out stamps of its own millisecond",
        HLC,
        "return stamp(min(self._wall() + self.max_drift_ms, MAX_MS), MAX_COUNTER)",
        "return stamp(min(self._wall(), MAX_MS), 0)",
    ),
    Bug(
        "of equal milliseconds the smaller counter counts",
        HLC,
        "self._last = max(self._last, hlc) return True",
        "self._last = max(self._last, hlc >> 16 << 16)\n                return True",
    ),
    Bug(
        "a stamp can be issued twice",
        HLC,
        "issued = self._last + 1",
        "issued = self._last",
    ),
    Bug(
        "after a step back of the wall the old clock goes on",
        HLC,
        "if issued >> 16 > wall + self.max_drift_ms + 1:",
        "if False:",
    ),
    Bug("after a step back of the wall the old writer goes on", WRITER, "self.generation += 1", "self.generation += 0"),
    Bug(
        "foreign stamps are not kept for the clock",
        TABLES,
        "stamps.append((skeleton.hlc,))",
        "stamps.append((skeleton.hlc >> 40 << 40,))",
    ),
    # -- writers
    Bug(
        "a writer's id comes from its agent's name",
        WRITER,
        "self.id = self.pen.entropy(ID_BYTES)",
        "self.id = name_hash(self.agent)",
    ),
    Bug(
        "a source_ref that is stored is stored again",
        WRITER,
        "known = self._refs[ref] if ref else None",
        "known = self._refs[ref] and None if ref else None",
    ),
    Bug(
        "a source_ref gives its latest event, not the earliest",
        TRANSACTION,
        "earliest[pair] = min(known, earliest.get(pair, known))",
        "earliest[pair] = max(known, earliest.get(pair, known))",
    ),
    Bug(
        "an importer does not heed what it passes over",
        WRITER,
        "if isinstance(self.clock, SourceClock): self.clock.observe(hlc)",
        "pass",
    ),
    Bug(
        "a revision names nothing that its author had read",
        WRITER,
        "ids = tuple(sorted(set().union(*(self._tips[key] for key in self._revised(draft)))))",
        "ids = ()",
    ),
    Bug("revisions of one batch do not know of each other", WRITER, "tips.add(event.id)", "pass"),
    Bug(
        "those whom an event quotes are not among its subjects",
        WRITER,
        "cited = [subjects[key] for key in draft.cites if subjects.get(key)]",
        "cited = []",
    ),
    Bug("how late an event was recorded is not recorded", WRITER, "self._pen.wall() - (hlc >> 16),", "0,"),
    # -- storing
    Bug(
        "an append of other bytes under a stored seq counts as stored",
        TRANSACTION,
        "if found is not None and found.raw == event.raw: return True",
        "if found is not None:\n                return True",
    ),
    Bug(
        "a fork is taken for an event that is stored",
        MERGING,
        "if found is not None and found.raw == event.raw: return found.position, found.has_words",
        "if found is not None:\n                    return found.position, found.has_words",
    ),
    Bug(
        "whatever has the next seq continues a branch",
        TRANSACTION,
        "if branch.hash == skeleton.prev and branch.seq == skeleton.seq - 1:",
        "if branch.seq == skeleton.seq - 1:",
    ),
    Bug(
        "an event without its predecessor is dropped",
        MERGING,
        "new = tables.put_aside([_aside_row(event) for event in waiting])",
        "new = 0",
    ),
    Bug("what is kept aside stays there", MERGING, "take_aside = transaction.tables.has_aside()", "take_aside = False"),
    Bug(
        "what was kept aside and then stored is kept aside still", MERGING, "tables.drop_aside(placing.digests)", "pass"
    ),
    Bug(
        "words that come later are passed over",
        MERGING,
        "self.report.words_filled += placing.transaction.fill(position, event)",
        "pass",
    ),
    Bug("words are not asked for", SYNC, "self._fill_words(other)", "pass"),
    Bug(
        "of two copies in a page the one without words counts",
        MERGING,
        "if other is None or other.body is None:",
        "if other is None:",
    ),
    Bug(
        "words kept aside are lost when the skeleton comes again",
        MERGING,
        "event.salt, event.body = words.get(event.hash, (event.salt, event.body))",
        "pass",
    ),
    Bug(
        "foreign words are not checked against the skeleton",
        MERGING,
        'check_body(skeleton, event.salt or b"", event.body)',
        "pass",
    ),
    Bug("a fast commit is called a durable one", SCHEMA, '"power": "FULL"', '"power": "NORMAL"'),
    # -- frontier and sync
    Bug(
        "a bucket's hash is not computed anew when its heads change",
        TABLES,
        "[(bucket,) for bucket in sorted(buckets)]",
        "[(bucket,) for bucket in sorted(buckets)[1:]]",
    ),
    Bug(
        "heads of a bucket are hashed in the order of their storing",
        FRONTIER,
        "ordered = sorted(heads) if not ordered:",
        "ordered = list(heads)\n    if not ordered:",
    ),
    Bug(
        "the last writers of a bucket are left out",
        FRONTIER,
        "bytes((start[0], start[1] | 0xF))",
        "bytes((start[0], start[1] | 0xB))",
    ),
    Bug(
        "the newest event of a stream is not sent",
        SENDING,
        "if reach.get(branch.stream, 0) < branch.seq",
        "if reach.get(branch.stream, 0) < branch.seq - 1",
    ),
    Bug(
        "a head is taken for proof by its seq alone",
        SENDING,
        "if found is not None and skeleton_hash(found.raw) == head.hash:",
        "if found is not None:",
    ),
    Bug(
        "a branch proves all of its parent",
        FRONTIER,
        "stream, seq = branch.parent, branch.first - 1",
        "stream, seq = branch.parent, 1 << 40",
    ),
    # -- tips
    Bug("tips depend on the order of arrival", TIPS, "if (key, event.id) not in passed:", "if True:"),
    Bug("a resolution that came before its contradiction revises no side", TIPS, "if raised:", "if False:"),
    Bug("an index made anew has no tips", LOG, "tips.update(tables, [event for _, event in page])", "pass"),
    # -- erasure
    Bug(
        "late copies of erased words are let in",
        TRANSACTION,
        "elif position in without: self.refused += 1",
        "elif False:\n                self.refused += 1",
    ),
    Bug(
        "words that come for a covered event are let in",
        TRANSACTION,
        "if Covering(self.tables, self._wall).refuses(position):",
        "if False:",
    ),
    Bug(
        "an erasure covers what was said after it, too",
        ERASURE,
        "self.subject in event.skeleton.subjects and place_of(event) < self.place",
        "self.subject in event.skeleton.subjects",
    ),
    Bug(
        "an erasure does not reach what quotes",
        COVERING,
        "wave = followers(self, new.values()) if new else []",
        "wave = []",
    ),
    Bug(
        "a copy of an erased item keeps its words",
        ERASURE,
        "return [*log.naming({*ids, *names}, NAMING), *copies]",
        "return log.naming({*ids, *names}, NAMING)",
    ),
    Bug(
        "a late quote of erased words keeps them",
        COVERING,
        "by += [called[name] for name in names[event.id] if name in called]",
        "pass",
    ),
    Bug("words kept aside are not erased", TRANSACTION, "covered = covering.clean_aside(waiting)", "covered = set()"),
    Bug("an erasure ahead of the wall is never carried out", COVERING, "self._delete(erasures.covered_by(by))", "pass"),
    Bug(
        "erasures that a later one takes along leave their words",
        COVERING,
        "released.update(erasures.covered_by(by))",
        "pass",
    ),
    Bug(
        "an erasure carried out ahead of the wall does not take earlier ones along",
        COVERING,
        "until = max(self._wall, ms_of(erasures.settled_until()))",
        "until = self._wall",
    ),
    Bug(
        "of several erasures that cover an event the first to arrive counts",
        COVERING,
        "if place not in known or by < known[place]",
        "if place not in known",
    ),
    Bug("an index made anew covers nothing", LOG, "transaction.cover(page)", "pass"),
    # -- codec, catalogue, bundles
    Bug(
        "events of a later format are refused",
        ENVELOPE,
        "if fields[0] != FORMAT: return _foreign(fields)",
        "if fields[0] != FORMAT:\n        raise NotCanonical('later')",
    ),
    # -- fold and refold
    Bug("what was given twice acts twice", ORDER, "if event == last: continue", "if False:\n                continue"),
    Bug("what presupposes a later event is lost", ORDER, "if blocked and event in blocked:", "if False:"),
)


def known():
    """Bug to the seed that docs/simulator-bugs.md names."""
    if not PAGE.is_file():
        return {}
    rows = re.findall(r"^\| \d+ \| (.*?) \| `.*?` \| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return {name: int(seed) for name, seed in rows}


def page(found):
    """docs/simulator-bugs.md, given the seed and the message by bug."""
    lines = [
        "# Bugs planted in the simulator",
        "",
        "Each of these is planted in the product, alone, and simulated worlds run until one fails (`make sim-bugs`).",
        f"The last columns say which of the seeds from 0 is the first to find it; the limit is {MOST_SEEDS}. What a",
        "simulated world is, and what is checked in it, is in [simulator.md](simulator.md). This page is written by",
        "`python -P tests/sim/bugs.py --write`; a test compares its list with the source.",
        "",
        "| | bug | file | seed | found as |",
        "|---|---|---|---|---|",
    ]
    for number, bug in enumerate(BUGS, 1):
        seed, how = found[bug.name]
        lines.append(f"| {number} | {bug.name} | `{bug.file}` | {seed} | {how[:90]} |")
    return "\n".join(lines) + "\n"


def main():
    """Run; 1 if any bug survives or no longer applies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only bugs with one of these in their names")
    parser.add_argument("--seeds", type=int, default=MOST_SEEDS, help="how many seeds at most (500)")
    parser.add_argument("--known", action="store_true", help="begin with the seed that docs/simulator-bugs.md names")
    parser.add_argument("--write", action="store_true", help="write docs/simulator-bugs.md")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once (1)")
    options = parser.parse_args()
    chosen = [bug for bug in BUGS if not options.words or any(word in bug.name for word in options.words)]
    seeds, found = known(), {}
    _preload()

    def look(bug):
        first = [seeds[bug.name]] if options.known and bug.name in seeds else []
        return caught_by(bug, [*first, *range(options.seeds)])

    bad, began = 0, time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for bug, outcome in zip(chosen, pool.map(_guarded(look), chosen), strict=True):
            seed, how, error = outcome
            found[bug.name] = (seed, how)
            bad += seed is None
            print(f"{'-' if seed is None else seed:>4}  {bug.name}: {error or how or 'SURVIVES'}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} planted bugs found, {time.monotonic() - began:.0f} s")
    if options.write and not bad and len(chosen) == len(BUGS):
        PAGE.write_text(page(found), "utf-8")
    return 1 if bad else 0


def _guarded(look):
    def run(bug):
        try:
            return (*look(bug), "")
        except (RuntimeError, KeyError) as error:
            return None, "", str(error)

    return run


def _preload():
    """Import what the product needs and no bug is planted in, once for all children."""
    import duckdb  # noqa: F401
    import eventsourcing.sqlite  # noqa: F401
    import msgpack  # noqa: F401
    import numpy as np  # noqa: F401
    import pydantic  # noqa: F401


if __name__ == "__main__":
    raise SystemExit(main())
