"""Commands that write: init, append, import."""

from __future__ import annotations

import io
import os
import queue
import select
import sys
import threading
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Output, Progress
from beliefbase.events.catalog import Draft
from beliefbase.events.errors import InvalidEvent, InvalidStamp
from beliefbase.events.signing import BadKey
from beliefbase.events.writer import Appended
from beliefbase.lines import LINE_BYTES, PLACEHOLDER, BadLine, Line, draft, fault, parse, unmarked
from beliefbase.notes import notes_on
from beliefbase.store import BeliefStore
from beliefbase.writing import StoreWriter

BATCH: Final = 1000
"""Most events of one commit with --keep-going and in imports."""
CHUNK: Final = 1 << 16
"""Most bytes of one read."""
Read = Callable[[int], bytes]
"""At most so many bytes of what is there; none at the end."""


@command("init")
def init_command(settings: Settings) -> None:
    """Make an empty store."""
    with BeliefStore.open(settings.path, create=True) as store:
        settings.out.object({"store": store.name}, f"A store is at {store.name}. Next: beliefbase append, or import.")


@command("append")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--strict/--keep-going", default=True, help="Store nothing of a run with a bad line, or the good ones.")
@click.option("--importer", is_flag=True, help='Let lines say when things happened ("at"); one clock for the run.')
@click.option("--kind", type=click.Choice(["human", "agent", "tool", "importer"]), help="What the writers are.")
@click.option(
    "--role",
    type=click.Choice(["owner", "member"]),
    default="member",
    show_default=True,
    help="What the writers may do: only an owner erases.",
)
@click.option("--model", help="The language model behind the agents.")
@click.option("--create", is_flag=True, help="Make the store where there is none.")
def append_command(
    settings: Settings,
    files: tuple[str, ...],
    strict: bool,
    importer: bool,
    kind: str | None,
    role: str,
    model: str | None,
    create: bool,
) -> None:
    """Append events from NDJSON, on standard input or in FILES.

    A line: {"type": "belief.extracted", "agent": "planner", "ref": "b1", "statement": …}; "$b1" in an id field means
    the id of the line with that ref. Prints ref, id, writer, seq and hlc of each event once it is committed.
    """
    with BeliefStore.open(settings.path, create=create, importing=importer) as store:
        kind = kind or ("importer" if importer else "agent")
        run = AppendRun(store, settings.out, {"kind": kind, "role": role, "model": model})
        bad = run.strictly(files, importer) if strict else run.going_on(files, importer)
    if bad:
        sys.exit(BadLine.exit_code)


class Numbered(NamedTuple):
    """A line as it was read."""

    file: str | None
    """Its file, where there are several."""
    number: int
    raw: bytes


class _Refused(Exception):
    """Leaves a batch so that nothing of it is stored."""


class AppendRun:
    """One run of append: one writer per agent, and the ids of the refs so far."""

    def __init__(self, store: BeliefStore, out: Output, who: dict[str, Any]) -> None:
        self._store = store
        self._out = out
        self._who = who
        self._writers: dict[str, StoreWriter] = {}
        self._ids: dict[str, bytes] = {}

    def strictly(self, files: Sequence[str], importer: bool) -> int:
        """Check every line, then store all of them in one commit; returns the number of bad lines."""
        lines, bad = self._parsed(_numbered(files), importer)
        if not bad:
            bad = self._store_lines(lines, strict=True)
        if bad and not self._out.json:
            click.echo(f"{bad} bad line(s): nothing was stored.", err=True)
        return bad

    def going_on(self, files: Sequence[str], importer: bool) -> int:
        """Store good lines in batches as they come; returns the number of bad lines."""
        bad = 0
        for batch in _as_they_come(_numbered(files)):
            good, failed = self._parsed(batch, importer)
            bad += failed + self._store_lines(good, strict=False)
        if bad and not self._out.json:
            click.echo(f"{bad} bad line(s) were left out.", err=True)
        return bad

    def _parsed(self, lines: Iterable[Numbered], importer: bool) -> tuple[list[Line], int]:
        """The good lines, and the number of bad ones, which are told."""
        good: list[Line] = []
        bad = 0
        refs: ChainMap[str, bytes] = ChainMap({}, self._ids)
        for file, number, raw in lines:
            try:
                line = parse(number, raw, refs, importer=importer)
                self._join(line)
            except BadLine as error:
                bad += 1
                self._tell_bad(error, file)
                continue
            good.append(line if file is None else line._replace(file=file))
            if line.ref:
                refs[line.ref] = PLACEHOLDER
        return good, bad

    def _store_lines(self, lines: list[Line], *, strict: bool) -> int:
        """Store lines in one commit and tell their places; returns the number of those that the store refuses.

        They are told as bad lines are. With ``strict`` one of them is enough to store nothing.
        """
        if not lines:
            return 0
        done: list[tuple[Line, Draft, Appended]] = []
        bad: list[tuple[Line, BadLine]] = []
        ids: ChainMap[str, bytes] = ChainMap({}, self._ids)
        with suppress(_Refused), self._store.batch([line.checked for line in lines if line.checked is not None]):
            for line in lines:
                try:
                    done.append(self._added(line, ids))
                except (InvalidEvent, InvalidStamp) as error:
                    bad.append((line, fault(line.number, error)))
            if bad and strict:
                done.clear()
                raise _Refused
        for line, refused in bad:
            self._tell_bad(refused, line.file)
        self._ids.update(ids.maps[0])
        for line, checked, appended in done:
            self._tell(line, checked, appended)
        sys.stdout.flush()
        return len(bad)

    def _added(self, line: Line, ids: ChainMap[str, bytes]) -> tuple[Line, Draft, Appended]:
        """A line, its event, and the event's place in the open batch."""
        checked = draft(line, ids)
        appended = self._writers[line.agent].append_draft(checked, at=line.at)
        if line.ref:
            ids[line.ref] = appended.id
        return line, checked, appended

    def _join(self, line: Line) -> None:
        """See that a line's agent has a writer."""
        if line.agent in self._writers:
            return
        try:
            self._writers[line.agent] = self._store.writer(line.agent, **self._who)
        except BadKey as error:
            raise fault(line.number, error, "agent") from None

    def _tell_bad(self, error: BadLine, file: str | None) -> None:
        self._out.error(error if file is None else error.of_file(file))

    def _tell(self, line: Line, checked: Draft, appended: Appended) -> None:
        settled = self._store.settled.get(appended.id)
        notes = notes_on(checked)
        if settled is not None:
            notes.append(f"the profile says newer_wins: resolved by {settled.id.hex()}")
        told: dict[str, Any] = {
            "line": line.number,
            "ref": line.ref,
            "id": appended.id.hex(),
            "writer": appended.writer.hex(),
            "seq": appended.seq,
            "hlc": appended.hlc,
            "existing": appended.existing,
            "notes": notes,
        }
        plain = "\t".join(
            str(told[name]) if told[name] is not None else "-" for name in ("ref", "id", "writer", "seq", "hlc")
        )
        self._out.line(told, plain=plain)
        for note in () if self._out.json else notes:
            click.echo(f"note: line {line.number}: {note}", err=True)


@command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["auto", "locomo", "claude-code", "ndjson"]),
    default="auto",
    show_default=True,
    help="What the files are; of folders, only files of this format are taken.",
)
@click.option("--create", is_flag=True, help="Make the store where there is none.")
def import_command(settings: Settings, files: tuple[str, ...], format_name: str, create: bool) -> None:
    """Import transcripts with their own times; importing the same again adds nothing."""
    from beliefbase.importers.run import import_files

    BeliefStore.open(settings.path, create=create).close()
    progress = Progress()
    report = import_files(settings.path, [Path(file) for file in files], format_name, progress=progress.tell)
    progress.close()
    settings.out.object(report.as_dict(), report.as_text())


def _numbered(files: Sequence[str]) -> Iterator[Numbered]:
    """The lines that aren't blank; of one that is too long only so much that this shows."""
    for name in files or ("-",):
        with _opened(name) as read:
            for number, raw in enumerate(unmarked(_lines(read)), 1):
                if raw.strip():
                    yield Numbered(name if len(files) > 1 else None, number, raw)


@contextmanager
def _opened(name: str) -> Iterator[Read]:
    """How to read a file, or standard input.

    HAZARD: not by way of sys.stdin. Whoever waits in there holds its lock, and Python aborts when it ends meanwhile.
    """
    if name != "-":
        with click.open_file(name, "rb") as file:
            yield partial(_read, file.fileno())
    elif sys.stdin is None:  # descriptor 0 may be anything by now, the log too
        raise click.UsageError("standard input is closed; name FILES, or give lines")
    else:
        try:
            descriptor = sys.stdin.fileno()
        except io.UnsupportedOperation:  # a test's, in memory
            yield sys.stdin.buffer.read
        else:
            yield partial(_read, descriptor)


def _read(descriptor: int, most: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, most)
        except BlockingIOError:  # whoever shares it said that it doesn't wait
            select.select([descriptor], [], [])


def _lines(read: Read) -> Iterator[bytes]:
    """The lines of what is read; one of more than LINE_BYTES is cut at the byte after."""
    most = LINE_BYTES + 1
    line = bytearray()
    while chunk := read(CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line += end[: most - len(line)]
            yield bytes(line) if len(line) == most else bytes(line) + b"\n"
            line.clear()
        line += rest[: most - len(line)]
    if line:
        yield bytes(line)


def _as_they_come(lines: Iterator[Numbered]) -> Iterator[list[Numbered]]:
    """Batches of what is there: a lone line is not kept waiting, and a flood is stored a thousand at a time."""
    waiting: queue.Queue[Numbered | BaseException | None] = queue.Queue(maxsize=BATCH)

    def pump() -> None:
        try:
            for line in lines:
                waiting.put(line)
            waiting.put(None)
        except BaseException as error:  # noqa: BLE001  handed to the consumer, which raises it
            waiting.put(error)

    threading.Thread(target=pump, daemon=True).start()
    ended = False
    while not ended:
        batch = []
        item = waiting.get()
        while True:
            if isinstance(item, BaseException):
                raise item
            if item is None:
                ended = True
                break
            batch.append(item)
            if len(batch) >= BATCH:
                break
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                break
        if batch:
            yield batch
