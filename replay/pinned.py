"""Part (d) of the audit: what was pinned earlier still holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from beliefbase.events.frontier import frontier_root
from beliefbase.events.log import EventLog, Head
from beliefbase.replay.integrity import Progress
from beliefbase.replay.pin import Pin, lost
from beliefbase.replay.rebuild import replayed
from beliefbase.replay.report import AuditReport, Finding
from beliefbase.replay.selection import at_frontier


class PinCheck:
    """Checks pins against a log, and writes what it finds into a report.

    Args:
        log: Its log; only read.
        folder: Where a replay may put temporary files.
        pins: By what people call each, such as the name of its file.
    """

    def __init__(self, log: EventLog, folder: Path, pins: Mapping[str, Pin], progress: Progress) -> None:
        self._log = log
        self._folder = folder
        self._pins = pins
        self._progress = progress

    def check(self, report: AuditReport) -> None:
        """Whether every pinned head is there; where it is, whether a replay of just these events says the same."""
        roots: dict[str, tuple[str, Mapping[str, str]]] = {}
        if report.digest is not None:
            roots[frontier_root(report.heads).hex()] = (report.digest, report.tables)
        for name, pin in sorted(self._pins.items()):
            report.checked["pins"] = report.checked.get("pins", 0) + 1
            gone = list(self._gone(name, pin))
            report.add(gone)
            if gone or report.damaged:
                report.not_checked.append(f"digests of {name}: the log doesn't hold what was pinned, or is damaged")
            elif not pin.same_rules:
                report.add([_other_rules(name, pin)])
            else:
                if pin.root not in roots:
                    roots[pin.root] = self._replay(pin)
                report.add(_differences(name, pin, *roots[pin.root]))

    def check_heads(self, report: AuditReport) -> None:
        """Only whether every pinned head is there."""
        for name, pin in sorted(self._pins.items()):
            report.checked["pins"] = report.checked.get("pins", 0) + 1
            report.add(self._gone(name, pin))

    def _gone(self, name: str, pin: Pin) -> Iterator[Finding]:
        gone = lost(self._log, pin.heads)
        if not gone:
            return
        now: dict[bytes, list[Head]] = {}
        for head in self._log.frontier():
            now.setdefault(head.writer, []).append(head)
        for head in gone:
            reach = max((other.seq for other in now.get(head.writer, ())), default=0)
            if not reach:
                what = f"the writer is gone: {name} saw its events up to seq {head.seq}"
            elif reach < head.seq:
                what = f"the tail is cut: {name} saw seq {head.seq}, the log ends with seq {reach}"
            else:
                what = f"history was rewritten: {name} saw another event as seq {head.seq}, or its branch is gone"
            yield Finding("damage", "pin", what, head.writer.hex(), head.seq, head.hash[:16].hex())

    def _replay(self, pin: Pin) -> tuple[str, Mapping[str, str]]:
        part = at_frontier(self._log, pin.heads)
        with replayed(part, self._folder, as_of_ms=pin.as_of_ms, progress=self._progress) as fresh:
            tables = fresh.digests()
            return fresh.digest(tables), tables


def _other_rules(name: str, pin: Pin) -> Finding:
    what = (
        f"{name} was made under rules {pin.rules} or other projections: its frontier holds, its digests are not"
        " compared. That is no drift; pin anew with this release"
    )
    return Finding("note", "pin", what)


def _differences(name: str, pin: Pin, digest: str, tables: Mapping[str, str]) -> Iterator[Finding]:
    if digest == pin.digest:
        return
    differing = sorted(
        table for table in pin.tables.keys() | tables.keys() if pin.tables.get(table) != tables.get(table)
    )
    what = f"the same events under the same rules gave {pin.digest[:16]}… in {name}, the replay gives {digest[:16]}…"
    if not differing:
        yield Finding("drift", "pin", f"{what} (no table's digest differs: the pin was changed)")
    for table in differing:
        yield Finding("drift", "pin", what, table=table)
