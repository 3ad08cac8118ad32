"""The command curves: how long beliefs hold, by what they end, as numbers or as a picture."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from beliefbase.cli.app import Settings, command
from beliefbase.cli.snapshots import PIN, answering
from beliefbase.store import BeliefStore

if TYPE_CHECKING:
    from beliefbase.projections.lifetimes import Comparison
    from beliefbase.projections.survival import Curve, Incidence

DAY_MS: Final = 86_400_000
GROUPINGS: Final = ("kind", "speech_act", "policy", "agent", "model")
CAUSES: Final = ("superseded", "contradicted", "retracted", "obsolete", "expired", "duplicate", "erased")
FIELDS: Final = ("group", "age_days", "at_risk", "ended", "censored", "survival", "lower", "upper")
CAUSE_FIELDS: Final = (
    "group",
    "cause",
    "age_days",
    "at_risk",
    "ended",
    "censored",
    "survival",
    "incidence",
    "lower",
    "upper",
)
LONGEST: Final = 1_000_000
"""Days that a horizon may have: about 2,700 years."""


class _Number(click.FloatRange):
    """A number within a range; click lets pass what is no number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


@command("curves")
@click.option("--by", type=click.Choice(GROUPINGS), help="A curve for each kind, speech act …; by default one for all.")
@click.option(
    "--cause",
    is_flag=False,
    flag_value="all",
    type=click.Choice(["all", *CAUSES]),
    help="Incidences instead: the share that ended by each cause, or by this one.",
)
@click.option("--active", is_flag=True, help="Lives as active beliefs only; a demotion censors.")
@click.option("--as-of", help="A moment: RFC 3339, a date, or milliseconds; by default now.")
@PIN
@click.option("--where", help="Only beliefs for which this SQL condition on the columns of `beliefs` holds.")
@click.option("--horizon", type=_Number(0, LONGEST, min_open=True), help="Days up to which mean lifetimes are taken.")
@click.option("--level", type=_Number(0, 1, min_open=True, max_open=True), default=0.95, help="Of the bands.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the points as CSV.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw them: FILE.svg or FILE.png.")
@click.option("--title", default="", help="Title of the picture.")
def curves_command(
    settings: Settings,
    by: str | None,
    cause: str | None,
    active: bool,
    as_of: str | None,
    pin_file: Path | None,
    where: str | None,
    horizon: float | None,
    level: float,
    as_csv: bool,
    plot: Path | None,
    title: str,
) -> None:
    """Show how long beliefs hold.

    Median and mean lifetimes, a test between groups, and how much expiry censored; --json and --csv give the points
    of the curves, --plot draws them. docs/curves.md says how to read them.
    """
    from beliefbase.projections.lifetimes import lifetimes

    with (
        BeliefStore.open(settings.path) as store,
        answering(store, pin_file, as_of) as (folder, at),
        lifetimes(folder, as_of_ms=at, active=active, where=where) as lives,
    ):
        horizon_ms = None if horizon is None else max(1, round(horizon * DAY_MS))
        found = lives.compare(by, horizon_ms=horizon_ms, level=level)
        ends = lives.incidences(by, level=level) if cause else ()
    if plot is not None:
        _plot(found, ends, cause, plot, title)
    if as_csv or settings.json:
        fields = CAUSE_FIELDS if cause else FIELDS
        rows = incidence_points(found.curves, ends, cause) if cause else survival_points(found.curves)
        if as_csv:
            writer = csv.DictWriter(sys.stdout, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        else:
            settings.out.rows(list(rows))
        return
    if cause:
        settings.out.rows(list(_endings(ends, cause)), empty=_none(ends, cause))
    else:
        settings.out.rows(list(_summaries(found)), empty="(no spells)")
    for line in _remarks(found):
        click.echo(line)
    if plot is not None:
        click.echo(f"drawn: {plot}")


def survival_points(curves: Sequence[Curve]) -> Iterator[dict[str, Any]]:
    """The points of lifetime curves; ages in days."""
    for curve in curves:
        for point in curve.points:
            values = point.age_ms / DAY_MS, point.at_risk, point.ended, point.censored, point.survival
            yield dict(zip(FIELDS, (curve.group, *values, point.lower, point.upper), strict=True))


def incidence_points(curves: Sequence[Curve], incidences: Sequence[Incidence], cause: str) -> Iterator[dict[str, Any]]:
    """The points of incidences; survival is the share that ended by no cause, and the band is that of the incidence."""
    for curve, incidence in zip(curves, incidences, strict=True):
        left = dict(zip(curve.ages_ms.tolist(), (curve.ended + curve.censored).tolist(), strict=True))
        gone = [0] * len(incidence.ages_ms)
        for one in incidence.causes.values():
            gone = [total + ended for total, ended in zip(gone, one.ended.tolist(), strict=True)]
        for one in incidence.causes.values():
            if cause not in {"all", one.cause}:
                continue
            for point, ended, survival in zip(one.points, gone, incidence.survival.tolist(), strict=True):
                censored = left[point.age_ms] - ended
                values = point.age_ms / DAY_MS, point.at_risk, point.ended, censored, survival, point.incidence
                row = (incidence.group, one.cause, *values, point.lower, point.upper)
                yield dict(zip(CAUSE_FIELDS, row, strict=True))


def _summaries(found: Comparison) -> Iterator[dict[str, str]]:
    horizon = "" if found.horizon_ms is None else f" up to {_days(found.horizon_ms)}"
    for curve in found.curves:
        mean = "-" if curve.rmean_ms is None else f"{_days(curve.rmean_ms)} ± {_days(curve.rmean_se_ms)}"
        yield {
            "group": curve.group,
            "spells": f"{curve.spells:,}",
            "ended": f"{curve.ended_total:,}",
            "expired": "-" if curve.expired_share is None else f"{curve.expired_share:.0%}",
            "median": _days(curve.median_ms, "not reached"),
            "between": f"{_days(curve.median_lower_ms, '?')} and {_days(curve.median_upper_ms, '?')}",
            f"mean{horizon}": mean,
        }


def _endings(incidences: Sequence[Incidence], cause: str) -> Iterator[dict[str, str]]:
    for incidence in incidences:
        for one in incidence.causes.values():
            if cause in {"all", one.cause}:
                last = one.points[-1]
                yield {
                    "group": incidence.group,
                    "cause": one.cause,
                    "ended": f"{int(one.ended.sum()):,} of {incidence.spells:,}",
                    "share by the end": f"{last.incidence:.1%}",
                    "between": f"{_share(last.lower)} and {_share(last.upper)}",
                    "last at": _days(last.age_ms),
                }


def _none(incidences: Sequence[Incidence], cause: str) -> str:
    if not incidences:
        return "(no spells)"
    return "(nothing ended)" if cause == "all" else f"(nothing ended as {cause})"


def _remarks(found: Comparison) -> Iterator[str]:
    test = found.test
    if test.p is not None:
        yield f"Log-rank test: chi² = {test.statistic:.3f}, {test.dof} degrees of freedom, p = {test.p:.3g}"
    spells, expired = sum(curve.spells for curve in found.curves), sum(curve.expired for curve in found.curves)
    if spells:
        yield f"Censored by expiry: {expired:,} of {spells:,} spells ({expired / spells:.0%}); expiry is no evidence."
    if found.unwatched:
        yield f"Left out: {found.unwatched:,} spells that ended, or were last watched, in the millisecond they began."
    for curve in found.curves:
        if curve.exhausted_ms is not None:
            yield f"{curve.group}: all at risk at {_days(curve.exhausted_ms)} ended, then others entered (see docs)."


def _plot(found: Comparison, incidences: Sequence[Incidence], cause: str | None, path: Path, title: str) -> None:
    from beliefbase.projections.curve_plot import plot_incidence, plot_survival

    if not cause:
        plot_survival(found.curves, path, title=title)
        return
    plot_incidence(incidences, path, title=title, cause=None if cause == "all" else cause)


def _days(ms: float | None, otherwise: str = "-") -> str:
    return otherwise if ms is None else f"{ms / DAY_MS:,.1f} d"


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"
