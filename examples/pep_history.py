"""The status history of Python Enhancement Proposals as beliefs that supersede one another.

Reads a JSON-lines file of status changes (fields: pep, commit_ts in seconds UTC, writer, status) and records, by way
of the public API, one belief for every change and one supersession for every change but a PEP's first. Every
committer is a writer of its own. Run: python examples/pep_history.py STATUS_EVENTS.jsonl STORE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from beliefbase import BeliefStore
from beliefbase.writing import StoreWriter

BATCH = 500


def changes(path: Path) -> list[dict[str, Any]]:
    """The status changes of a file, in the order in which they were committed."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return sorted(rows, key=lambda row: (row["commit_ts"], str(row.get("commit", "")), row["pep"]))


def record(store: BeliefStore, rows: Iterable[dict[str, Any]]) -> dict[int, str]:
    """Append the changes; returns the belief that holds at the end for each PEP."""
    writers: dict[str, StoreWriter] = {}
    current: dict[int, str] = {}
    rows = list(rows)
    for start in range(0, len(rows), BATCH):
        with store.batch():
            for row in rows[start : start + BATCH]:
                name = row["writer"]
                writer = writers.get(name) or writers.setdefault(name, store.writer(name, kind="human"))
                pep, at = row["pep"], row["commit_ts"] * 1000
                item = f"peps:{pep}:{row['commit_ts']}:{row['status']}"
                belief = writer.extract(
                    f"PEP {pep} is {row['status'] or 'without a status'}",
                    kind="fact",
                    assertion_class="durable_fact",
                    confidence=1000,
                    policy="amendable_persistent",
                    subject=f"PEP {pep}",
                    predicate=str(row["status"]),
                    source_ref=item,
                    at=at,
                )
                if pep in current:
                    writer.supersede(current[pep], by=belief, source_ref=f"{item}:supersedes", at=at)
                current[pep] = belief
    return current


def main() -> None:
    """Record a file and print how many PEPs stand where."""
    events, path = Path(sys.argv[1]), Path(sys.argv[2])
    with BeliefStore.open(path, create=True, importing=True) as store:
        record(store, changes(events))
        store.project()
        counts = store.query(
            "SELECT predicate AS status, count(*) AS peps FROM active_set GROUP BY 1 ORDER BY 2 DESC, 1"
        )
    for row in counts:
        sys.stdout.write(f"{row['peps']:5} {row['status']}\n")


if __name__ == "__main__":
    main()
