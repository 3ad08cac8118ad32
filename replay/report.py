"""What an audit says: findings with what, where and why, and one outcome."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Severity = Literal["damage", "drift", "note"]

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
    events: tuple[str, ...] = ()
    """The events that made a differing row."""

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
            )
            if value is not None
        ]
        made = f"\n    made by {', '.join(self.events)}" if self.events else ""
        return f"{self.severity}: {self.what}" + (f" ({', '.join(where)})" if where else "") + made


@dataclass
class AuditReport:
    """The result of an audit (DESIGN 8)."""

    checked: dict[str, int] = field(default_factory=dict)
    """How much each check looked at: events, bodies, tables, rows …"""
    findings: list[Finding] = field(default_factory=list)
    more_findings: int = 0
    digest: str | None = None
    """The digest over all read models at the frontier, by the rebuild."""
    not_checked: list[str] = field(default_factory=list)
    """What this audit did not look at, and why (P5)."""
    dropped: list[dict[str, Any]] = field(default_factory=list)
    """Stored events that the projections can't use, with reasons."""
    dropped_total: int = 0

    def add(self, findings: Iterable[Finding]) -> None:
        """Keep findings; beyond a thousand they are only counted."""
        for finding in findings:
            if len(self.findings) < SHOWN_FINDINGS:
                self.findings.append(finding)
            else:
                self.more_findings += 1

    @property
    def exit_code(self) -> int:
        """0 same, 1 drift, 4 log damaged, 5 nothing checked."""
        severities = {finding.severity for finding in self.findings}
        if "damage" in severities:
            return DAMAGED
        if "drift" in severities:
            return DRIFT
        return SAME if self.checked.get("events") else NOTHING_CHECKED

    @property
    def outcome(self) -> str:
        """The exit code in a word."""
        return {SAME: "same", DRIFT: "drift", DAMAGED: "damaged", NOTHING_CHECKED: "nothing_checked"}[self.exit_code]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "outcome": self.outcome,
            "exit": self.exit_code,
            "digest": self.digest,
            "checked": self.checked,
            "not_checked": self.not_checked,
            "findings": [finding.as_dict() for finding in self.findings],
            "more_findings": self.more_findings,
            "dropped": self.dropped,
            "dropped_total": self.dropped_total,
        }

    def as_text(self) -> str:
        """For people: the outcome first, then each finding."""
        head = {
            "same": "Same: the log is whole and its replay gives the read models.",
            "drift": "Drift: the log is whole, but a read model differs from its replay.",
            "damaged": "Damaged: the log contradicts itself.",
            "nothing_checked": "Nothing checked: the log is empty.",
        }[self.outcome]
        lines = [head]
        lines += [f"  {finding.as_text()}" for finding in self.findings]
        if self.more_findings:
            lines.append(f"  … and {self.more_findings} more")
        lines.append("Checked: " + ", ".join(f"{count:,} {name}" for name, count in self.checked.items()))
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
