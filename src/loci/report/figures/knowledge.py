"""Figures of what runs know: accuracy, error funnel, calibration, abstention, errors, popularity, groups, learning.

Each takes names and results, and gives a Plotly figure; a run has the same colour in all of them. Knows nothing of
files or pages.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from loci.evaluation.abstention import RiskCoverage
from loci.evaluation.bias import GroupReport, Popularity
from loci.evaluation.calibration import Bin
from loci.evaluation.error_kinds import RIGHT, ErrorFunnel, ErrorKind
from loci.evaluation.metrics import Rate
from loci.report.style import BAD, GOOD, NEUTRAL, PALETTE, faded, series_colour
from loci.training.reports import SmoothedLoss

if TYPE_CHECKING:
    import plotly.graph_objects as go

T = TypeVar("T")
KIND_COLOURS = {
    ErrorKind.RIGHT: GOOD,
    ErrorKind.WITHHELD: "#b3b8c2",
    ErrorKind.SAME_LINE: PALETTE[0],
    ErrorKind.NEAREST_SPELLING: PALETTE[3],
    ErrorKind.NEAREST_EMBEDDING: PALETTE[5],
    ErrorKind.POPULAR: PALETTE[1],
    ErrorKind.UNLINKED: PALETTE[4],
    ErrorKind.NOT_A_PLACE: BAD,
}
LONGEST_NAME = 22
WIDEST_LABEL = 14
READABLE = 24
CURVE_POINTS = 600
PAUSE = 10
"""A pause is as long as this many steps."""
AXES = {"characters": "characters read", "seconds": "training time, s"}
PERCENT = {"range": [-2, 102], "tickvals": [0, 20, 40, 60, 80, 100]}


def rate_bars(
    categories: Sequence[str],
    series: Sequence[tuple[str, Sequence[Rate | None]]],
    axis: str,
    colours: Sequence[str] | None = None,
) -> go.Figure:
    """Horizontal bars of rates with intervals: a group per category, a colour per series, first on top."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, (name, rates) in enumerate(series):
        shown = [(category, rate) for category, rate in zip(categories, rates, strict=True) if rate and rate.n]
        values = [100 * rate.value for _, rate in shown]
        figure.add_bar(
            orientation="h",
            y=[wrapped(category) for category, _ in shown],
            x=values,
            name=short(name),
            marker_color=colours[index] if colours else series_colour(index),
            error_x=whiskers([rate for _, rate in shown]),
            # Where the whisker would cross the label, the table has to do.
            text=[f"{100 * rate.value:.1f} %" if 100 * rate.low >= READABLE else "" for _, rate in shown],
            # Text at the foot of a bar never meets the whisker at its head.
            textposition="inside",
            insidetextanchor="start",
            insidetextfont={"color": "#ffffff"},
            textangle=0,
            hovertemplate="%{fullData.name}: %{x:.1f} %<extra></extra>",
        )
    bars = len(categories) * len(series)
    # Plotly stacks upwards: both orders are turned round to read downwards.
    figure.update_layout(
        barmode="group",
        legend_traceorder="normal",
        height=90 + 26 * bars + 18 * len(categories),
        showlegend=len(series) > 1,
    )
    figure.update_yaxes(autorange="reversed", categoryorder="array", categoryarray=[wrapped(c) for c in categories])
    figure.update_xaxes(title=f"{axis}, %", **PERCENT)
    return figure


def funnel_bars(names: Sequence[str], funnels: Sequence[ErrorFunnel | None]) -> go.Figure:
    """The error funnels of several runs: a group per step, a colour per run."""
    steps = list(dict.fromkeys(step.name for found in funnels if found for step in found.steps))
    # The right answers come last, also where one run has a step that another lacks.
    steps.sort(key=lambda name: name == RIGHT)
    series = []
    for name, found in zip(names, funnels, strict=True):
        kept = {step.name: step.kept for step in found.steps} if found else {}
        series.append((name, [kept.get(step) for step in steps]))
    return rate_bars(steps, series, "of all questions")


def reliability_curves(names: Sequence[str], bins: Sequence[Sequence[Bin]]) -> go.Figure:
    """What was claimed against what was found; the diagonal is perfect calibration."""
    import plotly.graph_objects as go

    figure = go.Figure()
    diagonal = {"color": NEUTRAL, "dash": "dot"}
    figure.add_scatter(x=[0, 100], y=[0, 100], mode="lines", name="calibrated", line=diagonal, hoverinfo="skip")
    for index, name, parts in _present(names, bins):
        _add_run(
            figure,
            index,
            name,
            [100 * part.confidence for part in parts],
            [100 * part.accuracy.value for part in parts],
            "claims %{x:.0f} %, right %{y:.0f} % (%{customdata} answers)",
            [part.n for part in parts],
            error_y={**whiskers([part.accuracy for part in parts]), "color": faded(series_colour(index), 0.5)},
            mode="lines+markers",
            marker_size=8,
        )
    figure.update_xaxes(title="probability claimed, %", **PERCENT)
    figure.update_yaxes(title="found right, %", **PERCENT)
    figure.update_layout(height=440)
    return figure


def risk_curves(names: Sequence[str], curves: Sequence[RiskCoverage | None]) -> go.Figure:
    """Mistakes among the answers given, as more and more of the less sure ones are given."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, name, curve in _present(names, curves):
        hover = "answers %{x:.0f} %, %{y:.1f} % of them wrong (threshold %{customdata:.2f})"
        x, y = (100 * curve.coverage).tolist(), (100 * curve.risk).tolist()
        _add_run(figure, index, name, x, y, hover, curve.threshold.tolist(), mode="lines")
    figure.update_xaxes(title="questions answered, most confident first, %", **PERCENT)
    figure.update_yaxes(title="wrong among them, %", **PERCENT)
    figure.update_layout(height=420)
    return figure


def _present(names: Sequence[str], results: Sequence[T | None]) -> Iterator[tuple[int, str, T]]:
    """The runs that have a result, with their numbers: a run keeps its colour when another has none."""
    return ((i, name, found) for i, (name, found) in enumerate(zip(names, results, strict=True)) if found)


def _add_run(
    figure: go.Figure,
    index: int,
    name: str,
    x: Sequence[Any],
    y: Sequence[Any],
    hover: str,
    customdata: Sequence[Any] | None = None,
    **more: Any,
) -> None:
    """Add the points or the line of one run in its colour."""
    colour = {"line_color": series_colour(index), "marker_color": series_colour(index)}
    hovering = {"hovertemplate": f"{hover}<extra>%{{fullData.name}}</extra>", "customdata": customdata}
    figure.add_scatter(x=x, y=y, name=short(name), cliponaxis=False, **colour, **hovering, **more)


def error_bars(
    runs: Sequence[tuple[str, Mapping[str, Mapping[ErrorKind, Rate]]]], label: Callable[[str], str] = str
) -> go.Figure:
    """What became of every question: a bar per run and split, a colour per kind. `label`: what a split is called."""
    import plotly.graph_objects as go

    bars = [(label(split), name, kinds) for name, table in runs for split, kinds in table.items()]
    splits = list(dict.fromkeys(split for split, _, _ in bars))
    bars.sort(key=lambda bar: splits.index(bar[0]))
    several = len({name for _, name, _ in bars}) > 1
    labels = [
        f"{wrapped(split)}<br><i>{short(name, WIDEST_LABEL)}</i>" if several else wrapped(split)
        for split, name, _ in bars
    ]
    figure = go.Figure()
    for kind in ErrorKind:
        rates = [kinds[kind] for _, _, kinds in bars]
        if not any(rate.successes for rate in rates):
            continue
        figure.add_bar(
            orientation="h",
            y=labels,
            x=[100 * rate.value for rate in rates],
            name=kind.value,
            marker_color=KIND_COLOURS[kind],
            customdata=[[100 * rate.low, 100 * rate.high, rate.successes] for rate in rates],
            hovertemplate="%{x:.1f} % (%{customdata[0]:.1f}–%{customdata[1]:.1f}), "
            "%{customdata[2]} answers<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(barmode="stack", height=130 + 46 * len(bars), legend_traceorder="normal")
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="of all questions, %", **PERCENT)
    return figure


def popularity_dots(names: Sequence[str], tables: Sequence[Popularity | None], top: int = 12) -> go.Figure:
    """How often the commonest answers are true (bars) and how often each run gives them (dots)."""
    import plotly.graph_objects as go

    first = next(table for table in tables if table is not None)
    true = dict(zip(first.answers, first.true, strict=True))
    given = [dict(zip(table.answers, table.given, strict=True)) if table else {} for table in tables]
    said = dict.fromkeys(answer for table in (true, *given) for answer in table)  # in order, so that a page repeats
    ranked = sorted(said, key=lambda answer: -max(table.get(answer, 0) for table in (true, *given)))
    answers = sorted(ranked[:top], key=lambda answer: -true.get(answer, 0))
    labels = [wrapped(answer) or "(nothing)" for answer in answers]
    figure = go.Figure()
    figure.add_bar(
        orientation="h",
        y=labels,
        x=[100 * true.get(answer, 0) for answer in answers],
        name="true",
        marker_color=NEUTRAL,
        opacity=0.55,
        hovertemplate="true %{x:.1f} %<extra></extra>",
    )
    for index, name, table in _present(names, given):
        shares = [100 * table.get(answer, 0) for answer in answers]
        _add_run(figure, index, name, shares, labels, "given %{x:.1f} %", mode="markers", marker_size=10)
    figure.update_yaxes(autorange="reversed", type="category")
    most = max(100 * share for table in (true, *given) for share in table.values())
    figure.update_xaxes(title="share of all answers, %", range=[-0.03 * most, 1.05 * most])  # room for dots at 0
    figure.update_layout(height=110 + 28 * len(answers))
    return figure


def group_dots(names: Sequence[str], reports: Sequence[GroupReport | None]) -> go.Figure:
    """Accuracy by group with intervals: a row per group, a colour per run."""
    import plotly.graph_objects as go

    groups = list(dict.fromkeys(score.group for report in reports if report for score in report.groups))
    figure = go.Figure()
    for index, name, report in _present(names, reports):
        _add_run(
            figure,
            index,
            name,
            [100 * score.accuracy.value for score in report.groups],
            [wrapped(score.group) for score in report.groups],
            "%{y}: %{x:.1f} %",
            orientation="h",  # with the group mode: the runs of a group stand below each other
            error_x=whiskers([score.accuracy for score in report.groups]),
            mode="markers",
            marker_size=10,
        )
    figure.update_layout(scattermode="group", height=110 + 22 * len(groups) * max(1, len(names)))
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(title="exact match, %", **PERCENT)
    return figure


def loss_curves(runs: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], x: str = "characters") -> go.Figure:
    """Smoothed loss against a column of metrics.jsonl: a line per stage, so that nothing is drawn where nothing was
    trained. A pause between two stages, such as labelling, is a bar.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, (name, rows) in enumerate((name, rows) for name, rows in runs if rows):
        stages = [list(own) for _, own in groupby(rows, key=lambda row: str(row.get("stage", "")))]
        points: list[tuple[Any, float | None, str]] = []
        for own in stages:
            mean = SmoothedLoss()
            smooth = [mean.add(float(row["loss"])) for row in own]
            step = max(1, len(rows) // CURVE_POINTS)
            kept = sorted({*range(0, len(own), step), len(own) - 1})
            points += [(own[i].get(x, i + 1), smooth[i], str(own[i].get("stage", ""))) for i in kept]
            points.append((None, None, ""))
        at, losses, names = zip(*points, strict=True)
        _add_run(figure, index, name, at, losses, "%{customdata}: %{y:.3f}", names, mode="lines")
        for start, stop in _pauses(stages, x):
            figure.add_vrect(x0=start, x1=stop, fillcolor=faded(series_colour(index), 0.15), line_width=0)
    figure.update_xaxes(title=AXES.get(x, x))
    figure.update_yaxes(title="loss, nats per character", rangemode="tozero")
    figure.update_layout(height=380, showlegend=True)
    return figure


def _pauses(stages: Sequence[Sequence[Mapping[str, Any]]], x: str) -> list[tuple[float, float]]:
    """Where much more of `x` passed between two stages than between two steps."""
    steps = [b[x] - a[x] for own in stages for a, b in pairwise(own) if x in a and x in b]
    typical = statistics.median(steps) if steps else 0.0
    ends = [(before[-1].get(x), after[0].get(x)) for before, after in pairwise(stages)]
    return [(a, b) for a, b in ends if a is not None and b is not None and b - a > PAUSE * typical > 0]


def whiskers(rates: Sequence[Rate]) -> dict[str, Any]:
    """The error bars of shares drawn in per cent."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [100 * (rate.high - rate.value) for rate in rates],
        "arrayminus": [100 * (rate.value - rate.low) for rate in rates],
        "thickness": 1.5,
        "width": 4,
    }


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that leaves room for the plot, its end kept: runs often differ there."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}"


def wrapped(label: str) -> str:
    """A label in lines narrow enough for a telephone."""
    lines = [""]
    for word in short(label, 2 * WIDEST_LABEL).split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDEST_LABEL:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)
