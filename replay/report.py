"""What an audit says: findings with what, where and why, and one outcome."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from beliefbase.events.log import Head

Severity = Literal["damage", "drift", "note"]

SEVERITIES: Final[tuple[Severity, ...]] = ("damage", "drift", "note")
SAME: Final = 0
DRIFT: Final = 1
DAMAGED: Final = 4
NOTHING_CHECKED: Final = 5

SHOWN_FINDINGS: Final = 1000
"""Findings that a report keeps in full; the rest is counted."""


@dataclass(frozen=True)
class Finding:
    """One thing that an audit found."""

    severity: Severity
    """``damage``: the log contradicts itself; ``drift``: a read model is not what its replay gives; ``note``."""
    check: str
    """Which check found it, such as ``chain`` or ``rebuild``."""
    what: str
    """One sentence for people."""
    writer: str | None = None
    seq: int | None = None
    event: str | None = None
    table: str | None = None
    belief: str | None = None
    interval: str | None = None
    """Stretch of the belief's life that differs, in UTC."""
    rule: str | None = None
    """By what the rules came to their row."""
    events: tuple[str, ...] = ()
    """The events that made a differing row, earliest first."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; absent fields are left out."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value not in (None, ())}

    def as_text(self) -> str:
        """One line for people, with where it is."""
        where = [
            f"{name} {value}"
            for name, value in (
                ("writer", self.writer),
                ("seq", self.seq),
                ("event", self.event),
                ("table", self.table),
                ("belief", self.belief),
                ("interval", self.interval),
            )
            if value is not None
        ]
        more = f"\n    the replay's rule: {self.rule}" if self.rule else ""
        more += f"\n    events {', '.join(self.events)}" if self.events else ""
        return f"{self.severity}: {self.what}" + (f" ({', '.join(where)})" if where else "") + more


@dataclass
class AuditReport:
    """The result of an audit (DESIGN 8)."""

    subject: str = "store"
    """What was audited: a store, or the path of a log file."""
    from_file: bool = False
    checked: dict[str, int] = field(default_factory=dict)
    """How much each check looked at: events, bodies, tables, rows …"""
    findings: list[Finding] = field(default_factory=list)
    more_findings: int = 0
    digest: str | None = None
    """The digest over all read models at the frontier, by the rebuild; None where the log is damaged."""
    tables: dict[str, str] = field(default_factory=dict)
    """The digest of each table."""
    heads: tuple[Head, ...] = ()
    """The frontier that the digest stands for."""
    events: int = 0
    """How many events that is."""
    seen_before: int = 0
    """Events that an earlier audit saw, and whose heads this one found in place."""
    notes: list[str] = field(default_factory=list)
    """What people should know about this audit."""
    not_checked: list[str] = field(default_factory=list)
    """What this audit did not look at, and why (P5)."""
    dropped: list[dict[str, Any]] = field(default_factory=list)
    """Stored events that the projections can't use, with reasons."""
    dropped_total: int = 0
    _severities: set[Severity] = field(default_factory=set)

    def add(self, findings: Iterable[Finding]) -> None:
        """Keep findings; beyond a thousand they are only counted."""
        for finding in findings:
            self._severities.add(finding.severity)
            if len(self.findings) < SHOWN_FINDINGS:
                self.findings.append(finding)
            else:
                self.more_findings += 1

    def include(self, other: AuditReport) -> None:
        """Keep the findings of another report behind one's own."""
        self.add(other.findings)
        self.more_findings += other.more_findings
        self._severities |= other._severities

    @property
    def damaged(self) -> bool:
        """Whether the log contradicts itself."""
        return "damage" in self._severities

    @property
    def exit_code(self) -> int:
        """0 same, 1 drift, 4 log damaged, 5 nothing checked."""
        if self.damaged:
            return DAMAGED
        if "drift" in self._severities:
            return DRIFT
        return SAME if self.checked.get("events") or self.seen_before else NOTHING_CHECKED

    def ordered(self) -> list[Finding]:
        """The findings that were kept, the gravest first."""
        return sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))

    @property
    def outcome(self) -> str:
        """The exit code in a word."""
        return {SAME: "same", DRIFT: "drift", DAMAGED: "damaged", NOTHING_CHECKED: "nothing_checked"}[self.exit_code]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "subject": self.subject,
            "outcome": self.outcome,
            "exit": self.exit_code,
            "digest": self.digest,
            "checked": self.checked,
            "notes": self.notes,
            "not_checked": self.not_checked,
            "findings": [finding.as_dict() for finding in self.ordered()],
            "more_findings": self.more_findings,
            "dropped": self.dropped,
            "dropped_total": self.dropped_total,
        }

    def as_text(self) -> str:
        """For people: the outcome first, then each finding."""
        whole = "the log is whole" if not self.seen_before else "what came after the last full audit is whole"
        head = {
            "same": f"Same: {whole}"
            + (" and its replay gives the read models." if self.checked.get("tables") else "."),
            "drift": "Drift: the log is whole, but something differs from its replay.",
            "damaged": "Damaged: the log contradicts itself or what was noted of it, or holds what nobody vouches for.",
            "nothing_checked": "Nothing checked: the log is empty.",
        }[self.outcome]
        lines = [head]
        lines += [f"  {finding.as_text()}" for finding in self.ordered()]
        if self.more_findings:
            lines.append(f"  … and {self.more_findings} more")
        lines.append("Checked: " + ", ".join(f"{count:,} {name}" for name, count in self.checked.items()))
        lines += [f"Note: {note}" for note in self.notes]
        lines += [f"Not checked: {reason}" for reason in self.not_checked]
        if self.dropped_total:
            lines.append(
                f"Dropped by the projections: {self.dropped_total:,} (stored and passed on; see table dropped)"
            )
            lines += [
                f"  {row['reason']}: {row['event_id']} {row.get('detail') or ''}".rstrip() for row in self.dropped[:20]
            ]
        if self.digest:
            lines.append(f"Digest: {self.digest}")
        return "\n".join(lines)
