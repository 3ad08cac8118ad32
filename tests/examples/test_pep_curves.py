"""The curves of real histories: how long proposals stay drafts and what they become, against another implementation."""

import sys
from collections import Counter
from pathlib import Path

import lifelines
import numpy as np
import pytest

from beliefbase import BeliefStore
from beliefbase.projections.survival import CAUSES, Spells, kaplan_meier

ROOT = Path(__file__).parents[2]
EVENTS = ROOT.parent / "shared" / "data" / "peps_lifecycle" / "status_events.jsonl"

pytestmark = pytest.mark.skipif(not EVENTS.exists(), reason="the histories are not here")


@pytest.fixture(scope="module")
def examples():
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import pep_curves
        import pep_history
    finally:
        sys.path.pop(0)
    return pep_history, pep_curves


@pytest.fixture(scope="module")
def drafts(examples, tmp_path_factory):
    history, curves = examples
    path = tmp_path_factory.mktemp("peps") / "store"
    with BeliefStore.open(path, create=True, importing=True, durability="process") as store:
        history.record(store, history.changes(EVENTS))
        store.project()
        return path, *curves.drafts(store)


def test_drafts_that_ended_and_drafts_that_did_not(drafts):
    _, spells, became = drafts
    ended = [CAUSES[code] == "superseded" for code in spells.cause]
    assert ended == [outcome is not None for outcome in became]
    assert 200 < sum(ended) < len(spells)
    assert set(spells.entry_ms.tolist()) == {0}


def test_the_curve_agrees_with_lifelines(drafts):
    _, spells, _ = drafts
    ended = np.array([CAUSES[code] != "censored" for code in spells.cause])
    other = lifelines.KaplanMeierFitter().fit(spells.exit_ms, ended)
    (curve,) = kaplan_meier(spells)
    assert curve.median_ms == other.median_survival_time_
    expected = other.survival_function_at_times(curve.ages_ms).to_numpy()
    assert np.abs(expected - curve.survival).max() < 1e-9
    bands = other.confidence_interval_
    lower = bands.iloc[:, 0].reindex(curve.ages_ms).to_numpy()
    inner = (curve.survival > 0) & (curve.survival < 1)
    assert np.abs(lower - curve.lower)[inner].max() < 1e-9


def one_after_the_other(ages_ms):
    """Ages in tenths of milliseconds, tied ones a tenth apart."""
    seen = Counter()
    found = []
    for age in ages_ms.tolist():
        found.append(10 * age + seen[age])
        seen[age] += 1
    return found


def test_the_incidences_agree_with_lifelines_and_sum_to_one(drafts, examples):
    _, tied, became = drafts
    exit_ms = one_after_the_other(tied.exit_ms)  # lifelines moves ties at random
    spells = Spells.read(tied.entry_ms, exit_ms, tied.cause)
    found = examples[1].incidence(spells, became)
    assert set(found.causes) >= {"accepted or final", "rejected", "withdrawn", "deferred"}
    total = found.survival + sum(one.incidence for one in found.causes.values())
    assert np.abs(total - 1).max() < 1e-9
    for number, (outcome, one) in enumerate(found.causes.items(), 1):
        events = np.array([0 if name is None else 1 if name == outcome else 2 for name in became])
        other = lifelines.AalenJohansenFitter(calculate_variance=False).fit(spells.exit_ms, events, event_of_interest=1)
        expected = other.cumulative_density_.iloc[:, 0].reindex(one.ages_ms).to_numpy()
        assert np.abs(expected - one.incidence).max() < 1e-9, number


def test_the_script_draws_both_pictures(drafts, examples, tmp_path, monkeypatch, capsys):
    path, _, _ = drafts
    monkeypatch.setattr("sys.argv", ["pep_curves.py", str(path), str(tmp_path)])
    examples[1].main()
    assert {file.name for file in tmp_path.iterdir()} == {"drafts.svg", "outcomes.svg"}
    assert capsys.readouterr().out.startswith("median: ")
