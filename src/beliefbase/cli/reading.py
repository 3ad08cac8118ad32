"""Commands that read: log, show, active."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Progress
from beliefbase.cli.snapshots import PIN
from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import Event
from beliefbase.events.errors import UnknownId
from beliefbase.events.hlc import ms_of
from beliefbase.events.ids import parse_id
from beliefbase.events.log import Head, Stored
from beliefbase.store import READ_NAME, BeliefStore
from beliefbase.writing import clock_text, moment

POLL_SECONDS: Final = 0.3
COLUMNS: Final = ("belief_id", "status", "kind", "speech_act", "statement", "agent", "began_ms")


@command("log")
@click.option("--type", "types", multiple=True, help="Only events of this type (repeatable).")
@click.option(
    "--writer",
    "writers",
    multiple=True,
    help="Only of this writer: an agent's name, or an id's first digits, 8 or more (repeatable).",
)
@click.option("--since", help="Only events stamped at or after this time.")
@click.option("--until", help="Only events stamped at or before this time.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@click.option("--follow", is_flag=True, help="Go on with new events as they come.")
def log_command(
    settings: Settings,
    types: tuple[str, ...],
    writers: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int | None,
    follow: bool,
) -> None:
    """Print the events in the order of their arrival, words included, one line each."""
    first = moment(since) if since else None
    last = moment(until) if until else None
    with BeliefStore.open(settings.path) as store:
        names: dict[bytes, str] = {}
        shown = 0
        for stored in _pages(store, follow=follow):
            skeleton = stored.event.skeleton
            if skeleton.type == "writer.joined":
                names[skeleton.writer] = str(stored.event.words.get("agent", ""))
            when = ms_of(skeleton.hlc)
            if types and skeleton.type not in types:
                continue
            if writers and not any(_is_meant(w, skeleton.writer.hex(), names.get(skeleton.writer)) for w in writers):
                continue
            if (first is not None and when < first) or (last is not None and when > last):
                continue
            row = describe(stored, names.get(skeleton.writer))
            settings.out.line(row, plain=_plain(row))
            shown += 1
            if limit is not None and shown >= limit:
                return


@command("show")
@click.argument("id_")
def show_command(settings: Settings, id_: str) -> None:
    """Show one event by its id; of a belief also what became of it."""
    key = parse_id(id_)
    with BeliefStore.open(settings.path) as store:
        event = store.log.get(key)
        if event is None:
            raise UnknownId(
                f"nothing in {store.name} has the id {id_}", hint="ids are printed by append, log and active"
            )
        row = describe(Stored(0, event), None)
        del row["position"]
        store.project()
        joined = store.query("SELECT agent FROM writers WHERE writer_id = $id", {"id": row["writer"]})
        row["agent"] = joined[0]["agent"] if joined else None
        if event.skeleton.type == "belief.extracted":
            row["belief"] = next(iter(store.query("SELECT * FROM beliefs WHERE belief_id = $id", {"id": id_})), None)
            row["intervals"] = store.query(
                "SELECT * EXCLUDE (row_key) FROM belief_intervals WHERE belief_id = $id ORDER BY since_hlc", {"id": id_}
            )
        settings.out.object(row)


@command("active")
@click.option("--as-of", help="A moment: RFC 3339, a date, or milliseconds; by default now.")
@click.option("--candidates", is_flag=True, help="Also those that are live but not active.")
@PIN
def active_command(settings: Settings, as_of: str | None, candidates: bool, pin_file: Path | None) -> None:
    """List the beliefs that are active at a moment."""
    at = moment(as_of) if as_of else None
    with BeliefStore.open(settings.path) as store:
        if pin_file is not None:
            rows = _at_pin(store, pin_file, at, candidates=candidates)
        else:
            rows = store.live(as_of=at) if candidates else store.active(as_of=at)
    settings.out.rows(rows, COLUMNS, empty="(no active beliefs)")


def _at_pin(store: BeliefStore, file: Path, at: int | None, *, candidates: bool) -> list[dict[str, Any]]:
    from beliefbase.replay.answers import active_at
    from beliefbase.replay.pin import Pin

    progress = Progress()
    try:
        return active_at(
            store.log,
            store.path / READ_NAME,
            Pin.read(file),
            as_of_ms=at,
            candidates=candidates,
            progress=progress.tell,
        )
    finally:
        progress.close()


def describe(stored: Stored, agent: str | None) -> dict[str, Any]:
    """An event as one JSON-ready map; ids as hex."""
    event = stored.event
    skeleton = event.skeleton
    payload = CATALOG.read(skeleton)
    return {
        "position": stored.position or None,
        "id": event.id.hex(),
        "type": skeleton.type,
        "writer": skeleton.writer.hex(),
        "agent": agent,
        "seq": skeleton.seq,
        "hlc": skeleton.hlc,
        "at_ms": ms_of(skeleton.hlc),
        "recorded_late_ms": skeleton.recorded,
        "basis": [key.hex() for key in skeleton.basis_ids],
        "payload": _json(skeleton.payload),
        "words": _json(event.words),
        "erased": event.wants_words,
        "unreadable": None if not isinstance(payload, tuple) else payload[0],
    }


def _pages(store: BeliefStore, *, follow: bool) -> Iterator[Stored]:
    after, root, known = 0, b"", tuple[Head, ...]()
    while True:
        with store.log.still() as log:
            if log.in_order or not root:
                for page in log.read(after):
                    yield from page
                    after = page[-1].position
            elif root != log.root():
                for events in log.since(known):
                    yield from (Stored(0, event) for event in sorted(events, key=_place))
            if not log.in_order and root != log.root():
                root, known = log.root(), log.frontier()
        if not follow:
            return
        sys.stdout.flush()
        try:
            time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            return


def _place(event: Event) -> tuple[int, bytes, int]:
    return event.skeleton.hlc, event.skeleton.writer, event.skeleton.seq


def _is_meant(asked: str, writer: str, agent: str | None) -> bool:
    return asked == agent or (len(asked) >= 8 and writer.startswith(asked))


def _plain(row: dict[str, Any]) -> str:
    words = row["words"]
    texts = (words[name] for name in ("verbatim", "statement", "reason", "question", "query") if name in words)
    named = [value for name, value in row["payload"].items() if name.endswith("_id")]
    agent = row["agent"] or row["writer"][:8]
    told = f"{clock_text(row['at_ms'])}  {row['id']}  {row['type']:<24}  {agent:<12}"
    return f"{told}  {' '.join(named)} {next(texts, '')}".rstrip()


def _json(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: _json(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return value
