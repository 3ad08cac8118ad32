"""Commands that prove and examine: audit, doctor."""

from __future__ import annotations

import sys

from beliefbase.cli.app import Settings, command
from beliefbase.cli.output import Progress
from beliefbase.store import BeliefStore


@command("audit")
def audit_command(settings: Settings) -> None:
    """Check the log, replay it from nothing, and compare the read models with the replay.

    Exit status: 0 same, 1 drift, 2 usage, 3 store unavailable, 4 log damaged, 5 nothing checked.
    """
    with BeliefStore.open(settings.path) as store:
        progress = Progress()
        report = store.audit(progress=progress.tell)
        progress.close()
    settings.out.object(report.as_dict(), report.as_text())
    sys.exit(report.exit_code)


@command("doctor")
def doctor_command(settings: Settings) -> None:
    """Examine a store: writers, clocks, forks, gaps, sizes, and the next step for each finding."""
    from beliefbase.doctor import examine

    with BeliefStore.open(settings.path) as store:
        found = examine(store)
    settings.out.object(found.as_dict(), found.as_text())
    if found.findings:
        sys.exit(1)
