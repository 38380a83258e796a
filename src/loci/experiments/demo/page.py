"""The demo's page: several systems on the same held-out people, how they learned, and what they say.

Knows the results, not how they came about.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loci.answering.evidence import Evidence
from loci.evaluation.metrics import Rate
from loci.evaluation.rows import Row
from loci.report.page import Markup, Page
from loci.report.style import NEUTRAL, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

SMOOTHING = 0.9


@dataclass(frozen=True)
class DemoRow:
    """One system of the comparison."""

    name: str
    explanation: str
    rate: Rate
    metrics: Sequence[Mapping[str, Any]] = ()
    """Rows of metrics.jsonl; empty for a system that learns nothing."""


@dataclass(frozen=True)
class Example:
    """An answer of the best model, and the sentence of the corpus behind it."""

    prediction: Row
    evidence: Evidence | None


def demo_page(
    rows: Sequence[DemoRow], examples: Sequence[Example], *, world: Mapping[str, Any], minutes: float
) -> Page:
    """The whole page."""
    best = rows[-1]
    page = Page(
        "What pretraining knows",
        f"A small transformer asked where {best.rate.n} people were born whom no question ever named.",
    )
    page.add_cards([(row.name, row.rate, row.explanation) for row in rows])
    page.add_section(
        "The experiment",
        f"A synthetic world of {world['people']} people: {world['lines']} lines of text say where each was born, "
        f"lived, worked and died. {world['train']} people's birthplaces are asked in training; the other {best.rate.n} "
        f"are held out, and only the text tells where they were born. All systems answer the same questions. "
        f"{_compared(rows)} All of it took {minutes:.1f} minutes on this machine, one seed.",
    )
    page.add_figure(accuracy_figure(rows), "Exact match on held-out people, with 95 % Wilson intervals.")
    page.add_section("Learning", "Loss by training time, smoothed. A new stage begins where the curve jumps.")
    page.add_figure(loss_figure(rows), "Mean loss of a character, in nats.")
    page.add_section(
        "Ten answers",
        f"The first ten held-out people, as {best.name} answers, with the line of the corpus that says so. "
        "The model never sees these lines at question time: it has to remember.",
    )
    page.add_table(
        ["question", "answer", "truth", "probability", "what the corpus says"],
        [_example_cells(example) for example in examples],
        "Probability: that of the whole answer. Marked: the true place.",
    )
    return page


def _compared(rows: Sequence[DemoRow]) -> str:
    """The best system against each of the others."""
    *others, best = rows
    times = [
        f"**{best.rate.value / row.rate.value:.1f} times** as often as {row.name}"
        for row in others
        if row.rate.successes
    ]
    never = "".join(f" {row.name.capitalize()} is never right." for row in others if not row.rate.successes)
    return f"{best.name.capitalize()} is right {' and '.join(times)}.{never}" if times else never.strip()


def _example_cells(example: Example) -> list[str | float]:
    row = example.prediction
    sign = "✓" if row.correct else "✗"
    said = f"{sign} {row.prediction}"
    return [row.question, said, row.answers[0], row.probability or 0.0, _sentence(example.evidence)]


def _sentence(evidence: Evidence | None) -> Markup:
    if evidence is None:
        return Markup("<em>nothing</em>")
    pieces = (
        f"<mark>{html.escape(text)}</mark>" if marked else html.escape(text) for text, marked in evidence.segments()
    )
    return Markup(f"line {evidence.number}: " + "".join(pieces))


def accuracy_figure(rows: Sequence[DemoRow]) -> go.Figure:
    """Bars with intervals."""
    import plotly.graph_objects as go

    values = [100 * row.rate.value for row in rows]
    figure = go.Figure(
        go.Bar(
            # The figure stands under the name: on the bar the interval's line would cross it.
            x=[f"{row.name}<br>{value:.1f} %" for row, value in zip(rows, values, strict=True)],
            y=values,
            marker_color=[NEUTRAL] * (len(rows) - 1) + [series_colour(0)],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [100 * row.rate.high - value for row, value in zip(rows, values, strict=True)],
                "arrayminus": [value - 100 * row.rate.low for row, value in zip(rows, values, strict=True)],
            },
            hovertemplate="%{x}<extra></extra>",
        )
    )
    figure.update_yaxes(title="exact match, %", range=[0, 105])
    return figure


def loss_figure(rows: Sequence[DemoRow]) -> go.Figure:
    """Smoothed loss against training seconds, one line a system."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, row in enumerate(row for row in reversed(rows) if row.metrics):  # the best in the first colour, as above
        seconds = [step["seconds"] for step in row.metrics]
        losses = smooth([(step["stage"], step["loss"]) for step in row.metrics])
        figure.add_scatter(x=seconds, y=losses, name=row.name, mode="lines", line_color=series_colour(index))
    figure.update_xaxes(title="training time, s")
    figure.update_yaxes(title="loss, nats a character", rangemode="tozero")
    return figure


def smooth(losses: Sequence[tuple[str, float]]) -> list[float]:
    """Exponential average that starts anew with every stage."""
    values: list[float] = []
    before = ""
    for stage, loss in losses:
        values.append(SMOOTHING * values[-1] + (1 - SMOOTHING) * loss if stage == before else loss)
        before = stage
    return values
