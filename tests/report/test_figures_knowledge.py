import numpy as np
import pytest

from loci.evaluation.abstention import risk_coverage
from loci.evaluation.bias import group_report, popularity
from loci.evaluation.calibration import reliability
from loci.evaluation.error_kinds import ErrorClassifier, kinds_by_split
from loci.evaluation.metrics import ScoreArrays, wilson
from loci.evaluation.rows import Row
from loci.report.figures.knowledge import (
    error_bars,
    group_dots,
    loss_curves,
    popularity_dots,
    rate_bars,
    reliability_curves,
    risk_curves,
    short,
    wrapped,
)
from loci.report.style import series_colour

FOUND = ScoreArrays(np.array([True, False, True]), np.array([0.9, 0.5, 0.2]))
ROWS = [
    Row("q1", "a", answers=("a",), group="g", split="held-out"),
    Row("q2", "b", answers=("a",), group="h", split="never-read"),
]


def test_bars_carry_their_intervals():
    rate = wilson(25, 500)
    figure = rate_bars(["dev"], [("one", [rate]), ("none", [None])], "exact match")
    bar = figure.data[0]
    assert bar.x[0] == pytest.approx(5.0)
    assert bar.x[0] + bar.error_x.array[0] == pytest.approx(100 * rate.high)
    assert bar.x[0] - bar.error_x.arrayminus[0] == pytest.approx(100 * rate.low)
    assert len(figure.data[1].x) == 0


def test_a_run_keeps_its_colour_when_another_lacks_a_result():
    curve = risk_coverage(FOUND)
    assert risk_curves(["a", "b"], [None, curve]).data[0].line.color == series_colour(1)
    assert reliability_curves(["a", "b"], [(), reliability(FOUND)]).data[1].line.color == series_colour(1)
    table = popularity(ROWS)
    assert popularity_dots(["a", "b"], [None, table]).data[1].marker.color == series_colour(1)
    report = group_report(ROWS, np.random.default_rng(0))
    assert group_dots(["a", "b"], [None, report]).data[0].marker.color == series_colour(1)


def test_fabrication_shows_only_kinds_that_occur_and_fills_each_bar():
    table = kinds_by_split(ErrorClassifier({}).classify(ROWS))
    figure = error_bars([("run", table)])
    assert [trace.name for trace in figure.data] == ["right", "not a place"]
    totals = np.sum([trace.x for trace in figure.data], axis=0)
    assert totals == pytest.approx([100, 100])


def test_loss_curves_are_thinned_and_start_anew_with_a_stage():
    rows = [{"stage": "a" if i < 2000 else "b", "loss": 2.0 if i < 2000 else 5.0} for i in range(4000)]
    figure = loss_curves([("x", rows), ("empty", [])])
    assert len(figure.data) == 1
    assert len(figure.data[0].x) < 800
    drawn = [None if y is None else round(y, 6) for y in figure.data[0].y]
    assert drawn.count(None) == 2  # behind each stage the line breaks off
    assert set(drawn) == {2.0, 5.0, None}


def test_a_pause_between_stages_is_a_bar_and_not_a_line():
    rows = [{"stage": "read", "loss": 2.0, "seconds": float(i)} for i in range(50)]
    rows += [{"stage": "learn", "loss": 1.0, "seconds": 200.0 + i} for i in range(50)]
    figure = loss_curves([("x", rows)], x="seconds")
    (bar,) = figure.layout.shapes
    assert (bar.x0, bar.x1) == (49.0, 200.0)
    assert loss_curves([("x", rows)]).layout.shapes == ()


def test_the_first_loss_weighs_no_more_than_others():
    falling = [5.0, *([3.0] * 30)]
    rows = [{"stage": "read", "loss": loss, "characters": i} for i, loss in enumerate(falling)]
    *found, _ = loss_curves([("x", rows)]).data[0].y  # ended by a gap
    assert found[0] == 5.0
    assert found[1] == pytest.approx((0.95 * 5 + 3) / 1.95)
    assert found[-1] < 3.05


def test_labels():
    assert short("a" * 30, 10) == "aaaa…aaaaa"
    assert short("short") == "short"
    assert wrapped("answer written there") == "answer written<br>there"
    assert wrapped("") == ""
