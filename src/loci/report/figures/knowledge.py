"""Figures of what runs know: accuracy, ceiling, calibration, abstention, fabrication, popularity, groups, learning.

Each takes names and results, and gives a Plotly figure; a run has the same colour in all of them. Knows nothing of
files or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loci.evaluation.abstention import RiskCoverage
from loci.evaluation.bias import GroupReport, Popularity
from loci.evaluation.calibration import Bin
from loci.evaluation.error_funnel import Ceiling
from loci.evaluation.error_kinds import Kind
from loci.evaluation.metrics import Rate
from loci.report.style import BAD, GOOD, NEUTRAL, PALETTE, faded, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

KIND_COLOURS = {
    Kind.RIGHT: GOOD,
    Kind.WITHHELD: "#b3b8c2",
    Kind.SAME_LINE: PALETTE[0],
    Kind.LOOK_ALIKE_SPELLING: PALETTE[3],
    Kind.LOOK_ALIKE_VECTOR: PALETTE[5],
    Kind.POPULAR: PALETTE[1],
    Kind.UNLINKED: PALETTE[4],
    Kind.NOT_A_PLACE: BAD,
}
LONGEST_NAME = 22
WIDEST_LABEL = 14
READABLE = 24
PERCENT = {"range": [-1, 101], "tickvals": [0, 20, 40, 60, 80, 100]}


def rate_bars(
    categories: Sequence[str],
    series: Sequence[tuple[str, Sequence[Rate | None]]],
    axis: str,
    colours: Sequence[str] | None = None,
) -> go.Figure:
    """Horizontal bars of rates with intervals: one group a category, one colour a series, first on top."""
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
            error_x=_whiskers([rate for _, rate in shown]),
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


def ceiling_bars(names: Sequence[str], ceilings: Sequence[Ceiling | None]) -> go.Figure:
    """The waterfalls of several runs side by side: a step a group, a run a colour."""
    steps = list(dict.fromkeys(step.name for found in ceilings if found for step in found.steps))
    # "answered rightly" ends every waterfall, also where one run has a step that another lacks.
    steps.sort(key=lambda name: name == "answered rightly")
    series = []
    for name, found in zip(names, ceilings, strict=True):
        kept = {step.name: step.kept for step in found.steps} if found else {}
        series.append((name, [kept.get(step) for step in steps]))
    return rate_bars(steps, series, "of all questions")


def reliability_curves(names: Sequence[str], bins: Sequence[Sequence[Bin]]) -> go.Figure:
    """What was claimed against what was found; the diagonal is honesty."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.add_scatter(
        x=[0, 100], y=[0, 100], mode="lines", name="honest", line={"color": NEUTRAL, "dash": "dot"}, hoverinfo="skip"
    )
    for index, (name, parts) in enumerate(zip(names, bins, strict=True)):
        if not parts:
            continue
        figure.add_scatter(
            x=[100 * part.confidence for part in parts],
            y=[100 * part.accuracy.value for part in parts],
            error_y={**_whiskers([part.accuracy for part in parts]), "color": faded(series_colour(index), 0.5)},
            mode="lines+markers",
            cliponaxis=False,
            name=short(name),
            marker={"color": series_colour(index), "size": 8},
            line={"color": series_colour(index), "width": 2},
            customdata=[part.n for part in parts],
            hovertemplate="claims %{x:.0f} %, holds %{y:.0f} % (%{customdata} answers)<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="probability claimed, %", **PERCENT)
    figure.update_yaxes(title="found right, %", **PERCENT)
    figure.update_layout(height=440)
    return figure


def risk_curves(names: Sequence[str], curves: Sequence[RiskCoverage | None]) -> go.Figure:
    """Mistakes among the answers given, as more and more of the less sure ones are given."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, (name, curve) in enumerate(zip(names, curves, strict=True)):
        if curve is None:
            continue
        figure.add_scatter(
            x=(100 * curve.coverage).tolist(),
            y=(100 * curve.risk).tolist(),
            mode="lines",
            name=short(name),
            line={"color": series_colour(index), "width": 2.5},
            customdata=curve.threshold.tolist(),
            hovertemplate="answers %{x:.0f} %, %{y:.1f} % of them wrong (threshold %{customdata:.2f})"
            "<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="questions answered, surest first, %", **PERCENT)
    figure.update_yaxes(title="wrong among them, %", **PERCENT)
    figure.update_layout(height=420)
    return figure


def fabrication_bars(names: Sequence[str], tables: Sequence[Mapping[str, Mapping[Kind, Rate]]]) -> go.Figure:
    """What became of every question: one bar a run and split, one colour a kind."""
    import plotly.graph_objects as go

    bars = [(name, split, kinds) for name, table in zip(names, tables, strict=True) for split, kinds in table.items()]
    figure = go.Figure()
    outer = [wrapped(split) for _, split, _ in bars]
    inner = [short(name, WIDEST_LABEL) for name, _, _ in bars]
    order = sorted(range(len(bars)), key=lambda i: list(dict.fromkeys(outer)).index(outer[i]))
    labels = [f"{outer[i]}<br><i>{inner[i]}</i>" if len(set(inner)) > 1 else outer[i] for i in order]
    for kind in Kind:
        rates = [bars[i][2][kind] for i in order]
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
    ranked = sorted(
        {*true, *(a for table in given for a in table)},
        key=lambda a: -max(true.get(a, 0), *(g.get(a, 0) for g in given)),
    )
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
    for index, (name, table) in enumerate(zip(names, given, strict=True)):
        if not table:
            continue
        figure.add_scatter(
            y=labels,
            x=[100 * table.get(answer, 0) for answer in answers],
            mode="markers",
            cliponaxis=False,
            name=short(name),
            marker={"color": series_colour(index), "size": 10},
            hovertemplate="given %{x:.1f} %<extra>%{fullData.name}</extra>",
        )
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(title="share of all answers, %", rangemode="tozero")
    figure.update_layout(height=110 + 28 * len(answers))
    return figure


def group_dots(names: Sequence[str], reports: Sequence[GroupReport | None]) -> go.Figure:
    """Accuracy by group with intervals: a row a group, a colour a run."""
    import plotly.graph_objects as go

    groups = list(dict.fromkeys(score.group for report in reports if report for score in report.groups))
    figure = go.Figure()
    for index, (name, report) in enumerate(zip(names, reports, strict=True)):
        if report is None:
            continue
        figure.add_scatter(
            orientation="h",  # with the group mode: the runs of a group stand below each other
            y=[wrapped(score.group) for score in report.groups],
            x=[100 * score.accuracy.value for score in report.groups],
            error_x=_whiskers([score.accuracy for score in report.groups]),
            mode="markers",
            cliponaxis=False,
            name=short(name),
            marker={"color": series_colour(index), "size": 10},
            hovertemplate="%{y}: %{x:.1f} %<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(scattermode="group", height=110 + 22 * len(groups) * max(1, len(names)))
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(title="exact match, %", **PERCENT)
    return figure


def loss_curves(names: Sequence[str], metrics: Sequence[Sequence[Mapping[str, Any]]], points: int = 600) -> go.Figure:
    """Smoothed loss against characters read; a dash where a stage begins."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, (name, rows) in enumerate(zip(names, metrics, strict=True)):
        if not rows:
            continue
        step = max(1, len(rows) // points)
        smooth = _smoothed([(str(row.get("stage", "")), float(row["loss"])) for row in rows])
        kept = sorted({*range(0, len(rows), step), len(rows) - 1})
        figure.add_scatter(
            x=[rows[i].get("characters", i + 1) for i in kept],
            y=[smooth[i] for i in kept],
            mode="lines",
            name=short(name),
            line={"color": series_colour(index), "width": 2},
            customdata=[str(rows[i].get("stage", "")) for i in kept],
            hovertemplate="%{customdata}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="characters read")
    figure.update_yaxes(title="loss, nats a character", rangemode="tozero")
    figure.update_layout(height=380, showlegend=True)
    return figure


def _smoothed(losses: Sequence[tuple[str, float]], memory: float = 0.95) -> list[float]:
    """Exponential average that starts anew with every stage, since another stage has another loss."""
    values: list[float] = []
    before = None
    for stage, loss in losses:
        values.append(memory * values[-1] + (1 - memory) * loss if stage == before else loss)
        before = stage
    return values


def _whiskers(rates: Sequence[Rate]) -> dict[str, Any]:
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
