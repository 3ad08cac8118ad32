"""How long drafts of Python Enhancement Proposals stay drafts, and what they become: curves from a store.

Takes a store made by pep_history.py. What a draft became (accepted, rejected …) competes for it: each outcome is in
turn the end of interest, and the others compete with it. Run: python examples/pep_curves.py STORE FOLDER
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from beliefbase import BeliefStore
from beliefbase.projections.curve_plot import plot_incidence, plot_survival
from beliefbase.projections.survival import (
    CENSORED,
    CauseIncidence,
    Incidence,
    Spells,
    cumulative_incidence,
    kaplan_meier,
)

DRAFTS = """
    SELECT s.entry_ms, s.exit_ms, s.cause, new.predicate AS became
    FROM watched_spells AS s
    JOIN belief_texts AS old ON old.belief_id = s.belief_id AND old.predicate = 'Draft'
    LEFT JOIN revision_facts AS r ON r.belief_id = s.belief_id AND r.type = 'belief.superseded'
    LEFT JOIN belief_texts AS new ON new.belief_id = r.other_id
    WHERE s.exit_ms > s.entry_ms
    ORDER BY s.belief_id, s.entry_ms
"""
OUTCOMES = {
    "accepted or final": {"Accepted", "Approved", "Active", "Provisional", "Final", "Finished"},
    "rejected": {"Rejected"},
    "withdrawn": {"Withdrawn", "Withdrawal"},
    "deferred": {"Deferred"},
}


def drafts(store: BeliefStore) -> tuple[Spells, list[str | None]]:
    """The spells of drafts, and for each what it became; None where it is one still."""
    rows = store.query(DRAFTS)
    spells = Spells.read(*([row[name] for row in rows] for name in ("entry_ms", "exit_ms", "cause")))
    became = [outcome_of(row["became"]) if row["cause"] != CENSORED else None for row in rows]
    return spells, became


def outcome_of(status: str) -> str:
    """The outcome that a status belongs to."""
    return next((name for name, statuses in OUTCOMES.items() if status in statuses), "other")


def incidence(spells: Spells, became: list[str | None]) -> Incidence:
    """The incidence of each outcome among the others."""
    found: dict[str, CauseIncidence] = {}
    for outcome in (*OUTCOMES, "other"):
        if outcome in became:
            causes = [CENSORED if one is None else "superseded" if one == outcome else "duplicate" for one in became]
            (whole,) = cumulative_incidence(Spells.read(spells.entry_ms, spells.exit_ms, causes))
            found[outcome] = dataclasses.replace(whole.causes["superseded"], cause=outcome)
    return dataclasses.replace(whole, group="Draft", causes=found)


def main() -> None:
    """Draw both pictures and print the shares."""
    path, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with BeliefStore.open(path) as store:
        store.project()
        spells, became = drafts(store)
    curves = kaplan_meier(spells)
    plot_survival(curves, folder / "drafts.svg", title="How long a PEP stays a draft")
    ends = incidence(spells, became)
    plot_incidence([ends], folder / "outcomes.svg", title="What PEPs in draft become")
    median = curves[0].median_ms
    sys.stdout.write(f"median: {'not reached' if median is None else f'{median / 86_400_000:.0f} days'}\n")
    for one in ends.causes.values():
        sys.stdout.write(f"{one.incidence[-1]:6.1%} {one.cause}\n")


if __name__ == "__main__":
    main()
