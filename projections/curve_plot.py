"""Pictures of lifetime curves and incidences, as SVG or PNG (needs the extra ``plot``).

The same curves give the same SVG bytes under one version of matplotlib: no date, no random ids, no style of
the user. Lines differ in dashes as well as in colour, so a black-and-white print can be read.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from beliefbase.events.errors import BeliefbaseError, StoreUnavailable
from beliefbase.projections.survival import CauseIncidence, Curve, Incidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

DAY_MS = 86_400_000
COLUMNS = 2000
"""Horizontal resolution: of several steps within one such part of the axis the last is drawn."""
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9", "#7F7F7F")
"""After Okabe and Ito, told apart with any colour vision; their yellows are darkened for white paper."""
DASHES = (
    "-",
    (0, (5, 1.8)),
    (0, (1.2, 1.2)),
    (0, (7, 1.6, 1.2, 1.6)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (10, 2.5)),
    (0, (1.2, 3)),
)
"""As many as there are causes; with the colours, 56 lines differ."""
BANDED: Final = 8
"""More incidences than so many are drawn without their bands, which would cover each other."""
WIDTH, PANEL, AXIS, ROW, EDGE, SAMPLE, LETTER, HALF = 7.5, 3.1, 0.5, 0.18, 0.1, 0.34, 0.058, 0.32
"""Inches: picture width; heights of the curves, of their axis and of a table row; free edge; a line's sample;
a letter; half a number."""
SMALL, NAME = 7.5, 34
"""Size of the table's letters in points, and how many of them a name may have."""
HEADING, HEADING_LINE, HEADING_LETTERS = 10, 0.19, 150
"""Size of the title's letters in points, height of its lines in inches, and the most letters of a line."""
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "text.parse_math": False,
    "svg.hashsalt": "beliefbase",
    "savefig.dpi": 200,
}


class CannotPlot(BeliefbaseError):
    """A picture can't be made: matplotlib is missing, the suffix is unknown, or there is nothing to draw."""

    code = "cannot_plot"
    exit_code = 2


class _Row(NamedTuple):
    """One curve: its line (ages in days, each value holding up to the next age) and its row of the table."""

    label: str
    days: Floats
    values: Floats
    lower: Floats
    upper: Floats
    ticks: tuple[Floats, Floats]
    """Days and heights of the censor ticks."""
    counts: Callable[[Sequence[int]], tuple[int, ...]]
    """The table's numbers at ages in milliseconds."""
    cells: tuple[str, ...]
    """What stands to the right of the numbers."""
    pen: tuple[int, int]
    """Which colour, and which dashes."""


class _Page(NamedTuple):
    """What is written around the curves."""

    title: str
    measure: str
    table: str
    columns: tuple[str, ...]
    note: str
    span_ms: int
    bands: bool


def plot_survival(curves: Sequence[Curve], path: str | Path, *, title: str = "", bands: bool = True) -> Path:
    """Draw the lifetime curves of one or more groups over a table of the numbers at risk.

    Raises:
        CannotPlot: matplotlib is missing, the suffix is neither .svg nor .png, or no curve has a spell.
        StoreUnavailable: the file can't be written.
    """
    drawn = [curve for curve in curves if curve.spells]
    span = max((int(curve.ages_ms[-1]) for curve in drawn), default=0)
    note = f"Bands: pointwise {100 * drawn[0].level:.4g} %, log-log. " if bands and drawn else ""
    note += "Ticks: censored. No line: nobody watched. Expired: share of spells that expiry censored."
    page = _Page(title, "Share still held", "Number at risk", ("ended", "expired"), note, span, bands)
    return _draw(page, [_survival_row(curve, span, index) for index, curve in enumerate(drawn)], Path(path))


def plot_incidence(
    incidences: Sequence[Incidence],
    path: str | Path,
    *,
    cause: str | None = None,
    title: str = "",
    bands: bool = True,
) -> Path:
    """Draw how the beliefs of one or more groups end, over a table of the numbers ended so far.

    A line per cause; of several groups a line per group and cause, the groups told apart by colour and the causes by
    dashes. With ``cause`` only that one is drawn. More than eight lines have no bands.

    Raises:
        CannotPlot: matplotlib is missing, the suffix is neither .svg nor .png, or no spell ended.
        StoreUnavailable: the file can't be written.
    """
    if not any(cause in {None, one} for incidence in incidences for one in incidence.causes):
        ended = "no spells" if not incidences else f"nothing ended as {cause}" if cause else "nothing ended"
        raise CannotPlot(f"there is nothing to draw: {ended}", hint="choose a group or a time with beliefs that ended")
    span = max((int(one.ages_ms[-1]) for one in incidences if len(one.ages_ms)), default=0)
    several = len(incidences) > 1
    kinds = list(dict.fromkeys(name for one in incidences for name in one.causes))
    rows: list[_Row] = []
    for index, incidence in enumerate(incidences):
        for one in incidence.causes.values():
            if cause in {None, one.cause}:
                pen = (index, index if cause else kinds.index(one.cause)) if several else (len(rows), len(rows))
                told = "" if cause else f": {one.cause}"
                of_group = _printable(incidence.group, NAME - len(told)) + told
                rows.append(_incidence_row(one, span, of_group if several else one.cause, pen))
    bands = bands and len(rows) <= BANDED
    note = "" if several else f"Group {_printable(incidences[0].group)}: {incidences[0].spells:,} spells. "
    note += "The causes compete."
    note += f" Bands: pointwise {100 * incidences[0].level:.4g} %, log-log." if bands and rows else ""
    measure = f"Share {cause}" if cause else "Share ended, by cause"
    page = _Page(title, measure, "Ended so far", ("at the end",), note, span, bands)
    return _draw(page, rows, Path(path))


def _thin(ages_ms: npt.NDArray[np.int64], wanted: npt.NDArray[np.bool_], span_ms: int) -> npt.NDArray[np.intp]:
    """Places of the wanted ages, of several within one column of the picture the last."""
    places = np.flatnonzero(wanted)
    column = ages_ms[places] * (COLUMNS / span_ms)
    last = np.diff(np.floor(column), append=np.inf) > 0
    thinned: npt.NDArray[np.intp] = places[last]
    return thinned


def _survival_row(curve: Curve, span: int, index: int = 0) -> _Row:
    watched = np.cumsum(curve.entered - curve.ended - curve.censored) > 0
    turns = np.diff(watched, prepend=False)
    keep = _thin(curve.ages_ms, (curve.ended > 0) | turns, span)
    censored = _thin(curve.ages_ms, curve.censored > 0, span)
    seen = np.concatenate([[False], watched[keep]])
    days = np.concatenate([[0.0], curve.ages_ms[keep] / DAY_MS])
    values, lower, upper = (
        np.concatenate([[1.0], column[keep]]) for column in (curve.survival, curve.lower, curve.upper)
    )
    if curve.ages_ms[0] == 0:
        seen[0] = True
    return _Row(
        _printable(curve.group),
        np.repeat(days, 2)[1:],
        _steps(values, seen),
        _steps(lower, seen),
        _steps(upper, seen),
        (curve.ages_ms[censored] / DAY_MS, curve.survival[censored]),
        curve.at_risk_at,
        (f"{curve.ended_total:,} of {curve.spells:,}", f"{curve.expired_share:.0%}"),
        (index, index),
    )


def _incidence_row(one: CauseIncidence, span: int, label: str, pen: tuple[int, int]) -> _Row:
    keep = _thin(one.ages_ms, one.ended > 0, span)
    days = np.concatenate([[0.0], one.ages_ms[keep] / DAY_MS, [span / DAY_MS]])
    values, lower, upper = (
        np.concatenate([[0.0], column[keep], column[-1:]]) for column in (one.incidence, one.lower, one.upper)
    )
    seen = np.ones(len(days), dtype=bool)
    so_far = np.concatenate([[0], np.cumsum(one.ended)])

    def counts(ages_ms: Sequence[int]) -> tuple[int, ...]:
        return tuple(so_far[np.searchsorted(one.ages_ms, ages_ms, side="right")].tolist())

    none: Floats = np.zeros(0)
    return _Row(
        label,
        np.repeat(days, 2)[1:],
        _steps(values, seen),
        _steps(lower, seen),
        _steps(upper, seen),
        (none, none),
        counts,
        (f"{one.incidence[-1]:.1%}",),
        pen,
    )


def _printable(label: str, room: int = NAME) -> str:
    """A group's name cut to what the margin holds, on one line."""
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in label)
    return text if len(text) <= room else text[: room - 1] + "…"


def _steps(values: Floats, seen: npt.NDArray[np.bool_]) -> Floats:
    """Heights at the start and the end of each step, the end left out where nobody was watched."""
    heights = np.repeat(values, 2)
    heights[1::2][~seen] = np.nan
    return heights[:-1]


def _draw(page: _Page, rows: list[_Row], path: Path) -> Path:
    if path.suffix not in {".svg", ".png"}:
        raise CannotPlot(f"{path} is neither .svg nor .png", hint="name the file with one of these suffixes")
    if not rows:
        raise CannotPlot("there is nothing to draw: no spells", hint="choose a group or a time with beliefs")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise CannotPlot("matplotlib is not installed", hint="pip install 'beliefbase[plot]'") from missing
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure()
        _lay_out(figure, page, rows)
        unsigned = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
        try:
            figure.savefig(path, metadata=unsigned)
        except OSError as error:
            hint = "check the path, its rights and the disk"
            raise StoreUnavailable(f"can't write {path}: {error.strerror}", hint=hint, path=str(path)) from error
    return path


def _lay_out(figure: Figure, page: _Page, rows: list[_Row]) -> None:
    columns = list(zip(page.columns, *(row.cells for row in rows), strict=True))
    cells = [max(map(len, column)) * LETTER + 0.18 for column in columns]
    names = max(len(text) for text in (page.table, *(row.label for row in rows)))
    left = EDGE + SAMPLE + 0.08 + names * LETTER + HALF
    right = HALF + sum(cells) + EDGE
    title = _wrapped(page.title, WIDTH - left - EDGE)
    head = 0.32 - HEADING_LINE + HEADING_LINE * len(title) if title else EDGE
    foot = ROW * (len(rows) + 2.6)
    height = head + PANEL + AXIS + foot
    across = WIDTH - left - right
    figure.set_size_inches(WIDTH, height)
    panel = figure.add_axes((left / WIDTH, (foot + AXIS) / height, across / WIDTH, PANEL / height))
    _draw_panel(panel, page, rows)
    if title:
        panel.set_title("\n".join(title), loc="left", fontsize=HEADING, fontweight="bold")
    sheet = figure.add_axes((0, 0, 1, foot / height), xlim=(0, WIDTH), ylim=(0, foot))
    sheet.set_axis_off()
    shown = [tick for tick in panel.get_xticks() if 0 <= tick <= page.span_ms / DAY_MS]
    at = [left + across * tick * DAY_MS / page.span_ms for tick in shown]
    ends = (WIDTH - right + HALF + np.cumsum(cells)).tolist()
    top = foot - ROW / 2
    sheet.text(EDGE, top, page.table, fontsize=SMALL, fontweight="bold", va="center")
    for end, name in zip(ends, page.columns, strict=True):
        sheet.text(end, top, name, fontsize=SMALL, fontweight="bold", ha="right", va="center")
    for index, row in enumerate(rows):
        y = top - ROW * (index + 1)
        sheet.plot([EDGE, EDGE + SAMPLE], [y, y], **_pen(*row.pen))
        sheet.text(EDGE + SAMPLE + 0.08, y, row.label, fontsize=SMALL, va="center")
        for x, count in zip(at, row.counts([round(tick * DAY_MS) for tick in shown]), strict=True):
            sheet.text(x, y, f"{count:,}", fontsize=SMALL, ha="center", va="center")
        for end, cell in zip(ends, row.cells, strict=True):
            sheet.text(end, y, cell, fontsize=SMALL, ha="right", va="center")
    sheet.text(EDGE, 0.1, page.note, fontsize=6.5, color="#444444", va="bottom")


def _wrapped(title: str, inches: float) -> list[str]:
    """A title in lines that are no wider than so many inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font, measure = FontProperties(size=HEADING, weight="bold"), TextToPath().get_text_width_height_descent
    for letters in range(min(HEADING_LETTERS, len(title)), 0, -1):
        lines = textwrap.wrap(title, letters)
        if all(measure(line, font, ismath=False)[0] <= 72 * inches for line in lines):
            return lines
    return []


def _draw_panel(axes: Axes, page: _Page, rows: list[_Row]) -> None:
    for row in rows:
        pen = _pen(*row.pen)
        if page.bands:
            axes.fill_between(row.days, row.lower, row.upper, color=pen["color"], alpha=0.13, linewidth=0)
        axes.plot(row.days, row.values, clip_on=False, **pen)
        axes.plot(
            *row.ticks, linestyle="", marker="|", markersize=4, markeredgewidth=0.6, color=pen["color"], clip_on=False
        )
    columns = [row.values for row in rows] + [row.upper for row in rows if page.bands]
    top = max(column[np.isfinite(column)].max() for column in columns)
    axes.set_xlim(0, page.span_ms / DAY_MS)
    axes.set_ylim(0, 1.02 if top > 0.6 else top * 1.08)
    axes.locator_params(axis="x", nbins=7, steps=[1, 2, 3, 5, 6, 10])
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("Days since extraction")
    axes.set_ylabel(page.measure)


def _pen(colour: int, dashes: int) -> dict[str, Any]:
    return {"color": COLOURS[colour % len(COLOURS)], "linestyle": DASHES[dashes % len(DASHES)], "linewidth": 1.3}
