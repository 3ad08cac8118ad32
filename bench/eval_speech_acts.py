"""
Measure a speech-act classifier on labelled utterances.

Reads `utterances.jsonl` (one object per line: src, id, text, prev?, accept[] or reject[], strength) and prints accuracy
by source and by act, precision, recall and F1 per act, a confusion matrix, and accuracy by confidence. A prediction is
right if it is in `accept`, or is not in `reject`. No text of the data is printed.

    python bench/eval_speech_acts.py [PATH] [--half even|odd] [--without-question-marks] [--cues] [--json]
"""

import argparse
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from beliefbase.beliefs.speech_acts import ACTS, FAIL_OPEN_BELOW, Classification, RuleClassifier, SpeechActClassifier

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "speech_act" / "utterances.jsonl"
BANDS = (0, 500, 550, 600, 650, 700, 750, 800, 850, 900, 1001)


class Judged(NamedTuple):
    """One labelled row with the prediction for it."""

    source: str
    accept: tuple[str, ...]
    reject: tuple[str, ...]
    exact: bool
    found: Classification

    @property
    def right(self) -> bool:
        """Whether the predicted act is accepted, or not rejected."""
        act = self.found.speech_act
        return act in self.accept if self.accept else act not in self.reject

    @property
    def expected(self) -> str:
        """The accepted acts as one name, "not …" for a row that only rejects."""
        return "|".join(self.accept) if self.accept else "not " + "|".join(self.reject)


class Share(NamedTuple):
    """Rows that are right, of how many, in per mille (None of none)."""

    right: int
    rows: int
    per_mille: int | None


def half_of(row_id: str) -> str:
    """Return the half a row belongs to, by a hash of its id: rules are written on `even`, checked on `odd`."""
    return ("even", "odd")[hashlib.sha256(row_id.encode()).digest()[0] % 2]


def read(path: Path, half: str | None = None) -> list[dict[str, Any]]:
    """Read the rows of a file, of one half if a half is named."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if half is None or half_of(row["id"]) == half]


def judge(
    rows: Iterable[Mapping[str, Any]], classifier: SpeechActClassifier, change: Callable[[str], str] = str
) -> list[Judged]:
    """Classify every row, its text changed first."""
    return [
        Judged(
            row["src"],
            tuple(sorted(row.get("accept", ()))),
            tuple(sorted(row.get("reject", ()))),
            row["strength"] == "exact",
            classifier.classify(change(row["text"]), row.get("prev")),
        )
        for row in rows
    ]


def share(rows: Iterable[Judged]) -> Share:
    """Count the rows that are right."""
    flags = [row.right for row in rows]
    return Share(sum(flags), len(flags), round(1000 * sum(flags) / len(flags)) if flags else None)


def grouped(rows: Sequence[Judged], key: Callable[[Judged], Any]) -> dict[Any, Share]:
    """Count the rows that are right by a key, in the order of the keys."""
    groups: dict[Any, list[Judged]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return {name: share(groups[name]) for name in sorted(groups)}


def scores(rows: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """
    Return precision, recall and F1 in per mille for each set of acts that rows accept.

    Two acts that are always accepted together count as one. A wrong prediction of an act, on a row that accepts another
    or rejects this one, is a false positive of it.
    """
    table = {}
    for expected in sorted({row.accept for row in rows if row.accept}):
        hits = sum(row.right for row in rows if row.accept == expected)
        misses = sum(not row.right for row in rows if row.accept == expected)
        alarms = sum(not row.right and row.found.speech_act in expected for row in rows)
        table["|".join(expected)] = {
            "rows": hits + misses,
            "precision": round(1000 * hits / (hits + alarms)) if hits + alarms else 0,
            "recall": round(1000 * hits / (hits + misses)),
            "f1": round(2000 * hits / (2 * hits + alarms + misses)),
        }
    return table


def report(rows: Sequence[Judged]) -> dict[str, Any]:
    """Return every figure of the evaluation, shares in per mille."""
    trusted = [row for row in rows if row.found.confidence >= FAIL_OPEN_BELOW]
    opened = [
        row
        if row.found.confidence >= FAIL_OPEN_BELOW
        else row._replace(found=row.found._replace(speech_act="direct_assertion"))
        for row in rows
    ]
    by_act = scores(rows)
    bands = {
        f"{low}-{high - 1}": share(row for row in rows if low <= row.found.confidence < high)
        for low, high in pairwise(BANDS)
    }
    return {
        "rows": len(rows),
        "macro_f1": round(sum(one["f1"] for one in by_act.values()) / len(by_act)) if by_act else None,
        "accuracy": share(rows),
        "accuracy_exact": share(row for row in rows if row.exact),
        "coverage_600": round(1000 * len(trusted) / len(rows)) if rows else None,
        "accuracy_600": share(trusted),
        "accuracy_fail_open": share(opened),
        "by_act": by_act,
        "by_source": grouped(rows, lambda row: row.source),
        "by_source_and_act": grouped(rows, lambda row: f"{row.source}: {row.expected}"),
        "by_confidence": {band: found for band, found in bands.items() if found.rows},
        "confusion": confusion(rows),
    }


def confusion(rows: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Count predictions by what was expected."""
    counts = Counter((row.expected, row.found.speech_act) for row in rows)
    return {
        expected: {act: counts[expected, act] for act in ACTS if counts[expected, act]}
        for expected in sorted({row.expected for row in rows})
    }


def by_cue(rows: Sequence[Judged], least: int = 5) -> dict[str, Share]:
    """Count the rows that are right by act and kind of cue, kinds with few rows left out."""
    found = grouped(rows, lambda row: f"{row.found.speech_act}: {row.found.cue.split(':')[0]}")
    return {cue: one for cue, one in found.items() if one.rows >= least}


def show(figures: Mapping[str, Any]) -> None:
    """Print a report as text."""
    for name in [name for name, value in figures.items() if not isinstance(value, dict)]:
        print(f"{name:20} {_cell(figures[name])}")
    print(f"\n{'act':38}  rows  prec   rec    f1")
    for act, one in figures["by_act"].items():
        print(f"{act:38} {one['rows']:5} {one['precision']:5} {one['recall']:5} {one['f1']:5}")
    for title in ("by_source", "by_source_and_act", "by_confidence", "by_cue"):
        if title in figures:
            print(f"\n{title}")
            for name, one in figures[title].items():
                print(f"  {name:56} {_cell(one)}")
    print(f"\nconfusion (expected \\ predicted)\n{'':30}" + "".join(f"{act[:7]:>8}" for act in ACTS))
    for expected, counts in figures["confusion"].items():
        print(f"{expected[:29]:30}" + "".join(f"{counts.get(act, 0):8}" for act in ACTS))


def _cell(value: Any) -> str:
    if isinstance(value, Share):
        return f"{value.right:6}/{value.rows:6} {'' if value.per_mille is None else value.per_mille:>5}"
    return f"{value:>6}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the evaluation; without data say so and succeed, for the data set is not part of the repository."""
    parser = argparse.ArgumentParser(description="Measure the speech-act rules on labelled utterances.")
    parser.add_argument("path", nargs="?", type=Path, default=DATA)
    parser.add_argument("--half", choices=("even", "odd"), help="only this half of the rows, by a hash of their id")
    parser.add_argument("--without-question-marks", action="store_true", help="take every question mark out first")
    parser.add_argument("--cues", action="store_true", help="also count by kind of cue")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if not options.path.is_file():
        print(f"speech acts: skipped, no data at {options.path}; name a file of labelled utterances", file=sys.stderr)
        return 0
    rows = judge(
        read(options.path, options.half),
        RuleClassifier(),
        (lambda text: text.replace("?", "")) if options.without_question_marks else str,
    )
    figures = report(rows)
    if options.cues:
        figures["by_cue"] = by_cue(rows)
    if options.json:
        plain = json.dumps(figures, default=lambda one: one._asdict(), indent=2)
        print(plain)
    else:
        show(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
