"""Pictures of curves: what they say, that their bytes are repeatable, and that they survive odd input."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from beliefbase.events.errors import StoreUnavailable
from beliefbase.projections import curve_plot
from beliefbase.projections.curve_plot import CannotPlot, plot_incidence, plot_survival
from beliefbase.projections.survival import Spells, cumulative_incidence, kaplan_meier

DAY = 86_400_000

DOCS = Path(__file__).parents[2] / "docs" / "curves.md"

DRAW = """
import sys
from beliefbase.projections.curve_plot import plot_survival
from beliefbase.projections.survival import Spells, kaplan_meier
assert "matplotlib" not in sys.modules
day = 86_400_000
spells = Spells.read([0, 0, day], [5 * day, 9 * day, 7 * day], [1, 0, 5], ["rule", "fact", "rule"])
plot_survival(kaplan_meier(spells), sys.argv[1])
"""


@pytest.fixture
def spells():
    rng = np.random.default_rng(3)
    entry = np.where(rng.random(200) < 0.2, rng.integers(0, 20 * DAY, 200), 0)
    exit_ = entry + rng.integers(1, 80 * DAY, 200)
    return Spells.read(entry, exit_, rng.integers(0, 8, 200), [f"kind {i}" for i in rng.integers(0, 3, 200)])


def texts(path):
    """What is written in an SVG: letters are drawn as outlines, each text stands before them as a comment."""
    return [text.strip() for text in re.findall(r"<!--(.*?)-->", path.read_text(encoding="utf-8"), re.DOTALL)]


def test_the_picture_names_axes_groups_and_numbers_at_risk(spells, tmp_path):
    curves = kaplan_meier(spells)
    written = texts(plot_survival(curves, tmp_path / "curve.svg", title="Beliefs by kind"))

    assert {"Beliefs by kind", "Days since extraction", "Share still held", "Number at risk"} <= set(written)
    assert any(text.startswith("Bands: pointwise 95 %, log-log.") for text in written)
    for curve in curves:
        row = written[written.index(curve.group) :]
        assert [f"{n}" for n in curve.at_risk_at([0, 20 * DAY, 40 * DAY])] == row[1:4]
        assert f"{curve.ended_total} of {curve.spells}" in row
        assert f"{curve.expired_share:.0%}" in row


def test_incidences_name_causes_and_ends_so_far(spells, tmp_path):
    incidence = cumulative_incidence(spells)[0]
    written = texts(plot_incidence([incidence], tmp_path / "incidence.svg"))

    for cause, one in incidence.causes.items():
        row = written[written.index(cause) :]
        assert ["0", str(one.ended[one.ages_ms <= 20 * DAY].sum())] == row[1:3]
        assert f"{one.incidence[-1]:.1%}" in row


def test_incidences_of_several_groups_have_a_row_for_each_group_and_cause(spells, tmp_path):
    incidences = cumulative_incidence(spells)
    assert len(incidences) > 1
    written = texts(plot_incidence(incidences, tmp_path / "incidence.svg"))
    for incidence in incidences:
        for cause, one in incidence.causes.items():
            row = written[written.index(f"{incidence.group}: {cause}") :]
            assert f"{one.incidence[-1]:.1%}" in row

    cause = next(iter(incidences[0].causes))
    written = texts(plot_incidence(incidences, tmp_path / "one.svg", cause=cause))
    assert {incidence.group for incidence in incidences if cause in incidence.causes} <= set(written)
    assert f"Share {cause}" in written


def test_svg_bytes_repeat_in_other_processes_and_carry_no_date(tmp_path):
    pictures = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.svg"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", DRAW, str(path)], check=True, env=environment)
        pictures.append(path.read_bytes())

    assert pictures[0] == pictures[1]
    assert b"<dc:date>" not in pictures[0]
    assert ET.fromstring(pictures[0]).tag.endswith("svg")


def test_the_users_style_neither_shows_nor_changes(spells, tmp_path):
    curves = kaplan_meier(spells)
    plain = plot_survival(curves, tmp_path / "plain.svg").read_bytes()
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 30, "axes.grid": True, "savefig.bbox": "tight"}):
        styled = plot_survival(curves, tmp_path / "styled.svg").read_bytes()
        assert mpl.rcParams["font.size"] == 30

    assert plain == styled


def test_png_is_a_picture_of_print_resolution_without_signature(spells, tmp_path):
    with Image.open(plot_survival(kaplan_meier(spells), tmp_path / "curve.png")) as picture:
        assert picture.format == "PNG"
        assert picture.width >= 1400
        assert "Software" not in picture.info
        ink = np.asarray(picture.convert("L"))
        assert 0.01 < (ink < 128).mean() < 0.2


def test_lines_differ_without_colour():
    dashes = curve_plot.DASHES
    assert len({str(dash) for dash in dashes}) == len(dashes) == 7
    assert len({str((curve_plot._pen(i, i)["color"], curve_plot._pen(i, i)["linestyle"])) for i in range(56)}) == 56


def test_no_line_where_nobody_was_watched():
    (curve,) = kaplan_meier(Spells.read([3 * DAY, 20 * DAY], [10 * DAY, 30 * DAY], [0, 1]))
    row = curve_plot._survival_row(curve, 30 * DAY)
    drawn = dict(zip(zip(row.days, range(len(row.days)), strict=True), row.values, strict=True))

    assert [(day, None if np.isnan(value) else value) for (day, _), value in drawn.items()] == [
        (0, 1.0),
        (3, None),
        (3, 1.0),
        (10, 1.0),
        (10, 1.0),
        (20, None),
        (20, 1.0),
        (30, 1.0),
        (30, 0.0),
    ]


def test_many_spells_make_a_small_picture_of_the_same_curve(tmp_path):
    rng = np.random.default_rng(5)
    exit_ = rng.integers(1, 100 * DAY, 300_000)
    (curve,) = kaplan_meier(Spells.read(np.zeros_like(exit_), exit_, rng.integers(0, 2, 300_000)))
    row = curve_plot._survival_row(curve, int(curve.ages_ms[-1]))

    assert plot_survival([curve], tmp_path / "many.svg").stat().st_size < 1_500_000
    assert len(row.days) <= 2 * curve_plot.COLUMNS + 3
    for day in (1, 17, 50, 99):
        shown = row.values[np.searchsorted(row.days, day, side="right") - 1]
        assert shown == pytest.approx(curve.survival_at(day * DAY), abs=2e-3)


@pytest.mark.parametrize("cause", ["censored", "contradicted"])
def test_a_single_spell_of_a_millisecond_can_be_drawn(cause, tmp_path):
    assert plot_survival(kaplan_meier(Spells.read([0], [1], [cause])), tmp_path / "one.svg").exists()


def test_names_that_are_no_plain_words_are_drawn_as_they_are(tmp_path):
    names = ["$\\frac$", "two\nlines", "n" * 200, "<b>&amp;"]
    curves = kaplan_meier(Spells.read([0] * 4, [DAY] * 4, [1] * 4, names))
    path = plot_survival(curves, tmp_path / "names.svg")

    assert ET.parse(path).getroot().tag.endswith("svg")
    written = texts(path)
    assert {"$\\frac$", "two\N{REPLACEMENT CHARACTER}lines", "n" * 33 + "…"} <= set(written)


def test_a_long_title_is_wrapped(tmp_path):
    curves = kaplan_meier(Spells.read([0] * 2, [DAY] * 2, [1] * 2))
    title = "How long such beliefs hold, " * 12
    with Image.open(plot_survival(curves, tmp_path / "plain.png")) as plain:
        height = plain.height
    with Image.open(plot_survival(curves, tmp_path / "long.png", title=title)) as picture:
        ink = np.asarray(picture.convert("L"))
        assert picture.height > height
        assert (ink[:, -10:] > 250).all()


def test_a_long_name_leaves_room_for_the_cause(tmp_path):
    incidences = cumulative_incidence(Spells.read([0] * 2, [DAY] * 2, ["contradicted"] * 2, ["n" * 60, "m"]))
    written = texts(plot_incidence(incidences, tmp_path / "long.svg"))
    assert {"n" * 19 + "…: contradicted", "m: contradicted"} <= set(written)


def test_a_letter_that_the_font_lacks_is_no_warning(tmp_path, recwarn):
    curves = kaplan_meier(Spells.read([0], [DAY], [1], ["fox \N{FOX FACE}"]))
    plot_survival(curves, tmp_path / "fox.png", title="\N{FOX FACE}")
    assert not recwarn.list


def test_a_file_that_cannot_be_written_is_told(spells, tmp_path):
    with pytest.raises(StoreUnavailable, match="can't write"):
        plot_survival(kaplan_meier(spells), tmp_path / "nowhere" / "curve.svg")


def test_what_cannot_be_drawn_says_what_to_do(spells, tmp_path, monkeypatch):
    curves = kaplan_meier(spells)
    with pytest.raises(CannotPlot, match="neither"):
        plot_survival(curves, tmp_path / "curve.pdf")
    with pytest.raises(CannotPlot, match="nothing to draw"):
        plot_survival(kaplan_meier(Spells.read([], [], [])), tmp_path / "curve.svg")
    with pytest.raises(CannotPlot, match="no spells"):
        plot_incidence((), tmp_path / "curve.svg")
    with pytest.raises(CannotPlot, match="nothing ended"):
        plot_incidence(cumulative_incidence(Spells.read([0], [1], [0])), tmp_path / "curve.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(CannotPlot) as caught:
        plot_survival(curves, tmp_path / "curve.svg")
    assert "beliefbase[plot]" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_the_example_in_the_docs_prints_what_it_says(tmp_path):
    code, printed = re.search(
        r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL
    ).groups()
    run = subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, capture_output=True, text=True)

    assert run.stdout == printed
    assert (tmp_path / "curves.svg").exists()
