"""Figures of the attention lab: curves, heads against distances, repetition against the sampler's settings.

Each takes results and gives a Plotly figure. Knows nothing of files or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loci.attention_lab.exercises.result import Curve, Numbers, Panel
from loci.attention_lab.heads import RelationScore
from loci.attention_lab.repetition_sweep import SweepPoint
from loci.evaluation.metrics import Rate
from loci.report.attention.mathematics import mathematics
from loci.report.style import NEUTRAL, PALETTE, faded, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go


def paired(panel: Panel) -> bool:
    """Whether some curve is a formula and another its measurement: `X` and `X, measured`."""
    names = {curve.name for curve in panel.curves}
    return any(curve.style == "dots" and _base(curve) in names for curve in panel.curves)


def panel_figure(panel: Panel) -> go.Figure:
    """Curves of one panel; a formula and its measurement share a colour and a legend entry."""
    import plotly.graph_objects as go

    figure = go.Figure()
    names = {curve.name for curve in panel.curves}
    colours: dict[str, str] = {}
    for curve in panel.curves:
        base = _base(curve) if _base(curve) in names else curve.name
        quiet = curve.style == "dashes"
        colour = NEUTRAL if quiet else colours.setdefault(base, series_colour(len(colours)))
        if curve.low is not None and curve.high is not None:
            figure.add_trace(_band(curve.x, curve.low, curve.high, colour))
        figure.add_trace(
            go.Scatter(
                x=curve.x,
                y=curve.y,
                name=mathematics(curve.name),
                mode="markers" if curve.style == "dots" else "lines",
                line={"color": colour, "dash": "dash" if quiet else "solid", "width": 2},
                marker={"color": colour, "size": 7},
                showlegend=base == curve.name,
            )
        )
    figure.update_layout(
        height=380,
        xaxis={"title": mathematics(panel.x_label), "type": "log" if panel.log_x else "linear"},
        yaxis={"title": mathematics(panel.y_label), "type": "log" if panel.log_y else "linear"},
    )
    if panel.log_x:
        figure.update_xaxes(tickvals=min((curve.x for curve in panel.curves), key=len))
    if panel.log_y:
        figure.update_yaxes(exponentformat="power", dtick="auto")
    return figure


def _base(curve: Curve) -> str:
    return curve.name.rpartition(", ")[0]


def _band(x: Numbers, low: Numbers, high: Numbers, colour: str) -> Any:
    import plotly.graph_objects as go

    return go.Scatter(
        x=[*x, *x[::-1]],
        y=[*high, *low[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=faded(colour, 0.18),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def relation_figure(
    scores: Sequence[RelationScore], untrained: Mapping[tuple[str, str], Rate], direction: str
) -> go.Figure:
    """For each relation of one direction: the best head with its interval, the best distance, an untrained model."""
    import plotly.graph_objects as go

    rows = [score for score in scores if score.direction == direction][::-1]
    names = [f"{score.relation} ({score.rate.n:,})" for score in rows]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[100 * score.rate.value for score in rows],
            y=names,
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [100 * (score.rate.high - score.rate.value) for score in rows],
                "arrayminus": [100 * (score.rate.value - score.rate.low) for score in rows],
                "color": faded(PALETTE[0], 0.6),
            },
            mode="markers",
            name="best head",
            marker={"size": 10, "color": PALETTE[0]},
            customdata=[f"layer {score.head[0] + 1}, head {score.head[1] + 1}" for score in rows],
            hovertemplate="%{y}: %{x:.1f} % (%{customdata})<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[100 * score.baseline.value for score in rows],
            y=names,
            mode="markers",
            name="best fixed distance",
            marker={"size": 10, "symbol": "diamond-open", "color": PALETTE[1], "line": {"width": 2}},
            customdata=[f"{score.distance} back" for score in rows],
            hovertemplate="%{y}: %{x:.1f} % (%{customdata})<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[100 * untrained[score.relation, direction].value for score in rows],
            y=names,
            mode="markers",
            name="untrained model",
            marker={"size": 9, "symbol": "x-thin", "color": NEUTRAL, "line": {"width": 2, "color": NEUTRAL}},
            hovertemplate="%{y}: %{x:.1f} %<extra></extra>",
        )
    )
    figure.update_layout(
        height=max(260, 26 * len(rows) + 110), xaxis={"title": "arcs found, %", "range": [-2, 102]}, yaxis={"title": ""}
    )
    return figure


def sweep_figure(
    sweeps: Mapping[str, Sequence[SweepPoint]], setting: str, n: int, reference: float | None
) -> go.Figure:
    """seq-rep-n against one setting, a line per model with the interval over its texts, and the text's own value."""
    import plotly.graph_objects as go

    figure = go.Figure()
    values: set[float] = set()
    for index, (model, points) in enumerate(sweeps.items()):
        rows = [point for point in points if point.setting == setting]
        values |= {point.value for point in rows}
        colour = series_colour(index)
        figure.add_trace(
            go.Scatter(
                x=[point.value for point in rows],
                y=[point.seq_rep.value for point in rows],
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [point.seq_rep.high - point.seq_rep.value for point in rows],
                    "arrayminus": [point.seq_rep.value - point.seq_rep.low for point in rows],
                    "thickness": 1.2,
                    "color": faded(colour, 0.6),
                },
                name=model,
                mode="lines+markers",
                line={"color": colour, "width": 2},
                marker={"size": 7},
                customdata=[f"{point.looped.successes} of {point.looped.n} texts loop" for point in rows],
                hovertemplate=f"{setting} %{{x}}: %{{y:.3f}}, %{{customdata}}<extra>{model}</extra>",
            )
        )
    if reference is not None:
        figure.add_trace(
            go.Scatter(
                x=[min(values), max(values)],
                y=[reference, reference],
                name="the text itself",
                mode="lines",
                line={"color": NEUTRAL, "dash": "dash", "width": 2},
                hovertemplate="the text itself: %{y:.3f}<extra></extra>",
            )
        )
    log = setting == "top-k"
    figure.update_layout(
        height=330,
        xaxis={"title": setting, "type": "log" if log else "linear"},
        yaxis={"title": f"seq-rep-{n}", "range": [-0.03, 1.03]},
    )
    if log:
        figure.update_xaxes(tickvals=sorted(values))
    return figure
