"""Reports for CI: JUnit, a Markdown summary, and annotations for a code host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from beliefbase.replay.report import DAMAGED, DRIFT, NOTHING_CHECKED, SAME, AuditReport, Finding

SUMMARY_BYTES: Final = 900_000
"""A step summary of GitHub Actions may hold 1,024 kB; one that is larger is dropped whole."""
ANNOTATIONS: Final = 10
"""GitHub shows ten annotations of a level per step."""
NO_LOGS: Final = (
    "Nothing was checked: no log file (.bblog, .bundle) is among the paths that were given, or below them. "
    "Correct the path, or make a log with `beliefbase -s STORE golden make FILE.bblog`."
)
"""What every output says where there is no report."""
_FAILING: Final = ("damage", "drift")
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gravest(reports: Sequence[AuditReport]) -> tuple[int, str]:
    """Exit status and outcome of the gravest report; of none, that nothing was checked."""
    order = (DAMAGED, DRIFT, NOTHING_CHECKED, SAME)
    if not reports:
        return NOTHING_CHECKED, "nothing_checked"
    worst = min(reports, key=lambda report: order.index(report.exit_code))
    return worst.exit_code, worst.outcome


def junit(reports: Sequence[AuditReport]) -> str:
    """One test suite per audited log, one test case per check."""
    suites = [_suite(report) for report in reports] or [_NO_SUITE]
    return '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n' + "".join(suites) + "</testsuites>\n"


_NO_SUITE: Final = (
    '<testsuite name="beliefbase" tests="1" failures="1">\n'
    '  <testcase classname="beliefbase" name="audit">'
    f'<failure type="nothing_checked" message="nothing was checked">{escape(NO_LOGS)}</failure></testcase>\n'
    "</testsuite>\n"
)


def _suite(report: AuditReport) -> str:
    by_check: dict[str, list[Finding]] = {"audit": []}
    for finding in report.ordered():
        by_check.setdefault(finding.check, []).append(finding)
    cases = []
    failures = 0
    for check, findings in by_check.items():
        failing = [finding for finding in findings if finding.severity in _FAILING]
        body = ""
        if failing:
            failures += 1
            text = "\n".join(finding.as_text() for finding in failing)
            what = f"type={_attribute(failing[0].severity)} message={_attribute(failing[0].what)}"
            body += f"<failure {what}>{_xml(text)}</failure>"
        elif check == "audit" and report.outcome == "nothing_checked":
            failures += 1
            body += '<failure type="nothing_checked" message="nothing was checked"/>'
        notes = [finding.as_text() for finding in findings if finding.severity not in _FAILING]
        if check == "audit":
            notes += report.as_text().splitlines()
        if notes:
            body += f"<system-out>{_xml(chr(10).join(notes))}</system-out>"
        name = f"classname={_attribute(f'beliefbase.{report.subject}')} name={_attribute(check)}"
        cases.append(f"  <testcase {name}>{body}</testcase>\n")
    head = f'<testsuite name={_attribute(report.subject)} tests="{len(cases)}" failures="{failures}">\n'
    return head + "".join(cases) + "</testsuite>\n"


def markdown(reports: Sequence[AuditReport], *, limit: int = SUMMARY_BYTES) -> str:
    """A summary with the gravest first, cut to at most ``limit`` bytes, which it says."""
    if not reports:
        return _cut(["## Replay audit: nothing was checked", "", NO_LOGS], limit)
    passed = sum(report.exit_code == 0 for report in reports)
    lines = [f"## Replay audit: {passed} passed, {len(reports) - passed} failed", ""]
    lines += ["| log | outcome | events | digest |", "|---|---|---|---|"]
    ordered = sorted(reports, key=lambda report: (report.exit_code == 0, -report.exit_code))
    for report in ordered:
        digest = f"`{report.digest}`" if report.digest else "–"
        lines.append(f"| {_cell(report.subject)} | {report.outcome} | {report.checked.get('events', 0):,} | {digest} |")
    for report in ordered:
        found = report.ordered()
        if found or report.notes or report.not_checked:
            lines += ["", f"### {_cell(report.subject)}", ""]
            lines += [f"- **{finding.severity}**: {_cell(_untitled(finding))}" for finding in found]
            lines += [f"- … and {report.more_findings:,} more findings"] if report.more_findings else []
            lines += [f"- note: {_cell(note)}" for note in report.notes]
            lines += [f"- not checked: {_cell(reason)}" for reason in report.not_checked]
        if report.dropped_total:
            lines.append(f"- dropped by the projections: {report.dropped_total:,}")
    return _cut(lines, limit)


def github(reports: Sequence[AuditReport]) -> str:
    """Workflow commands that GitHub Actions shows beside a run; about a log file, beside that file."""
    lines = [] if reports else [f"::error title=beliefbase::{_message(NO_LOGS)}"]
    for report in reports:
        file = f"file={_property(report.subject)}," if report.from_file else ""
        failing = [finding for finding in report.ordered() if finding.severity in _FAILING]
        lines += [
            f"::error {file}title={_property(f'beliefbase {finding.severity}')}::{_message(finding.as_text())}"
            for finding in failing[:ANNOTATIONS]
        ]
        if report.outcome == "nothing_checked":
            lines.append(f"::error {file}title=beliefbase::nothing was checked")
        elif not failing:
            lines.append(f"::notice {file}title=beliefbase::{_message(f'same: digest {report.digest}')}")
    return "".join(f"{line}\n" for line in lines)


def _untitled(finding: Finding) -> str:
    """A finding for a place that shows its severity already."""
    return finding.as_text().removeprefix(f"{finding.severity}: ")


def _cut(lines: list[str], limit: int) -> str:
    kept: list[str] = []
    size = 0
    for number, line in enumerate(lines):
        rest = f"\n_{len(lines) - number:,} more lines were cut to fit; `--json` has them all._\n"
        size += len(line.encode()) + 1
        if size + len(rest.encode()) > limit:
            return "\n".join(kept) + "\n" + rest
        kept.append(line)
    return "\n".join(kept) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
