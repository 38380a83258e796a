"""Figures of the attention lab: curves, heads against distances, repetition against the sampler's settings.

Each takes results and gives a Plotly figure. Knows nothing of files or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loci.attention_lab.exercises.result import Curve, Panel
from loci.attention_lab.heads import RelationScore
from loci.attention_lab.repetition_sweep import SweepPoint
from loci.evaluation.metrics import Estimate, Rate
from loci.report.attention.drawing import mathematics
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
            figure.add_scatter(
                x=[*curve.x, *curve.x[::-1]],
                y=[*curve.high, *curve.low[::-1]],
                mode="lines",
                fill="toself",
                fillcolor=faded(colour, 0.18),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_scatter(
            x=curve.x,
            y=curve.y,
            name=mathematics(curve.name),
            mode="markers" if curve.style == "dots" else "lines",
            line={"color": colour, "dash": "dash" if quiet else "solid", "width": 2},
            marker={"color": colour, "size": 7},
            showlegend=base == curve.name,
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


def _whiskers(found: Sequence[Rate | Estimate], scale: float, **look: Any) -> dict[str, Any]:
    above = [scale * (one.high - one.value) for one in found]
    below = [scale * (one.value - one.low) for one in found]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **look}


def relation_figure(
    scores: Sequence[RelationScore], untrained: Mapping[tuple[str, str], Rate], direction: str
) -> go.Figure:
    """For each relation of one direction: the best head with its interval, the best distance, an untrained model."""
    import plotly.graph_objects as go

    rows = [score for score in scores if score.direction == direction][::-1]
    names = [f"{score.relation} ({score.rate.n:,})" for score in rows]
    best = [score.rate for score in rows]
    chance = [untrained[score.relation, direction] for score in rows]
    open_diamond = {"size": 10, "symbol": "diamond-open", "color": PALETTE[1], "line": {"width": 2}}
    cross = {"size": 9, "symbol": "x-thin", "color": NEUTRAL, "line": {"width": 2, "color": NEUTRAL}}
    heads = [f"layer {score.head[0] + 1}, head {score.head[1] + 1}" for score in rows]
    figure = go.Figure()
    for name, rates, marker, told in (
        ("best head", best, {"size": 10, "color": PALETTE[0]}, heads),
        ("best fixed distance", [score.baseline for score in rows], open_diamond, [f"{s.distance} back" for s in rows]),
        ("untrained model", chance, cross, None),
    ):
        figure.add_scatter(
            x=[100 * rate.value for rate in rates],
            y=names,
            error_x=_whiskers(rates, 100, color=faded(PALETTE[0], 0.6)) if rates is best else None,
            mode="markers",
            name=name,
            marker=marker,
            customdata=told,
            hovertemplate=f"%{{y}}: %{{x:.1f}} %{' (%{customdata})' if told else ''}<extra></extra>",
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
        figure.add_scatter(
            x=[point.value for point in rows],
            y=[point.seq_rep.value for point in rows],
            error_y=_whiskers([point.seq_rep for point in rows], 1, thickness=1.2, color=faded(colour, 0.6)),
            name=model,
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"size": 7},
            customdata=[f"{point.looped.successes} of {point.looped.n} texts loop" for point in rows],
            hovertemplate=f"{setting} %{{x}}: %{{y:.3f}}, %{{customdata}}<extra>{model}</extra>",
        )
    if reference is not None:
        figure.add_scatter(
            x=[min(values), max(values)],
            y=[reference, reference],
            name="the text itself",
            mode="lines",
            line={"color": NEUTRAL, "dash": "dash", "width": 2},
            hovertemplate="the text itself: %{y:.3f}<extra></extra>",
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
