"""Lifetime curves, incidences and the log-rank test, against tables worked by hand, published values and lifelines."""

import csv
import json
import math
import time
from fractions import Fraction
from pathlib import Path

import lifelines
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines.statistics import multivariate_logrank_test
from lifelines.utils import restricted_mean_survival_time
from scipy.stats import chi2

from beliefbase.projections.survival import (
    CAUSES,
    COMPETING,
    ENDS,
    EmptySpell,
    InvalidSpells,
    Spells,
    chi_square_tail,
    comparison,
    cumulative_incidence,
    kaplan_meier,
    log_rank,
)

REFERENCE = Path(__file__).parents[3] / "shared" / "data" / "survival_reference"

# Acute myelogenous leukaemia (Miller 1981), maintained and not; remission under 6-MP and placebo (Freireich 1963).
AML = ([9, 13, 13, 18, 23, 28, 31, 34, 45, 48, 161], [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0])
AML_NOT = ([5, 5, 8, 8, 12, 16, 23, 27, 30, 33, 43, 45], [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1])
MP = (
    [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35],
    [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
)
PLACEBO = ([1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23], [1] * 21)


def watched(*samples, names=None):
    times = [t for sample in samples for t in sample[0]]
    events = [e for sample in samples for e in sample[1]]
    groups = [name for name, sample in zip(names, samples, strict=True) for _ in sample[0]] if names else None
    return Spells.read([0] * len(times), times, events, groups)


def tie_free(seed, rows=300, causes=8, late=0.4):
    """Spells of which no two enter or leave at one age."""
    rng = np.random.default_rng(seed)
    ages = rng.permutation(10 * rows)[: 2 * rows] + 1
    entry, exit_ = np.minimum(ages[:rows], ages[rows:]), np.maximum(ages[:rows], ages[rows:])
    entry[rng.random(rows) >= late] = 0
    return entry, exit_, rng.integers(0, causes, rows)


def rounded(values, digits=4):
    return [None if value is None else round(value, digits) for value in values]


class TestKnownValues:
    def test_published_curve_with_log_log_bands(self):
        (curve,) = kaplan_meier(watched(AML))
        points = [point for point in curve.points if point.ended]

        assert [point.age_ms for point in points] == [9, 13, 18, 23, 31, 34, 48]
        assert [point.at_risk for point in points] == [11, 10, 8, 7, 5, 4, 2]
        assert rounded(p.survival for p in points) == [0.9091, 0.8182, 0.7159, 0.6136, 0.4909, 0.3682, 0.1841]
        assert rounded(math.sqrt(p.variance) for p in points) == [
            0.0867,
            0.1163,
            0.1397,
            0.1526,
            0.1642,
            0.1627,
            0.1535,
        ]
        assert rounded(p.lower for p in points) == [0.5081, 0.4474, 0.3502, 0.2658, 0.1673, 0.0928, 0.0117]
        assert rounded((p.upper for p in points), 3) == [0.987, 0.951, 0.899, 0.835, 0.753, 0.657, 0.525]

    def test_published_medians_and_restricted_means(self):
        kept, dropped = kaplan_meier(watched(AML, AML_NOT, names=["kept", "not"]), horizon_ms=161)

        assert (kept.median_ms, dropped.median_ms) == (31, 23)
        assert (round(kept.rmean_ms, 1), round(kept.rmean_se_ms, 2)) == (52.6, 19.83)
        assert (round(dropped.rmean_ms, 1), round(dropped.rmean_se_ms, 2)) == (22.7, 4.18)

    def test_published_curve_with_ties(self):
        (curve,) = kaplan_meier(watched(MP))
        points = [point for point in curve.points if point.ended]

        assert [(p.age_ms, p.at_risk, p.ended, p.censored) for p in points[:-1]] == [
            (6, 21, 3, 1),
            (7, 17, 1, 0),
            (10, 15, 1, 1),
            (13, 12, 1, 0),
            (16, 11, 1, 0),
            (22, 7, 1, 0),
        ]
        assert rounded(p.survival for p in points) == [0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482]
        assert rounded(math.sqrt(p.variance) for p in points) == [
            0.0764,
            0.0869,
            0.0963,
            0.1068,
            0.1141,
            0.1282,
            0.1346,
        ]
        assert curve.median_ms == 23

    def test_published_log_rank(self):
        leukaemia = log_rank(watched(MP, PLACEBO, names=["6-MP", "placebo"]))
        aml = log_rank(watched(AML, AML_NOT, names=["kept", "not"]))

        assert leukaemia.groups == ("6-MP", "placebo")
        assert leukaemia.observed == (9, 21)
        assert rounded(leukaemia.expected, 2) == [19.25, 10.75]
        assert (round(leukaemia.statistic, 3), leukaemia.dof) == (16.793, 1)
        assert leukaemia.p == pytest.approx(4.17e-5, rel=1e-3)
        assert (round(aml.statistic, 1), round(aml.p, 4)) == (3.4, 0.0653)

    @pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data sets are not beside the repository")
    @pytest.mark.parametrize("name", ["waltons_dataset", "rossi"])
    def test_reference_curves(self, name):
        reference = json.loads((REFERENCE / f"{name}.km.json").read_text(encoding="utf-8"))
        with (REFERENCE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        time_of, event, group = (reference[key] for key in ("time", "event", "group"))
        columns = ([0] * len(rows), [int(float(r[time_of])) for r in rows], [int(r[event]) for r in rows])
        curves = [*kaplan_meier(Spells.read(*columns)), *kaplan_meier(Spells.read(*columns, [r[group] for r in rows]))]

        assert set(reference["km"]) == {curve.group for curve in curves}
        for curve in curves:
            expected = reference["km"][curve.group]
            assert expected["n"] == curve.spells
            assert expected["events"] == curve.ended_total
            assert expected["median"] == curve.median_ms
            assert [float(age) for age in expected["S"]] == curve.ages_ms.tolist()
            np.testing.assert_allclose(curve.survival, list(expected["S"].values()), rtol=0, atol=1e-9)


class TestTies:
    """One table by hand: at age 10 two end, one expires, one is a duplicate and two enter."""

    entry = (0, 0, 0, 0, 0, 10, 10, 0)
    exit = (10, 10, 10, 10, 20, 20, 30, 30)
    cause = ("superseded", "retracted", "expired", "duplicate", "obsolete", "censored", "contradicted", "censored")

    def test_ends_come_before_censorings_before_entries(self):
        (curve,) = kaplan_meier(Spells.read(self.entry, self.exit, self.cause))

        assert curve.ages_ms.tolist() == [0, 10, 20, 30]
        assert curve.at_risk.tolist() == [0, 6, 4, 2]
        assert curve.ended.tolist() == [0, 2, 1, 1]
        assert curve.censored.tolist() == [0, 2, 1, 1]
        assert curve.entered.tolist() == [6, 2, 0, 0]
        assert pytest.approx(curve.survival.tolist(), abs=1e-15) == [1, 4 / 6, 4 / 6 * 3 / 4, 4 / 6 * 3 / 4 / 2]
        assert curve.variance[2] == pytest.approx(0.5**2 * (2 / (6 * 4) + 1 / (4 * 3)), abs=1e-15)
        assert (curve.median_ms, curve.expired, curve.expired_share) == (20, 1, 1 / 8)
        assert curve.at_risk_at([0, 10, 11, 20, 21, 31]) == (6, 6, 4, 4, 2, 0)

    def test_expired_and_duplicate_compete(self):
        (incidence,) = cumulative_incidence(Spells.read(self.entry, self.exit, self.cause))

        assert list(incidence.causes) == ["superseded", "contradicted", "retracted", "obsolete", "expired", "duplicate"]
        assert incidence.ages_ms.tolist() == [10, 20, 30]
        assert pytest.approx(incidence.survival.tolist(), abs=1e-15) == [2 / 6, 2 / 6 * 3 / 4, 1 / 8]
        at_end = {cause: one.points[-1].incidence for cause, one in incidence.causes.items()}
        sixth = pytest.approx(1 / 6, abs=1e-15)
        assert at_end == {
            "superseded": sixth,
            "retracted": sixth,
            "expired": sixth,
            "duplicate": sixth,
            "obsolete": pytest.approx(1 / 12, abs=1e-15),
            "contradicted": pytest.approx(1 / 8, abs=1e-15),
        }
        assert 0.0 == incidence.causes["obsolete"].at(19) < incidence.causes["obsolete"].at(20)


class TestLifelines:
    """lifelines as oracle, on data without ties (it moves tied competing events at random)."""

    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("late", [0.0, 0.4])
    def test_curve_bands_and_median_with_delayed_entry(self, seed, late):
        entry, exit_, cause = tie_free(seed, late=late)
        (curve,) = kaplan_meier(Spells.read(entry, exit_, cause), level=0.9)
        oracle = lifelines.KaplanMeierFitter(alpha=0.1).fit(exit_, np.isin(cause, [1, 2, 3, 4]), entry=entry)

        assert oracle.event_table.index.astype(int).tolist() == curve.ages_ms.tolist()
        np.testing.assert_allclose(curve.survival, oracle.survival_function_.iloc[:, 0], rtol=0, atol=1e-12)
        some = (curve.survival < 1) & (curve.survival > 0)
        bands = oracle.confidence_interval_.to_numpy()[some]
        np.testing.assert_allclose(curve.lower[some], bands[:, 0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(curve.upper[some], bands[:, 1], rtol=0, atol=1e-9)
        median = oracle.median_survival_time_
        assert curve.median_ms == (None if math.isinf(median) else median)

    @pytest.mark.parametrize("horizon", [500, 1500, 2400])
    def test_restricted_mean(self, horizon):
        entry, exit_, cause = tie_free(7)
        (curve,) = kaplan_meier(Spells.read(entry, exit_, cause), horizon_ms=horizon)
        oracle = lifelines.KaplanMeierFitter().fit(exit_, np.isin(cause, [1, 2, 3, 4]), entry=entry)

        assert curve.rmean_ms == pytest.approx(restricted_mean_survival_time(oracle, t=horizon), rel=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("late", [0.0, 0.4])
    def test_incidence_and_its_variance(self, seed, late):
        entry, exit_, cause = tie_free(seed, late=late)
        (incidence,) = cumulative_incidence(Spells.read(entry, exit_, cause))

        for code in range(1, 8):
            fitter = lifelines.AalenJohansenFitter(calculate_variance=True)
            oracle = fitter.fit(exit_, cause, event_of_interest=code, entry=entry)
            mine = incidence.causes[CAUSES[code]]
            at = mine.ages_ms.astype(float)
            np.testing.assert_allclose(mine.incidence, oracle.cumulative_density_.iloc[:, 0][at], rtol=0, atol=1e-12)
            variance = oracle.variance_[at].to_numpy()
            known = np.isfinite(variance)  # it divides by zero where nobody is left
            assert known.sum() >= len(at) - 1
            np.testing.assert_allclose(mine.variance[known], variance[known], rtol=0, atol=1e-12)

    @pytest.mark.parametrize("groups", [2, 5])
    @pytest.mark.parametrize("ties", [1, 40])
    def test_log_rank_with_and_without_ties(self, groups, ties):
        _, exit_, cause = tie_free(11)
        exit_ = exit_ // ties + 1
        labels = [f"g{i}" for i in np.random.default_rng(1).integers(0, groups, len(exit_))]
        mine = log_rank(Spells.read(np.zeros_like(exit_), exit_, cause, labels))
        oracle = multivariate_logrank_test(exit_, labels, np.isin(cause, [1, 2, 3, 4]))

        assert mine.dof == groups - 1
        assert mine.statistic == pytest.approx(oracle.test_statistic, rel=1e-9)
        assert mine.p == pytest.approx(oracle.p_value, rel=1e-9)


class TestLogRank:
    def test_delayed_entries_count_only_while_watched(self):
        entry, exit_, cause = tie_free(3, rows=80)
        exit_ = exit_ // 20 + 1
        entry = np.minimum(entry // 20, exit_ - 1)
        group = np.random.default_rng(2).integers(0, 3, len(exit_))
        result = log_rank(Spells.read(entry, exit_, cause, [f"g{g}" for g in group]))

        excess, covariance = np.zeros(3), np.zeros((3, 3))
        end = np.isin(cause, [1, 2, 3, 4])
        for age in sorted(set(exit_[end])):
            at_risk = np.array([((entry < age) & (exit_ >= age) & (group == g)).sum() for g in range(3)])
            ended = np.array([((exit_ == age) & end & (group == g)).sum() for g in range(3)])
            n, d = at_risk.sum(), ended.sum()
            excess += ended - d * at_risk / n
            if n > 1:
                share = at_risk / n
                covariance += d * (n - d) / (n - 1) * (np.diag(share) - np.outer(share, share))
        assert result.statistic == pytest.approx(excess @ np.linalg.pinv(covariance) @ excess, rel=1e-9)
        assert result.dof == 2

    def test_ages_are_added_up_in_blocks(self, monkeypatch):
        entry, exit_, cause = tie_free(8)
        spells = Spells.read(entry, exit_, cause, [f"g{i % 4}" for i in range(len(cause))])
        whole = log_rank(spells)
        monkeypatch.setattr(comparison, "BLOCK", 7)
        parts = log_rank(spells)

        assert (parts.observed, parts.dof) == (whole.observed, whole.dof)
        assert parts.expected == pytest.approx(whole.expected, rel=1e-12)
        assert parts.statistic == pytest.approx(whole.statistic, rel=1e-12)

    def test_equal_groups_do_not_differ(self):
        result = log_rank(watched(MP, MP, names=["a", "b"]))

        assert (pytest.approx(result.statistic, abs=1e-12), result.dof, pytest.approx(result.p)) == (0.0, 1, 1.0)

    def test_groups_never_at_risk_together_add_no_comparison(self):
        spells = Spells.read(
            [0, 0, 0, 0, 100, 100, 100, 0],
            [10, 20, 30, 40, 110, 120, 130, 5],
            ["retracted"] * 7 + ["censored"],
            ["a", "b", "a", "b", "c", "d", "c", "never"],
        )
        result = log_rank(spells)

        assert result.dof == 2
        assert dict(zip(result.groups, result.observed, strict=True)) == {"a": 2, "b": 2, "c": 2, "d": 1, "never": 0}

    @pytest.mark.parametrize("spells", [watched(MP), Spells.read([], [], []), Spells.read([], [], [], [])])
    def test_one_group_or_none_is_no_comparison(self, spells):
        result = log_rank(spells)

        assert (result.statistic, result.dof, result.p) == (0.0, 0, None)


class TestChiSquareTail:
    @pytest.mark.parametrize(
        ("statistic", "dof", "p"),
        [(3.841458820694124, 1, 0.05), (5.991464547107979, 2, 0.05), (11.344866730144373, 3, 0.01), (0.0, 4, 1.0)],
    )
    def test_critical_values(self, statistic, dof, p):
        assert chi_square_tail(statistic, dof) == pytest.approx(p, abs=1e-15)

    @pytest.mark.parametrize("dof", [*range(1, 12), 50, 51, 200, 333])
    def test_agrees_with_scipy_far_into_the_tail(self, dof):
        for statistic in [1e-9, 0.01, 0.5, 1, dof / 2, dof, 2 * dof, dof + 40, dof + 400, 1300]:
            assert chi_square_tail(statistic, dof) == pytest.approx(chi2.sf(statistic, dof), rel=1e-9)

    def test_ends_of_the_range(self):
        assert chi_square_tail(math.inf, 3) == 0.0
        for statistic, dof in [(1.0, 0), (-1.0, 1), (math.nan, 1)]:
            with pytest.raises(InvalidSpells):
                chi_square_tail(statistic, dof)


class TestEdges:
    def test_no_rows_give_an_empty_curve(self):
        (curve,) = kaplan_meier(Spells.read([], [], []))
        (incidence,) = cumulative_incidence(Spells.read([], [], []))

        assert (
            curve.group,
            curve.spells,
            curve.points,
            curve.median_ms,
            curve.rmean_ms,
            curve.expired_share,
            curve.survival_at(0),
            curve.gaps,
        ) == ("all", 0, (), None, None, None, None, ())
        assert curve.at_risk_at([0]) == (0,)
        assert incidence.causes == {}

    def test_groups_follow_the_order_given_and_may_be_empty(self):
        spells = Spells.read([0, 0], [5, 6], ["expired", "retracted"], ["b", "a"], order=["none", "b", "a"])

        assert [(c.group, c.spells) for c in kaplan_meier(spells)] == [("none", 0), ("b", 1), ("a", 1)]
        assert [(i.group, i.spells) for i in cumulative_incidence(spells)] == [("none", 0), ("b", 1), ("a", 1)]
        assert log_rank(spells).observed == (0, 0, 1)
        assert [c.group for c in kaplan_meier(Spells.read([0, 0], [5, 6], [1, 1], ["b", "a"]))] == ["a", "b"]

    def test_one_row_that_ends(self):
        (curve,) = kaplan_meier(Spells.read([0], [7], ["contradicted"]))

        assert curve.survival.tolist() == [1.0, 0.0]
        assert curve.points[-1][6:] == (0.0, None, None)
        assert (curve.median_ms, curve.rmean_ms, curve.rmean_se_ms) == (7, 7.0, 0.0)
        assert (curve.survival_at(6), curve.survival_at(7), curve.survival_at(8)) == (1.0, 0.0, 0.0)
        assert curve.exhausted_ms is None

    def test_all_censored_never_falls(self):
        (curve,) = kaplan_meier(Spells.read([0, 0, 2], [5, 9, 9], ["censored", "expired", "expired"]))

        assert {1.0} == set(curve.survival) == set(curve.lower) == set(curve.upper)
        assert (curve.median_ms, curve.rmean_ms, curve.rmean_se_ms) == (None, 9.0, 0.0)
        assert curve.expired_share == pytest.approx(2 / 3)
        assert curve.survival_at(9) == 1.0
        assert curve.survival_at(10) is None

    def test_no_mean_beyond_the_watching(self):
        spells = Spells.read([0, 0], [5, 9], [1, 0])

        assert kaplan_meier(spells, horizon_ms=9)[0].rmean_ms == pytest.approx(7.0)
        assert kaplan_meier(spells, horizon_ms=10)[0].rmean_ms is None

    def test_a_median_of_exactly_one_half_is_reached(self):
        ages = [*range(1, 99)]
        (curve,) = kaplan_meier(Spells.read([0] * 98, ages, [1] * 49 + [0] * 49))

        assert curve.median_ms == 49

    def test_an_emptied_risk_set_leaves_the_curve_at_zero(self):
        (curve,) = kaplan_meier(Spells.read([0, 0, 20, 20], [5, 10, 30, 40], [1, 1, 0, 1]))

        assert curve.exhausted_ms == 10
        assert {0.0} == set(curve.survival[curve.ages_ms >= 10])
        assert {0.0} == set(curve.variance[curve.ages_ms >= 10])
        assert curve.gaps == ((10, 20),)
        assert curve.rmean_ms == pytest.approx(7.5)

    def test_who_enters_where_the_last_one_ends_comes_too_late(self):
        (curve,) = kaplan_meier(Spells.read([0, 10], [10, 20], [1, 0]))

        assert (curve.exhausted_ms, curve.gaps, curve.survival_at(15)) == (10, (), 0.0)

    def test_an_incidence_of_one_has_no_band_even_if_rounded(self):
        (incidence,) = cumulative_incidence(Spells.read([0] * 10, [*range(1, 11)], [2] * 10))
        last = incidence.causes["contradicted"].points[-1]

        assert 1 - 1e-12 < last.incidence < 1
        assert (last.lower, last.upper) == (None, None)

    def test_stretches_without_anybody_watched_are_named(self):
        (curve,) = kaplan_meier(Spells.read([3, 20], [10, 30], [0, 1]))

        assert curve.gaps == ((0, 3), (10, 20))
        assert curve.exhausted_ms is None


class TestRefusals:
    def test_a_spell_of_no_length(self):
        with pytest.raises(EmptySpell) as caught:
            Spells.read([0, 4, 9], [1, 4, 8], [0, 0, 0])

        assert caught.value.data == {"row": 1, "rows": 2, "entry_ms": 4, "exit_ms": 4}

    @pytest.mark.parametrize(
        "columns",
        [
            ([0], [1, 2], [0]),
            ([-1], [1], [0]),
            ([0.0], [1], [0]),
            ([0], [True], [0]),
            ([0], [2**63], [0]),
            ([[0]], [[1]], [[0]]),
            (np.ma.array([0, 0], mask=[False, True]), [1, 2], [0, 0]),
            ([0], [1], ["forgotten"]),
            ([0], [1], [None]),
            ([0], [1], [8]),
            ([0], [1], [-1]),
            ([0], [1], [0.5]),
            ([0, 0], [1, 1], [0, 0], ["a"]),
            ([0, 0], [1, 1], [0, 0], ["a", None]),
        ],
    )
    def test_columns_that_are_no_spells(self, columns):
        with pytest.raises(InvalidSpells) as caught:
            Spells.read(*columns)

        assert caught.value.hint

    @pytest.mark.parametrize("order", [["a"], ["a", "b", "b"]])
    def test_an_order_that_leaves_out_or_repeats_a_group(self, order):
        with pytest.raises(InvalidSpells):
            Spells.read([0, 0], [1, 1], [0, 0], ["a", "b"], order=order)

    def test_an_order_without_groups(self):
        with pytest.raises(InvalidSpells):
            Spells.read([0], [1], [0], order=["all"])

    @pytest.mark.parametrize("options", [{"level": 0}, {"level": 1}, {"level": math.nan}, {"horizon_ms": 0}])
    def test_levels_and_horizons_out_of_range(self, options):
        with pytest.raises(InvalidSpells):
            kaplan_meier(watched(MP), **options)


def test_names_and_codes_of_causes_mean_the_same():
    entry, exit_, code = tie_free(5)
    names = np.array(CAUSES)[code]
    curves = [kaplan_meier(Spells.read(entry, exit_, column))[0].points for column in (code, names, names.astype("O"))]

    assert curves[0] == curves[1] == curves[2]
    assert ("censored", *ENDS, *COMPETING) == CAUSES


ROWS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 8), st.integers(0, 7), st.sampled_from("ab")), min_size=1, max_size=40
)


def columns_of(rows):
    entry, length, cause, group = (np.array(column) for column in zip(*rows, strict=True))
    return entry, entry + length, cause, group.tolist()


def everything(spells):
    """All that is reported, as plain values that compare exactly."""
    curves = [
        (c.points, c.median_ms, c.median_lower_ms, c.median_upper_ms, c.rmean_ms, c.rmean_se_ms, c.gaps, c.expired)
        for c in kaplan_meier(spells)
    ]
    incidences = [{cause: one.points for cause, one in i.causes.items()} for i in cumulative_incidence(spells)]
    return curves, incidences, log_rank(spells)


@given(ROWS, st.randoms())
def test_the_order_of_rows_never_shows(rows, random):
    shuffled = rows.copy()
    random.shuffle(shuffled)

    assert everything(Spells.read(*columns_of(rows))) == everything(Spells.read(*columns_of(shuffled)))


@given(ROWS)
def test_survival_and_incidences_sum_to_one(rows):
    for incidence in cumulative_incidence(Spells.read(*columns_of(rows))):
        total = incidence.survival + sum(one.incidence for one in incidence.causes.values())
        np.testing.assert_allclose(total, 1.0, rtol=0, atol=1e-12)
        for one in incidence.causes.values():
            assert (np.diff(one.incidence, prepend=0) >= 0).all()
            for point in one.points:
                assert point.variance >= 0
                assert (point.lower is None) == (point.upper is None) == (point.incidence > 1 - 1e-12)
                if point.lower is not None:
                    assert 0 <= point.lower <= point.incidence + 1e-12
                    assert point.incidence <= point.upper + 1e-12 <= 1 + 2e-12


@given(ROWS)
def test_survival_falls_from_one_towards_zero_inside_its_band(rows):
    for curve in kaplan_meier(Spells.read(*columns_of(rows))):
        assert (np.diff(curve.survival, prepend=1.0) <= 0).all()
        assert ((curve.survival >= 0) & (curve.survival <= 1)).all()
        for point in curve.points:
            assert (point.lower is None) == (point.upper is None) == (point.survival == 0)
            if point.lower is not None:
                assert 0 <= point.lower <= point.survival <= point.upper <= 1


@given(ROWS, st.data())
def test_cutting_a_spell_in_two_changes_nothing(rows, data):
    entry, exit_, cause, group = columns_of(rows)
    long = [i for i in range(len(rows)) if exit_[i] - entry[i] > 1]
    if not long:
        return
    row = data.draw(st.sampled_from(long))
    cut = data.draw(st.integers(int(entry[row]) + 1, int(exit_[row]) - 1))
    whole = Spells.read(entry, exit_, cause, group)
    halves = Spells.read(
        np.append(entry, cut),
        np.append(np.where(np.arange(len(rows)) == row, cut, exit_), exit_[row]),
        np.append(np.where(np.arange(len(rows)) == row, 0, cause), cause[row]),
        [*group, group[row]],
    )

    for one, two in zip(kaplan_meier(whole), kaplan_meier(halves), strict=True):
        kept = np.isin(two.ages_ms, one.ages_ms)
        for name in ("at_risk", "ended", "survival", "variance", "lower", "upper"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name)[kept])
        assert two.ended[~kept].sum() == 0
        for name in ("median_ms", "median_lower_ms", "median_upper_ms", "rmean_ms", "rmean_se_ms", "gaps", "expired"):
            assert getattr(one, name) == getattr(two, name)
    assert everything(whole)[1:] == everything(halves)[1:]


@given(ROWS)
@settings(max_examples=200)
def test_the_curve_is_the_exact_product_of_its_counts(rows):
    rows = rows[:8]
    entry, exit_, cause, _ = columns_of(rows)
    (curve,) = kaplan_meier(Spells.read(entry, exit_, cause))
    survival, median = Fraction(1), None
    for point in curve.points:
        n = int(((entry < point.age_ms) & (exit_ >= point.age_ms)).sum())
        d = int(((exit_ == point.age_ms) & np.isin(cause, [1, 2, 3, 4])).sum())
        survival *= Fraction(n - d, n) if d else 1
        median = point.age_ms if median is None and survival <= Fraction(1, 2) else median
        assert (n, d) == (point.at_risk, point.ended)
        assert point.survival == pytest.approx(float(survival), abs=1e-14)
    assert curve.median_ms == median


@given(ROWS, st.sampled_from(range(1, 5)))
def test_a_lone_cause_has_the_curve_turned_over(rows, code):
    entry, exit_, cause, _ = columns_of(rows)
    spells = Spells.read(entry, exit_, np.where(cause == code, code, 0))
    (curve,), (incidence,) = kaplan_meier(spells), cumulative_incidence(spells)
    if incidence.causes:
        (one,) = incidence.causes.values()
        ends = curve.ended > 0
        np.testing.assert_allclose(one.incidence, 1 - curve.survival[ends], rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.variance, curve.variance[ends], rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.lower, 1 - curve.upper[ends], rtol=0, atol=1e-9)


@pytest.mark.slow
def test_two_million_spells_take_seconds_and_still_sum_to_one():
    rng = np.random.default_rng(1)
    rows = 2_000_000
    entry = np.where(rng.random(rows) < 0.2, rng.integers(0, 10**9, rows), 0)
    exit_ = entry + rng.integers(1, 3 * 10**10, rows)
    groups = np.array([f"kind {i}" for i in range(12)])[rng.integers(0, 12, rows)]
    start = time.process_time()
    spells = Spells.read(entry, exit_, rng.integers(0, 8, rows), groups)
    kaplan_meier(spells)
    incidences = cumulative_incidence(spells)
    log_rank(spells)

    assert time.process_time() - start < 60
    for incidence in incidences:
        total = incidence.survival + sum(one.incidence for one in incidence.causes.values())
        assert np.abs(total - 1).max() < 1e-12
